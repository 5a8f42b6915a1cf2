//! English words that do not say what a text is about.

use crate::english::lists::{List, list};

static STOP_WORDS: List = list!("stop");

/// Whether a word, folded by `text::words`, is a stop word.
pub(crate) fn is_stop_word(folded: &str) -> bool {
    STOP_WORDS.contains(folded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_a_meaning_are_no_stop_words() {
        assert!(is_stop_word("the") && is_stop_word("yourselves") && is_stop_word("a"));
        assert!(!is_stop_word("well") && !is_stop_word("paint") && !is_stop_word(""));
    }
}
