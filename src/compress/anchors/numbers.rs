//! Values of a fixed form: ages, days and pronouns.

use crate::{
    compress::anchors::{
        rules::Value,
        words::{Extracted, PRONOUNS, Words, is_in},
    },
    english::classes::is_of,
};

impl Words<'_, '_> {
    /// Years of life: not `20 minutes`, `100 %`, `21 years of service`.
    pub(crate) fn age(&self, kind: Value, at: usize) -> Option<Extracted> {
        /// Nobody younger writes, nobody older lives.
        const AGES: std::ops::RangeInclusive<u32> = 5..=115;
        let years: u32 = self.token(at)?.lower.parse().ok()?;
        let next = self.lower(at + 1);
        let fits = match kind {
            Value::NumberThen => matches!(next, "i" | ","),
            Value::NumberOfYears => matches!(next, "años" | "anni" | "ans" | "anos"),
            _ if self.is_end(at + 1) => !matches!(next, ":" | "/" | "-" | "\""),
            _ if matches!(next, "years" | "yrs" | "jahre") => {
                matches!(self.lower(at + 2), "old" | "young" | "alt")
            }
            _ => matches!(
                next,
                "and" | "now" | "today" | "yesterday" | "but" | "so" | "last" | "this" | "next" | "in"
            ),
        };
        (AGES.contains(&years) && fits).then(|| self.slice(at, at + 1))
    }

    /// A day and a month, in any order.
    pub(crate) fn day(&self, from: usize) -> Option<Extracted> {
        let from = from + usize::from(matches!(self.lower(from), "the" | "on" | "," | ":"));
        let is_month = |at: usize| is_of("month", self.lower(at));
        let is_day = |at: usize| is_day_of_month(self.lower(at));
        let len = if (is_month(from) && is_day(from + 1)) || (is_day(from) && is_month(from + 1)) {
            2
        } else if is_day(from) && matches!(self.lower(from + 1), "of" | "." | "de") && is_month(from + 2) {
            3
        } else {
            return None;
        };
        Some(self.slice(from, from + len))
    }

    /// `they/them`, `he and they`: one pronoun alone may be anything.
    pub(crate) fn pronouns(&self, from: usize) -> Option<Extracted> {
        let is_pronoun = |at: usize| is_in(PRONOUNS, self.lower(at));
        let joins = |at: usize| matches!(self.lower(at), "/" | "and" | "or");
        let mut end = from + 1;
        while joins(end) && is_pronoun(end + 1) {
            end += 2;
        }
        (is_pronoun(from) && end > from + 1).then(|| self.slice(from, end))
    }
}

/// `5`, `5th`, `fifth`.
fn is_day_of_month(word: &str) -> bool {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    is_of("ordinal", word) || digits.parse::<u32>().is_ok_and(|day| (1..=31).contains(&day))
}
