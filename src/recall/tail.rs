//! The words of units that the file's index does not have yet. They are grouped by word, because a query looks up hundreds
//! of words, synonyms included.

use std::collections::HashMap;

use crate::text::words::{EncodedWords, FieldCounts, Word};

/// For each word, the units after the file's index that contain it, and how often.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    /// The units of each word, ascending.
    by_word: HashMap<Word, Vec<(u32, FieldCounts)>>,
    /// The number of entries over all words.
    postings: usize,
}

impl Tail {
    /// Appends a unit with its forward list; a damaged list counts as empty.
    pub(crate) fn push(&mut self, seq: u32, words: &[u8]) {
        for (word, counts) in EncodedWords::parse(words).into_iter().flat_map(|words| words.iter()) {
            self.by_word.entry(word).or_default().push((seq, counts));
            self.postings += 1;
        }
    }

    /// Returns the units after `after` that contain the word, ascending.
    pub(crate) fn with_word(&self, word: Word, after: u32) -> &[(u32, FieldCounts)] {
        let units = self.by_word.get(&word).map_or(&[][..], Vec::as_slice);
        &units[units.partition_point(|(seq, _)| *seq <= after)..]
    }

    /// Drops the units up to `until`, which the file's index has by now.
    pub(crate) fn forget(&mut self, until: u32) {
        self.postings = 0;
        self.by_word.retain(|_, units| {
            units.drain(..units.partition_point(|(seq, _)| *seq <= until));
            self.postings += units.len();
            !units.is_empty()
        });
    }

    /// Returns the approximate memory use in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.by_word.capacity() * size_of::<(Word, Vec<(u32, FieldCounts)>)>()
            + self.postings * 2 * size_of::<(u32, FieldCounts)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::words::{WordCounts, query_words};

    #[track_caller]
    fn check(tail: &Tail, word: &str, after: u32, units: &[u32]) {
        let found = tail.with_word(query_words(word)[0], after);
        assert_eq!(found.iter().map(|(seq, _)| *seq).collect::<Vec<_>>(), units, "{word} behind {after}");
    }

    #[test]
    fn a_words_units_are_those_that_the_index_does_not_have() {
        let mut tail = Tail::default();
        for (seq, text) in (7..).zip(["a lamp", "a ladder", "a lamp and a ladder"]) {
            tail.push(seq, &WordCounts::of_text(text).encode());
        }
        tail.push(10, b"damaged");
        check(&tail, "lamp", 0, &[7, 9]);
        check(&tail, "lamp", 7, &[9]);
        check(&tail, "kettle", 0, &[]);
        tail.forget(8);
        check(&tail, "lamp", 0, &[9]);
        check(&tail, "ladder", 0, &[9]);
        assert_eq!(tail.postings, 2);
        tail.forget(9);
        assert_eq!((tail.by_word.len(), tail.postings), (0, 0));
    }
}
