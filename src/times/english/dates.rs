//! Reads times that are given by name or number: months, days, years and seasons.

use chrono::{Datelike, Months};

use crate::{
    english::{lists::is_in, numbers::digits},
    times::{
        calendar::{self, CalendarSpan, months, plus_days, week_of},
        english::{
            names::Month,
            phrases::{Days, PatternMeaning, PhraseMatch},
        },
        numeric::year,
        reader::{ExpressionReader, ReadExpression, Toward},
        words::Gap,
    },
};

/// Patterns with their meanings, in the same format as in `phrases`.
pub(super) const DATES: &[(&str, PatternMeaning)] = &[
    ("the? D of? M Y?", |reader, fit| reader.day_month(fit)),
    ("M the? D Y?", |reader, fit| reader.month_day(fit)),
    ("the? early|mid|late? M Y", |reader, fit| reader.month_of_year(fit)),
    ("the? early|mid|late? M", |reader, fit| reader.month(fit)),
    ("the? S Y", |_, fit| fit.one(months(fit.year?, fit.season?, 3))),
    ("the? S", |reader, fit| reader.season(fit)),
    ("the D", |reader, fit| reader.day_of_some_month(fit)),
];

impl ExpressionReader<'_> {
    /// Reads a month, day, year, season or date in numbers. `lead` is the word before it, which was already read.
    pub(super) fn absolute(self, at: usize, lead: &str) -> Option<ReadExpression> {
        let date = self.numeric(at).or_else(|| self.first_of(DATES, at, lead));
        date.or_else(|| self.years(at, lead))
    }

    /// Reads `March 5`, `March 5th, 2023`, `March 5-7`, but not `March 20 people came`.
    fn month_day(self, fit: &PhraseMatch<'_>) -> Option<ReadExpression> {
        let is_doubtful = fit.has_the || self.words.is_noun(fit.end);
        if is_doubtful && fit.year.is_none() && !fit.days?.is_ordinal { None } else { self.day_month(fit) }
    }

    /// Reads `5 March`, `the 5th of March 2023`, but not `5 may be enough`.
    fn day_month(self, fit: &PhraseMatch<'_>) -> Option<ReadExpression> {
        let (Month { number: month, is_sure, at }, days) = (fit.month?, fit.days?);
        if !is_sure && !self.words.is_capital(at) && fit.year.is_none() && !days.is_ordinal {
            return None;
        }
        let of_year = |year| {
            let (first, last) =
                (calendar::date(year, month, days.first)?, calendar::date(year, month, days.last)?);
            Some(CalendarSpan::days(first, plus_days(last, 1)))
        };
        match fit.year {
            Some(year) => fit.one(of_year(year)?),
            None => self.in_some_year(of_year).map(|span| ReadExpression::yearless(fit.end, Some(span))),
        }
    }

    /// Reads `the first week of March 2023`.
    pub(super) fn week_of_month(self, fit: &PhraseMatch<'_>) -> Option<ReadExpression> {
        let (month, place) = (fit.month?.number, fit.place?);
        let of_year = |year| Some(week_of(months(year, month, 1), place));
        match fit.year {
            Some(year) => fit.one(of_year(year)?),
            None => Some(ReadExpression::yearless(fit.end, self.in_some_year(of_year))),
        }
    }

    /// Reads `on the 19th`, but not `on the 5th floor`.
    fn day_of_some_month(self, fit: &PhraseMatch<'_>) -> Option<ReadExpression> {
        /// How many months are searched: one of two neighbouring months has 31 days.
        const MONTHS: u32 = 3;
        let days = fit.days?;
        let is_led = fit.is_led_by("on since before after from between until");
        if !is_led || !days.is_ordinal || self.words.is_noun(fit.end) {
            return None;
        }
        let first = self.today().with_day(1)?;
        let of_month = |count: u32| {
            let month = match self.toward {
                Toward::Past => first.checked_sub_months(Months::new(count)),
                Toward::Future => first.checked_add_months(Months::new(count)),
            }?;
            let day = |day| calendar::date(month.year(), month.month(), day);
            Some(CalendarSpan::days(day(days.first)?, plus_days(day(days.last)?, 1)))
        };
        let is_meant = |span: &CalendarSpan| match self.toward {
            Toward::Past => span.from <= self.now,
            Toward::Future => span.until > self.now,
        };
        Some(ReadExpression::yearless(fit.end, (0..MONTHS).filter_map(of_month).find(is_meant)))
    }

    /// Reads `5`, `5th`, `5-7`.
    pub(super) fn days(self, at: usize) -> Option<Days> {
        let word = self.words.get(at).filter(|word| word.is_number && !word.is_measured)?;
        let bare = ["st", "nd", "rd", "th"].iter().find_map(|end| word.lower.strip_suffix(end));
        let is_ordinal = bare.is_some();
        let bare = bare.unwrap_or(&word.lower);
        let (first, last) = bare.split_once(['-', '–']).unwrap_or((bare, bare));
        let day = |text: &str| digits(text, 1, 2).filter(|day| (1..=31).contains(day));
        let (first, last) = (day(first)?, day(last)?);
        (first <= last).then_some(Days { first, last, is_ordinal })
    }

    /// Reads the year that follows a date: `2023`, `, 2023`, `of 2023`, `last year`, `of this year`.
    pub(super) fn year_behind(self, at: usize) -> Option<(usize, i32)> {
        let at = at + usize::from(matches!(self.words.next(at), "of" | "in"));
        let word = self.words.get(at).filter(|word| matches!(word.gap, Gap::Blank | Gap::Comma))?;
        if let Some(year) = year(&word.lower).filter(|_| !word.is_measured) {
            return (!self.words.is_noun(at + 1)).then_some((at + 1, year));
        }
        let years_back = ["this", "last"].iter().position(|known| self.words.next(at) == *known)?;
        let year = self.today().year() - i32::try_from(years_back).ok()?;
        (self.words.next(at + 1) == "year").then_some((at + 2, year))
    }

    /// Reads `March 2023`, `March of last year`, but not `may 2000 people come` or `she may last year-round`.
    fn month_of_year(self, fit: &PhraseMatch<'_>) -> Option<ReadExpression> {
        let month = fit.month?;
        let is_month = month.is_sure
            || self.words.is_capital(month.at)
            || !fit.lead.is_empty()
            || self.words.next(fit.end).is_empty();
        fit.one(months(fit.year.filter(|_| is_month)?, month.number, 1))
    }

    /// Reads `in March`. The name must be unambiguous, or follow a word that leads to times.
    fn month(self, fit: &PhraseMatch<'_>) -> Option<ReadExpression> {
        let Month { number, is_sure, at } = fit.month?;
        let is_month = is_sure
            || fit.is_led_by("in since during between")
            || (self.words.is_capital(at) && fit.is_led_by("before after of"));
        let of_some_year = || self.in_some_year(|year| Some(months(year, number, 1)));
        is_month.then(|| ReadExpression::yearless(fit.end, of_some_year()))
    }

    /// Reads `in summer`, but not `the fall of Rome`, `in Spring` (a framework) or `in fall` (the verb).
    fn season(self, fit: &PhraseMatch<'_>) -> Option<ReadExpression> {
        let first = fit.season?;
        let is_season = match self.lower(fit.end - 1) {
            "fall" => fit.has_the && self.words.next(fit.end) != "of",
            "spring" => fit.has_the || !self.words.is_capital(fit.at),
            _ => true,
        };
        let is_noun = fit.has_the && self.words.is_noun(fit.end);
        let is_led = fit.is_led_by("in since during over before after between");
        let of_some_year = || self.in_some_year(|year| Some(months(year, first, 3)));
        (is_led && is_season && !is_noun).then(|| ReadExpression::yearless(fit.end, of_some_year()))
    }

    /// Reads `in 2022`, `2019-2021`.
    fn years(self, at: usize, lead: &str) -> Option<ReadExpression> {
        let word = self.words.get(at).filter(|word| !word.is_measured)?;
        let (first, last) = word.lower.split_once('-').unwrap_or((&word.lower, &word.lower));
        let (first, last) = (year(first)?, year(last)?);
        let is_led = is_in("in since during before after until of between from around", lead);
        let span = CalendarSpan { from: months(first, 1, 12).from, until: months(last, 1, 12).until };
        (first <= last && is_led && !self.words.is_noun(at + 1)).then(|| ReadExpression::of(at + 1, [span]))
    }
}
