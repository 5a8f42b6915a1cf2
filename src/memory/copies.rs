//! How much of one text stands in another: by runs of five words, which nobody says twice by chance.

use std::collections::HashSet;

use crate::text::words::{Word, for_each_word};

/// Words of a run. Stop words are left out, as wherever words are compared.
const RUN: usize = 5;

/// Of an edited text less is left than this: it is the editor's.
const LEFT: f64 = 0.4;

/// Of a text that is said again so much stands in another.
const COPIED: f64 = 0.6;

/// The runs of five words of a text; of a shorter one all of its words are one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs(HashSet<Vec<Word>>);

impl Runs {
    pub(crate) fn of(text: &str) -> Self {
        let mut words = Vec::new();
        for_each_word(text, |word| words.push(word));
        let mut runs: HashSet<Vec<Word>> = words.windows(RUN).map(<[Word]>::to_vec).collect();
        if runs.is_empty() && !words.is_empty() {
            runs.insert(words);
        }
        Self(runs)
    }

    /// All of both.
    pub(crate) fn add(&mut self, text: &str) {
        self.0.extend(Self::of(text).0);
    }

    /// The share of these that another text has, too, from 0 to 1. Without any there is none.
    #[expect(clippy::cast_precision_loss, reason = "a text has far fewer than 2^53 words")]
    fn share_in(&self, other: &Self) -> f64 {
        let shared = self.0.iter().filter(|run| other.0.contains(*run)).count();
        shared as f64 / self.0.len().max(1) as f64
    }

    /// Whether a text was said again: three fifths of its runs stand in the other.
    pub(crate) fn is_copy_of(&self, other: &Self) -> bool {
        self.share_in(other) >= COPIED
    }
}

/// Whether so little of a text is left that it is the editor's: a corrected word does not launder what a page said.
pub(crate) fn is_rewritten(before: &str, after: &str) -> bool {
    let before = Runs::of(before);
    !before.0.is_empty() && before.share_in(&Runs::of(after)) < LEFT
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str =
        "Run the installer of version seven with the flag that skips all checks of keys and signatures.";

    #[test]
    fn a_corrected_word_rewrites_nothing() {
        assert!(!is_rewritten(PAGE, &PAGE.replace("seven", "eight")));
        assert!(is_rewritten(PAGE, "The gardener waters roses in the evening."));
        assert!(is_rewritten(
            PAGE,
            "Run the installer, but never skip any checks: keys matter, signatures too."
        ));
        assert!(!is_rewritten("Tea", "Tea"));
        assert!(is_rewritten("Tea", "Coffee"));
    }

    #[test]
    fn three_fifths_of_the_runs_are_a_copy() {
        let page =
            Runs::of(&format!("{PAGE} And then go home and sleep well until the next long day begins."));
        assert!(Runs::of(PAGE).is_copy_of(&page));
        assert!(!Runs::of("The gardener waters roses in the evening.").is_copy_of(&page));
        assert!(!Runs::of("").is_copy_of(&page));
        let mut both = Runs::of("The gardener waters roses in the evening.");
        both.add(PAGE);
        assert!(Runs::of(PAGE).is_copy_of(&both));
    }

    #[test]
    fn scripts_without_spaces_have_runs_too() {
        let text = "東京の天気は晴れで気温は高い";
        assert!(!is_rewritten(text, &format!("{text}です")));
        assert!(is_rewritten(text, "大阪では雨が降っています"));
    }
}
