//! What a person decides, and how: who may decide, what a person's look is worth.

use std::time::Duration;

use crate::{
    error::{Error, Result},
    text::measure::check_name,
};

/// I: how good a source is who looked.
pub(crate) const HUMAN_RELIABILITY: f64 = 0.95;
/// I: how long a person's look holds, where nobody says: six months of 30 days.
pub(crate) const HUMAN_WINDOW: Duration = Duration::from_hours(6 * 30 * 24);

/// Jobs, rules, origins and sensors: none of them decides.
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

/// Refuses a name that is none, or not that of a person; `summarizer` is that of the one that is configured.
pub(crate) fn check_person(by: &str, summarizer: Option<&str>) -> Result<()> {
    check_name("name of who decides", Some(by))?;
    let name = by.trim().to_lowercase();
    let is_summarizer = summarizer.is_some_and(|summarizer| summarizer.to_lowercase() == name);
    if name.is_empty() || is_summarizer || NO_PERSONS.contains(&name.as_str()) {
        return Err(Error::invalid("only a person decides a review; name who it was"));
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
