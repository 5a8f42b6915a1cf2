//! Instants as the file stores them: ISO-8601 UTC text with milliseconds, which sorts as time does.

use chrono::{DateTime, Datelike, NaiveDate, SecondsFormat, SubsecRound, Utc};

use crate::error::{Error, Result};

/// Years outside of these have no four digits, and their text would sort wrongly.
const YEARS: std::ops::RangeInclusive<i32> = 1..=9_999;

/// `2023-05-08T13:56:00.000Z`.
pub(crate) fn to_text(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Reads what [`to_text`] wrote.
pub(crate) fn from_text(text: &str) -> Option<DateTime<Utc>> {
    DateTime::parse_from_rfc3339(text).ok().map(|at| at.with_timezone(&Utc))
}

/// An instant of the caller, cut to milliseconds.
pub(crate) fn checked(at: DateTime<Utc>) -> Result<DateTime<Utc>> {
    if YEARS.contains(&at.year()) {
        Ok(at.trunc_subsecs(3))
    } else {
        Err(Error::invalid(format!("the year {} is outside of 1 to 9999", at.year())))
    }
}

/// An instant of the system clock, cut to milliseconds; a clock gone mad is held at the bounds.
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
    }
}
