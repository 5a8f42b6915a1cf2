//! Turns forward lists around: from the words of each unit to the units of each word.

use std::collections::BTreeMap;

use crate::{
    index::postings::Posting,
    text::words::{EncodedWords, Word},
};

/// The postings of some units, by word.
#[derive(Debug, Default)]
pub(crate) struct Inverted {
    words: BTreeMap<Word, Vec<Posting>>,
}

impl Inverted {
    /// Adds the words of a unit that comes after those that were added before.
    pub(crate) fn add(&mut self, seq: u32, words: EncodedWords<'_>) {
        for (word, counts) in words.iter() {
            self.words.entry(word).or_default().push(Posting { seq, counts });
        }
    }

    /// The words, ascending, with their postings.
    pub(crate) fn into_words(self) -> impl Iterator<Item = (Word, Vec<Posting>)> {
        self.words.into_iter()
    }
}
