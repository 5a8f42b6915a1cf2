//! The words of a statement, for the functions that read values: they look at words by position, and cut the text out
//! verbatim.

use std::ops::Range;

use crate::english::{
    classes::is_of,
    dull_words::is_dull,
    lists::{List, list},
    statements::{Statement, StatementToken},
    stop_words::is_stop_word,
};

static PLACES: List = list!("places");
pub(super) static TOOLS: List = list!("tools");
pub(super) static DEMONYMS: List = list!("demonyms");
static NOT_NAMES: List = list!("not_names");

/// What was read, and the token after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReadToken {
    pub(super) values: Vec<String>,
    pub(super) end: usize,
}

impl ReadToken {
    pub(super) fn value(&self) -> &str {
        self.values.first().map_or("", String::as_str)
    }
}

/// The tokens of a statement; positions after its end are empty.
#[derive(Clone, Copy)]
pub(super) struct StatementWords<'s, 'a> {
    pub(super) statement: &'s Statement<'a>,
}

impl<'s> StatementWords<'s, '_> {
    pub(super) fn token(self, at: usize) -> Option<&'s StatementToken<'s>> {
        self.statement.tokens.get(at)
    }

    pub(super) fn lower(self, at: usize) -> &'s str {
        self.token(at).map_or("", |token| &token.lower)
    }

    pub(super) fn is(self, at: usize, words: &str) -> bool {
        let lower = self.lower(at);
        words.split(' ').any(|word| word == lower)
    }

    /// Whether there is a mark at this position, or nothing.
    pub(super) fn is_end(self, at: usize) -> bool {
        self.token(at).is_none_or(StatementToken::is_mark)
    }

    /// Whether there is a mark at this position, nothing, or one of these words.
    pub(super) fn ends_or_is(self, at: usize, words: &str) -> bool {
        self.is_end(at) || self.is(at, words)
    }

    /// Whether the word at this position is `I`, `my`, `we` or `our`.
    pub(super) fn is_mine(self, at: usize) -> bool {
        self.is(at, "i my we our")
    }

    pub(super) fn any_of(self, mut places: Range<usize>, list: &List) -> bool {
        places.any(|at| list.contains(self.lower(at)))
    }

    /// Returns the first position at or after `from` whose token fails the test.
    pub(super) fn skip_while(self, from: usize, is: impl Fn(usize) -> bool) -> usize {
        let end = self.statement.tokens.len().max(from);
        (from..end).find(|&at| !is(at)).unwrap_or(end)
    }

    pub(super) fn skip(self, from: usize, words: &str) -> usize {
        self.skip_while(from, |at| self.is(at, words))
    }

    pub(super) fn skip_adverbs(self, from: usize) -> usize {
        self.skip_while(from, |at| self.is_adverb(at))
    }

    fn is_adverb(self, at: usize) -> bool {
        let is_adverb = self.token(at).is_some_and(|token| token.is_passed_over);
        is_adverb && !self.is(at, "have been")
    }

    /// Returns the text from the token at `start` to the end of the token before `end`. If that is the first half of a
    /// contraction, the text ends with this half.
    pub(super) fn slice(self, start: usize, end: usize) -> String {
        let tokens = &self.statement.tokens;
        let last = &tokens[end - 1];
        let is_half = last.lower.len() < last.text.len() && last.text.to_lowercase().starts_with(&last.lower);
        let to = if is_half { last.start + last.lower.len() } else { last.end() };
        let text = self.statement.text.get(tokens[start].start..to).unwrap_or(last.text);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub(super) fn read(self, start: usize, end: usize) -> ReadToken {
        ReadToken { values: vec![self.slice(start, end)], end }
    }

    /// Whether a value that ends before `end` is complete: what follows is an end, a common word, or an adverb.
    pub(super) fn is_whole(self, end: usize) -> bool {
        let next = self.lower(end);
        self.is_end(end) || is_stop_word(next) || self.is_adverb(end) || is_dull(next)
    }

    /// Whether a word can be part of a name: capitalized, and not a day, month or stop word.
    pub(super) fn is_name(self, at: usize) -> bool {
        self.token(at).is_some_and(|token| {
            let lower = &*token.lower;
            token.is_capital()
                && lower != "'s"
                && !is_of("day", lower)
                && (!is_of("month", lower) || matches!(lower, "april" | "june" | "may" | "august"))
                && !is_stop_word(&lower.replace('\'', ""))
        })
    }

    /// Returns the end of a run of at most `most` capitalized words and what joins them (`of`, `de`); `None` if there are
    /// none.
    pub(super) fn capitals(self, start: usize, most: usize) -> Option<usize> {
        let mut end = start;
        while end - start < most {
            if self.is_name(end) {
                end += 1;
            } else if end > start
                && self.is(end, "of de la del da von van upon am & le .")
                && self.is_name(end + 1)
            {
                end += 2;
            } else {
                break;
            }
        }
        (end > start).then_some(end)
    }

    /// Whether a word is all capitals.
    pub(super) fn shouts(self, at: usize) -> bool {
        self.token(at).is_some_and(|token| token.text.len() > 1 && !token.text.contains(char::is_lowercase))
    }

    /// Returns the end of a person's name: not `Batman`, `German`, `OK`, nor `Anna's`.
    pub(super) fn person(self, at: usize, most: usize) -> Option<usize> {
        let end = self.capitals(at, most)?;
        let fits = |at: usize| {
            let lower = self.lower(at);
            let is_none = NOT_NAMES.contains(lower) || DEMONYMS.contains(lower) || is_of("language", lower);
            !is_none && !self.shouts(at)
        };
        (at..end).all(fits).then_some(end)
    }

    /// Returns the end of a name in lower case: `my name is anna`, as written by people who use no capitals.
    pub(super) fn low_name(self, at: usize) -> Option<usize> {
        let lower = self.lower(at);
        let is_word = lower.chars().count() > 1 && lower.chars().all(|c| c.is_alphabetic() || c == '-');
        let ends = self.ends_or_is(at + 1, "and but by");
        (is_word && ends && !is_dull(lower) && !NOT_NAMES.contains(lower)).then_some(at + 1)
    }

    /// Returns the end of a known place of up to three words that begins here, capitalized or not.
    pub(super) fn known_place(self, at: usize) -> Option<usize> {
        (1..=3).rev().map(|count| at + count).find(|&end| {
            let words: Vec<&str> = (at..end).map(|at| self.lower(at)).collect();
            PLACES.contains(&words.join("_"))
        })
    }
}
