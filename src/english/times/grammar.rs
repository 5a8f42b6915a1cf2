//! How an expression is read: what leads to it, ranges between two times, and what the times themselves may be.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};

use crate::{
    english::{
        lists::is_in,
        times::{
            calendar::{Span, plus},
            words::Words,
        },
    },
    model::instant,
};

/// An expression that was read.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// The word behind its last.
    pub(super) end: usize,
    /// None if it lies ahead; two for a date that can be read in two ways.
    pub(super) spans: Vec<Span>,
    /// Whether its year, or its week, is a guess.
    pub(super) is_yearless: bool,
}

impl Found {
    /// With no span it was understood, and is no time to look in.
    pub(super) fn of(end: usize, spans: impl IntoIterator<Item = Span>) -> Self {
        Self { end, spans: spans.into_iter().collect(), is_yearless: false }
    }

    pub(super) fn yearless(end: usize, span: Option<Span>) -> Self {
        Self { is_yearless: true, ..Self::of(end, span) }
    }

    fn opened(mut self, bounds: impl Fn(Span) -> (DateTime<Utc>, DateTime<Utc>)) -> Self {
        for span in &mut self.spans {
            (span.from, span.until) = bounds(*span);
        }
        self
    }
}

/// Reads expressions from words; each reading looks at a bounded number of them.
#[derive(Clone, Copy)]
pub(super) struct Reader<'w> {
    pub(super) words: &'w Words,
    pub(super) now: DateTime<Utc>,
}

impl Reader<'_> {
    pub(super) fn today(self) -> NaiveDate {
        self.now.date_naive()
    }

    pub(super) fn lower(&self, at: usize) -> &str {
        self.words.lower(at)
    }

    /// The expression that begins here.
    pub(super) fn read(self, at: usize) -> Option<Found> {
        let (lead, behind) = (self.lower(at), at + 1);
        match lead {
            "between" => return self.pair(behind, "and"),
            "from" => {
                if let Some(pair) = self.pair(behind, "to until till through") {
                    return Some(pair);
                }
            }
            _ if !is_in("since after before by until till in on at during over of around", lead) => {
                return self.point(at, "");
            }
            _ => {}
        }
        let found = self.point(behind, lead)?;
        Some(match lead {
            "since" => found.opened(|point| (point.from, self.tomorrow())),
            "after" => found.opened(|point| (point.until, self.tomorrow())),
            "before" => found.opened(|point| (instant::clamped(DateTime::<Utc>::MIN_UTC), point.from)),
            // Up to when something is to be done, or went on: not when it was said.
            "by" | "until" | "till" => Found::of(found.end, None),
            _ => found,
        })
    }

    /// An end of all that has been said so far.
    pub(super) fn tomorrow(self) -> DateTime<Utc> {
        Span::day(self.today()).until
    }

    /// `X and Y`, `X to Y`, as one range.
    fn pair(self, at: usize, joints: &str) -> Option<Found> {
        let first = self.point(at, "between")?;
        if !is_in(joints, self.words.next(first.end)) {
            return None;
        }
        let second = self.point(first.end + 1, "between")?;
        let mut start = first.spans.first().copied();
        if let (true, Some(end)) = (first.is_yearless, second.spans.last()) {
            // `between March and May 2022`, `between November and February`.
            let at_the_end = Reader { now: plus(end.until, -TimeDelta::milliseconds(1)), ..self };
            start = at_the_end.point(at, "between")?.spans.first().copied();
        }
        let span =
            start.zip(second.spans.last()).map(|(start, end)| Span { from: start.from, until: end.until });
        Some(Found::of(second.end, span))
    }

    /// A time without what leads up to it; `lead` is the word before it that was read already.
    fn point(self, at: usize, lead: &str) -> Option<Found> {
        // Such a day lies ahead, or is any of its kind.
        const AHEAD: &str = "next every each coming upcoming following any for per";
        let is_ahead = lead.is_empty() && is_in(AHEAD, self.words.before(at));
        if is_ahead { None } else { self.time(at, lead) }
    }
}
