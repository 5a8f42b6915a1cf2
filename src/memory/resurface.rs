//! Decides when a memory is shown to a person again.

use chrono::{DateTime, Days, NaiveDate, Utc};

use crate::{
    memory::{facts::MemoryFacts, validity::staleness},
    model::memory::{
        trust::Trust,
        words::{Frequency, MemoryStatus, Resurfacing},
    },
};

/// A memory with at most this importance is never shown again.
pub(crate) const LEAST_IMPORTANCE: f64 = MID_IMPORTANCE;
/// The importance that a `mid` and a `low` memory must exceed (entry paper).
const MID_IMPORTANCE: f64 = 0.7;
const LOW_IMPORTANCE: f64 = 0.8;
/// Days until a memory is shown again, by how often it was: a week, a month, a quarter, a year.
const STEPS: [u64; 4] = [7, 30, 90, 365];
/// How often a person may say "not now" before the memory is never shown again.
pub(crate) const MOST_DISMISSALS: u32 = 3;

/// Whether a memory may be shown again (entry paper): it is active and fresh, it matters, nobody has switched that off, and
/// it is not a tool's or a document's words.
pub(crate) fn resurface_eligible(facts: &MemoryFacts, now: DateTime<Utc>) -> bool {
    let matters = match facts.frequency {
        Frequency::Mid => facts.importance > MID_IMPORTANCE,
        Frequency::Low => facts.importance > LOW_IMPORTANCE,
        Frequency::High | Frequency::UltraLow => false,
    };
    matters
        && facts.status == MemoryStatus::Active
        && facts.state.resurfacing == Resurfacing::On
        && facts.trust >= Trust::Assistant
        && staleness(facts, now).is_empty()
}

/// Returns the day on which a memory is due. It counts from `last`, the day on which a person last saw the memory or on
/// which it was saved. The wait grows with how often they looked at it, and doubles each time they put it off. `None` if it
/// was dismissed for good, or the day is beyond the calendar.
pub(crate) fn next_due(last: NaiveDate, resurfaced_count: u32, dismissals: u32) -> Option<NaiveDate> {
    if dismissals >= MOST_DISMISSALS {
        return None;
    }
    let step = usize::try_from(resurfaced_count).unwrap_or(usize::MAX).min(STEPS.len() - 1);
    last.checked_add_days(Days::new(STEPS[step] << dismissals))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{memory::facts::sample::start, model::memory::words::MemoryKind};

    fn of(frequency: Frequency, importance: f64) -> MemoryFacts {
        MemoryFacts::sample(MemoryKind::Decision, frequency).with(|facts| facts.importance = importance)
    }

    #[track_caller]
    fn check(facts: &MemoryFacts, expected: bool) {
        assert_eq!(resurface_eligible(facts, start()), expected, "{facts:?}");
    }

    #[test]
    fn e_what_matters_enough_is_shown_again() {
        check(&of(Frequency::Mid, 0.70), false);
        check(&of(Frequency::Mid, 0.71), true);
        check(&of(Frequency::Low, 0.80), false);
        check(&of(Frequency::Low, 0.81), true);
        check(&of(Frequency::High, 1.0), false);
        check(&of(Frequency::UltraLow, 1.0), false);
    }

    #[test]
    fn what_does_not_hold_is_not() {
        let good = || of(Frequency::Mid, 0.9);
        check(&good().with(|facts| facts.reliability = Some(0.1)), false);
        check(&good().with(|facts| facts.status = MemoryStatus::Archived), false);
        check(&good().with(|facts| facts.trust = Trust::Foreign), false);
        check(&good().with(|facts| facts.state.resurfacing = Resurfacing::Off), false);
        check(&good().with(|facts| facts.state.resurfacing = Resurfacing::Dismissed), false);
    }

    #[track_caller]
    fn check_due(count: u32, dismissals: u32, expected: Option<&str>) {
        let last = NaiveDate::from_ymd_opt(2026, 1, 1).unwrap();
        let due = next_due(last, count, dismissals).map(|day| day.to_string());
        assert_eq!(due.as_deref(), expected, "{count} times, {dismissals} dismissals");
    }

    #[test]
    fn the_waits_grow_and_a_third_dismissal_is_the_last() {
        check_due(0, 0, Some("2026-01-08"));
        check_due(1, 1, Some("2026-03-02"));
        check_due(3, 0, Some("2027-01-01"));
        check_due(400, 0, Some("2027-01-01"));
        check_due(0, 3, None);
        check_due(2, u32::MAX, None);
    }
}
