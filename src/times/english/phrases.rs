//! Times relative to now, such as `last week`, `two days ago`, `on Monday`: a table of patterns and their meanings.
//!
//! A pattern is a list of words separated by blanks; `a|b` matches `a` or `b`, and `x?` is optional. A capital letter is a
//! placeholder: `N` a count, `U` a unit, `W` a weekday, `P` a part of the day, `M` a month, `S` a season, `D` a day of a
//! month or a range of them, `O` which week of a month or year (`first`, `last`), `Y` the year of what precedes it, `A` a
//! day by its date.

use chrono::{Datelike, NaiveDate, Weekday};

use crate::{
    english::{
        lists::is_in,
        numbers::{self, digits},
    },
    times::{
        calendar::{
            CalendarSpan, TimeUnit, WeekPlace, months, plus_days, shifted, week_of, weekday_after,
            weekday_before,
        },
        english::names::{Month, month_named, part_of_day, season, week_place, weekday},
        reader::{ExpressionReader, ReadExpression},
    },
};

/// The words that matched a pattern, and their positions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PhraseMatch<'l> {
    pub(super) at: usize,
    pub(super) end: usize,
    /// The word before the match, which was already read.
    pub(super) lead: &'l str,
    pub(super) has_the: bool,
    /// Whether the match says `past`, not `last`.
    is_past: bool,
    /// 0 for `this`, -1 for `last`, 1 for `next`.
    shift: i32,
    /// The minimum and the maximum of the count.
    count: (u32, u32),
    unit: Option<TimeUnit>,
    weekday: Option<Weekday>,
    /// The hours of a part of the day.
    part: Option<(i64, i64)>,
    pub(super) month: Option<Month>,
    /// The month in which the season begins.
    pub(super) season: Option<u32>,
    pub(super) days: Option<Days>,
    pub(super) year: Option<i32>,
    date: Option<CalendarSpan>,
    pub(super) place: Option<WeekPlace>,
}

/// Days of a month, and whether they are written as ordinals.
#[derive(Clone, Copy, Debug)]
pub(super) struct Days {
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) is_ordinal: bool,
}

#[expect(clippy::unnecessary_wraps, reason = "as meanings return it")]
impl PhraseMatch<'_> {
    pub(super) fn one(&self, span: CalendarSpan) -> Option<ReadExpression> {
        Some(ReadExpression::of(self.end, [span]))
    }

    /// Returns an expression that was understood, but is not a time to search in.
    fn nothing(&self) -> Option<ReadExpression> {
        Some(ReadExpression::of(self.end, None))
    }

    /// Returns the named part of this day, or the whole day.
    fn of_day(&self, date: NaiveDate) -> CalendarSpan {
        self.part.map_or_else(
            || CalendarSpan::day(date),
            |(first, behind)| CalendarSpan::hours(date, first, behind),
        )
    }

    pub(super) fn is_led_by(&self, leads: &str) -> bool {
        is_in(leads, self.lead)
    }
}

/// The meaning of a pattern; `None` if it does not apply.
pub(super) type PatternMeaning = fn(ExpressionReader<'_>, &PhraseMatch<'_>) -> Option<ReadExpression>;

/// Patterns with their meanings. The first one that matches and applies is used.
pub(super) const PHRASES: &[(&str, PatternMeaning)] = &[
    ("the? O week of this|last|next month|year", |reader, fit| {
        let unit = TimeUnit::from_word(reader.lower(fit.end - 1))?;
        fit.one(week_of(reader.period(fit.shift, unit), fit.place?))
    }),
    ("the? O week of|in M Y?", |reader, fit| reader.week_of_month(fit)),
    ("the? O week Y", |_, fit| fit.one(week_of(months(fit.year?, 1, 12), fit.place?))),
    ("next week on|in? W P?", |reader, fit| fit.one(fit.of_day(reader.in_week(1, fit.weekday?)))),
    ("today", |reader, fit| reader.day(fit, 0)),
    ("yesterday P?", |reader, fit| reader.day(fit, 1)),
    ("the? day before yesterday", |reader, fit| reader.day(fit, 2)),
    ("this P", |reader, fit| reader.day(fit, 0)),
    ("tonight", |reader, fit| fit.one(CalendarSpan::hours(reader.today(), 17, 30))),
    ("last|past|previous P", |reader, fit| reader.day(fit, 1)),
    ("tomorrow P?", |reader, fit| reader.day(fit, -1)),
    ("the? day after tomorrow", |reader, fit| reader.day(fit, -2)),
    ("later today", |_, fit| fit.nothing()),
    ("later this U|P", |_, fit| fit.nothing()),
    ("the? every|each U|W|M|S", |_, fit| fit.nothing()),
    ("the? next|coming|upcoming|following N U", |reader, fit| reader.next_few(fit)),
    ("the? next|coming|upcoming|following U", |reader, fit| match fit.unit? {
        TimeUnit::Day => fit.nothing(),
        unit => fit.one(reader.period(1, unit)),
    }),
    ("the? next|coming|upcoming|following W P?", |reader, fit| {
        fit.one(fit.of_day(weekday_after(reader.today(), fit.weekday?)))
    }),
    ("the? next|coming|upcoming|following M|S", |reader, fit| reader.next_named(fit)),
    ("W next week", |reader, fit| fit.one(CalendarSpan::day(reader.in_week(1, fit.weekday?)))),
    ("N U from now", |reader, fit| fit.one(reader.ahead(fit.count, fit.unit?))),
    ("recently|lately", |reader, fit| reader.lately(fit, 1, TimeUnit::Month)),
    ("recent U", |reader, fit| {
        reader.lately(fit, if fit.unit? == TimeUnit::Day { 10 } else { 4 }, fit.unit?)
    }),
    ("the other day|night|evening|morning", |reader, fit| {
        fit.one(CalendarSpan::days(plus_days(reader.today(), -14), reader.today()))
    }),
    ("the U before last", |reader, fit| fit.one(reader.period(-2, fit.unit?))),
    ("the weekend", |reader, fit| reader.weekend(fit)),
    ("this|last week on|in? W P?", |reader, fit| {
        fit.one(fit.of_day(reader.in_week(fit.shift, fit.weekday?)))
    }),
    ("W of? this|last week", |reader, fit| fit.one(fit.of_day(reader.in_week(fit.shift, fit.weekday?)))),
    ("this|last year in M", |reader, fit| {
        fit.one(months(reader.period(fit.shift, TimeUnit::Year).first_day().year(), fit.month?.number, 1))
    }),
    ("the? last|past|previous N U", |reader, fit| match reader.words.next(fit.end) {
        "of" => fit.nothing(),
        _ => reader.lately(fit, fit.count.1, fit.unit?),
    }),
    ("the? this|last|past|previous U", |reader, fit| reader.unit(fit)),
    ("the? this|last|past|previous W P?", |reader, fit| {
        let today = reader.today();
        let weekday = fit.weekday?;
        let date = if fit.shift == 0 { reader.in_week(0, weekday) } else { weekday_before(today, weekday) };
        fit.one(fit.of_day(date))
    }),
    ("the? this|last|past|previous M|S", |reader, fit| reader.last_named(fit)),
    ("N U ago|back", |reader, fit| fit.one(reader.ago(fit.count, fit.unit?))),
    ("N U time?", |reader, fit| {
        // Not `in two weeks of work`.
        let is_ahead = fit.is_led_by("in") && reader.words.next(fit.end) != "of";
        fit.one(reader.ahead(fit.count, fit.unit.filter(|_| is_ahead)?))
    }),
    ("W A", |reader, fit| fit.one(fit.date.filter(|_| reader.is_weekday(fit))?)),
    ("W P?", |reader, fit| {
        let names_more = fit.lead.is_empty() && reader.words.is_capital(fit.at + 1);
        let is_day = reader.is_weekday(fit) && (!names_more || reader.words.next(fit.at + 1).is_empty());
        let date = reader.on_weekday(fit.weekday.filter(|_| is_day)?);
        Some(ReadExpression::yearless(fit.end, Some(fit.of_day(date))))
    }),
];

impl ExpressionReader<'_> {
    /// Reads a time without the words that lead up to it.
    pub(super) fn time(self, at: usize, lead: &str) -> Option<ReadExpression> {
        self.first_of(PHRASES, at, lead).or_else(|| self.absolute(at, lead))
    }

    pub(super) fn first_of(
        self,
        table: &[(&str, PatternMeaning)],
        at: usize,
        lead: &str,
    ) -> Option<ReadExpression> {
        table.iter().find_map(|(pattern, meaning)| meaning(self, &self.fit(pattern, at, lead)?))
    }

    /// Matches a pattern at this position; `None` if it does not match.
    pub(super) fn fit<'l>(self, pattern: &str, at: usize, lead: &'l str) -> Option<PhraseMatch<'l>> {
        let mut fit = PhraseMatch { at, end: at, lead, ..PhraseMatch::default() };
        for element in pattern.split(' ') {
            let (element, is_optional) =
                element.strip_suffix('?').map_or((element, false), |element| (element, true));
            let fits = element.split('|').any(|each| self.fill(each, &mut fit).is_some());
            if !fits && !is_optional {
                return None;
            }
        }
        Some(fit)
    }

    fn fill(self, element: &str, fit: &mut PhraseMatch<'_>) -> Option<()> {
        let at = fit.end;
        let word = if at == fit.at { self.lower(at) } else { self.words.next(at) };
        // A comma may precede a year and a date.
        if word.is_empty() && !matches!(element, "Y" | "A") {
            return None;
        }
        let mut end = at + 1;
        match element {
            "U" => fit.unit = Some(TimeUnit::from_word(word)?),
            "W" => fit.weekday = Some(weekday(word)?),
            "P" => fit.part = Some(part_of_day(word)?),
            "M" => fit.month = Some(month_named(word, at)?),
            "S" => fit.season = Some(season(word)?),
            "D" => fit.days = Some(self.days(at)?),
            "O" => fit.place = Some(week_place(word)?),
            "N" => (end, fit.count) = self.count(at)?,
            "Y" => {
                let year;
                (end, year) = self.year_behind(at)?;
                fit.year = Some(year);
            }
            "A" => {
                let found = self.absolute(at, "on")?;
                let is_day = |span: &CalendarSpan| *span == CalendarSpan::day(span.first_day());
                (end, fit.date) = (found.end, Some(found.spans.into_iter().find(is_day)?));
            }
            _ if element != word => return None,
            "the" => fit.has_the = true,
            "past" => (fit.is_past, fit.shift) = (true, -1),
            "last" | "previous" => fit.shift = -1,
            "next" => fit.shift = 1,
            _ => {}
        }
        fit.end = end;
        Some(())
    }

    /// Reads a number, and returns the position after it, its minimum and its maximum: `3`, `three`, `2-3`, `a couple of`.
    fn count(self, at: usize) -> Option<(usize, (u32, u32))> {
        let at = at + usize::from(matches!(self.lower(at), "a" | "an"));
        let word = self.lower(at);
        match word {
            "couple" => Some((at + 1 + usize::from(self.words.next(at + 1) == "of"), (2, 3))),
            "few" => Some((at + 1, (2, 6))),
            "several" | "some" => Some((at + 1, (3, 9))),
            _ if matches!(self.words.before(at), "a" | "an") => Some((at, (1, 1))),
            _ => {
                let range = || word.split_once(['-', '–']).and_then(|(a, b)| Some((number(a)?, number(b)?)));
                let one = number(word).map(|number| (number, number));
                Some((at + 1, one.or_else(range).filter(|(least, most)| least <= most)?))
            }
        }
    }

    fn day(self, fit: &PhraseMatch<'_>, days_back: i32) -> Option<ReadExpression> {
        fit.one(fit.of_day(shifted(self.today(), -days_back, TimeUnit::Day)))
    }

    /// Returns the given number of units up to the end of today.
    fn lately(self, fit: &PhraseMatch<'_>, count: u32, unit: TimeUnit) -> Option<ReadExpression> {
        fit.one(self.rolling(count, unit))
    }

    /// Returns the given number of units from tomorrow on.
    fn next_few(self, fit: &PhraseMatch<'_>) -> Option<ReadExpression> {
        let count = i32::try_from(fit.count.1).ok()?;
        let tomorrow = plus_days(self.today(), 1);
        fit.one(CalendarSpan::days(tomorrow, shifted(tomorrow, count, fit.unit?)))
    }

    fn weekend(self, fit: &PhraseMatch<'_>) -> Option<ReadExpression> {
        let this = self.period(0, TimeUnit::Weekend);
        let begun = if this.from <= self.now { this } else { self.period(-1, TimeUnit::Weekend) };
        fit.is_led_by("on at over during since before after").then(|| ReadExpression::of(fit.end, [begun]))
    }

    /// Reads `this week`, `last year`, `the past month`.
    fn unit(self, fit: &PhraseMatch<'_>) -> Option<ReadExpression> {
        let unit = fit.unit?;
        let is_rolling = fit.is_past || (fit.has_the && fit.shift == -1);
        match unit {
            // `the last week of March`
            _ if self.words.next(fit.end) == "of" => fit.nothing(),
            // `the last day` and `the past night` do not say of what.
            TimeUnit::Day => None,
            _ if is_rolling && unit != TimeUnit::Weekend => self.lately(fit, 1, unit),
            _ => fit.one(self.period(fit.shift, unit)),
        }
    }

    /// Reads `last March`, `this summer`.
    fn last_named(self, fit: &PhraseMatch<'_>) -> Option<ReadExpression> {
        // `the last march` was one of several marches.
        let is_one_of_many = fit.has_the || is_in("the my our", self.words.before(fit.at));
        if is_one_of_many && fit.month.is_some_and(|month| !month.is_sure) {
            return None;
        }
        let year = self.today().year();
        let (first, count) =
            fit.season.map(|first| (first, 3)).or(fit.month.map(|month| (month.number, 1)))?;
        let mut latest = (year - 2..=year).rev().map(|year| months(year, first, count));
        let span = if fit.shift == 0 {
            latest.find(|span| span.from <= self.now && span.last_day().year() >= year)
        } else {
            latest.find(|span| span.until <= self.now)
        };
        Some(ReadExpression::of(fit.end, span))
    }

    /// Reads `next March`, `the coming summer`: the first that begins after now.
    fn next_named(self, fit: &PhraseMatch<'_>) -> Option<ReadExpression> {
        if fit.month.is_some_and(|month| !month.is_sure && !self.words.is_capital(month.at)) {
            return fit.nothing();
        }
        let (first, count) =
            fit.season.map(|first| (first, 3)).or(fit.month.map(|month| (month.number, 1)))?;
        let year = self.today().year();
        let mut coming = (year..=year + 1).map(|year| months(year, first, count));
        Some(ReadExpression::of(fit.end, coming.find(|span| span.from > self.now)))
    }

    /// Whether the weekday at the start of the match is really one: it is not in `Black Friday` or `the Sunday Times`.
    fn is_weekday(self, fit: &PhraseMatch<'_>) -> bool {
        const PROPER: &str =
            "black good ash palm casual freaky super easter cyber ruby blue bloody manic happy man the a";
        let is_long = self.lower(fit.at).ends_with("day");
        if fit.is_led_by("on since before after from between until") {
            is_long || self.words.is_capital(fit.at)
        } else {
            is_long && !is_in(PROPER, self.words.before(fit.at))
        }
    }
}

/// Parses a number in digits or words, from 1 to 9,999.
fn number(word: &str) -> Option<u32> {
    digits(word, 1, 4).or_else(|| numbers::cardinal(word)).filter(|&number| number > 0)
}
