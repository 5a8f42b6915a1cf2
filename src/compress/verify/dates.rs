//! Checks the dates in a claim. A day is supported if the source names it, if the source was said on it, or if the source
//! has words like "yesterday" and was said within 14 days of it.
//!
//! "I went yesterday", said on 2023-05-08, supports "on May 7, 2023". A supported date is removed from the claim before its
//! numbers are checked; an unsupported one stays, and its numbers are checked like all others.

use std::collections::HashSet;

use chrono::{Datelike, Days, NaiveDate};

use crate::{
    english::lists::{List, is_in, list},
    times::month_in_any_language,
};

/// How far "yesterday", "last Friday" or "in two weeks" can lead from the day of the turn.
const REACH_DAYS: i64 = 14;
/// How far "last month" or "next month" can lead into another year.
const REACH_OF_MONTHS_DAYS: u64 = 62;

/// A date, or the parts of one that are named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Date {
    year: Option<i32>,
    month: Option<u32>,
    day: Option<u32>,
}

/// What a source says about dates.
pub(super) struct Dates {
    said_on: NaiveDate,
    named: HashSet<Date>,
    /// Whether it contains words like "yesterday" and "last".
    is_relative: bool,
    /// Whether it counts time in years.
    counts_years: bool,
}

impl Dates {
    pub(super) fn of(folded: &str, said_on: NaiveDate) -> Self {
        let tokens = tokens(folded);
        let mut named = HashSet::new();
        let mut at = 0;
        while at < tokens.len() {
            let Some((readings, used)) = date_at(&tokens[at..]) else {
                at += 1;
                continue;
            };
            named.extend(readings);
            at += used;
        }
        let has = |is_word: &dyn Fn(&str) -> bool| tokens.iter().any(|token| is_word(token.text));
        Self {
            said_on,
            named,
            is_relative: has(&|word| RELATIVE.contains(word))
                || RELATIVE_UNSPACED.words().any(|part| folded.contains(part)),
            counts_years: has(&|word| is_in(YEARS, word)) || folded.contains(['年', '년']),
        }
    }

    /// Returns the folded claim without the dates that the source supports. `numbers` are the numbers that the source names.
    pub(super) fn without_supported(&self, folded: &str, numbers: &HashSet<String>) -> String {
        let tokens = tokens(folded);
        let mut out = String::with_capacity(folded.len());
        let (mut at, mut copied) = (0, 0);
        while at < tokens.len() {
            match date_at(&tokens[at..]) {
                Some((readings, used)) => {
                    if readings.iter().any(|&date| self.allow(date, numbers)) {
                        out.push_str(&folded[copied..tokens[at].start]);
                        out.push(';');
                        let last = &tokens[at + used - 1];
                        copied = last.start + last.text.len();
                    }
                    at += used;
                }
                None => at += 1,
            }
        }
        out.push_str(&folded[copied..]);
        out
    }

    fn allow(&self, date: Date, numbers: &HashSet<String>) -> bool {
        let is_named = self.named.iter().any(|named| {
            let year_fits = match (named.year, date.year) {
                (Some(a), Some(b)) => a == b,
                (None, Some(claimed)) => self.allow_year(claimed, numbers),
                (_, None) => true,
            };
            year_fits
                && (named.month == date.month || date.month.is_none())
                && (named.day == date.day || date.day.is_none())
        });
        is_named && date.day.is_some() || self.allow_following(date, numbers)
    }

    fn allow_following(&self, date: Date, numbers: &HashSet<String>) -> bool {
        let (Some(month), Some(day)) = (date.month, date.day) else {
            return date.year.is_some_and(|year| self.allow_year(year, numbers));
        };
        let own = self.said_on.year();
        date.year
            .map_or(own - 1..=own + 1, |year| year..=year)
            .filter_map(|year| NaiveDate::from_ymd_opt(year, month, day))
            .map(|on| (on - self.said_on).num_days().abs())
            .any(|days| days == 0 || (self.is_relative && days <= REACH_DAYS))
    }

    /// Allows the turn's own year, or one that "last year", "last month" or "three years ago" leads to.
    fn allow_year(&self, year: i32, numbers: &HashSet<String>) -> bool {
        let years = year.abs_diff(self.said_on.year());
        let edge = Days::new(REACH_OF_MONTHS_DAYS);
        let near = [self.said_on.checked_sub_days(edge), self.said_on.checked_add_days(edge)];
        years == 0
            || (years == 1
                && self.is_relative
                && (self.counts_years || near.iter().flatten().any(|on| on.year() == year)))
            || (self.counts_years && numbers.contains(&years.to_string()))
    }
}

static RELATIVE: List = list!("relative_times");
static RELATIVE_UNSPACED: List = list!("relative_times_unspaced");
/// Folded words for years.
const YEARS: &str =
    "year years yr yrs jahr jahre jahren an ans annee annees ano anos anni anno jaar год года лет";

struct DateToken<'a> {
    text: &'a str,
    start: usize,
}

impl DateToken<'_> {
    fn number(&self, from: u32, to: u32) -> Option<u32> {
        let number = self.text.parse().ok().filter(|_| self.text.len() <= 4)?;
        (from..=to).contains(&number).then_some(number)
    }

    fn year(&self) -> Option<i32> {
        self.number(1_000, 2_999)?.try_into().ok()
    }

    fn day(&self) -> Option<u32> {
        self.number(1, 31)
    }
}

/// Splits a text into runs of digits, words, and every other single character except blanks and commas. Words that only
/// connect the parts of a date, and the letters of ordinals, are skipped.
fn tokens(folded: &str) -> Vec<DateToken<'_>> {
    let mut tokens: Vec<DateToken<'_>> = Vec::new();
    let mut at = 0;
    while let Some(first) = folded[at..].chars().next() {
        let rest = &folded[at..];
        let end_of = |is_in: fn(char) -> bool| rest.find(|c: char| !is_in(c)).unwrap_or(rest.len());
        let len = if first.is_ascii_digit() {
            end_of(|c| c.is_ascii_digit())
        } else if first.is_alphabetic() && !is_ideogram(first) {
            end_of(|c| c.is_alphabetic() && !is_ideogram(c))
        } else {
            first.len_utf8()
        };
        let text = &rest[..len];
        let is_suffix = matches!(text, "st" | "nd" | "rd" | "th")
            && tokens.last().is_some_and(|last| last.start + last.text.len() == at && last.day().is_some());
        if !is_suffix && !first.is_whitespace() && !matches!(text, "," | "of" | "de" | "del" | "den" | "the")
        {
            tokens.push(DateToken { text, start: at });
        }
        at += len;
    }
    tokens
}

fn is_ideogram(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

/// How dates are written: `Y` is a year, `m` and `M` a month as a number and by name, `d` a day.
#[rustfmt::skip]
const SHAPES: &[&str] = &[
    "Y - m - d", "Y . m . d", "Y / m / d", "d - m - Y", "d . m . Y", "d / m / Y", "m - d - Y", "m . d . Y", "m / d / Y",
    "Y 年|년 m 月|월 d 日|号|일", "Y 年|년 m 月|월", "Y 年|년", "m 月|월 d 日|号|일",
    "d .? M Y", "d .? M", "M d Y", "M d", "M Y", "Y",
];

/// Returns the readings of the longest date at the start of these tokens, and how many tokens it takes.
fn date_at(tokens: &[DateToken<'_>]) -> Option<(Vec<Date>, usize)> {
    let fits: Vec<(Date, usize)> = SHAPES.iter().filter_map(|shape| fit(shape, tokens)).collect();
    let longest = fits.iter().map(|(_, used)| *used).max()?;
    Some((fits.into_iter().filter(|(_, used)| *used == longest).map(|(date, _)| date).collect(), longest))
}

fn fit(shape: &str, tokens: &[DateToken<'_>]) -> Option<(Date, usize)> {
    let (mut date, mut used) = (Date::default(), 0);
    for element in shape.split(' ') {
        let token = tokens.get(used)?;
        match element {
            "Y" => date.year = Some(token.year()?),
            "m" => date.month = Some(token.number(1, 12)?),
            "M" => date.month = Some(month_in_any_language(token.text)?),
            "d" => date.day = Some(token.day()?),
            ".?" if token.text != "." => continue,
            ".?" => {}
            _ => _ = element.split('|').find(|sign| *sign == token.text)?,
        }
        used += 1;
    }
    Some((date, used))
}

#[cfg(test)]
mod tests {
    use crate::compress::verify::source::SourceText;

    /// Checks whether a claim's dates and numbers follow from a source said on 2023-05-08, a Monday.
    #[track_caller]
    fn check(source: &str, claim: &str, holds: bool) {
        let source = SourceText::of_text(source, "2023-05-08".parse().unwrap());
        assert_eq!(source.check_facts(claim).is_ok(), holds, "{claim:?}");
    }

    #[test]
    fn dates_follow_from_the_day_of_the_turn() {
        for claim in
            ["On May 7, 2023", "On 7 May 2023", "the 7th of May", "2023-05-07", "5/7/2023", "07.05.2023"]
        {
            check("I went to a support group yesterday.", claim, true);
        }
        check("I went to a support group yesterday.", "in May 2023", true);
        check("I went to a support group.", "on May 8, 2023", true);
        check("Ich war letzten Freitag dort", "am 5. Mai 2023", true);
        check("我昨天去了", "2023年5月7日", true);
        check("next week", "on May 15", true);
    }

    #[test]
    fn other_dates_do_not() {
        check("I went to a support group yesterday.", "On April 7, 2023", false);
        check("I went to a support group yesterday.", "On May 7, 2021", false);
        check("I went to a support group yesterday.", "with 7 people", false);
        check("I went to a support group.", "on May 7, 2023", false);
        check("I went to a support group yesterday.", "On May 31, 2023", false);
    }

    #[test]
    fn dates_of_the_source_may_be_written_otherwise() {
        check("We met on 3 March 2019.", "2019-03-03 or March 3rd, 2019 or 03/03/2019", true);
        check("We met on 3 March.", "March 3, 2023", true);
        check("We met on 3 March.", "March 3, 2019", false);
        check("We met on 3 March 2019.", "4 March 2019", false);
        check("Me casé el 3 de marzo de 2019", "3 de marzo de 2019", true);
    }

    #[test]
    fn years_follow_from_the_year_of_the_turn() {
        check("I paint.", "in 2023", true);
        check("I moved last year.", "in 2022", true);
        check("I moved three years ago.", "in 2020", true);
        check("I moved.", "in 2022", false);
        check("I moved last year.", "in 2020", false);
        check("I moved three years ago.", "in 2019", false);
    }
}
