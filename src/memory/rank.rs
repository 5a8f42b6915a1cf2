//! What a memory's facts do to its rank.

use chrono::{DateTime, Utc};

use crate::{
    memory::{
        decay::{current_importance, current_relevance, decay_score},
        facts::Facts,
        validity::{is_unverified, staleness},
    },
    model::{
        memory::words::{Frequency, MemoryStatus},
        profile::rounded,
    },
};

/// What is left of the score of what is stale, and of what is archived.
const STALE: f64 = 0.5;
const ARCHIVED: f64 = 0.5;
/// And of what has an uncertain source.
const UNVERIFIED: f64 = 0.8;
/// What a memory lends to what it stands beside, over an edge of full strength. From 0.3 to 0.6 answers were alike.
const LENT: f64 = 0.3;

/// What a memory's facts do to its score: bounded, so that they reorder and do not find.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MemoryFactor {
    /// How much it still matters, from 0 to 1.
    pub(crate) importance: f64,
    /// How recent it is, from 0 to 1.
    pub(crate) current_relevance: f64,
    /// What is left of it where it is stale, archived or unverified; 1: it is none of these.
    pub(crate) discount: f64,
}

impl MemoryFactor {
    pub(crate) fn of(facts: &Facts, now: DateTime<Utc>) -> Self {
        let discounts = [
            (STALE, !staleness(facts, now).is_empty()),
            (ARCHIVED, facts.status == MemoryStatus::Archived),
            (UNVERIFIED, is_unverified(facts)),
        ];
        let holding = discounts.into_iter().filter(|(_, holds)| *holds);
        Self {
            importance: current_importance(decay_score(facts, now)),
            current_relevance: current_relevance(facts, now),
            discount: holding.map(|(discount, _)| discount).product(),
        }
    }

    /// By what its score is multiplied: from 0.765 to 1.265 for what is fresh and reliable.
    pub(crate) fn value(self) -> f64 {
        let Self { importance, current_relevance, discount } = self;
        rounded((0.85 + 0.30 * importance) * (0.90 + 0.20 * current_relevance) * discount)
    }
}

/// C: by what relevance is multiplied in the continuum's own order, which prefers traces that have proved themselves to
/// what is known best.
pub(crate) fn frequency_weight(frequency: Frequency) -> f64 {
    match frequency {
        Frequency::High => 0.1,
        Frequency::Mid => 0.6,
        Frequency::Low | Frequency::UltraLow => 0.3,
    }
}

/// What a memory with this score lends to one that it stands beside, over an edge of this strength. It is added to that
/// one's own score, before the factor.
pub(crate) fn neighbour_lends(score: f64, strength: f64) -> f64 {
    rounded(LENT * strength * score)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        memory::{cases::check_digits, facts::sample::start},
        model::memory::{standing::StaleReason, words::MemoryKind},
    };

    /// A fix at `mid` is worth its importance once it was used.
    fn of(importance: f64) -> Facts {
        Facts::sample(MemoryKind::Fix, Frequency::Mid).with(|facts| {
            facts.importance = importance;
            facts.state.access_count = 1;
        })
    }

    fn factor(importance: f64, current_relevance: f64, discount: f64) -> MemoryFactor {
        MemoryFactor { importance, current_relevance, discount }
    }

    #[test]
    fn what_is_stale_or_archived_counts_half() {
        let stale = |facts: &mut Facts| facts.validity_window = Some(std::time::Duration::ZERO);
        let now = start() + chrono::TimeDelta::milliseconds(1);
        let check = |facts: &Facts, expected| {
            check_digits(0.6 * MemoryFactor::of(facts, now).value(), expected, &format!("{facts:?}"));
        };
        check(&of(0.8), 0.7194);
        check(&of(0.8).with(stale), 0.3597);
        check(&of(0.8).with(stale).with(|facts| facts.status = MemoryStatus::Archived), 0.1798);
    }

    #[test]
    fn i_an_uncertain_source_counts_four_fifths_and_a_weak_one_is_stale_too() {
        let discount = |reliability| {
            let facts = of(0.3).with(|facts| facts.reliability = Some(reliability));
            (MemoryFactor::of(&facts, start()).discount, staleness(&facts, start()))
        };
        let ((uncertain, fresh), (weak, stale)) = (discount(0.69), discount(0.3));
        assert_eq!((fresh, stale), (vec![], vec![StaleReason::Weak]));
        check_digits(0.9 * factor(0.3, 0.3679, uncertain).value(), 0.6589, "0.69");
        check_digits(0.9 * factor(0.3, 0.3679, weak).value(), 0.3295, "0.3");
        check_digits(discount(0.7).0, 1.0, "0.7");
    }

    #[test]
    fn facts_reorder_and_do_not_find() {
        let (least, most) = (factor(0.0, 0.0, 1.0).value(), factor(1.0, 1.0, 1.0).value());
        check_digits(least, 0.7650, "least");
        check_digits(most, 1.2650, "most");
        check_digits(most / least, 1.6536, "between two");
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
