//! Reads times in English: single times, ranges between two times, and the words before them, such as `since`.

mod dates;
mod names;
mod phrases;
mod starts;

use chrono::TimeDelta;

use crate::{
    english::lists::is_in,
    model::stored_time::StoredTime,
    times::{
        calendar::{CalendarSpan, plus},
        reader::{ExpressionReader, ReadExpression},
    },
};

pub(crate) use names::MONTHS;
#[cfg(test)]
pub(crate) use names::WEEKDAYS;

/// Words that lead to a time.
const LEADS: &str = "between from since after before by until till in on at during over of around";

impl ExpressionReader<'_> {
    /// Whether a word here may begin a time or lead to one: most words do not, and matching patterns is slow.
    pub(super) fn may_be_english(self, at: usize) -> bool {
        let begins =
            |at| self.words.get(at).is_some_and(|word| word.is_number || starts::may_begin(&word.lower));
        begins(at) || (is_in(LEADS, self.lower(at)) && begins(at + 1))
    }

    /// Reads the expression that begins here.
    pub(super) fn english(self, at: usize) -> Option<ReadExpression> {
        let (lead, behind) = (self.lower(at), at + 1);
        match lead {
            "between" => return self.pair(behind, "and"),
            "from" => {
                if let Some(pair) = self.pair(behind, "to until till through") {
                    return Some(pair);
                }
            }
            _ if !is_in(LEADS, lead) => {
                return self.point(at, "");
            }
            _ => {}
        }
        let mut found = self.point(behind, lead)?;
        if is_in("since after before", lead) {
            // A time that has not begun cannot limit what was said.
            found.spans.retain(|span| span.from <= self.now);
        }
        Some(match lead {
            "since" => found.opened(|point| (point.from, self.tomorrow())),
            "after" => found.opened(|point| (point.until, self.tomorrow())),
            "before" => found.opened(|point| (*StoredTime::FIRST, point.from)),
            // These words say until when something must be done or continued, not when it was said.
            "by" | "until" | "till" => ReadExpression::of(found.end, None),
            _ => found,
        })
    }

    /// Reads `X and Y` or `X to Y` as one range.
    fn pair(self, at: usize, joints: &str) -> Option<ReadExpression> {
        let mut first = self.point(at, "between")?;
        if !is_in(joints, self.words.next(first.end)) {
            return None;
        }
        let mut second = self.point(first.end + 1, "between")?;
        for point in [&mut first, &mut second] {
            point.spans.retain(|span| span.from <= self.now);
        }
        let mut start = first.spans.first().copied();
        if let (true, Some(end)) = (first.is_yearless, second.spans.last()) {
            // `between March and May 2022`, `between November and February`.
            let at_the_end = ExpressionReader { now: plus(end.until, -TimeDelta::milliseconds(1)), ..self };
            start = at_the_end.point(at, "between")?.spans.first().copied();
        }
        let span = start
            .zip(second.spans.last())
            .map(|(start, end)| CalendarSpan { from: start.from, until: end.until });
        Some(ReadExpression::of(second.end, span))
    }

    /// Reads a time without the words that lead up to it. `lead` is the word before it, which was already read.
    fn point(self, at: usize, lead: &str) -> Option<ReadExpression> {
        // After one of these words, a time was already read together with it, or stands for any of its kind.
        const OTHER: &str = "next every each coming upcoming following any for per";
        let is_other = lead.is_empty() && is_in(OTHER, self.words.before(at));
        if is_other { None } else { self.time(at, lead) }
    }
}
