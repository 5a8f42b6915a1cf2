//! Days, weeks, months, years and seasons as spans of instants, in UTC, clamped to the years 1 to 9999.

use chrono::{DateTime, Datelike, Months, NaiveDate, TimeDelta, Utc, Weekday};

use crate::model::stored_time::StoredTime;

/// A span of time: from one instant up to, but not including, another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CalendarSpan {
    pub(super) from: DateTime<Utc>,
    pub(super) until: DateTime<Utc>,
}

impl CalendarSpan {
    /// Returns the span from the start of one day to the start of another.
    pub(super) fn days(first: NaiveDate, behind: NaiveDate) -> Self {
        Self { from: midnight(first), until: midnight(behind) }
    }

    pub(super) fn day(date: NaiveDate) -> Self {
        Self::days(date, plus_days(date, 1))
    }

    /// Returns the span between two hours, counted from the start of a day.
    pub(super) fn hours(date: NaiveDate, first: i64, behind: i64) -> Self {
        let hour = |hours| plus(midnight(date), TimeDelta::hours(hours));
        Self { from: hour(first), until: hour(behind) }
    }

    pub(super) fn first_day(self) -> NaiveDate {
        self.from.date_naive()
    }

    pub(super) fn last_day(self) -> NaiveDate {
        plus(self.until, -TimeDelta::milliseconds(1)).date_naive()
    }
}

/// Units of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeUnit {
    Day,
    Week,
    Weekend,
    Month,
    Year,
}

impl TimeUnit {
    pub(super) fn from_word(word: &str) -> Option<Self> {
        Some(match word.strip_suffix('s').unwrap_or(word) {
            "day" | "night" => Self::Day,
            "week" => Self::Week,
            "weekend" => Self::Weekend,
            "month" => Self::Month,
            "year" => Self::Year,
            _ => return None,
        })
    }

    /// Returns half of the unit, in whole days.
    pub(super) fn half_days(self) -> i64 {
        match self {
            Self::Day => 0,
            Self::Week | Self::Weekend => 3,
            Self::Month => 15,
            Self::Year => 182,
        }
    }
}

/// Returns the day that is this many units after `date`, or before it if `count` is negative.
pub(super) fn shifted(date: NaiveDate, count: i32, unit: TimeUnit) -> NaiveDate {
    let ahead = count.unsigned_abs();
    match unit {
        _ if count <= 0 => back(date, ahead, unit),
        TimeUnit::Day => plus_days(date, ahead.into()),
        TimeUnit::Week | TimeUnit::Weekend => plus_days(date, 7 * i64::from(ahead)),
        TimeUnit::Month => held(date.checked_add_months(Months::new(ahead)), true),
        TimeUnit::Year => held(date.checked_add_months(Months::new(ahead.saturating_mul(12))), true),
    }
}

/// Returns the day that is this many units before `date`.
pub(super) fn back(date: NaiveDate, count: u32, unit: TimeUnit) -> NaiveDate {
    match unit {
        TimeUnit::Day => plus_days(date, -i64::from(count)),
        TimeUnit::Week | TimeUnit::Weekend => plus_days(date, -7 * i64::from(count)),
        TimeUnit::Month => held(date.checked_sub_months(Months::new(count)), false),
        TimeUnit::Year => held(date.checked_sub_months(Months::new(count.saturating_mul(12))), false),
    }
}

/// Returns the calendar period that contains a day. Weeks begin on Monday, weekends on Saturday.
pub(super) fn containing(date: NaiveDate, unit: TimeUnit) -> CalendarSpan {
    let monday = plus_days(date, -i64::from(date.weekday().num_days_from_monday()));
    match unit {
        TimeUnit::Day => CalendarSpan::day(date),
        TimeUnit::Week => CalendarSpan::days(monday, plus_days(monday, 7)),
        TimeUnit::Weekend => CalendarSpan::days(plus_days(monday, 5), plus_days(monday, 7)),
        TimeUnit::Month => months(date.year(), date.month(), 1),
        TimeUnit::Year => months(date.year(), 1, 12),
    }
}

/// Returns this many whole months: 12 for a year, 3 for a season of the northern hemisphere, where winter begins in
/// December.
pub(super) fn months(year: i32, first: u32, count: u32) -> CalendarSpan {
    let first = held(NaiveDate::from_ymd_opt(year, first, 1), true);
    CalendarSpan::days(first, held(first.checked_add_months(Months::new(count)), true))
}

/// Returns the last of these weekdays before `date`.
pub(super) fn weekday_before(date: NaiveDate, weekday: Weekday) -> NaiveDate {
    let yesterday = plus_days(date, -1);
    plus_days(yesterday, -i64::from(yesterday.weekday().days_since(weekday)))
}

/// Returns the first of these weekdays after `date`.
pub(super) fn weekday_after(date: NaiveDate, weekday: Weekday) -> NaiveDate {
    let tomorrow = plus_days(date, 1);
    plus_days(tomorrow, i64::from(weekday.days_since(tomorrow.weekday())))
}

/// Returns a week of a period. The first week is its first seven days, the last one its last seven.
pub(super) fn week_of(period: CalendarSpan, place: WeekPlace) -> CalendarSpan {
    let first = match place {
        WeekPlace::Nth(nth) => plus_days(period.first_day(), 7 * (i64::from(nth) - 1)),
        WeekPlace::Last => plus_days(period.last_day(), -6),
    };
    CalendarSpan::days(first, plus_days(first, 7))
}

/// Which week of a month or year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WeekPlace {
    /// Counted from 1.
    Nth(u32),
    Last,
}

/// Returns a date; `None` if it does not exist (30 February).
pub(super) fn date(year: i32, month: u32, day: u32) -> Option<NaiveDate> {
    NaiveDate::from_ymd_opt(year, month, day).filter(|_| (1..=9_999).contains(&year))
}

pub(super) fn plus_days(date: NaiveDate, days: i64) -> NaiveDate {
    held(date.checked_add_signed(TimeDelta::days(days)), days > 0)
}

pub(super) fn plus(at: DateTime<Utc>, delta: TimeDelta) -> DateTime<Utc> {
    *(StoredTime::clamped(at) + delta)
}

/// Clamps a date to the calendar's start or end.
fn held(date: Option<NaiveDate>, at_end: bool) -> NaiveDate {
    let [first, last] = [StoredTime::FIRST, StoredTime::LAST].map(|at| at.date_naive());
    date.map_or(if at_end { last } else { first }, |date| date.clamp(first, last))
}

fn midnight(date: NaiveDate) -> DateTime<Utc> {
    *StoredTime::clamped(date.and_time(chrono::NaiveTime::MIN).and_utc())
}
