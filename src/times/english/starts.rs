//! The words that a time may begin with.

use std::{collections::HashSet, sync::LazyLock};

use crate::{
    english::numbers,
    times::english::{
        dates::DATES,
        names::{month_named, part_of_day, season, week_place, weekday},
        phrases::PHRASES,
    },
};

/// The first words of patterns; placeholders, a name or a number, are checked separately.
static STARTS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let mut starts: HashSet<&str> = ["a", "an", "couple", "few", "several", "some"].into();
    for (pattern, _) in PHRASES.iter().chain(DATES) {
        for element in pattern.split(' ') {
            starts.extend(element.trim_end_matches('?').split('|'));
            if !element.ends_with('?') {
                break;
            }
        }
    }
    starts
});

/// Whether a time may begin with this word.
pub(super) fn may_begin(word: &str) -> bool {
    STARTS.contains(word)
        || month_named(word, 0).is_some()
        || weekday(word).is_some()
        || part_of_day(word).is_some()
        || season(word).is_some()
        || week_place(word).is_some()
        || numbers::cardinal(word.split_once(['-', '–']).map_or(word, |(first, _)| first)).is_some()
}
