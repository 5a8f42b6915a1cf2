//! Decides which memories are stale, and why: because what they say was not checked recently enough, or because their
//! sources are weak.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use crate::{
    memory::{
        decay::{band, current_relevance, decay_score},
        facts::MemoryFacts,
    },
    model::memory::{
        standing::{StaleReason, Standing},
        words::Volatility,
    },
};

/// A source with a reliability below this is speculative (memory information paper): its memory is stale at once.
const SPECULATIVE: f64 = 0.4;
/// A source with a reliability below this gets a warning (memory information paper).
const UNCERTAIN: f64 = 0.7;
/// How long a check prevents archiving if nothing else gives a window.
const LONGEST_FRESH: TimeDelta = TimeDelta::days(180);

/// Returns how long information of this volatility holds; `None` means forever. The memory information paper says hours,
/// minutes, and a week for configurations.
pub(crate) fn window(volatility: Volatility) -> Option<TimeDelta> {
    match volatility {
        Volatility::Low => None,
        Volatility::Medium => Some(TimeDelta::days(7)),
        Volatility::High => Some(TimeDelta::hours(6)),
        Volatility::Ephemeral => Some(TimeDelta::hours(1)),
    }
}

/// Whether such information changes so fast that it should be looked up rather than believed (memory information paper).
fn is_fast(volatility: Volatility) -> bool {
    matches!(volatility, Volatility::High | Volatility::Ephemeral)
}

impl MemoryFacts {
    /// The window that somebody stated.
    fn stated_window(&self) -> Option<TimeDelta> {
        self.validity_window.map(|window: Duration| TimeDelta::from_std(window).unwrap_or(TimeDelta::MAX))
    }

    /// Returns when the memory last passed a check. A check dated later than tomorrow, by a clock that was ahead, does not
    /// count.
    fn checked_at(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        self.state.validated_at.filter(|at| *at - now <= TimeDelta::days(1))
    }
}

/// Returns why a memory is stale (memory information paper); empty if it is fresh. Its age counts from its last passed
/// check, or from when it was said. An age equal to a bound is fresh, a reliability equal to a bound is enough, and a source
/// that was not assessed is not weak.
pub(crate) fn staleness(facts: &MemoryFacts, now: DateTime<Utc>) -> Vec<StaleReason> {
    let age = now - facts.checked_at(now).unwrap_or(facts.said_at);
    let (stated, by_volatility) = (facts.stated_window(), window(facts.volatility));
    let is_over = |window: Option<TimeDelta>| window.is_some_and(|window| age > window);
    let shorter = stated.into_iter().chain(by_volatility).min();
    let reasons = [
        (StaleReason::Expired, is_over(stated.or(by_volatility))),
        (StaleReason::Old, is_fast(facts.volatility) && is_over(shorter)),
        (StaleReason::Weak, facts.reliability.is_some_and(|reliability| reliability < SPECULATIVE)),
    ];
    reasons.into_iter().filter(|(_, holds)| *holds).map(|(reason, _)| reason).collect()
}

/// Whether a check passed so recently that a memory should not be archived (memory information paper).
pub(crate) fn fresh_validated(facts: &MemoryFacts, now: DateTime<Utc>) -> bool {
    let window = facts.stated_window().or(window(facts.volatility)).unwrap_or(LONGEST_FRESH);
    facts.checked_at(now).is_some_and(|at| now - at <= window)
}

/// Whether the source was assessed, and its reliability is below [`UNCERTAIN`] (memory information paper).
pub(crate) fn is_unverified(facts: &MemoryFacts) -> bool {
    facts.reliability.is_some_and(|reliability| reliability < UNCERTAIN)
}

/// Returns everything that follows for a memory at a moment.
pub(crate) fn standing(facts: &MemoryFacts, now: DateTime<Utc>) -> Standing {
    let decay_score = decay_score(facts, now);
    Standing {
        decay_score,
        band: band(decay_score),
        current_relevance: current_relevance(facts, now),
        stale: staleness(facts, now),
        unverified: is_unverified(facts),
        look_up: is_fast(facts.volatility),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        memory::facts::sample::start,
        model::memory::words::{Frequency, MemoryKind},
    };
    use StaleReason::{Expired, Old, Weak};

    fn of(volatility: Volatility) -> MemoryFacts {
        MemoryFacts::sample(MemoryKind::General, Frequency::High).with(|facts| facts.volatility = volatility)
    }

    /// Returns a memory with a stated window.
    fn windowed(volatility: Volatility, window: Duration) -> MemoryFacts {
        of(volatility).with(|facts| facts.validity_window = Some(window))
    }

    /// Returns the memory, said long ago, with a check that passed at the start.
    fn checked(facts: MemoryFacts) -> MemoryFacts {
        facts.with(|facts| {
            facts.said_at = start() - TimeDelta::days(1_000);
            facts.state.validated_at = Some(start());
        })
    }

    /// Checks why a memory is stale this long after the start.
    #[track_caller]
    fn check(facts: &MemoryFacts, age: TimeDelta, expected: &[StaleReason]) {
        assert_eq!(staleness(facts, start() + age), expected, "{facts:?} after {age}");
    }

    #[test]
    fn i_a_check_holds_as_long_as_the_volatility_says() {
        let medium = checked(of(Volatility::Medium));
        check(&medium, TimeDelta::hours(7 * 24 - 1), &[]);
        check(&medium, TimeDelta::days(7), &[]);
        check(&medium, TimeDelta::days(7) + TimeDelta::seconds(1), &[Expired]);
        check(&of(Volatility::Low), TimeDelta::days(3 * 365), &[]);
        check(&of(Volatility::High), TimeDelta::minutes(5), &[]);
    }

    #[test]
    fn a_check_of_next_year_keeps_nothing_fresh() {
        let medium = checked(of(Volatility::Medium));
        let (just_before, a_year_before) = (start() - TimeDelta::hours(1), start() - TimeDelta::days(365));
        assert_eq!(staleness(&medium, just_before), []);
        assert!(fresh_validated(&medium, just_before));
        assert_eq!(staleness(&medium, a_year_before), [Expired]);
        assert!(!fresh_validated(&medium, a_year_before));
    }

    #[test]
    fn i_or_as_long_as_somebody_stated() {
        let half_a_year = Duration::from_hours(180 * 24);
        check(&checked(windowed(Volatility::Low, half_a_year)), TimeDelta::days(181), &[Expired]);
        check(&checked(windowed(Volatility::Low, half_a_year)), TimeDelta::days(180), &[]);
    }

    #[test]
    fn i_what_is_volatile_grows_old_within_a_longer_window() {
        check(&checked(windowed(Volatility::High, Duration::from_hours(24))), TimeDelta::hours(7), &[Old]);
        check(&checked(windowed(Volatility::Medium, Duration::from_hours(24 * 30))), TimeDelta::days(8), &[]);
        let hourly = checked(windowed(Volatility::Ephemeral, Duration::from_hours(1)));
        check(&hourly, TimeDelta::minutes(59), &[]);
        check(&hourly, TimeDelta::minutes(61), &[Expired, Old]);
    }

    #[test]
    fn i_an_immediate_window_is_over_at_once() {
        for (volatility, expected) in [(Volatility::Low, &[Expired][..]), (Volatility::High, &[Expired, Old])]
        {
            let immediate = checked(windowed(volatility, Duration::ZERO));
            check(&immediate, TimeDelta::zero(), &[]);
            check(&immediate, TimeDelta::milliseconds(1), expected);
        }
    }

    #[test]
    fn i_a_weak_source_is_stale_at_once_and_an_unknown_one_is_not() {
        let reliable =
            |reliability| checked(of(Volatility::Low)).with(|facts| facts.reliability = reliability);
        check(&reliable(Some(0.39)), TimeDelta::zero(), &[Weak]);
        check(&reliable(Some(0.40)), TimeDelta::zero(), &[]);
        check(&reliable(None), TimeDelta::zero(), &[]);
        assert!(is_unverified(&reliable(Some(0.69))));
        assert!(!is_unverified(&reliable(Some(0.70))) && !is_unverified(&reliable(None)));
    }

    #[track_caller]
    fn check_fresh(facts: &MemoryFacts, age: TimeDelta, expected: bool) {
        assert_eq!(fresh_validated(facts, start() + age), expected, "{facts:?} after {age}");
    }

    #[test]
    fn i_a_check_keeps_from_being_archived_as_long_as_it_holds() {
        check_fresh(&checked(of(Volatility::Low)), TimeDelta::days(180), true);
        check_fresh(&checked(of(Volatility::Low)), TimeDelta::days(181), false);
        check_fresh(&checked(of(Volatility::Medium)), TimeDelta::days(8), false);
        let daily = checked(windowed(Volatility::Medium, Duration::from_hours(24)));
        check_fresh(&daily, TimeDelta::hours(24), true);
        check_fresh(&daily, TimeDelta::hours(25), false);
        check_fresh(&of(Volatility::Low), TimeDelta::zero(), false);
    }

    #[test]
    fn a_standing_has_the_numbers_and_what_to_mind() {
        let facts = of(Volatility::High).with(|facts| facts.reliability = Some(0.5));
        let standing = standing(&facts, start() + TimeDelta::hours(7));
        assert_eq!((standing.stale, standing.unverified, standing.look_up), (vec![Expired, Old], true, true));
    }
}
