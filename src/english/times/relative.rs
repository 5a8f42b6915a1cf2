//! Periods and days by where they stand from now: `last week`, `this morning`, `the past two weeks`, `on Monday`.

use chrono::{Datelike, NaiveDate, TimeDelta, Weekday};

use crate::english::{
    lists::is_in,
    times::{
        calendar::{self, Span, Unit, back, containing, plus, plus_days, weekday_before},
        grammar::{Found, Reader},
    },
};

impl Reader<'_> {
    pub(super) fn is_this_unit(self, at: usize) -> bool {
        match self.words.next(at) {
            "this" => {
                matches!(
                    self.words.next(at + 1),
                    "week" | "month" | "year" | "morning" | "afternoon" | "evening"
                )
            }
            "today" => true,
            _ => false,
        }
    }

    /// What lies ahead: read over, so that `next Monday` is not read as `Monday`.
    pub(super) fn ahead(self, at: usize) -> Option<Found> {
        let word = self.words.next(at);
        let is_time = Unit::from_word(word).is_some()
            || weekday(word, true).is_some()
            || self.month(at, "in").is_some()
            || self.season_months(at).is_some();
        is_time.then(|| Found::nothing(at + 1))
    }

    /// Up to the end of today, for so many units.
    pub(super) fn rolling(self, end: usize, count: u32, unit: Unit) -> Found {
        let from = match unit {
            Unit::Minute => plus(self.now, -TimeDelta::minutes(count.into())),
            Unit::Hour => plus(self.now, -TimeDelta::hours(count.into())),
            _ => Span::day(back(self.today(), count, unit)).from,
        };
        Found::one(end, Span { from, until: self.tomorrow() })
    }

    pub(super) fn behind_the(self, at: usize, lead: &str) -> Option<Found> {
        let second = self.words.next(at + 1);
        let third = self.words.next(at + 2);
        match self.lower(at) {
            "day" if second == "before" && third == "yesterday" => {
                Some(Found::one(at + 3, Span::day(back(self.today(), 2, Unit::Day))))
            }
            "day" if second == "after" && third == "tomorrow" => Some(Found::nothing(at + 3)),
            word @ ("week" | "month" | "year" | "weekend") if second == "before" && third == "last" => {
                let unit = Unit::from_word(word)?;
                Some(Found::one(at + 3, containing(back(self.today(), 2, unit), unit)))
            }
            "week" if second == "of" => {
                let found = self.absolute(at + 2, "of")?;
                let day = found.spans.first().copied().filter(|span| *span == Span::day(span.first_day()))?;
                Some(Found::one(found.end, containing(day.first_day(), Unit::Week)))
            }
            "other" => {
                let days = match second {
                    "day" | "night" | "evening" | "morning" => 14,
                    "week" => 35,
                    _ => return None,
                };
                let until = Span::day(self.today()).from;
                Some(Found::one(at + 2, Span { from: plus(until, -TimeDelta::days(days)), until }))
            }
            "past" | "last" | "previous" => {
                let (end, most) = self.count(at + 1).map_or((at + 1, 1), |(end, _, most)| (end, most));
                match Unit::from_word(self.words.next(end)) {
                    _ if self.words.next(end + 1) == "of" => Some(Found::nothing(end + 1)),
                    // `the last day`, `the past night`: of what?
                    Some(Unit::Day | Unit::Minute) if end == at + 1 => None,
                    Some(Unit::Weekend) if end == at + 1 => self.behind_last(at, at + 1),
                    Some(unit) => Some(self.rolling(end + 1, most, unit)),
                    None => self.behind_last(at, at + 1),
                }
            }
            "next" | "coming" | "upcoming" | "following" => self.ahead(at + 1),
            "weekend" if matches!(lead, "on" | "at" | "over" | "during" | "since" | "before" | "after") => {
                let this = containing(self.today(), Unit::Weekend);
                let begun = if this.from <= self.now {
                    this
                } else {
                    containing(back(self.today(), 1, Unit::Week), Unit::Weekend)
                };
                Some(Found::one(at + 1, begun))
            }
            "summer" | "winter" | "autumn" | "fall" | "spring" => self.season(at, lead, true),
            _ => self.absolute(at, lead),
        }
    }

    /// What follows `last`, `past`, `previous` or `this`, which stand at `word`.
    pub(super) fn behind_last(self, word: usize, at: usize) -> Option<Found> {
        let is_this = self.lower(word) == "this";
        // `this past weekend`
        if is_this && matches!(self.words.next(at), "past" | "last") {
            return self.behind_last(at, at + 1);
        }
        let is_past = self.lower(word) == "past";
        let today = self.today();
        let day_of = |unit| if is_this { today } else { back(today, 1, unit) };
        let next = self.words.next(at);
        let unit = match next {
            "night" if !is_this => {
                let from = Span::hours(back(today, 1, Unit::Day), 17, 30);
                return Some(Found::one(at + 1, from));
            }
            "morning" | "afternoon" | "evening" if is_this => return Some(self.part_of_day(at, today)),
            "time" if is_this => return self.this_time_last(at + 1),
            "week" | "month" | "year" | "weekend" => Unit::from_word(next)?,
            // `the last march` was one of many people.
            _ if self.is_verb_month(at) && matches!(self.words.before(word), "the" | "my" | "our") => {
                return None;
            }
            _ => return self.last_named(is_this, at),
        };
        if self.words.next(at + 1) == "of" {
            return Some(Found::nothing(at + 1));
        }
        if is_past && unit != Unit::Weekend {
            return Some(self.rolling(at + 1, 1, unit));
        }
        let period = match unit {
            // On a weekend, `last weekend` is the one before.
            Unit::Weekend => containing(day_of(Unit::Week), unit),
            unit => containing(day_of(unit), unit),
        };
        Some(self.narrowed(at + 1, period, unit))
    }

    /// `last week on Monday`, `last year in March`.
    fn narrowed(self, end: usize, period: Span, unit: Unit) -> Found {
        let lead = usize::from(matches!(self.words.next(end), "on" | "in"));
        let at = end + lead;
        if unit == Unit::Week
            && let Some(day) = weekday(self.words.next(at), true)
        {
            let date = plus_days(period.first_day(), day.num_days_from_monday().into());
            return self.part_of_day(at + 1, date);
        }
        if unit == Unit::Year
            && lead == 1
            && let Some((end, month)) = self.month(at, "in")
        {
            return Found::one(end, calendar::months(period.first_day().year(), month, 1));
        }
        Found::one(end, period)
    }

    fn last_named(self, is_this: bool, at: usize) -> Option<Found> {
        let today = self.today();
        if let Some(day) = weekday(self.words.next(at), true) {
            let of_this_week = containing(today, Unit::Week).first_day();
            let date = if is_this {
                plus_days(of_this_week, day.num_days_from_monday().into())
            } else {
                weekday_before(today, day)
            };
            return Some(if date > today { Found::nothing(at + 1) } else { self.part_of_day(at + 1, date) });
        }
        let (end, of_year): (usize, Box<dyn Fn(i32) -> Option<Span>>) =
            if let Some(months) = self.season_months(at) {
                (at + 1, Box::new(move |year| Some(calendar::months(year, months, 3))))
            } else if let Some((end, month)) = self.month(at, "in") {
                (end, Box::new(move |year| Some(calendar::months(year, month, 1))))
            } else {
                return self.holiday(at, "last");
            };
        let year = today.year();
        let years = (year - 2..=year).rev().filter_map(of_year);
        let span = if is_this {
            years.into_iter().find(|span| span.from <= self.now && span.last_day().year() >= year)
        } else {
            years.into_iter().find(|span| span.until <= self.now)
        };
        Some(Found { end, spans: span.into_iter().collect(), is_yearless: false })
    }

    /// `this time last year`
    fn this_time_last(self, at: usize) -> Option<Found> {
        let unit = Unit::from_word(self.words.next(at + 1)).filter(|_| self.words.next(at) == "last")?;
        Some(Found::one(
            at + 2,
            self.around(1, 1, if unit == Unit::Year { Unit::Month } else { Unit::Day }, unit),
        ))
    }

    /// A day, or the part of it that is named behind it.
    pub(super) fn part_of_day(self, at: usize, date: NaiveDate) -> Found {
        let (first, behind) = match self.words.next(at) {
            "morning" => (0, 12),
            "afternoon" => (12, 18),
            "evening" => (17, 24),
            "night" => (17, 30),
            _ => return Found::one(at, Span::day(date)),
        };
        Found::one(at + 1, Span::hours(date, first, behind))
    }

    /// `Monday`, `on Monday morning`, `Monday last week`; of a date behind it only the date counts.
    pub(super) fn weekday(self, at: usize, lead: &str) -> Option<Found> {
        let is_led = matches!(lead, "on" | "since" | "before" | "after" | "from" | "between" | "until");
        let day = weekday(self.lower(at), is_led && self.words.is_capital(at))?;
        let day_before = self.words.before(at);
        if !is_led
            && (is_proper(day_before)
                || matches!(day_before, "the" | "a")
                || (self.words.is_capital(at + 1)
                    && !self.words.next(at + 1).is_empty()
                    && self.absolute(at + 1, "on").is_none()))
        {
            return None;
        }
        if let Some(date) = self
            .absolute(at + 1, "on")
            .filter(|found| found.spans.iter().any(|span| *span == Span::day(span.first_day())))
        {
            return Some(date);
        }
        let of = at + 1 + usize::from(self.words.next(at + 1) == "of");
        if matches!(self.words.next(of), "last" | "this") && self.words.next(of + 1) == "week" {
            let back_weeks = u32::from(self.lower(of) == "last");
            let monday = containing(back(self.today(), back_weeks, Unit::Week), Unit::Week).first_day();
            return Some(Found::one(of + 2, Span::day(plus_days(monday, day.num_days_from_monday().into()))));
        }
        let found = self.part_of_day(at + 1, weekday_before(self.today(), day));
        Some(Found { is_yearless: true, ..found })
    }
}

/// `Black Friday`, `Palm Sunday`: names with a day in them.
fn is_proper(word: &str) -> bool {
    const NAMES: &str =
        "black good ash palm casual freaky super easter cyber ruby blue bloody manic happy man";
    is_in(NAMES, word)
}

/// A day of the week; short forms only where `short` is.
fn weekday(word: &str, short: bool) -> Option<Weekday> {
    let word = match word {
        "tues" => "tue",
        "thur" | "thurs" => "thu",
        word => word,
    };
    word.parse().ok().filter(|_| short || word.ends_with("day"))
}
