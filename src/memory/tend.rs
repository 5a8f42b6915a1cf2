//! Decides what tending does to one memory: it settles, falls back or is archived, or a person is asked about it. Also gives
//! the numbers that decided it.

use chrono::{DateTime, Utc};

use crate::{
    memory::{
        decay::decay_score,
        facts::{MemoryFacts, days},
        frequency::{
            ConsolidationStep, FLAGGED_RATE, HIGH_DAYS, MID_ACCESSES, POOR_RATE, POOR_USES, Past, Retention,
            archived_score, consolidate, retain, threshold,
        },
        validity::fresh_validated,
    },
    model::{
        memory::{
            tended::TendAction,
            words::{Frequency, Outcome},
        },
        review::ReviewKind,
    },
};

/// What happens to a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    /// It settles to this frequency.
    Settle(Frequency),
    /// It falls back to this frequency.
    FallBack(Frequency),
    Archive,
    /// A person is asked.
    Ask(ReviewKind),
}

impl Move {
    /// The action as a caller sees it.
    pub(crate) fn action(self) -> TendAction {
        match self {
            Self::Settle(_) => TendAction::Consolidate,
            Self::FallBack(_) => TendAction::Downgrade,
            Self::Archive => TendAction::Archive,
            Self::Ask(_) => TendAction::Review,
        }
    }

    /// How settled a memory is afterwards.
    pub(crate) fn frequency(self, before: Frequency) -> Frequency {
        match self {
            Self::Settle(to) | Self::FallBack(to) => to,
            Self::Archive | Self::Ask(_) => before,
        }
    }
}

/// Whether anything could happen to a memory with the best possible past. The past is read only of such memories.
pub(crate) fn may_move(facts: &MemoryFacts, now: DateTime<Utc>) -> bool {
    let best = Past { birth: Some(Outcome::Success), has_moved: false, has_success_since: true };
    let calm;
    let facts = if facts.contested {
        calm = MemoryFacts { contested: false, ..facts.clone() };
        &calm
    } else {
        facts
    };
    consolidate(facts, best, now).is_some() || retain(facts, false, now) != Retention::Keep
}

/// Decides what happens to a memory on a day: it consolidates, or else the rules of retention apply. Also returns why, in
/// numbers. `left_high` says whether it was once at `high` and settled.
///
/// No memory returns to where it was without a use or a check. So a memory that would fall back at once does not settle; and
/// one that rose only because of how it was learned, and is then not used, is archived rather than moved back to `high`.
/// What a person saved is never archived: if it helps too seldom, it falls back, and stays at `high` until it helps.
pub(crate) fn look(
    facts: &MemoryFacts,
    (past, left_high): (Past, bool),
    now: DateTime<Utc>,
) -> Option<(Move, String)> {
    let step = consolidate(facts, past, now);
    if let Some(ConsolidationStep::To(to)) = step {
        let settled = MemoryFacts { frequency: to, frequency_since: now, ..facts.clone() };
        if retain(&settled, false, now) == Retention::Keep {
            return Some((Move::Settle(to), why_settled(facts, past)));
        }
    }
    match retain(facts, false, now) {
        Retention::Downgrade if left_high && !was_looked_at(facts) && !facts.is_by_hand() => {
            let why = || (Move::Archive, format!("{}, as it was at high", why_poor(facts, now)));
            (!fresh_validated(facts, now)).then(why)
        }
        Retention::Downgrade => Some((Move::FallBack(Frequency::High), why_poor(facts, now))),
        Retention::Archive => Some((Move::Archive, why_archived(facts, now))),
        // A person is asked whether a memory that helps less than before still holds, not whether it should stay forever.
        Retention::Review => Some((Move::Ask(ReviewKind::Flagged), why_flagged(facts))),
        Retention::Keep | Retention::Clear => (step == Some(ConsolidationStep::Review))
            .then(|| (Move::Ask(ReviewKind::Promote), why_promoted(facts))),
    }
}

/// Whether the memory was used, or passed a check, since it got its current frequency.
fn was_looked_at(facts: &MemoryFacts) -> bool {
    let state = &facts.state;
    state.last_used_at.max(state.validated_at).is_some_and(|at| at >= facts.frequency_since)
}

fn sure(facts: &MemoryFacts) -> String {
    format!("confidence {:.2} >= {:.2}", facts.confidence, threshold(facts))
}

fn why_settled(facts: &MemoryFacts, past: Past) -> String {
    let state = &facts.state;
    if facts.frequency == Frequency::Mid {
        let rate = state.success_rate.unwrap_or_default();
        return format!(
            "{}, {}, success rate {rate:.2}, {}",
            sure(facts),
            counted(state.usage_count, "use", "uses"),
            counted(state.context_count, "session", "sessions"),
        );
    }
    match past.birth {
        Some(birth) if !past.has_success_since => format!("{}, born of a {}", sure(facts), birth.as_str()),
        _ => format!("{}, {}", sure(facts), counted(successes(facts), "success", "successes")),
    }
}

/// Returns the number of successes among all rated uses.
fn successes(facts: &MemoryFacts) -> u32 {
    let helped = f64::from(facts.state.usage_count) * facts.state.success_rate.unwrap_or_default();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is a count of uses")]
    let helped = helped.round() as u32;
    helped
}

fn why_promoted(facts: &MemoryFacts) -> String {
    format!("{}, {}", sure(facts), counted(facts.state.project_count, "project", "projects"))
}

fn why_poor(facts: &MemoryFacts, now: DateTime<Utc>) -> String {
    let (uses, rate) = (facts.state.usage_count, facts.state.success_rate);
    match rate.filter(|rate| uses >= POOR_USES && *rate < POOR_RATE) {
        Some(rate) => format!("success rate {rate:.2} < {POOR_RATE:.2} of {uses} uses"),
        None => format!("{} at mid, accesses {} < {MID_ACCESSES}", age(facts, now), facts.state.access_count),
    }
}

fn why_flagged(facts: &MemoryFacts) -> String {
    let (rate, checks) = (facts.state.success_rate.unwrap_or_default(), facts.state.validation_count);
    let passed = counted(checks, "check passed", "checks passed");
    format!("success rate {rate:.2} < {FLAGGED_RATE:.2} of {} uses, {passed}", facts.state.usage_count)
}

fn why_archived(facts: &MemoryFacts, now: DateTime<Utc>) -> String {
    if facts.frequency == Frequency::High && now - facts.frequency_since > HIGH_DAYS {
        return format!("{} at high > {}", age(facts, now), HIGH_DAYS.num_days());
    }
    format!("decay score {:.4} < {:.4}", decay_score(facts, now), archived_score(facts.reliability))
}

fn age(facts: &MemoryFacts, now: DateTime<Utc>) -> String {
    format!("{:.1} days", days(now - facts.frequency_since))
}

fn counted(number: u32, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        memory::facts::sample::day,
        model::memory::{
            trust::Trust,
            words::{LearningSource, MemoryKind},
        },
    };

    fn sample(frequency: Frequency, change: impl FnOnce(&mut MemoryFacts)) -> MemoryFacts {
        MemoryFacts::sample(MemoryKind::Solution, frequency).with(change)
    }

    #[track_caller]
    fn check(facts: &MemoryFacts, past: Past, days: f64, expected: Option<(Move, &str)>) {
        let found = look(facts, (past, false), day(days));
        let found = found.as_ref().map(|(what, why)| (*what, why.as_str()));
        assert_eq!(found, expected, "{facts:?} {past:?} after {days} days");
        assert!(found.is_none() || may_move(facts, day(days)), "{facts:?}");
    }

    const HELPED: Past = Past { birth: None, has_moved: false, has_success_since: true };

    #[test]
    fn what_moves_says_by_which_numbers() {
        let high = sample(Frequency::High, |facts| {
            (facts.confidence, facts.state.usage_count, facts.state.success_rate) = (0.81, 1, Some(1.0));
        });
        let settles = Some((Move::Settle(Frequency::Mid), "confidence 0.81 >= 0.75, 1 success"));
        check(&high, HELPED, 1.0, settles);
        let born = Past { birth: Some(Outcome::Decision), ..Past::default() };
        let why = "confidence 0.81 >= 0.75, born of a decision";
        check(&high, born, 1.0, Some((Move::Settle(Frequency::Mid), why)));
        check(&high, Past::default(), 31.0, Some((Move::Archive, "31.0 days at high > 30")));
        check(&high, Past::default(), 1.0, None);
        let mid = sample(Frequency::Mid, |facts| {
            let state = &mut facts.state;
            (facts.confidence, state.usage_count, state.context_count) = (0.96, 20, 2);
            (state.access_count, state.success_rate) = (20, Some(0.95));
        });
        let why = "confidence 0.96 >= 0.95, 20 uses, success rate 0.95, 2 sessions";
        check(&mid, HELPED, 1.0, Some((Move::Settle(Frequency::Low), why)));
        let poor = mid.clone().with(|facts| facts.state.success_rate = Some(0.6));
        let why = "success rate 0.60 < 0.70 of 20 uses";
        check(&poor, HELPED, 1.0, Some((Move::FallBack(Frequency::High), why)));
        let unused = sample(Frequency::Mid, |facts| facts.importance = 1.0);
        let why = "61.0 days at mid, accesses 0 < 5";
        check(&unused, HELPED, 61.0, Some((Move::FallBack(Frequency::High), why)));
        let faint = sample(Frequency::Mid, |facts| facts.importance = 0.01);
        check(&faint, HELPED, 8.0, Some((Move::Archive, "decay score 0.0047 < 0.0500")));
    }

    #[test]
    fn nothing_comes_back_to_where_it_was_without_a_use() {
        let unused = sample(Frequency::Mid, |facts| facts.importance = 1.0);
        let found = look(&unused, (Past::default(), true), day(61.0));
        let why = "61.0 days at mid, accesses 0 < 5, as it was at high";
        assert_eq!(found, Some((Move::Archive, why.to_owned())));
        let used = unused.with(|facts| facts.state.last_used_at = Some(day(1.0)));
        let found = look(&used, (Past::default(), true), day(61.0)).map(|(what, _)| what);
        assert_eq!(found, Some(Move::FallBack(Frequency::High)));
        let poor = sample(Frequency::High, |facts| {
            let state = &mut facts.state;
            (facts.confidence, state.usage_count, state.access_count) = (0.9, 10, 10);
            state.success_rate = Some(0.6);
        });
        check(&poor, HELPED, 1.0, None);
    }

    #[test]
    fn what_a_person_saved_falls_back_when_it_helps_too_seldom_and_is_not_archived() {
        let poor = |trust| {
            sample(Frequency::Mid, |facts| {
                (facts.learning_source, facts.trust) = (LearningSource::Manual, trust);
                (facts.state.usage_count, facts.state.success_rate) = (10, Some(0.6));
            })
        };
        let found = |trust| look(&poor(trust), (Past::default(), true), day(1.0)).map(|(what, _)| what);
        assert_eq!(found(Trust::User), Some(Move::FallBack(Frequency::High)));
        assert_eq!(found(Trust::Assistant), Some(Move::Archive));
        let fallen = MemoryFacts { frequency: Frequency::High, ..poor(Trust::User) };
        assert_eq!(look(&fallen, (Past { has_moved: true, ..Past::default() }, true), day(4_000.0)), None);
    }

    #[test]
    fn a_person_is_asked_what_is_to_stay_and_what_still_holds() {
        let low = sample(Frequency::Low, |facts| {
            (facts.confidence, facts.state.project_count) = (0.99, 2);
        });
        let why = "confidence 0.99 >= 0.99, 2 projects";
        check(&low, HELPED, 1.0, Some((Move::Ask(ReviewKind::Promote), why)));
        let worse = low.with(|facts| {
            let state = &mut facts.state;
            (state.validation_count, state.usage_count, state.success_rate) = (1, 25, Some(0.8));
        });
        let why = "success rate 0.80 < 0.85 of 25 uses, 1 check passed";
        check(&worse, HELPED, 1.0, Some((Move::Ask(ReviewKind::Flagged), why)));
    }

    #[test]
    fn the_past_is_asked_only_of_what_it_may_move() {
        let calm = sample(Frequency::Mid, |facts| facts.importance = 1.0);
        assert!(!may_move(&calm, day(1.0)));
        let contested = sample(Frequency::High, |facts| (facts.confidence, facts.contested) = (0.9, true));
        assert!(may_move(&contested, day(1.0)), "whether it is contested is asked afterwards");
        check(&contested, HELPED, 1.0, None);
        let by_hand = sample(Frequency::High, |facts| {
            facts.learning_source = LearningSource::Manual;
            (facts.trust, facts.confidence) = (Trust::User, 0.5);
        });
        assert!(!may_move(&by_hand, day(4_000.0)), "what a person saved, only a person archives");
    }
}
