//! Reads times in languages with blanks between words: weekdays, dates with the name of a month, and a few words relative to
//! today. A name that is an ordinary word in another language (`mars`, `mai`, `set`) is a time only next to a number or one
//! of its own language's markers.

mod lookup;
mod names;
mod tables;

use std::{borrow::Cow, collections::HashMap, sync::LazyLock};

use chrono::{Datelike, Weekday};

use crate::{
    english::{lists::is_in, numbers::digits},
    text::words::fold,
    times::{
        calendar::{self, CalendarSpan, TimeUnit, months, plus_days, shifted, weekday_after, weekday_before},
        numeric::year,
        reader::{ExpressionReader, ReadExpression},
        tongues::{
            lookup::named,
            names::NameMeaning,
            tables::{TONGUES, Tongue},
        },
        words::Gap,
    },
};

pub(crate) use lookup::month_in_any_language;

/// For each word that may begin a time, the languages in which it does, one bit each.
static STARTS: LazyLock<HashMap<&str, u32>> = LazyLock::new(|| {
    let mut starts = HashMap::new();
    for (bit, tongue) in TONGUES.iter().enumerate() {
        let days = tongue.days.iter().map(|(day, _)| *day);
        let lists = [tongue.this, tongue.last, tongue.next, tongue.ago[0], tongue.ahead, tongue.on];
        let counts = if tongue.ago[1].is_empty() { &[][..] } else { &tongue.numbers };
        let lists = lists.iter().chain([&tongue.in_month]).chain(&tongue.units).chain(counts);
        for phrase in days.chain(lists.flat_map(|list| list.split_whitespace())) {
            *starts.entry(phrase.split('_').next().unwrap_or_default()).or_default() |= 1 << bit;
        }
    }
    starts
});

impl ExpressionReader<'_> {
    /// Reads the expression that begins here, in any of the languages.
    pub(super) fn tongues(self, at: usize) -> Option<ReadExpression> {
        let word = self.words.get(at)?;
        let languages = if word.is_number {
            u32::MAX
        } else {
            let folded = folded(&word.lower);
            let of_name = named(&folded).iter().fold(0, |bits, (tongue, _)| bits | 1 << tongue);
            STARTS.get(&*folded).copied().unwrap_or_default() | of_name
        };
        let spoken = TONGUES.iter().enumerate().filter(|(bit, _)| languages >> bit & 1 == 1);
        spoken.map(|(number, tongue)| Spoken { reader: self, tongue, number, at }).find_map(Spoken::read)
    }
}

/// Returns a word folded as in names and tables, without a leading `l'` or `d'`.
fn folded(lower: &str) -> Cow<'_, str> {
    let folded = if lower.is_ascii() {
        Cow::Borrowed(lower)
    } else {
        Cow::Owned(fold(lower).replace('\u{2019}', "'"))
    };
    match folded.strip_prefix("l'").or_else(|| folded.strip_prefix("d'")) {
        Some(bare) if !bare.starts_with("altro") => Cow::Owned(bare.to_owned()),
        _ => folded,
    }
}

/// The words here, read in one language.
#[derive(Clone, Copy)]
struct Spoken<'w> {
    reader: ExpressionReader<'w>,
    tongue: &'static Tongue,
    /// The index of the language.
    number: usize,
    /// Where the expression begins.
    at: usize,
}

/// Anything that can be `last` or `next`.
#[derive(Clone, Copy)]
enum Period {
    Unit(TimeUnit),
    Weekday(Weekday),
    Month(u32),
}

/// A reading, and the position after it.
type WordReading<T> = Option<(T, usize)>;

impl<'w> Spoken<'w> {
    fn read(self) -> Option<ReadExpression> {
        let found = self.day().or_else(|| self.counted()).or_else(|| {
            let behind = self.phrase(self.tongue.on, self.at);
            let with =
                |at, is_led| self.modified(at).or_else(|| self.weekday(at, is_led)).or_else(|| self.date(at));
            behind.and_then(|behind| with(behind, true)).or_else(|| with(self.at, false))
        });
        found.or_else(|| self.month())
    }

    /// Returns the word here; `None` if more than a blank precedes it.
    fn word(self, at: usize) -> Option<Cow<'w, str>> {
        let words: &'w _ = self.reader.words;
        let word = words.get(at).filter(|word| at == self.at || word.gap == Gap::Blank)?;
        Some(folded(&word.lower))
    }

    /// Returns the position after the longest of these phrases that matches here.
    fn phrase(self, list: &str, at: usize) -> Option<usize> {
        let stands = |phrase: &&str| {
            (at..).zip(phrase.split('_')).all(|(at, part)| self.word(at).is_some_and(|word| word == part))
        };
        let longest = list.split_whitespace().filter(stands).map(|phrase| phrase.split('_').count()).max();
        longest.map(|words| at + words)
    }

    /// Whether one of these words precedes the word at `at`. Then this word means something else, or any of its kind.
    fn is_behind(self, list: &str, at: usize) -> bool {
        is_in(list, &folded(self.reader.words.before(at)))
    }

    /// Reads `gestern`, `pasado mañana`.
    fn day(self) -> Option<ReadExpression> {
        let stands = self.tongue.days.iter().filter_map(|(day, distance)| {
            self.phrase(day, self.at).map(|end| (*distance, end)) //
        });
        let (distance, end) = stands
            .max_by_key(|(_, end)| *end)
            .filter(|_| !self.is_behind(self.tongue.no_day_behind, self.at))?;
        Some(ReadExpression::of(
            end,
            [CalendarSpan::day(shifted(self.reader.today(), distance, TimeUnit::Day))],
        ))
    }

    fn unit(self, at: usize) -> WordReading<TimeUnit> {
        const UNITS: [TimeUnit; 5] =
            [TimeUnit::Day, TimeUnit::Week, TimeUnit::Weekend, TimeUnit::Month, TimeUnit::Year];
        let mut stands = UNITS.into_iter().zip(self.tongue.units);
        stands.find_map(|(unit, words)| Some((unit, self.phrase(words, at)?)))
    }

    fn name(self, at: usize) -> Option<NameMeaning> {
        let word = self.word(at)?;
        let word = word.strip_suffix("-feira").unwrap_or(&word);
        named(word).iter().find(|(tongue, _)| *tongue == self.number).map(|(_, name)| *name)
    }

    fn period(self, at: usize) -> WordReading<Period> {
        if let Some((unit, end)) = self.unit(at) {
            return Some((Period::Unit(unit), end));
        }
        match self.name(at)? {
            NameMeaning::Weekday(day) => Some((Period::Weekday(day), at + 1)),
            NameMeaning::Month(month, true) => Some((Period::Month(month), at + 1)),
            NameMeaning::Month(..) => None,
        }
    }

    /// Reads a word such as `last`, and returns the distance from the current one: 0, -1 or 1.
    fn modifier(self, at: usize) -> WordReading<i32> {
        let words = [(0, self.tongue.this), (-1, self.tongue.last), (1, self.tongue.next)];
        words.into_iter().find_map(|(shift, list)| Some((shift, self.phrase(list, at)?)))
    }

    /// Reads a number: `3`, `drei`.
    fn count(self, at: usize) -> WordReading<u32> {
        let word = self.word(at)?;
        let named = || (1..).zip(self.tongue.numbers).find(|(_, words)| is_in(words, &word));
        let number = digits(&word, 1, 4).or_else(|| named().map(|(number, _)| number));
        number.filter(|&number| number > 0).map(|number| (number, at + 1))
    }

    /// Reads `letzte Woche`, `el viernes pasado`, `die letzten drei Tage`, `les 3 derniers jours`.
    fn modified(self, at: usize) -> Option<ReadExpression> {
        if let Some((shift, behind)) = self.modifier(at) {
            if let Some((period, end)) = self.period(behind) {
                return self.shifted(shift, period, end);
            }
            let (count, behind) = self.count(behind)?;
            let (unit, end) = self.unit(behind)?;
            return self.few(shift, count, unit, end);
        }
        if let Some((period, behind)) = self.period(at) {
            let (shift, end) = self.modifier(behind)?;
            return self.shifted(shift, period, end);
        }
        let (count, behind) = self.count(at)?;
        let (shift, behind) = self.modifier(behind)?;
        let (unit, end) = self.unit(behind)?;
        self.few(shift, count, unit, end)
    }

    fn shifted(self, shift: i32, period: Period, end: usize) -> Option<ReadExpression> {
        let (reader, today) = (self.reader, self.reader.today());
        let span = match (period, shift) {
            (Period::Unit(TimeUnit::Day), _) => return None, // `the last day` does not say of what.
            (Period::Unit(unit), _) => reader.period(shift, unit),
            (Period::Weekday(day), -1) => CalendarSpan::day(weekday_before(today, day)),
            (Period::Weekday(day), 1) => CalendarSpan::day(weekday_after(today, day)),
            (Period::Weekday(day), _) => CalendarSpan::day(reader.in_week(0, day)),
            (Period::Month(month), _) => {
                let of_year = |year| months(year, month, 1);
                let year = today.year();
                let mut near = [year, year - 1, year + 1].map(of_year).into_iter();
                let fits = |span: &CalendarSpan| match shift {
                    -1 => span.until <= reader.now,
                    1 => span.from > reader.now,
                    _ => true,
                };
                near.find(fits)?
            }
        };
        Some(ReadExpression::of(end, [span]))
    }

    /// Returns the last or the next `count` units.
    fn few(self, shift: i32, count: u32, unit: TimeUnit, end: usize) -> Option<ReadExpression> {
        let tomorrow = plus_days(self.reader.today(), 1);
        let span = match shift {
            -1 => self.reader.rolling(count, unit),
            1 => CalendarSpan::days(tomorrow, shifted(tomorrow, i32::try_from(count).ok()?, unit)),
            _ => return None,
        };
        Some(ReadExpression::of(end, [span]))
    }

    /// Reads `vor zwei Wochen`, `dans trois jours`, `due anni fa`.
    fn counted(self) -> Option<ReadExpression> {
        let [before, behind] = self.tongue.ago;
        let number_of_units = |at| {
            let (count, at) = self.count(at)?;
            let (unit, end) = self.unit(at)?;
            Some(((count, unit), end))
        };
        let led = |list: &str| number_of_units(self.phrase(list, self.at)?);
        let ago = |((count, unit), end)| ReadExpression::of(end, [self.reader.ago((count, count), unit)]);
        if let Some((counted, end)) = led(before) {
            return Some(ago((counted, self.phrase(behind, end).unwrap_or(end))));
        }
        if let Some((counted, end)) = number_of_units(self.at) {
            return self.phrase(behind, end).map(|end| ago((counted, end)));
        }
        let ((count, unit), end) = led(self.tongue.ahead)?;
        Some(ReadExpression::of(end, [self.reader.ahead((count, count), unit)]))
    }

    /// Reads `am Montag`, `lunes`. If a date follows, it is read instead.
    fn weekday(self, at: usize, is_led: bool) -> Option<ReadExpression> {
        const EVERY: &str = "jeden cada los chaque les ogni elke iedere";
        let NameMeaning::Weekday(day) = self.name(at)? else { return None };
        let comma = self.reader.words.get(at + 1).is_some_and(|word| word.gap == Gap::Comma);
        let date_at = if comma { at + 1 } else { self.phrase(self.tongue.on, at + 1).unwrap_or(at + 1) };
        if let Some(date) = (Spoken { at: if comma { date_at } else { self.at }, ..self }).date(date_at) {
            return Some(date);
        }
        let words = self.reader.words;
        // Not `Plácido Domingo`.
        let is_name = words.is_capital(at) && !words.before(at).is_empty() && words.is_capital(at - 1);
        let is_long = words.lower(at).ends_with("-feira");
        let is_sure = is_led || is_long || (self.tongue.has_plain_weekdays && !is_name);
        let date = self.reader.on_weekday(day);
        (is_sure && !self.is_behind(EVERY, at))
            .then(|| ReadExpression::yearless(at + 1, Some(CalendarSpan::day(date))))
    }

    /// Reads `3. Juni 2024`, `3 de junio`, `1er mai`.
    fn date(self, at: usize) -> Option<ReadExpression> {
        let word = self.reader.words.get(at).filter(|word| word.is_number && !word.is_measured)?;
        if at != self.at && word.gap != Gap::Blank {
            return None;
        }
        let lower = folded(&word.lower);
        let bare = ["er", "o", "e", "de", "ste"].iter().find_map(|end| lower.strip_suffix(end));
        let day = digits(bare.unwrap_or(&lower), 1, 2)?;
        let month_at = self.phrase(self.tongue.of, at + 1).unwrap_or(at + 1);
        let follows = self.reader.words.get(month_at).is_some_and(|word| {
            word.gap == Gap::Blank || word.gap == Gap::Point // `3. Juni`
        });
        let here = Spoken { at: month_at, ..self };
        let NameMeaning::Month(month, is_written) = here.name(month_at).filter(|_| follows)? else {
            return None;
        };
        let of_year = |year| calendar::date(year, month, day).map(CalendarSpan::day);
        match self.year(month_at + 1) {
            Some((year, end)) => Some(ReadExpression::of(end, [of_year(year)?])),
            // `7 out of 10`, `5 set`: words of other languages.
            None if !is_written => None,
            None => {
                let span = self.reader.in_some_year(of_year)?;
                Some(ReadExpression::yearless(month_at + 1, Some(span)))
            }
        }
    }

    /// Reads `2024`, `de 2024`. A point before it may end an abbreviation.
    fn year(self, at: usize) -> WordReading<i32> {
        let at = self.phrase(self.tongue.of, at).unwrap_or(at);
        let word = self.reader.words.get(at)?;
        let follows = matches!(word.gap, Gap::Blank | Gap::Comma | Gap::Point) && !word.is_measured;
        year(&word.lower).filter(|_| follows).map(|year| (year, at + 1))
    }

    /// Reads `im März`, `en marzo de 2024`, `Juni 2024`.
    fn month(self) -> Option<ReadExpression> {
        let marker = self.phrase(self.tongue.in_month, self.at);
        // `I` is not a marker, because it is the English pronoun.
        let marker =
            marker.filter(|_| self.reader.lower(self.at) != "i" || !self.reader.words.is_capital(self.at));
        let at = marker.unwrap_or(self.at);
        let NameMeaning::Month(month, is_written) = self.name(at)? else { return None };
        match self.year(at + 1) {
            Some((year, end)) if is_written => Some(ReadExpression::of(end, [months(year, month, 1)])),
            None if is_written && marker.is_some() => Some(ReadExpression::yearless(
                at + 1,
                self.reader.in_some_year(|year| Some(months(year, month, 1))),
            )),
            _ => None,
        }
    }
}
