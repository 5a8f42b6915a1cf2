//! Finds every time that a text names, in all supported languages.

use std::ops::Range;

use chrono::{DateTime, Utc};

use crate::times::{
    calendar::CalendarSpan,
    han,
    reader::{ExpressionReader, Toward},
    tense::{TimeSpeaker, directions, han_direction},
    words::QueryWords,
};

/// Returns every time that a text names, including future ones, with the byte range of its words, in the order of the text.
/// No span is empty.
pub(super) fn all(text: &str, now: DateTime<Utc>, voice: TimeSpeaker) -> Vec<(CalendarSpan, Range<usize>)> {
    let words = QueryWords::of(text);
    let directions = directions(&words, voice);
    let reader = |toward| ExpressionReader { words: &words, now, toward };
    let of_han = han::read(text, reader(han_direction(text, voice)));
    let is_taken = |place: &Range<usize>| {
        of_han.iter().any(|(_, known)| known.start < place.end && place.start < known.end)
    };
    let mut found = of_han.clone();
    let mut at = 0;
    while at < words.len() {
        let reader = reader(directions.get(at).copied().unwrap_or(Toward::Past));
        let english = || reader.may_be_english(at).then(|| reader.english(at)).flatten();
        let read = reader.numeric(at).or_else(english).or_else(|| reader.tongues(at));
        let Some(read) = read else {
            at += 1;
            continue;
        };
        let end = read.end.clamp(at + 1, words.len());
        if let (Some(first), Some(last)) = (words.get(at), words.get(end - 1)) {
            let place = first.start..last.end;
            if !is_taken(&place) {
                found.extend(read.spans.into_iter().map(|span| (span, place.clone())));
            }
        }
        at = end;
    }
    found.sort_by_key(|(_, place)| place.start);
    found.retain(|(span, _)| span.from < span.until);
    found
}
