//! What the readers of all languages share: the words, the moment that expressions are relative to, and the periods counted
//! from it.

use chrono::{DateTime, Datelike, NaiveDate, Utc, Weekday};

use crate::times::{
    calendar::{CalendarSpan, TimeUnit, back, containing, plus_days, shifted, weekday_after, weekday_before},
    words::QueryWords,
};

/// An expression that was read.
#[derive(Clone, Debug)]
pub(super) struct ReadExpression {
    /// The position after its last word.
    pub(super) end: usize,
    /// Empty if it names no time; two entries for a date that can be read in two ways.
    pub(super) spans: Vec<CalendarSpan>,
    /// Whether the year, the month or the week of the time is a guess.
    pub(super) is_yearless: bool,
}

impl ReadExpression {
    /// Creates an expression. An expression without spans was understood, but is not a time to search in.
    pub(super) fn of(end: usize, spans: impl IntoIterator<Item = CalendarSpan>) -> Self {
        Self { end, spans: spans.into_iter().collect(), is_yearless: false }
    }

    pub(super) fn yearless(end: usize, span: Option<CalendarSpan>) -> Self {
        Self { is_yearless: true, ..Self::of(end, span) }
    }

    pub(super) fn opened(mut self, bounds: impl Fn(CalendarSpan) -> (DateTime<Utc>, DateTime<Utc>)) -> Self {
        for span in &mut self.spans {
            (span.from, span.until) = bounds(*span);
        }
        self
    }
}

/// In which direction a time without a year, or a day without a week, lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Toward {
    /// The last one that has begun: people ask about what was said.
    Past,
    /// The next one.
    Future,
}

/// Reads expressions from words; each reading examines a bounded number of them.
#[derive(Clone, Copy)]
pub(super) struct ExpressionReader<'w> {
    pub(super) words: &'w QueryWords,
    pub(super) now: DateTime<Utc>,
    pub(super) toward: Toward,
}

impl ExpressionReader<'_> {
    pub(super) fn today(self) -> NaiveDate {
        self.now.date_naive()
    }

    /// Returns the end of today: nothing was said later.
    pub(super) fn tomorrow(self) -> DateTime<Utc> {
        CalendarSpan::day(self.today()).until
    }

    pub(super) fn lower(&self, at: usize) -> &str {
        self.words.lower(at)
    }

    /// Returns one of the occurrences in several years: the last that has begun, or the first that is not over yet.
    pub(super) fn in_some_year(self, of_year: impl Fn(i32) -> Option<CalendarSpan>) -> Option<CalendarSpan> {
        /// How many years are searched: 29 February comes every fourth year, or eighth.
        const YEARS: i32 = 8;
        let year = self.today().year();
        match self.toward {
            Toward::Past => {
                (year - YEARS..=year).rev().filter_map(of_year).find(|span| span.from <= self.now)
            }
            Toward::Future => (year..=year + YEARS).filter_map(of_year).find(|span| span.until > self.now),
        }
    }

    /// Returns the last of these weekdays, or the next; never today.
    pub(super) fn on_weekday(self, weekday: Weekday) -> NaiveDate {
        match self.toward {
            Toward::Past => weekday_before(self.today(), weekday),
            Toward::Future => weekday_after(self.today(), weekday),
        }
    }

    /// Returns the week, month and so on that is this many from the current one. On a weekend, -1 means the previous
    /// weekend.
    pub(super) fn period(self, count: i32, unit: TimeUnit) -> CalendarSpan {
        containing(shifted(self.today(), count, unit), unit)
    }

    /// Returns the weekday in the week that is this many from the current one.
    pub(super) fn in_week(self, count: i32, weekday: Weekday) -> NaiveDate {
        plus_days(self.period(count, TimeUnit::Week).first_day(), weekday.num_days_from_monday().into())
    }

    /// Returns the given number of units up to the end of today.
    pub(super) fn rolling(self, count: u32, unit: TimeUnit) -> CalendarSpan {
        CalendarSpan::days(back(self.today(), count, unit), plus_days(self.today(), 1))
    }

    /// Returns the time from `most` to `least` units ago, extended by half a unit on both sides, and by one more day if the
    /// number of days is a guess.
    pub(super) fn ago(self, (least, most): (u32, u32), unit: TimeUnit) -> CalendarSpan {
        self.around(-signed(most), -signed(least), unit)
    }

    /// Returns the time from `least` to `most` units ahead, extended in the same way.
    pub(super) fn ahead(self, (least, most): (u32, u32), unit: TimeUnit) -> CalendarSpan {
        self.around(signed(least), signed(most), unit)
    }

    fn around(self, first: i32, last: i32, unit: TimeUnit) -> CalendarSpan {
        let half = unit.half_days() + i64::from(first != last && unit == TimeUnit::Day);
        let [first, last] = [first, last].map(|count| shifted(self.today(), count, unit));
        CalendarSpan::days(plus_days(first, -half), plus_days(last, half + 1))
    }
}

fn signed(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}
