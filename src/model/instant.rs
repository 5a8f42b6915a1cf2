//! Instants as the file stores them: ISO-8601 UTC text with milliseconds, which sorts as time does.

use chrono::{DateTime, Datelike, NaiveDate, SecondsFormat, SubsecRound, Utc};

use crate::error::{Error, Result};

/// The years that have four digits. The text of any other year would sort wrongly.
const YEARS: std::ops::RangeInclusive<i32> = 1..=9_999;

/// Formats an instant: `2023-05-08T13:56:00.000Z`.
pub(crate) fn to_text(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Parses what [`to_text`] wrote, by fixed positions: chrono's parser took 8 % of the time for reading the warm tier
/// (benchmark `warm`, 2026-11).
pub(crate) fn from_text(text: &str) -> Option<DateTime<Utc>> {
    let bytes: &[u8; 24] = text.as_bytes().try_into().ok()?;
    let is_shaped = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'.'), (23, b'Z')]
        .into_iter()
        .all(|(at, mark)| bytes[at] == mark);
    let number = |digits: std::ops::Range<usize>| {
        bytes[digits].iter().try_fold(0, |number: u32, digit| {
            digit.is_ascii_digit().then(|| number * 10 + u32::from(digit - b'0'))
        })
    };
    let date = NaiveDate::from_ymd_opt(number(0..4)?.cast_signed(), number(5..7)?, number(8..10)?)?;
    let at = date.and_hms_milli_opt(number(11..13)?, number(14..16)?, number(17..19)?, number(20..23)?)?;
    is_shaped.then(|| at.and_utc())
}

/// Truncates a caller's instant to milliseconds. Fails if its year is outside 1 to 9999.
pub(crate) fn checked(at: DateTime<Utc>) -> Result<DateTime<Utc>> {
    if YEARS.contains(&at.year()) {
        Ok(at.trunc_subsecs(3))
    } else {
        Err(Error::invalid(format!("the year {} is outside of 1 to 9999", at.year())))
    }
}

/// Truncates an instant of the system clock to milliseconds. If the clock is outside the years 1 to 9999, it is clamped
/// to them.
pub(crate) fn clamped(at: DateTime<Utc>) -> DateTime<Utc> {
    let bound = |year, month, day| {
        NaiveDate::from_ymd_opt(year, month, day)
            .and_then(|date| date.and_hms_opt(0, 0, 0))
            .expect("the bounds are dates")
            .and_utc()
    };
    at.clamp(bound(*YEARS.start(), 1, 1), bound(*YEARS.end(), 12, 31)).trunc_subsecs(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &str, expected: Option<&str>) {
        let at: DateTime<Utc> = input.parse().unwrap();
        assert_eq!(checked(at).ok().map(to_text).as_deref(), expected, "{input}");
    }

    #[test]
    fn instants_are_text_that_sorts_as_time_does() {
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
    fn text_reads_back() {
        let at = checked("1969-07-20T20:17:40.5Z".parse().unwrap()).unwrap();
        assert_eq!(from_text(&to_text(at)), Some(at));
        let chronos = |text: &str| DateTime::parse_from_rfc3339(text).ok().map(|at| at.with_timezone(&Utc));
        for text in ["2024-02-29T23:59:59.999Z", "2023-02-29T00:00:00.000Z", "9999-12-31T24:00:00.000Z"] {
            assert_eq!(from_text(text), chronos(text), "{text}");
        }
        for text in
            ["", "yesterday", "2024-02-29T23:59:59Z", "2024-02-29 23:59:59.999Z", "2024-02-2xT23:59:59.999Z"]
        {
            assert_eq!(from_text(text), None, "{text}");
        }
    }
}
