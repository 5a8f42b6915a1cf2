//! The words that describe memories on the command line.

use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::de::DeserializeOwned;
use thermocline::{
    EdgeType, EpisodeRole, FileFormat, Frequency, InformationType, Layout, MemoryKind, MemoryStatus,
    NewerFiles, Origin, Outcome, Resurfacing, ReviewKind, TaskType, Volatility,
};

/// Defines a parser for each set of words; its error lists the valid words.
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
    format: FileFormat = ["entry", "markdown"];
    layout: Layout = ["cognitive", "continuum", "entry"];
    newer: NewerFiles = ["take", "set_aside"];
    resurfacing: Resurfacing = ["on", "off"];
    review: ReviewKind = ["promote", "flagged", "contradiction", "merge", "check", "conflict"];
    role: EpisodeRole = ["birth", "use", "note", "report"];
    edge: EdgeType = [
        "solves", "causes", "builds_on", "alternative_to", "depends_on", "follows", "related_to", "part_of",
        "similar_to", "contradicts", "supersedes",
    ];
}

/// Parses a word as its JSON name.
fn read<T: DeserializeOwned>(word: &str) -> Option<T> {
    serde_json::from_value(word.into()).ok()
}

/// Parses a number from 0 to 1.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

/// How long a check holds; `None` to use the default of the volatility.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CheckWindow(pub(crate) Option<Duration>);

/// The units of a window with their lengths in seconds, the longest first.
const UNITS: [(char, u64); 5] = [('w', 604_800), ('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];

/// Parses a window, such as `7d`, `12h`, `90m`, `30s` or `2w`; `None` if the text is empty.
pub(crate) fn window(text: &str) -> Result<CheckWindow, String> {
    if text.is_empty() {
        return Ok(CheckWindow(None));
    }
    let of_unit = |(unit, seconds): (char, u64)| {
        text.strip_suffix(unit)?.parse::<u64>().ok()?.checked_mul(seconds).map(Duration::from_secs)
    };
    let span = UNITS.into_iter().find_map(of_unit);
    span.map(|span| CheckWindow(Some(span)))
        .ok_or_else(|| "expected a number with its unit: 30s, 90m, 12h, 7d or 2w".to_owned())
}

/// Formats a window as a person writes it: `7d`, in the longest unit that gives a whole number; `0s`.
pub(crate) fn spelled(window: Duration) -> String {
    let seconds = window.as_secs();
    let fits = |(_, unit): &(char, u64)| seconds != 0 && seconds.is_multiple_of(*unit);
    let (unit, length) = UNITS.into_iter().find(fits).unwrap_or(('s', 1));
    format!("{}{unit}", seconds / length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_a_number_with_its_unit_and_is_spelled_as_it_is_read() {
        for (text, seconds) in
            [("0s", 0), ("45s", 45), ("90m", 5_400), ("12h", 43_200), ("3d", 259_200), ("1w", 604_800)]
        {
            let read = window(text).unwrap().0.unwrap();
            assert_eq!((read.as_secs(), spelled(read).as_str()), (seconds, text));
        }
        assert_eq!(window(""), Ok(CheckWindow(None)));
        assert_eq!(spelled(Duration::from_mins(2)), "2m");
        for text in ["7", "d", "7 days", "-1d", "1.5h", "99999999999999999w"] {
            assert!(window(text).is_err(), "{text}");
        }
    }

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
