//! The time of the event that a turn speaks of: `I will see the dentist next Friday`, said on a Monday.

use std::ops::Range;

use chrono::{DateTime, TimeDelta, Utc};

use crate::{
    model::stored_time::StoredTime,
    text::words::MAX_QUERY_BYTES,
    times::{read::all, tense::TimeSpeaker},
};

/// The days of an event, relative to the day when the turn was said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EventDays {
    /// The first day; negative if it is before that day.
    first_day: i16,
    /// The number of days.
    days: u16,
}

/// The longest event; anything longer is not one.
const LONGEST_DAYS: i64 = 366;
const DAY_MS: i64 = 86_400_000;

impl EventDays {
    /// How many bytes of a text are read: a turn says early what it is about.
    pub(crate) const MAX_BYTES: usize = MAX_QUERY_BYTES;
    /// The size of the value in the index, in bytes.
    pub(crate) const BYTES: usize = 4;

    /// Returns the shortest time that a text names; of several equally short ones, the first. `None` if the text names no
    /// time, or only times that are longer than [`LONGEST_DAYS`] or contain the moment of saying: that moment finds the turn
    /// anyway.
    pub(crate) fn of(text: &str, said_at: DateTime<Utc>) -> Option<Self> {
        let said_at = *StoredTime::clamped(said_at);
        let text = &text[..text.floor_char_boundary(Self::MAX_BYTES)];
        let spans = all(text, said_at, TimeSpeaker::Telling).into_iter().map(|(span, _)| span);
        let elsewhere = spans.filter(|span| !(span.from..span.until).contains(&said_at));
        let (shortest, days) = elsewhere
            .map(|span| (span, (span.last_day() - span.first_day()).num_days() + 1))
            .filter(|(_, days)| *days <= LONGEST_DAYS)
            .min_by_key(|(span, _)| span.until - span.from)?;
        let first_day = (shortest.first_day() - said_at.date_naive()).num_days();
        Some(Self { first_day: i16::try_from(first_day).ok()?, days: u16::try_from(days).ok()? })
    }

    /// Returns the range from the first millisecond of the event up to the one after its last, for a turn said at this
    /// moment.
    pub(crate) fn span_ms(self, said_at_ms: i64) -> Range<i64> {
        let first =
            said_at_ms.div_euclid(DAY_MS).saturating_add(self.first_day.into()).saturating_mul(DAY_MS);
        first..first.saturating_add(i64::from(self.days) * DAY_MS)
    }

    pub(crate) fn to_bytes(self) -> [u8; Self::BYTES] {
        let ([a, b], [c, d]) = (self.first_day.to_le_bytes(), self.days.to_le_bytes());
        [a, b, c, d]
    }

    pub(crate) fn from_bytes([a, b, c, d]: [u8; Self::BYTES]) -> Self {
        Self { first_day: i16::from_le_bytes([a, b]), days: u16::from_le_bytes([c, d]) }
    }
}

/// Whether an event falls into a time that is asked for. The event may extend beyond that time, but must not be longer than
/// it, or than a week if that is more.
pub(super) fn falls_into(event: &Range<i64>, from: DateTime<Utc>, until: DateTime<Utc>) -> bool {
    let vaguest_ms = (until - from).max(TimeDelta::days(7)).num_milliseconds();
    event.start < until.timestamp_millis()
        && event.end > from.timestamp_millis()
        && event.end - event.start <= vaguest_ms
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::words::RULES_VERSION;

    /// A Monday.
    const SAID_AT: &str = "2024-01-15T10:00:00Z";

    fn event(text: &str) -> Option<EventDays> {
        EventDays::of(text, SAID_AT.parse().unwrap())
    }

    /// Checks the first day of the event, and the number of days.
    #[track_caller]
    fn check(text: &str, expected: Option<(i16, u16)>) {
        let found = event(text);
        assert_eq!(found.map(|event| (event.first_day, event.days)), expected, "{text:?}");
        assert_eq!(found.map(|event| EventDays::from_bytes(event.to_bytes())), found);
    }

    #[test]
    fn what_is_told_has_its_time() {
        check("I will see the dentist next Friday", Some((4, 1)));
        check("See you tomorrow!", Some((1, 1)));
        check("We met last Friday.", Some((-3, 1)));
        check("The wedding is on 3 June.", Some((140, 1)));
        check("The wedding was on 3 June.", Some((-226, 1)));
        check("My interview is on Thursday.", Some((3, 1)));
        check("I had an interview on Thursday.", Some((-4, 1)));
        check("I fly in two weeks, on the 30th I'll be back", Some((15, 1)));
        check("We go to Rome next month", Some((17, 29)));
        check("Ich muss am 3. Juni zum Zahnarzt", Some((140, 1)));
        check("下周五我要去看牙医", Some((11, 1)));
    }

    #[test]
    fn of_several_times_the_shortest_counts() {
        check("Last month I was ill, and last Friday I saw a doctor.", Some((-3, 1)));
        check("Tomorrow or on Friday?", Some((1, 1)));
    }

    #[test]
    fn what_holds_the_moment_of_saying_or_is_endless_is_no_event() {
        for text in [
            "I am tired today",
            "this week I rest",
            "since 2019",
            "lately",
            "no time at all",
            "",
            "before May",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn an_event_falls_into_what_is_not_much_shorter() {
        let said_at: DateTime<Utc> = SAID_AT.parse().unwrap();
        let falls = |text, from: &str, until: &str| {
            let [from, until] = [from, until].map(|day| format!("{day}T00:00:00Z").parse().unwrap());
            falls_into(&event(text).unwrap().span_ms(said_at.timestamp_millis()), from, until)
        };
        assert!(falls("I leave next Friday", "2024-01-19", "2024-01-20"));
        assert!(!falls("I leave next Friday", "2024-01-20", "2024-01-21"));
        assert!(falls("I leave next week", "2024-01-24", "2024-01-25"));
        assert!(!falls("I leave next month", "2024-02-03", "2024-02-04"));
        assert!(falls("I leave next month", "2024-02-01", "2024-03-01"));
    }

    #[test]
    fn other_events_have_another_version() {
        let mut sum = crc32fast::Hasher::new();
        for text in [
            "I'll see the dentist next Friday.",
            "We met two weeks ago, on 3 March.",
            "el lunes pasado",
            "来週の金曜日に歯医者",
            "On Monday it rained; my test is on Thursday",
            "im Mai war ich krank",
        ] {
            sum.update(&event(text).unwrap_or_default().to_bytes());
        }
        assert_eq!(
            (RULES_VERSION, sum.finalize()),
            (4, 779_542_573),
            "raise RULES_VERSION, and put the new sum here"
        );
    }
}
