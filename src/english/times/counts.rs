//! So many units ago: `two weeks ago`, `a few days ago`, `a year or two ago`.

use chrono::TimeDelta;

use crate::english::{
    numbers,
    times::{
        calendar::{Span, Unit, back, plus, plus_days},
        grammar::{Found, Reader},
    },
};

impl Reader<'_> {
    /// `two weeks ago`: as wide as the unit, with that day in its middle. `a few days ago` is wider.
    pub(super) fn ago(self, at: usize) -> Option<Found> {
        if self.lower(at) == "half" && matches!(self.words.next(at + 1), "a" | "an") {
            let is_ago = self.words.next(at + 2) == "year" && is_ago(self.words.next(at + 3));
            return is_ago.then(|| Found::one(at + 4, self.around(6, 6, Unit::Month, Unit::Month)));
        }
        let (unit_at, least, mut most) = self.count(at).or_else(|| {
            // `weeks ago`, without a number.
            self.lower(at).ends_with('s').then_some((at, 2, 10))
        })?;
        let word = if unit_at == at { self.lower(at) } else { self.words.next(unit_at) };
        let (unit, times) = match word {
            "fortnight" => (Unit::Week, 2),
            "decade" | "decades" => (Unit::Year, 10),
            word => (Unit::from_word(word)?, 1),
        };
        let mut end = unit_at + 1;
        if self.words.next(end) == "or" && self.words.next(end + 1) == "two" {
            (most, end) = (most.max(2), end + 2);
        } else if self.words.next(end) == "and" && self.words.next(end + 2) == "half" {
            (most, end) = (most + 1, end + 3);
        }
        if !is_ago(self.words.next(end)) {
            return None;
        }
        end += 1;
        if matches!(self.words.next(end), "today" | "yesterday") && least == most {
            let date = back(self.today(), least.saturating_mul(times), unit);
            let date = plus_days(date, -i64::from(self.lower(end) == "yesterday"));
            return Some(Found::one(end + 1, Span::day(date)));
        }
        Some(Found::one(
            end,
            self.around(least.saturating_mul(times), most.saturating_mul(times), unit, unit),
        ))
    }

    /// From the most to the least units ago, and half of `width` around; a guessed number of days by one more.
    pub(super) fn around(self, least: u32, most: u32, width: Unit, unit: Unit) -> Span {
        let before_now = |minutes: i64| plus(self.now, -TimeDelta::minutes(minutes));
        let (least_minutes, most_minutes) = (i64::from(least), i64::from(most));
        match unit {
            Unit::Minute => {
                Span { from: before_now(most_minutes + 10), until: before_now((least_minutes - 10).max(0)) }
            }
            Unit::Hour => {
                Span { from: before_now(most_minutes * 60 + 45), until: before_now(least_minutes * 60 - 45) }
            }
            _ => {
                let half = width.half_days() + i64::from(least != most && unit == Unit::Day);
                let first = plus_days(back(self.today(), most, unit), -half);
                Span::days(first, plus_days(back(self.today(), least, unit), half + 1))
            }
        }
    }

    /// A number, as (the word behind it, the least, the most): `3`, `three`, `2-3`, `two or three`, `a couple of`.
    pub(super) fn count(self, at: usize) -> Option<(usize, u32, u32)> {
        const FEW: (u32, u32) = (2, 6);
        let article = usize::from(matches!(self.lower(at), "a" | "an"));
        let next = if article == 1 { self.words.next(at + 1) } else { self.lower(at) };
        match next {
            "couple" => {
                let of = usize::from(self.words.next(at + article + 1) == "of");
                return Some((at + article + 1 + of, 2, 3));
            }
            "few" => return Some((at + article + 1, FEW.0, FEW.1)),
            "several" | "some" => return Some((at + 1, 3, 9)),
            _ if article == 1 => return Some((at + 1, 1, 1)),
            _ => {}
        }
        if let Some((least, most)) = next.split_once(['-', '–']) {
            let (least, most) = (number(least)?, number(most)?);
            return (least < most).then_some((at + 1, least, most));
        }
        let first = number(next)?;
        let second = (self.words.next(at + 1) == "or").then(|| number(self.words.next(at + 2))).flatten();
        match second.filter(|second| *second > first) {
            Some(second) => Some((at + 3, first, second)),
            None => Some((at + 1, first, first)),
        }
    }
}

fn is_ago(word: &str) -> bool {
    matches!(word, "ago" | "back")
}

/// A number in digits or words, up to 9,999.
pub(super) fn number(word: &str) -> Option<u32> {
    if (1..=4).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_digit()) {
        return word.parse().ok().filter(|&number| number > 0);
    }
    numbers::cardinal(word).filter(|&number| number > 0)
}
