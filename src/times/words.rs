//! Splits a query, or what a turn says, into words, for reading time expressions.

use crate::{
    english::{lists::without_possessive, stop_words::is_stop_word},
    text::terms::{TermKind, for_each_term},
};

/// A word or number of a query.
#[derive(Clone, Debug)]
pub(super) struct QueryWord {
    /// The word in lower case, without `'s`.
    pub(super) lower: String,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) is_number: bool,
    pub(super) is_capital: bool,
    /// What separates it from the previous word.
    pub(super) gap: Gap,
    /// Whether a sign of money or measure follows directly: `2000€`.
    pub(super) is_measured: bool,
}

/// What precedes a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gap {
    Blank,
    Comma,
    /// `/` without blanks.
    Slash,
    /// A point and a blank: `3. Juni`; or the end of a sentence.
    Point,
    /// Anything else, and the start of the text.
    Break,
}

/// How many bytes of a word are kept: words for times are short, and longer ones are data.
const LONGEST: usize = 64;

pub(super) fn words(text: &str) -> Vec<QueryWord> {
    let mut found: Vec<QueryWord> = Vec::new();
    let mut last_end = 0;
    for_each_term(text, |term| {
        let gap = if found.is_empty() { Gap::Break } else { gap(&text[last_end..term.at]) };
        last_end = term.at + term.text.len();
        let is_measured = text[last_end..].starts_with(['%', '€', '$', '£', '°'])
            || text[..term.at].ends_with(['€', '$', '£', '#', '~']);
        found.push(QueryWord {
            lower: without_possessive(&term.text[..term.text.floor_char_boundary(LONGEST)]).to_lowercase(),
            start: term.at,
            end: last_end,
            is_number: term.kind == TermKind::Number,
            is_capital: term.text.starts_with(char::is_uppercase),
            gap,
            is_measured,
        });
    });
    found
}

fn gap(between: &str) -> Gap {
    match between.trim() {
        "" if between.is_empty() || between.contains('\n') => Gap::Break,
        "" => Gap::Blank,
        "," => Gap::Comma,
        "." => Gap::Point,
        "/" if between == "/" => Gap::Slash,
        _ => Gap::Break,
    }
}

/// The words of one query, by position; positions beyond the end are empty.
pub(super) struct QueryWords {
    list: Vec<QueryWord>,
}

impl QueryWords {
    pub(super) fn of(text: &str) -> Self {
        Self { list: words(text) }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn get(&self, at: usize) -> Option<&QueryWord> {
        self.list.get(at)
    }

    pub(super) fn lower(&self, at: usize) -> &str {
        self.get(at).map_or("", |word| &word.lower)
    }

    /// Returns the word before this one; empty if a mark is in between.
    pub(super) fn before(&self, at: usize) -> &str {
        match at.checked_sub(1) {
            Some(before) if self.get(at).is_some_and(|word| word.gap == Gap::Blank) => self.lower(before),
            _ => "",
        }
    }

    /// Returns the word here if only a blank precedes it; otherwise empty.
    pub(super) fn next(&self, at: usize) -> &str {
        if self.get(at).is_some_and(|word| word.gap == Gap::Blank) { self.lower(at) } else { "" }
    }

    pub(super) fn is_capital(&self, at: usize) -> bool {
        self.get(at).is_some_and(|word| word.is_capital)
    }

    /// Whether the number before is followed by its noun here: `2000 words`, `5 people`.
    pub(super) fn is_noun(&self, at: usize) -> bool {
        let next = self.next(at);
        let is_plain = |word: &QueryWord| !word.is_number && !word.is_capital;
        !next.is_empty()
            && self.get(at).is_some_and(is_plain)
            && !is_stop_word(&next.replace(['\'', '\u{2019}'], ""))
            && !matches!(next, "please" | "again" | "today" | "yesterday" | "happened" | "exactly" | "right")
    }
}
