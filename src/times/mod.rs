//! The times that a text names: expressions such as `last week`, `im März`, `two days ago` or `先週`, as ranges of instants.
//!
//! Times are in UTC, relative to a `now` given by the caller. Weeks begin on Monday; a month, day or season without a year
//! is the last one that has begun, or the next one if a turn speaks of the future; seasons are those of the northern
//! hemisphere. In doubt a word is not a time: `may` and `march` are verbs, `Sun` shines, `mars` is a planet, and
//! `in 2000 words` contains no year.
//!
//! A query asks for times when something was said ([`find`]), or for times of the events that turns speak of
//! ([`find_ahead`], [`EventDays`]).
//!
//! [`english`] reads the most kinds of expressions: whole phrases, with words before them such as `since` or `between`;
//! [`tongues`] reads the names of months and weekdays in other languages that separate words by blanks, and a few words such
//! as `yesterday`; [`han`] reads Chinese and Japanese; [`numeric`] reads dates in digits, in any language.
//!
//! This is our own code, since no crate that we found (2026-11) does it: `chrono-english`, `interim` and
//! `natural-date-parser` read a string that is nothing but a date, and return an instant; `two_timer` returns ranges, also
//! only for whole strings; `date_time_parser` finds the first date in a sentence, as a day, relative to the system's clock.

mod asked;
mod calendar;
mod english;
mod event;
mod han;
mod numeric;
mod read;
mod reader;
mod tense;
mod tongues;
mod words;

use std::ops::Range;

use chrono::{DateTime, TimeDelta, Utc};

use crate::{
    english::{
        lists::{List, list},
        stop_words::is_stop_word,
    },
    model::stored_time::StoredTime,
    text::words::MAX_QUERY_BYTES,
    times::{calendar::CalendarSpan, read::all, tense::TimeSpeaker},
};

pub(crate) use asked::{asks_of_events, asks_when};
#[cfg(test)]
pub(crate) use english::{MONTHS, WEEKDAYS};
pub(crate) use event::EventDays;
pub(crate) use tongues::month_in_any_language;

/// A time that a query names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TimeSpan {
    pub(crate) from: DateTime<Utc>,
    /// The first instant after it.
    pub(crate) until: DateTime<Utc>,
    /// The byte range of its words in the query. Two readings of one date have the same range.
    pub(crate) text: Range<usize>,
}

impl TimeSpan {
    /// Whether this instant is in the span, or at most `or_after` later than its end.
    pub(crate) fn contains(&self, at_ms: i64, or_after: TimeDelta) -> bool {
        let until_ms = self.until.timestamp_millis().saturating_add(or_after.num_milliseconds());
        (self.from.timestamp_millis()..until_ms).contains(&at_ms)
    }

    /// Whether the event that a turn speaks of falls into the span, if the turn was said at this moment.
    pub(crate) fn holds(&self, event: EventDays, said_at_ms: i64) -> bool {
        event::falls_into(&event.span_ms(said_at_ms), self.from, self.until)
    }
}

/// The most times of a query: more are a list, not a question.
const MAX_SPANS: usize = 16;

/// Returns the times that a query names, in order. Their instants are in the years 1 to 9999, no span is empty, and each
/// begins at or before `now`: nothing was said in the future.
pub(crate) fn find(query: &str, now: DateTime<Utc>) -> Vec<TimeSpan> {
    let now = *StoredTime::clamped(now);
    let mut found = spans(query, now, TimeSpeaker::Asking);
    found.retain(|span| span.from <= now);
    found.truncate(MAX_SPANS);
    found
}

/// Returns the future times that a query names. Nothing was said then, but something that was said may happen then.
pub(crate) fn find_ahead(query: &str, now: DateTime<Utc>) -> Vec<TimeSpan> {
    let now = *StoredTime::clamped(now);
    let mut found = spans(query, now, TimeSpeaker::Telling);
    found.retain(|span| span.from > now);
    found.truncate(MAX_SPANS);
    found
}

fn spans(query: &str, now: DateTime<Utc>, voice: TimeSpeaker) -> Vec<TimeSpan> {
    let found = all(&query[..query.floor_char_boundary(MAX_QUERY_BYTES)], now, voice).into_iter();
    found.map(|(CalendarSpan { from, until }, text)| TimeSpan { from, until, text }).collect()
}

/// Words that people use around a time if they only ask what was said then.
static AROUND: List = list!("around_times");

/// Whether a query asks only for what was said in its times: `remember last week?`
pub(crate) fn is_only_time(query: &str, spans: &[TimeSpan]) -> bool {
    if spans.is_empty() || query.len() > MAX_QUERY_BYTES {
        return false;
    }
    let is_talk = |word: &words::QueryWord| {
        let bare = word.lower.replace(['\'', '\u{2019}'], "");
        !word.is_number && (is_stop_word(&bare) || AROUND.contains(&bare))
    };
    let is_inside = |word: &words::QueryWord| spans.iter().any(|span| span.text.contains(&word.start));
    words::words(query).iter().all(|word| is_inside(word) || is_talk(word))
}

#[cfg(test)]
mod tests;
