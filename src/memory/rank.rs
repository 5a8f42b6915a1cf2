//! How a memory's facts affect its rank.

use chrono::{DateTime, Utc};

use crate::{
    memory::{
        facts::MemoryFacts,
        validity::{is_unverified, staleness},
    },
    model::{
        memory::words::{Frequency, MemoryStatus},
        profile::rounded,
    },
};

/// The factor on the score of a stale memory, and of an archived one.
const STALE: f64 = 0.5;
const ARCHIVED: f64 = 0.5;
/// The factor on the score of a memory with an uncertain source.
const UNVERIFIED: f64 = 0.8;
/// The share of its score that a memory lends to a related one over an edge of full strength. From 0.3 to 0.6 the answers
/// were the same.
const LENT: f64 = 0.3;
/// The share of its score that a memory lends to a turn that it rests on, and the turn to it. From 0.2 to 0.3 the answers
/// were the same.
const WITNESS: f64 = 0.25;

/// Returns the factor on a memory's score, from 0 to 1: a memory that may be outdated, is archived or has an uncertain
/// source counts less. How much it matters and how recent it is are not included: measured, neither helped
/// (docs/knowledge.md).
pub(crate) fn discount(facts: &MemoryFacts, now: DateTime<Utc>) -> f64 {
    let discounts = [
        (STALE, !staleness(facts, now).is_empty()),
        (ARCHIVED, facts.status == MemoryStatus::Archived),
        (UNVERIFIED, is_unverified(facts)),
    ];
    rounded(discounts.into_iter().filter(|(_, holds)| *holds).map(|(discount, _)| discount).product())
}

/// C: returns the factor on relevance in the continuum's own order, which prefers proven episodes to established knowledge.
pub(crate) fn frequency_weight(frequency: Frequency) -> f64 {
    match frequency {
        Frequency::High => 0.1,
        Frequency::Mid => 0.6,
        Frequency::Low | Frequency::UltraLow => 0.3,
    }
}

/// Returns what a memory with this score lends to a related one, over an edge of this strength. It is added to the other's
/// own score, before the discount.
pub(crate) fn neighbour_lends(score: f64, strength: f64) -> f64 {
    rounded(LENT * strength * score)
}

/// Returns what a memory with this score lends to a turn that it rests on, and the turn to it: they are one piece of
/// knowledge, told twice.
pub(crate) fn witness_lends(score: f64) -> f64 {
    rounded(WITNESS * score)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        memory::{cases::check_digits, facts::sample::start},
        model::memory::{standing::StaleReason, words::MemoryKind},
    };

    fn known() -> MemoryFacts {
        MemoryFacts::sample(MemoryKind::Fix, Frequency::Mid)
    }

    #[test]
    fn what_is_stale_or_archived_counts_half() {
        let stale = |facts: &mut MemoryFacts| facts.validity_window = Some(std::time::Duration::ZERO);
        let archived = |facts: &mut MemoryFacts| facts.status = MemoryStatus::Archived;
        let now = start() + chrono::TimeDelta::milliseconds(1);
        let check = |facts: &MemoryFacts, expected| {
            check_digits(discount(facts, now), expected, &format!("{facts:?}"));
        };
        check(&known(), 1.0);
        check(&known().with(stale), 0.5);
        check(&known().with(archived), 0.5);
        check(&known().with(stale).with(archived), 0.25);
    }

    #[test]
    fn i_an_uncertain_source_counts_four_fifths_and_a_weak_one_is_stale_too() {
        let of = |reliability| {
            let facts = known().with(|facts| facts.reliability = Some(reliability));
            (discount(&facts, start()), staleness(&facts, start()))
        };
        assert_eq!(of(0.7), (1.0, vec![]));
        assert_eq!(of(0.69), (0.8, vec![]));
        assert_eq!(of(0.3), (0.4, vec![StaleReason::Weak]));
    }

    #[test]
    fn c_the_continuum_prefers_what_has_proved_itself() {
        let check = |frequency, relevance, expected| {
            check_digits(frequency_weight(frequency) * relevance, expected, &format!("{frequency:?}"));
        };
        check(Frequency::High, 0.9, 0.0900);
        check(Frequency::Mid, 0.5, 0.3000);
        check(Frequency::Low, 0.8, 0.2400);
        check(Frequency::UltraLow, 0.8, 0.2400);
    }

    #[test]
    fn neighbours_lend_by_the_strength_of_their_edges() {
        check_digits(neighbour_lends(0.6, 0.8), 0.1440, "0.8");
        check_digits(neighbour_lends(0.6, 0.65), 0.1170, "0.65");
        check_digits(neighbour_lends(0.6, 0.8) + neighbour_lends(0.5, 0.5), 0.2190, "both");
    }
}
