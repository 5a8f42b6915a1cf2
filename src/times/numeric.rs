//! Reads dates in digits: `2024-06-03`, `2024/6/3`, `3.6.2024`, and `3/6/2024`, which may mean two different days.

use crate::{
    english::numbers::digits,
    times::{
        calendar::{self, CalendarSpan, months},
        reader::{ExpressionReader, ReadExpression},
        words::Gap,
    },
};

impl ExpressionReader<'_> {
    /// Reads a date in digits, or a month with its year: `2023-03`.
    pub(super) fn numeric(self, at: usize) -> Option<ReadExpression> {
        let word = self.words.get(at).filter(|word| word.is_number)?;
        let slashed = |at: usize| {
            let word = self.words.get(at).filter(|word| word.is_number && word.gap == Gap::Slash)?;
            Some(&*word.lower)
        };
        let day = word.lower.split('t').next().unwrap_or_default();
        let mut parts: Vec<&str> = day.splitn(4, ['-', '.']).collect();
        let mut end = at + 1;
        if let (Some(second), Some(third), 1) = (slashed(at + 1), slashed(at + 2), parts.len()) {
            parts.extend([second, third]);
            end = at + 3;
        }
        let date = |year: &str, month: &str, day: &str| {
            let year = i32::try_from(digits(year, 4, 4)?).ok()?;
            calendar::date(year, digits(month, 1, 2)?, digits(day, 1, 2)?).map(CalendarSpan::day)
        };
        let mut spans: Vec<CalendarSpan> = match parts[..] {
            [first, second, third] => {
                // With dots the day comes first.
                let american = if day.contains('.') { None } else { date(third, first, second) };
                let readings = [date(first, second, third), date(third, second, first), american];
                readings.into_iter().flatten().collect()
            }
            [first, second] if day.contains('-') => {
                let month = digits(second, 2, 2).filter(|month| (1..=12).contains(month))?;
                vec![months(year(first)?, month, 1)]
            }
            _ => Vec::new(),
        };
        spans.dedup();
        (!spans.is_empty()).then(|| ReadExpression::of(end, spans))
    }
}

/// Parses a year that people talk about: 1900 to 2100.
pub(super) fn year(text: &str) -> Option<i32> {
    let year = i32::try_from(digits(text, 4, 4)?).ok()?;
    (1900..=2100).contains(&year).then_some(year)
}
