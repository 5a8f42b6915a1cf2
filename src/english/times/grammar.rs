//! How an expression is read: what leads to it, ranges between two times, and what the times themselves may be.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};

use crate::english::times::{
    calendar::{self, Span, Unit, containing, plus},
    words::{Gap, Words},
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
    pub(super) fn one(end: usize, span: Span) -> Self {
        Self { end, spans: vec![span], is_yearless: false }
    }

    /// What was understood and is no time to look in.
    pub(super) fn nothing(end: usize) -> Self {
        Self { end, spans: Vec::new(), is_yearless: false }
    }

    pub(super) fn yearless(end: usize, span: Option<Span>) -> Self {
        Self { end, spans: span.into_iter().collect(), is_yearless: true }
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
        match self.lower(at) {
            "between" => self.pair(at + 1, &["and"]),
            "from" => {
                self.pair(at + 1, &["to", "until", "till", "through"]).or_else(|| self.point(at + 1, "from"))
            }
            "since" => self.open(at, |point| (point.from, self.tomorrow())),
            "after" => self.open(at, |point| (point.until, self.tomorrow())),
            "before" => self.open(at, |point| (calendar::beginning(), point.from)),
            "prior" if self.words.next(at + 1) == "to" => {
                let found = self.point(at + 2, "before")?;
                Some(found.opened(|point| (calendar::beginning(), point.from)))
            }
            // Up to when something is to be done, or went on: not when it was said.
            "by" | "until" | "till" => self.point(at + 1, "until").map(|found| Found::nothing(found.end)),
            lead @ ("in" | "on" | "at" | "during" | "over" | "of" | "around") => {
                Some(self.listed(self.point(at + 1, lead)?, lead))
            }
            _ => self.point(at, ""),
        }
    }

    /// An end of all that has been said so far.
    pub(super) fn tomorrow(self) -> DateTime<Utc> {
        Span::day(self.today()).until
    }

    fn open(self, at: usize, bounds: impl Fn(Span) -> (DateTime<Utc>, DateTime<Utc>)) -> Option<Found> {
        Some(self.point(at + 1, self.lower(at))?.opened(bounds))
    }

    /// `X and Y`, `X to Y`, as one range.
    fn pair(self, at: usize, joints: &[&str]) -> Option<Found> {
        let first = self.point(at, "between")?;
        if !joints.contains(&self.words.next(first.end)) {
            return None;
        }
        let mut second = self.point(first.end + 1, "between")?;
        let mut start = first.spans.first().copied();
        if let (true, Some(start)) = (second.is_yearless && !first.is_yearless, start) {
            // `between March 2022 and May`: the first May behind it.
            let within_a_year = plus(start.from, TimeDelta::days(364)).min(self.now);
            second = Reader { now: within_a_year, ..self }.point(first.end + 1, "between")?;
        } else if let (true, Some(end)) = (first.is_yearless, second.spans.last()) {
            // `between March and May 2022`, `between November and February`.
            let at_the_end = Reader { now: plus(end.until, -TimeDelta::milliseconds(1)), ..self };
            start = at_the_end.point(at, "between")?.spans.first().copied();
        }
        let span =
            start.zip(second.spans.last()).map(|(start, end)| Span { from: start.from, until: end.until });
        Some(Found { end: second.end, spans: span.into_iter().collect(), is_yearless: false })
    }

    /// `in March and April`: what follows is led by the same word.
    fn listed(self, mut found: Found, lead: &str) -> Found {
        const MOST: usize = 6;
        for _ in 0..MOST {
            let joint = usize::from(matches!(self.words.next(found.end), "and" | "or"));
            let is_comma = self.words.get(found.end + joint).is_some_and(|word| word.gap == Gap::Comma);
            if joint == 0 && !is_comma {
                break;
            }
            let Some(more) = self.point(found.end + joint, lead).filter(Found::is_listable) else {
                break;
            };
            found.end = more.end;
            found.spans.extend(more.spans);
        }
        found
    }

    /// A time, or a third of one, without what leads up to it; `lead` is the word before it that was read already.
    fn point(self, at: usize, lead: &str) -> Option<Found> {
        const THIRDS: [(&str, i64); 6] = [
            ("the? early", 0),
            ("the? mid", 1),
            ("the? late", 2),
            ("the? beginning|start of", 0),
            ("the? middle of", 1),
            ("the? end of", 2),
        ];
        if lead.is_empty() && is_ahead(self.words.before(at)) {
            return None;
        }
        let third =
            THIRDS.iter().find_map(|(pattern, which)| Some((self.fit(pattern, at, lead)?.end, *which)));
        let Some((at, which)) = third else { return self.time(at, lead) };
        let mut found = self.whole(at)?;
        for span in &mut found.spans {
            if (span.until - span.from).num_days() >= 7 {
                *span = span.third(which);
            }
        }
        Some(found)
    }

    /// What there is a third of.
    fn whole(self, at: usize) -> Option<Found> {
        match Unit::from_word(self.words.next(at + 1)) {
            Some(unit @ (Unit::Week | Unit::Month | Unit::Year)) if self.lower(at) == "the" => {
                Some(Found::one(at + 2, containing(self.today(), unit)))
            }
            _ => self.time(at, "in"),
        }
    }
}

impl Found {
    fn opened(mut self, bounds: impl Fn(Span) -> (DateTime<Utc>, DateTime<Utc>)) -> Self {
        for span in &mut self.spans {
            (span.from, span.until) = bounds(*span);
        }
        self
    }

    /// Whether another month or year may follow it in a list.
    fn is_listable(&self) -> bool {
        self.spans.iter().any(|span| (span.until - span.from).num_days() >= 28)
    }
}

/// Words before a day that lies ahead, or is any such day.
pub(super) fn is_ahead(word: &str) -> bool {
    matches!(word, "next" | "every" | "each" | "coming" | "upcoming" | "following" | "any" | "for" | "per")
}
