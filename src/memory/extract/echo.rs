//! Decides whether a reply repeats what a memory says.

use std::collections::HashSet;

use crate::text::words::{Word, for_each_word};

/// The minimum number of a memory's words in a reply that echoes it ...
const LEAST: usize = 3;
/// ... and their minimum share, in percent.
const SHARE: usize = 30;

/// Whether a reply has at least three, and 30 percent, of the content words of a memory.
pub(super) fn is_echoed(memory: &HashSet<Word>, reply: &HashSet<Word>) -> bool {
    let shared = memory.intersection(reply).count();
    shared >= LEAST && shared * 100 >= memory.len() * SHARE
}

/// Returns the content words of a text, in the form in which words are compared.
pub(super) fn stems(text: &str) -> HashSet<Word> {
    let mut stems = HashSet::new();
    for_each_word(text, |word| {
        stems.insert(word);
    });
    stems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn echoes(memory: &str, reply: &str) -> bool {
        is_echoed(&stems(memory), &stems(reply))
    }

    #[test]
    fn three_words_and_three_tenths_are_an_echo() {
        let memory = "White noise calms the baby: rain, waves, a vacuum cleaner, a fan, a hair dryer.";
        assert!(echoes(memory, "Try white noise for the baby, such as rain."));
        assert!(!echoes(memory, "Try rain and waves."), "two of ten");
        assert!(!echoes("Tea helps", "Tea helps"), "two words are no proof");
        let long =
            "white noise baby ".to_owned() + "alpha beta gamma delta epsilon zeta eta theta iota kappa";
        assert!(!echoes(&long, "white noise baby"), "three of thirteen");
        assert!(!echoes("", ""));
    }
}
