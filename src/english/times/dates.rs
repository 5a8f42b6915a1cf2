//! Times that have a name or a number of their own: months, days, years, seasons and holidays.

use chrono::{Datelike, TimeDelta};

use crate::english::times::{
    calendar::{self, MONTHS, Span, plus},
    grammar::{Found, Reader, is_ahead},
    words::Gap,
};

/// How sure the name of a month is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sure {
    /// `January`
    Alone,
    /// `June` may be a person: with a day, a year, or behind `in`.
    Led,
    /// `may` and `march` are verbs as well.
    Verb,
    /// `Jan`
    Short,
}

/// Of each month's name.
const SURE: [Sure; 12] = {
    use Sure::{Alone, Led, Verb};
    [Alone, Alone, Verb, Led, Verb, Led, Alone, Led, Alone, Alone, Alone, Alone]
};

fn month_named(word: &str) -> Option<(u32, Sure)> {
    let is_short = word.len() == 3 || word == "sept";
    (1..).zip(MONTHS).zip(SURE).find_map(|((month, name), sure)| match name {
        _ if name == word => Some((month, sure)),
        _ if is_short && name.starts_with(word) => Some((month, Sure::Short)),
        _ => None,
    })
}

impl Reader<'_> {
    /// A month, day, year, season or date in numbers; `lead` is the word read before it.
    pub(super) fn absolute(self, at: usize, lead: &str) -> Option<Found> {
        let word = self.words.get(at)?;
        if word.is_number {
            self.numeric(at)
                .or_else(|| self.day_month(at))
                .or_else(|| self.years(at, lead))
                .or_else(|| self.day_alone(at, lead))
        } else {
            self.month_day(at).or_else(|| self.month_year(at, lead)).or_else(|| self.season(at, lead, false))
        }
    }

    /// The last of these that has begun by now.
    fn last_begun(self, of_year: impl Fn(i32) -> Option<Span>) -> Option<Span> {
        /// 29 February comes every fourth year, or eighth.
        const YEARS: i32 = 8;
        let year = self.today().year();
        (year - YEARS..=year).rev().filter_map(of_year).find(|span| span.from <= self.now)
    }

    /// A month's name that needs nothing else, or stands behind such a word as leads to times.
    pub(super) fn month(self, at: usize, lead: &str) -> Option<(usize, u32)> {
        let (month, sure) = month_named(self.lower(at))?;
        let is_led =
            matches!(lead, "in" | "since" | "during" | "between" | "until" | "before" | "after" | "of");
        let is_close = matches!(lead, "in" | "since" | "during" | "between");
        let is_one = match sure {
            Sure::Alone => true,
            Sure::Led => is_led,
            Sure::Verb => is_led && (is_close || self.words.is_capital(at)),
            Sure::Short => is_close,
        };
        is_one.then_some((at + 1, month))
    }

    pub(super) fn is_verb_month(self, at: usize) -> bool {
        month_named(self.lower(at)).is_some_and(|(_, sure)| sure == Sure::Verb)
    }

    /// `March 5`, `March 5th, 2023`, `March 5-7`.
    fn month_day(self, at: usize) -> Option<Found> {
        let (month, sure) = month_named(self.lower(at))?;
        let the = usize::from(self.words.next(at + 1) == "the");
        let (first, last, is_ordinal) = self.days_of_month(at + 1 + the)?;
        let end = at + 2 + the;
        let year = self.year_behind(end);
        if year.is_none() && !is_ordinal {
            let is_verb = sure == Sure::Verb && !self.words.is_capital(at);
            if is_verb || the == 1 || self.words.is_noun(end) {
                return None;
            }
        }
        self.days_in(month, first, last, year, end)
    }

    /// `5 March`, `the 5th of March 2023`.
    fn day_month(self, at: usize) -> Option<Found> {
        let (first, last, is_ordinal) = self.day_range(at)?;
        let of = usize::from(self.words.next(at + 1) == "of");
        let month_at = at + 1 + of;
        let (month, sure) = month_named(self.words.next(month_at))?;
        let year = self.year_behind(month_at + 1);
        let is_doubtful = matches!(sure, Sure::Verb | Sure::Short) && !self.words.is_capital(month_at);
        if is_doubtful && year.is_none() && !(is_ordinal && (of == 1 || sure == Sure::Short)) {
            return None;
        }
        self.days_in(month, first, last, year, month_at + 1)
    }

    fn days_in(
        self,
        month: u32,
        first: u32,
        last: u32,
        year: Option<(usize, i32)>,
        end: usize,
    ) -> Option<Found> {
        let of_year = |year| {
            let (first, last) = (calendar::date(year, month, first)?, calendar::date(year, month, last)?);
            Some(Span::days(first, calendar::plus_days(last, 1)))
        };
        match year {
            Some((end, year)) => of_year(year).map(|span| Found::one(end, span)),
            None => self.last_begun(of_year).map(|span| Found::yearless(end, Some(span))),
        }
    }

    /// `5`, `5th`, `5-7`, behind a blank.
    fn days_of_month(self, at: usize) -> Option<(u32, u32, bool)> {
        self.words.get(at).filter(|word| word.gap == Gap::Blank)?;
        self.day_range(at)
    }

    fn day_range(self, at: usize) -> Option<(u32, u32, bool)> {
        let word = self.words.get(at).filter(|word| word.is_number && !word.is_measured)?;
        let bare = ["st", "nd", "rd", "th"].iter().find_map(|end| word.lower.strip_suffix(end));
        let is_ordinal = bare.is_some();
        let bare = bare.unwrap_or(&word.lower);
        let (first, last) = bare.split_once(['-', '–']).unwrap_or((bare, bare));
        let day = |text: &str| {
            let is_short = (1..=2).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
            text.parse::<u32>().ok().filter(|day| is_short && (1..=31).contains(day))
        };
        let (first, last) = (day(first)?, day(last)?);
        (first <= last).then_some((first, last, is_ordinal))
    }

    /// `2023`, `, 2023`, `of 2023`, `last year`, `of this year`: the year of what stands before.
    fn year_behind(self, at: usize) -> Option<(usize, i32)> {
        let joint = usize::from(matches!(self.words.next(at), "of" | "in"));
        let at = at + joint;
        let is_near = |word: &crate::english::times::words::Word| matches!(word.gap, Gap::Blank | Gap::Comma);
        if let Some(year) = self.year(at).filter(|_| self.words.get(at).is_some_and(is_near)) {
            return (!self.words.is_noun(at + 1)).then_some((at + 1, year));
        }
        let years_back = match self.words.next(at) {
            "last" => 1,
            "this" => 0,
            _ => return None,
        };
        (self.words.next(at + 1) == "year").then(|| (at + 2, self.today().year() - years_back))
    }

    fn year(self, at: usize) -> Option<i32> {
        let word = self.words.get(at).filter(|word| word.is_number && !word.is_measured)?;
        let is_year = word.lower.len() == 4 && word.lower.bytes().all(|b| b.is_ascii_digit());
        word.lower.parse().ok().filter(|year| is_year && (1900..=2100).contains(year))
    }

    /// `March 2023`, `March of last year`, `in March`.
    fn month_year(self, at: usize, lead: &str) -> Option<Found> {
        let (month, sure) = month_named(self.lower(at))?;
        if let Some((end, year)) = self.year_behind(at + 1).filter(|_| {
            // `may 2000 people come`, `she may last year-round`
            sure != Sure::Verb || self.words.is_capital(at) || !lead.is_empty() || self.is_date_end(at + 2)
        }) {
            return Some(Found::one(end, calendar::month(year, month)));
        }
        let (end, month) = self.month(at, lead)?;
        if lead.is_empty() && is_ahead(self.words.before(at)) {
            return None;
        }
        Some(Found::yearless(end, self.last_begun(|year| Some(calendar::month(year, month)))))
    }

    fn is_date_end(self, at: usize) -> bool {
        self.words.next(at).is_empty()
    }

    /// `in 2022`, `2019-2021`, `in 2023-03`.
    fn years(self, at: usize, lead: &str) -> Option<Found> {
        let is_led = matches!(
            lead,
            "in" | "since" | "during" | "before" | "after" | "until" | "of" | "between" | "from" | "around"
        );
        let word = self.words.get(at)?;
        if let Some((first, last)) = word.lower.split_once('-') {
            let year = |text: &str| {
                let year: i32 = text.parse().ok().filter(|_| text.len() == 4)?;
                (1900..=2100).contains(&year).then_some(year)
            };
            let (first, last) = (year(first)?, year(last)?);
            let span = Span { from: calendar::year(first).from, until: calendar::year(last).until };
            return (first <= last && is_led).then(|| Found::one(at + 1, span));
        }
        let year = self.year(at).filter(|_| is_led && !self.words.is_noun(at + 1))?;
        Some(Found::one(at + 1, calendar::year(year)))
    }

    /// `on the 5th`: the last one. Not `on the 5th floor`.
    fn day_alone(self, at: usize, lead: &str) -> Option<Found> {
        let is_led = matches!(lead, "on" | "since" | "before" | "after" | "between");
        let is_the = self.words.before(at) == "the";
        let (day, last, is_ordinal) = self.day_range(at).filter(|_| is_led && is_the)?;
        if !is_ordinal || day != last || self.words.is_noun(at + 1) || self.words.next(at + 1) == "of" {
            return None;
        }
        let today = self.today();
        let months = (0..3).map(|back| calendar::back(today, back, calendar::Unit::Month));
        let dates = months.filter_map(|month| calendar::date(month.year(), month.month(), day));
        dates.into_iter().find(|date| *date <= today).map(|date| Found::one(at + 1, Span::day(date)))
    }

    /// `2023-03-05`, `2023-03`, `5.3.2023`, and `5/3/2023`, which may be two days.
    fn numeric(self, at: usize) -> Option<Found> {
        let word = self.words.get(at)?;
        let day = word.lower.split('t').next().unwrap_or_default();
        let digits = |text: &str, len: std::ops::RangeInclusive<usize>| {
            let is_number = len.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
            text.parse::<u32>().ok().filter(|_| is_number)
        };
        let year = |text: &str| digits(text, 4..=4).and_then(|year| i32::try_from(year).ok());
        let parts: Vec<&str> = day.splitn(4, ['-', '.']).collect();
        let slashed = |at: usize| {
            self.words
                .get(at)
                .filter(|word| word.is_number && word.gap == Gap::Slash)
                .map(|word| &*word.lower)
        };
        let one = |end, span| Some(Found::one(end, span));
        match (&parts[..], slashed(at + 1), slashed(at + 2)) {
            (&[first], Some(second), Some(third)) => {
                if let Some(first) = year(first) {
                    let date = calendar::date(first, digits(second, 1..=2)?, digits(third, 1..=2)?)?;
                    return one(at + 3, Span::day(date));
                }
                both_readings(at + 3, year(third)?, digits(first, 1..=2)?, digits(second, 1..=2)?)
            }
            (&[first, second, third], None, None) if word.lower.contains('-') => match year(first) {
                Some(first) => {
                    let date = calendar::date(first, digits(second, 1..=2)?, digits(third, 1..=2)?)?;
                    one(at + 1, Span::day(date))
                }
                None => both_readings(at + 1, year(third)?, digits(first, 1..=2)?, digits(second, 1..=2)?),
            },
            // With points the day comes first.
            (&[first, second, third], None, None) => {
                let date = calendar::date(year(third)?, digits(second, 1..=2)?, digits(first, 1..=2)?)?;
                one(at + 1, Span::day(date))
            }
            (&[first, second], None, None) if day.contains('-') => {
                let month = digits(second, 2..=2).filter(|month| (1..=12).contains(month))?;
                let year = year(first).filter(|year| (1900..=2100).contains(year))?;
                one(at + 1, calendar::month(year, month))
            }
            _ => None,
        }
    }

    /// The month that a season begins in.
    pub(super) fn season_months(self, at: usize) -> Option<u32> {
        Some(match self.lower(at) {
            "spring" => 3,
            "summer" => 6,
            "autumn" | "fall" => 9,
            "winter" => 12,
            _ => return None,
        })
    }

    /// `in summer`, `in the summer of 2022`, `summer 2022`, `winter last year`.
    pub(super) fn season(self, at: usize, lead: &str, has_the: bool) -> Option<Found> {
        let first_month = self.season_months(at)?;
        let word = self.lower(at);
        if let Some((end, year)) = self.year_behind(at + 1) {
            let mut found = Found::one(end, calendar::season(year, first_month));
            if word == "winter" {
                // The winter of a year may be the one that it began with.
                found.spans.insert(0, calendar::season(year - 1, first_month));
            }
            return Some(found);
        }
        let is_led = matches!(lead, "in" | "since" | "during" | "over" | "before" | "after" | "between");
        // `the fall of Rome`, `in Spring`, `in fall`: the verb, a framework.
        let is_season = match word {
            "fall" => has_the && self.words.next(at + 1) != "of",
            "spring" => has_the || !self.words.is_capital(at),
            _ => true,
        };
        let is_noun = has_the && self.words.is_noun(at + 1);
        (is_led && is_season && !is_noun).then(|| {
            Found::yearless(at + 1, self.last_begun(|year| Some(calendar::season(year, first_month))))
        })
    }

    /// `at Christmas`, `last Halloween`, `on New Year's Eve 2022`.
    pub(super) fn holiday(self, at: usize, lead: &str) -> Option<Found> {
        let (end, month, day, days) = match (self.lower(at), self.words.next(at + 1)) {
            ("christmas" | "xmas", "eve") => (at + 2, 12, 24, 1),
            ("christmas" | "xmas", "day") => (at + 2, 12, 25, 1),
            ("christmas" | "xmas", _) => (at + 1, 12, 24, 3),
            ("halloween", _) => (at + 1, 10, 31, 1),
            ("new", "year") if matches!(self.words.next(at + 2), "eve" | "day") => {
                let is_eve = self.lower(at + 2) == "eve";
                if is_eve { (at + 3, 12, 31, 1) } else { (at + 3, 1, 1, 1) }
            }
            ("valentine", "day") => (at + 2, 2, 14, 1),
            _ => return None,
        };
        let of_year = |year| {
            let first = Span::day(calendar::date(year, month, day)?);
            Some(Span { until: plus(first.from, TimeDelta::days(days)), ..first })
        };
        if let Some((end, year)) = self.year_behind(end) {
            return of_year(year).map(|span| Found::one(end, span));
        }
        let is_led = matches!(
            lead,
            "at" | "on" | "over" | "around" | "during" | "since" | "before" | "after" | "last" | "between"
        );
        if !is_led || self.words.is_noun(end) {
            return None;
        }
        let found = Found::yearless(end, self.last_begun(of_year));
        Some(Found {
            spans: found.spans.into_iter().filter(|span| lead != "last" || span.until <= self.now).collect(),
            ..found
        })
    }
}

/// A date that may begin with its day or with its month.
fn both_readings(end: usize, year: i32, first: u32, second: u32) -> Option<Found> {
    let readings = [calendar::date(year, second, first), calendar::date(year, first, second)];
    let mut spans: Vec<Span> = readings.into_iter().flatten().map(Span::day).collect();
    spans.dedup();
    (!spans.is_empty()).then_some(Found { end, spans, is_yearless: false })
}
