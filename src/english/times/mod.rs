//! When a query is about: expressions such as `last week`, `in March` or `two days ago`, as ranges of instants.
//!
//! English, in UTC, relative to a `now` that the caller gives. Weeks begin on Monday; a month, day or season without
//! a year is the last one that has begun; seasons are those of the northern half of the world. What lies ahead
//! (`tomorrow`, `next week`) gives no range: nothing was said there. In doubt there is no time in a word: `may` and
//! `march` are verbs, `Sun` shines, and `in 2000 words` is no year.
//!
//! Own code, since no crate seen (2026-11) does it: `chrono-english`, `interim` and `natural-date-parser` read a
//! string that is nothing but a date, and give an instant; `two_timer` gives ranges, also of whole strings alone;
//! `date_time_parser` finds a date in a sentence, the first one, as a day, relative to the system's clock.

mod calendar;
mod dates;
mod grammar;
mod names;
mod phrases;
mod words;

use std::ops::Range;

use chrono::{DateTime, TimeDelta, Utc};

use crate::{
    english::{
        lists::{List, list},
        stop_words::is_stop_word,
        times::{calendar::Span, grammar::Reader, words::Words},
    },
    model::instant,
    text::words::MAX_QUERY_BYTES,
};

pub(crate) use names::month_in_any_language;
#[cfg(test)]
pub(crate) use names::{MONTHS, WEEKDAYS};

/// A time that a query names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TimeSpan {
    pub(crate) from: DateTime<Utc>,
    /// The first instant behind it.
    pub(crate) until: DateTime<Utc>,
    /// Where in the query its words stand, in bytes. Two readings of one date stand in the same place.
    pub(crate) text: Range<usize>,
}

impl TimeSpan {
    /// Whether this instant lies in it, or so shortly after it.
    pub(crate) fn contains(&self, at_ms: i64, or_after: TimeDelta) -> bool {
        let until_ms = self.until.timestamp_millis().saturating_add(or_after.num_milliseconds());
        (self.from.timestamp_millis()..until_ms).contains(&at_ms)
    }
}

/// More times than this are a list, not a question.
const MAX_SPANS: usize = 16;

/// The times that a query names, in its order. Their instants lie in the years 1 to 9999, none is empty, and each
/// begins at `now` or before.
pub(crate) fn find(query: &str, now: DateTime<Utc>) -> Vec<TimeSpan> {
    let now = instant::clamped(now);
    let words = Words::of(&query[..query.floor_char_boundary(MAX_QUERY_BYTES)]);
    let reader = Reader { words: &words, now };
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let Some(read) = reader.read(at) else {
            at += 1;
            continue;
        };
        let end = read.end.clamp(at + 1, words.len());
        if let (Some(first), Some(last)) = (words.get(at), words.get(end - 1)) {
            let text = first.start..last.end;
            let spans = read.spans.into_iter().filter(|span| span.from < span.until && span.from <= now);
            found.extend(spans.map(|Span { from, until }| TimeSpan { from, until, text: text.clone() }));
        }
        at = end;
    }
    found.truncate(MAX_SPANS);
    found
}

/// What people say around a time when they ask for nothing but what was said then.
static AROUND: List = list!("around_times");

/// Whether a query asks for what was said in these times of its, and for nothing else: `remember last week?`
pub(crate) fn is_only_time(query: &str, spans: &[TimeSpan]) -> bool {
    if spans.is_empty() || query.len() > MAX_QUERY_BYTES {
        return false;
    }
    let is_talk = |word: &words::Word| {
        let bare = word.lower.replace(['\'', '\u{2019}'], "");
        !word.is_number && (is_stop_word(&bare) || AROUND.contains(&bare))
    };
    let is_inside = |word: &words::Word| spans.iter().any(|span| span.text.contains(&word.start));
    words::words(query).iter().all(|word| is_inside(word) || is_talk(word))
}

#[cfg(test)]
mod tests;
