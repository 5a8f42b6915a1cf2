//! Decisions by a person: who may decide, and how much a person's check is worth.

use std::time::Duration;

use crate::{
    error::{Error, Result},
    text::measure::check_name,
};

/// I: the reliability of a person's check.
pub(crate) const HUMAN_RELIABILITY: f64 = 0.95;
/// I: how long a person's check holds if nothing else is stated: six months of 30 days.
pub(crate) const HUMAN_WINDOW: Duration = Duration::from_hours(6 * 30 * 24);

/// Names of jobs, rules, origins and sensors, which cannot decide.
const NO_PERSONS: &[&str] = &[
    "agent",
    "assistant",
    "bot",
    "caller",
    "code",
    "command",
    "compress",
    "document",
    "erase",
    "extract",
    "extractive",
    "fs",
    "http",
    "import",
    "job",
    "llm",
    "llm#1",
    "llm#2",
    "model",
    "reflect",
    "rules",
    "runtime",
    "sweep",
    "system",
    "tend",
    "tool",
    "validate",
];

/// Refuses an empty name, or one that is not a person's. `summarizer` is the name of the configured summarizer.
pub(crate) fn check_person(by: &str, summarizer: Option<&str>) -> Result<()> {
    check_name("name of who decides", Some(by))?;
    let name = by.trim().to_lowercase();
    let is_summarizer = summarizer.is_some_and(|summarizer| summarizer.to_lowercase() == name);
    if name.is_empty() || is_summarizer || NO_PERSONS.contains(&name.as_str()) {
        return Err(Error::invalid("only a person can decide a review; name who it was"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_rules_origins_and_models_do_not_decide() {
        for by in ["tend", "Reflect", " rules ", "assistant", "LLM#1", "", "  ", "gpt-x", "GPT-X"] {
            assert!(check_person(by, Some("gpt-x")).is_err(), "{by:?}");
        }
        for by in ["alex", "user", "Anna Tool", "gpt-x"] {
            assert!(check_person(by, None).is_ok(), "{by:?}");
        }
    }
}
