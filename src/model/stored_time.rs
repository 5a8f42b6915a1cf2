//! A time as the file stores it: ISO-8601 UTC text with milliseconds, which sorts as time does.

use std::ops::{Add, Deref, Sub};

use chrono::{DateTime, Datelike, NaiveDate, SecondsFormat, SubsecRound, TimeDelta, Timelike, Utc};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The years that have four digits. The text of any other year would sort wrongly.
const YEARS: std::ops::RangeInclusive<i32> = 1..=9_999;
/// The last millisecond of a second, in nanoseconds. chrono counts a leap second as further nanoseconds of the second
/// before it, and writes it as `:60`.
const LAST_MILLI: u32 = 999_000_000;

/// A time that can be stored and read again: in UTC a year from 1 to 9999, whole milliseconds, no leap second. A statement
/// takes times only as this type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "DateTime<Utc>", into = "DateTime<Utc>")]
pub(crate) struct StoredTime(DateTime<Utc>);

impl StoredTime {
    /// The first time that can be stored.
    pub(crate) const FIRST: Self =
        Self(DateTime::from_timestamp_millis(-62_135_596_800_000).expect("the year 1 begins"));
    /// The last time that can be stored.
    pub(crate) const LAST: Self =
        Self(DateTime::from_timestamp_millis(253_402_300_799_999).expect("the year 9999 ends"));

    /// Takes the time `what` that a caller states: truncated to milliseconds, with a leap second folded into the last
    /// millisecond before it. Fails if its year in UTC is outside 1 to 9999.
    pub(crate) fn new(what: &str, at: DateTime<Utc>) -> Result<Self> {
        if YEARS.contains(&at.year()) {
            return Ok(Self::folded(at));
        }
        Err(Error::invalid(format!("{what} is in the year {} of UTC; 1 to 9999 are allowed", at.year())))
    }

    /// Like [`new`](Self::new), for a time that may be left out.
    pub(crate) fn stated(what: &str, at: Option<DateTime<Utc>>) -> Result<Option<Self>> {
        at.map(|at| Self::new(what, at)).transpose()
    }

    /// Takes a time of a clock, one that was read from the file, or one that was computed. If it is outside the years 1 to
    /// 9999, it is clamped to them.
    pub(crate) fn clamped(at: DateTime<Utc>) -> Self {
        Self::folded(at.clamp(Self::FIRST.0, Self::LAST.0))
    }

    fn folded(at: DateTime<Utc>) -> Self {
        Self(at.with_nanosecond(at.nanosecond().min(LAST_MILLI)).unwrap_or(at).trunc_subsecs(3))
    }

    /// Formats the time: `2023-05-08T13:56:00.000Z`.
    pub(crate) fn to_text(self) -> String {
        self.0.to_rfc3339_opts(SecondsFormat::Millis, true)
    }

    /// Parses what [`to_text`](Self::to_text) wrote, by fixed positions: chrono's parser took 8 % of the time for reading
    /// the warm tier (benchmark `warm`, 2026-11).
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let bytes: &[u8; 24] = text.as_bytes().try_into().ok()?;
        let is_shaped = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'.'), (23, b'Z')]
            .into_iter()
            .all(|(at, mark)| bytes[at] == mark);
        let number = |digits: std::ops::Range<usize>| {
            bytes[digits].iter().try_fold(0, |number: u32, digit| {
                digit.is_ascii_digit().then(|| number * 10 + u32::from(digit - b'0'))
            })
        };
        let year = number(0..4)?.cast_signed();
        let date = NaiveDate::from_ymd_opt(year, number(5..7)?, number(8..10)?)?;
        let at =
            date.and_hms_milli_opt(number(11..13)?, number(14..16)?, number(17..19)?, number(20..23)?)?;
        (is_shaped && YEARS.contains(&year)).then(|| Self(at.and_utc()))
    }
}

impl Deref for StoredTime {
    type Target = DateTime<Utc>;

    fn deref(&self) -> &DateTime<Utc> {
        &self.0
    }
}

/// The time that is `span` later (earlier, if negative), clamped to the years 1 to 9999.
impl Add<TimeDelta> for StoredTime {
    type Output = Self;

    fn add(self, span: TimeDelta) -> Self {
        let end = if span < TimeDelta::zero() { DateTime::<Utc>::MIN_UTC } else { DateTime::<Utc>::MAX_UTC };
        Self::clamped(self.0.checked_add_signed(span).unwrap_or(end))
    }
}

impl Sub<TimeDelta> for StoredTime {
    type Output = Self;

    fn sub(self, span: TimeDelta) -> Self {
        self + -span
    }
}

impl Sub for StoredTime {
    type Output = TimeDelta;

    fn sub(self, earlier: Self) -> TimeDelta {
        self.0 - earlier.0
    }
}

impl TryFrom<DateTime<Utc>> for StoredTime {
    type Error = Error;

    fn try_from(at: DateTime<Utc>) -> Result<Self> {
        Self::new("a time", at)
    }
}

impl From<StoredTime> for DateTime<Utc> {
    fn from(at: StoredTime) -> Self {
        at.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(input: &str, expected: Option<&str>) {
        let at: DateTime<Utc> = input.parse().unwrap();
        assert_eq!(StoredTime::new("it", at).ok().map(StoredTime::to_text).as_deref(), expected, "{input}");
    }

    #[test]
    fn stored_times_are_text_that_sorts_as_time_does() {
        check("2023-05-08T13:56:00Z", Some("2023-05-08T13:56:00.000Z"));
        check("2023-05-08T13:56:00.123999Z", Some("2023-05-08T13:56:00.123Z"));
        check("2023-05-08T13:56:00+02:00", Some("2023-05-08T11:56:00.000Z"));
        check("1933-01-01T00:00:00Z", Some("1933-01-01T00:00:00.000Z"));
        check("9999-12-31T23:59:59.999Z", Some("9999-12-31T23:59:59.999Z"));
        check("0001-01-01T00:00:00Z", Some("0001-01-01T00:00:00.000Z"));
        check("+10000-01-01T00:00:00Z", None);
        check("0000-12-31T00:00:00Z", None);
    }

    #[test]
    fn a_leap_second_becomes_the_last_millisecond_before_it() {
        for leap in ["2016-12-31T23:59:60Z", "2016-12-31T23:59:60.5Z", "2017-01-01T01:59:60.999999999+02:00"]
        {
            check(leap, Some("2016-12-31T23:59:59.999Z"));
        }
        check("9999-12-31T23:59:60Z", Some("9999-12-31T23:59:59.999Z"));
    }

    #[test]
    fn the_year_counts_in_utc() {
        check("0001-01-01T00:00:00+14:00", None);
        check("0000-12-31T23:59:59-00:01", Some("0001-01-01T00:00:59.000Z"));
        check("9999-12-31T23:59:59-23:59", None);
        check("+10000-01-01T00:00:00+00:01", Some("9999-12-31T23:59:00.000Z"));
    }

    #[test]
    fn text_reads_back() {
        let chronos = |text: &str| DateTime::parse_from_rfc3339(text).ok().map(|at| at.with_timezone(&Utc));
        let read = |text: &str| StoredTime::from_text(text).map(DateTime::from);
        for text in ["2024-02-29T23:59:59.999Z", "2023-02-29T00:00:00.000Z", "9999-12-31T24:00:00.000Z"] {
            assert_eq!(read(text), chronos(text), "{text}");
        }
        for text in [
            "",
            "yesterday",
            "2024-02-29T23:59:59Z",
            "2024-02-29 23:59:59.999Z",
            "2024-02-2xT23:59:59.999Z",
            "2016-12-31T23:59:60.000Z",
            "0000-12-31T00:00:00.000Z",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    proptest! {
        /// Every time that chrono can hold, with leap seconds.
        #[test]
        fn what_can_be_made_reads_back_and_sorts(
            seconds in DateTime::<Utc>::MIN_UTC.timestamp()..=DateTime::<Utc>::MAX_UTC.timestamp(),
            near in -62_135_700_000..=253_402_400_000_i64,
            minutes in any::<bool>(),
            nanos in 0..2_000_000_000_u32,
            later in 0..200_000_i64,
        ) {
            let times = [seconds, near].map(|at| {
                // chrono holds a leap second only at the end of a minute.
                let (at, nanos) = if minutes { (at - at.rem_euclid(60) + 59, nanos) } else { (at, nanos % 1_000_000_000) };
                DateTime::from_timestamp(at, nanos)
            });
            for at in times.into_iter().flatten() {
                let made = StoredTime::clamped(at);
                prop_assert_eq!(StoredTime::from_text(&made.to_text()), Some(made));
                prop_assert_eq!(StoredTime::new("it", at).ok(), YEARS.contains(&at.year()).then_some(made));
                let after = made + TimeDelta::seconds(later);
                prop_assert!(after >= made && after.to_text() >= made.to_text());
            }
        }
    }
}
