//! The words that memories are described by, as the command line takes them.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::de::DeserializeOwned;
use thermocline::{
    EdgeType, EpisodeRole, Frequency, InformationType, MemoryKind, MemoryStatus, Origin, Outcome,
    Resurfacing, ReviewKind, TaskType, Volatility,
};

/// A parser of a word for each name: what is no such word is refused with those that are.
macro_rules! words {
    ($($name:ident: $type:ident = [$($word:literal),* $(,)?];)*) => {
        $(
            pub(crate) fn $name() -> impl TypedValueParser<Value = $type> {
                const WORDS: &[&str] = &[$($word),*];
                PossibleValuesParser::new(WORDS).map(|word| read(&word).expect("it is one of them"))
            }
        )*

        #[cfg(test)]
        const EVERY: &[(&str, fn(&str) -> bool)] =
            &[$($(($word, |word| read::<$type>(word).is_some())),*),*];
    };
}

words! {
    kind: MemoryKind = [
        "solution", "fix", "decision", "configuration", "problem", "workflow", "code_pattern", "error", "general",
        "procedure", "insight",
    ];
    status: MemoryStatus = ["active", "archived", "superseded", "forgotten", "quarantined"];
    frequency: Frequency = ["high", "mid", "low", "ultra_low"];
    volatility: Volatility = ["low", "medium", "high", "ephemeral"];
    information: InformationType = ["static", "semi_static", "dynamic", "ephemeral"];
    task: TaskType = ["research", "development", "creative", "analysis"];
    outcome: Outcome = ["success", "failure", "decision", "observation", "correction"];
    origin: Origin = ["user", "assistant", "tool", "document", "system"];
    resurfacing: Resurfacing = ["on", "off"];
    review: ReviewKind = [
        "promote", "flagged", "contradiction", "merge", "check", "conflict", "quarantine",
    ];
    role: EpisodeRole = ["birth", "use", "note"];
    edge: EdgeType = [
        "solves", "causes", "builds_on", "alternative_to", "depends_on", "follows", "related_to", "part_of",
        "similar_to", "contradicts", "supersedes",
    ];
}

/// What a word stands for in JSON, and here.
fn read<T: DeserializeOwned>(word: &str) -> Option<T> {
    serde_json::from_value(word.into()).ok()
}

/// A number from 0 to 1.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_one_of_the_library_and_every_kind_and_edge_has_its_word() {
        for (word, is_known) in EVERY {
            assert!(is_known(word), "{word}");
        }
        let has = |word: &str| EVERY.iter().any(|(known, _)| *known == word);
        assert!(MemoryKind::ALL.iter().all(|kind| has(kind.as_str())));
        assert!(EdgeType::ALL.iter().all(|edge| has(edge.as_str())));
    }
}
