//! The English names of months, weekdays, seasons and parts of the day.

use chrono::Weekday;

use crate::{english::lists::is_in, times::calendar::WeekPlace};

/// The English weekdays, from Monday on.
#[cfg(test)]
pub(crate) const WEEKDAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
#[rustfmt::skip]
pub(crate) const MONTHS: [&str; 12] = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
];

/// A word that is the name of a month.
#[derive(Clone, Copy, Debug)]
pub(super) struct Month {
    pub(super) number: u32,
    /// False for `Jan` and `June`, which may be persons, and for the verb `may`.
    pub(super) is_sure: bool,
    /// The position of the word.
    pub(super) at: usize,
}

/// Returns the month that a word names. Also accepts `mid-March`.
pub(super) fn month_named(word: &str, at: usize) -> Option<Month> {
    let word = word.strip_prefix("mid-").unwrap_or(word);
    let is_short = word.len() == 3 || word == "sept";
    let named = |name: &str| name == word || (is_short && name.starts_with(word));
    let (number, name) = (1..).zip(MONTHS).find(|(_, name)| named(name))?;
    let is_sure = name == word && !is_in("march april may june august", name);
    Some(Month { number, is_sure, at })
}

/// Returns the weekday that a word names, abbreviated or in full.
pub(super) fn weekday(word: &str) -> Option<Weekday> {
    if is_in("tues thur thurs", word) { word[..3].parse().ok() } else { word.parse().ok() }
}

/// Returns the hours that a part of the day spans, counted from the start of the day.
pub(super) fn part_of_day(word: &str) -> Option<(i64, i64)> {
    const PARTS: [(&str, (i64, i64)); 4] =
        [("morning", (0, 12)), ("afternoon", (12, 18)), ("evening", (17, 24)), ("night", (17, 30))];
    PARTS.iter().find(|(name, _)| *name == word).map(|(_, hours)| *hours)
}

/// Returns the month in which a season begins in the northern hemisphere.
pub(super) fn season(word: &str) -> Option<u32> {
    const SEASONS: [(&str, u32); 5] =
        [("spring", 3), ("summer", 6), ("autumn", 9), ("fall", 9), ("winter", 12)];
    SEASONS.iter().find(|(name, _)| *name == word).map(|(_, month)| *month)
}

/// Returns which week of a month or year a word names.
pub(super) fn week_place(word: &str) -> Option<WeekPlace> {
    const PLACES: [&str; 5] = ["first 1st", "second 2nd", "third 3rd", "fourth 4th", "fifth 5th"];
    if word == "last" {
        return Some(WeekPlace::Last);
    }
    (1..).zip(PLACES).find(|(_, names)| is_in(names, word)).map(|(nth, _)| WeekPlace::Nth(nth))
}
