//! Decides how settled a memory is: when it consolidates, falls back or is archived, and when a person is asked about it.

use chrono::{DateTime, TimeDelta, Utc};

use crate::{
    memory::{
        decay::decay_score,
        facts::MemoryFacts,
        validity::{fresh_validated, staleness},
    },
    model::{
        memory::{
            trust::Trust,
            words::{Frequency, MemoryStatus, Outcome, Volatility},
        },
        turn::Origin,
    },
};

/// The number of rated uses, and the share of successes among them, that turn an episode into knowledge (continuum paper).
const KNOWN_USES: u32 = 20;
const KNOWN_RATE: f64 = 0.95;
/// The number of contexts in which a memory must have helped to become knowledge, and of projects for it to stay forever
/// (continuum paper).
const KNOWN_CONTEXTS: u32 = 2;
const CORE_PROJECTS: u32 = 2;
/// Below this share of successes `mid` falls back, once enough uses are rated for the share to mean something (continuum
/// paper).
pub(super) const POOR_RATE: f64 = 0.70;
pub(super) const POOR_USES: u32 = 5;
/// Below this share of successes a person is asked about a `low` memory that was checked (continuum paper).
pub(super) const FLAGGED_RATE: f64 = 0.85;
/// How long `high` has to prove helpful (continuum paper).
pub(super) const HIGH_DAYS: TimeDelta = TimeDelta::days(30);
/// How long `mid` may stay with fewer than [`MID_ACCESSES`] uses (continuum paper).
const MID_DAYS: TimeDelta = TimeDelta::days(60);
pub(super) const MID_ACCESSES: u32 = 5;
/// A score below this is archived (cognitive paper). The more reliable the source, the lower the limit (memory information paper).
const ARCHIVED_SCORE: f64 = 0.05;
const ARCHIVED_BY_RELIABILITY: f64 = 0.1;
/// How long a decided question is not asked again.
const REVIEW_REST: TimeDelta = TimeDelta::days(30);

/// Returns how far a memory may settle: what the world outdates within hours stays an episode, what a tool or a document
/// says never becomes knowledge, and only what a person said or approved stays forever.
pub(crate) fn most_settled(volatility: Volatility, trust: Trust) -> Frequency {
    let by_volatility = match volatility {
        Volatility::Ephemeral => Frequency::High,
        Volatility::High => Frequency::Mid,
        Volatility::Medium | Volatility::Low => Frequency::UltraLow,
    };
    let by_trust = match trust {
        Trust::Foreign => Frequency::Mid,
        Trust::Assistant => Frequency::Low,
        Trust::User | Trust::Approved => Frequency::UltraLow,
    };
    by_volatility.min(by_trust)
}

/// The parts of a memory's past that decide whether it settles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Past {
    /// How the task that the memory came from ended.
    pub(crate) birth: Option<Outcome>,
    /// Whether the memory has had another frequency before.
    pub(crate) has_moved: bool,
    /// Whether a use has been a success since the memory got its current frequency.
    pub(crate) has_success_since: bool,
}

impl Past {
    /// Whether the memory has proved helpful since it got its current frequency. How it was learned counts once: a memory
    /// that fell back needs a new success.
    fn has_helped(self) -> bool {
        let is_good_birth =
            matches!(self.birth, Some(Outcome::Success | Outcome::Decision | Outcome::Correction));
        self.has_success_since || (!self.has_moved && is_good_birth)
    }
}

/// How a memory consolidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConsolidationStep {
    /// It settles to this frequency.
    To(Frequency),
    /// A person is asked whether it should stay forever.
    Review,
}

/// Returns the next step of a memory towards `ultra_low`, at most one (continuum paper). `None` if it stays where it is.
pub(crate) fn consolidate(facts: &MemoryFacts, past: Past, now: DateTime<Utc>) -> Option<ConsolidationStep> {
    let may_settle = facts.status == MemoryStatus::Active
        && !facts.is_volatile
        && !facts.contested
        && staleness(facts, now).is_empty();
    let is_sure = facts.confidence >= threshold(facts);
    if !may_settle || !is_sure {
        return None;
    }
    let most = most_settled(facts.volatility, facts.trust);
    let state = &facts.state;
    match facts.frequency {
        Frequency::High => {
            (past.has_helped() && most >= Frequency::Mid).then_some(ConsolidationStep::To(Frequency::Mid))
        }
        Frequency::Mid => {
            let is_known = state.usage_count >= KNOWN_USES
                && state.success_rate.is_some_and(|rate| rate >= KNOWN_RATE)
                && state.context_count >= KNOWN_CONTEXTS;
            (is_known && most >= Frequency::Low).then_some(ConsolidationStep::To(Frequency::Low))
        }
        Frequency::Low => (state.project_count >= CORE_PROJECTS).then_some(ConsolidationStep::Review),
        Frequency::UltraLow => None,
    }
}

/// Returns the minimum confidence for a memory to settle (continuum paper): the one stated for it, or that of its frequency.
pub(super) fn threshold(facts: &MemoryFacts) -> f64 {
    let by_default = match facts.frequency {
        Frequency::High => 0.75,
        Frequency::Mid => 0.95,
        Frequency::Low | Frequency::UltraLow => 0.99,
    };
    facts.consolidation_threshold.unwrap_or(by_default)
}

/// Returns the trust of a memory after `by` approves that it stays forever: the assistant's words become approved by a
/// person. `None` if the approval is refused: jobs and LLMs cannot approve, and what a tool or a document says stays what it
/// is.
pub(crate) fn approve(trust: Trust, by: Origin) -> Option<Trust> {
    match trust {
        _ if by != Origin::User => None,
        Trust::Foreign => None,
        Trust::Assistant => Some(Trust::Approved),
        Trust::User | Trust::Approved => Some(trust),
    }
}

/// How long a memory with a new frequency is not archived for its score (entry paper). So a memory that was just saved is
/// not archived, however little it matters.
const NEW_DAYS: TimeDelta = TimeDelta::days(7);

/// What happens to a memory that does not consolidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retention {
    /// It stays as it is.
    Keep,
    /// It is removed with its session, which has ended.
    Clear,
    /// It falls back one step.
    Downgrade,
    /// A person is asked whether it still holds.
    Review,
    /// It is archived; nothing is deleted.
    Archive,
}

/// Returns what the first rule that applies to a memory says (continuum, cognitive and memory information papers). What a
/// person saved is not archived; it can only fall back from `mid` for a poor share of successes.
pub(crate) fn retain(facts: &MemoryFacts, session_has_ended: bool, now: DateTime<Utc>) -> Retention {
    let state = &facts.state;
    let is_below = |bound: f64| state.success_rate.is_some_and(|rate| rate < bound);
    let age = now - facts.frequency_since;
    if facts.status != MemoryStatus::Active || facts.pinned || facts.frequency == Frequency::UltraLow {
        return Retention::Keep;
    }
    if facts.is_volatile {
        return if session_has_ended { Retention::Clear } else { Retention::Keep };
    }
    let archived = if fresh_validated(facts, now) { Retention::Keep } else { Retention::Archive };
    match facts.frequency {
        Frequency::Low if state.validation_count >= 1 && is_below(FLAGGED_RATE) => Retention::Review,
        Frequency::Low => Retention::Keep,
        Frequency::Mid if state.usage_count >= POOR_USES && is_below(POOR_RATE) => Retention::Downgrade,
        _ if facts.is_by_hand() => Retention::Keep,
        Frequency::High if age > HIGH_DAYS => archived,
        Frequency::Mid if age > MID_DAYS && state.access_count < MID_ACCESSES => Retention::Downgrade,
        _ if age > NEW_DAYS && decay_score(facts, now) < archived_score(facts.reliability) => archived,
        _ => Retention::Keep,
    }
}

/// Returns the score below which a memory with this source reliability is archived (memory information paper).
pub(super) fn archived_score(reliability: Option<f64>) -> f64 {
    reliability.map_or(ARCHIVED_SCORE, |reliability| ARCHIVED_BY_RELIABILITY * (1.0 - reliability))
}

/// Whether a question that was decided at this time is asked again: after a rest, and only if a use was rated or a check
/// failed since.
pub(crate) fn may_ask_again(decided_at: DateTime<Utc>, has_news_since: bool, now: DateTime<Utc>) -> bool {
    has_news_since && now - decided_at >= REVIEW_REST
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        memory::facts::sample::{day, start},
        model::memory::words::{LearningSource, MemoryKind},
    };

    const SECOND: f64 = 1.0 / 86_400.0;

    fn high(confidence: f64) -> MemoryFacts {
        MemoryFacts::sample(MemoryKind::Solution, Frequency::High).with(|facts| facts.confidence = confidence)
    }

    fn rated(facts: MemoryFacts, usage_count: u32, success_rate: f64, contexts: u32) -> MemoryFacts {
        facts.with(|facts| {
            facts.state.usage_count = usage_count;
            facts.state.success_rate = Some(success_rate);
            facts.state.context_count = contexts;
            facts.state.access_count = usage_count;
        })
    }

    fn mid(confidence: f64, usage_count: u32, success_rate: f64, contexts: u32) -> MemoryFacts {
        let facts = MemoryFacts::sample(MemoryKind::Solution, Frequency::Mid)
            .with(|facts| facts.confidence = confidence);
        rated(facts, usage_count, success_rate, contexts)
    }

    fn low(confidence: f64, projects: u32) -> MemoryFacts {
        MemoryFacts::sample(MemoryKind::Solution, Frequency::Low).with(|facts| {
            facts.confidence = confidence;
            facts.state.project_count = projects;
        })
    }

    #[track_caller]
    fn check(facts: &MemoryFacts, past: Past, expected: Option<ConsolidationStep>) {
        assert_eq!(consolidate(facts, past, start()), expected, "{facts:?} {past:?}");
    }

    const SUCCESS: Past = Past { birth: None, has_moved: false, has_success_since: true };
    const BORN: Past = Past { birth: None, has_moved: false, has_success_since: false };

    #[test]
    fn c_what_has_helped_once_settles_to_mid() {
        let to_mid = Some(ConsolidationStep::To(Frequency::Mid));
        let born = |outcome| Past { birth: Some(outcome), ..BORN };
        check(&high(0.75), SUCCESS, to_mid);
        check(&high(0.7499), SUCCESS, None);
        check(&high(0.90), born(Outcome::Observation), None);
        check(&high(0.80), born(Outcome::Decision), to_mid);
        check(&high(0.80), born(Outcome::Failure), None);
        check(&high(0.80).with(|facts| facts.volatility = Volatility::Ephemeral), SUCCESS, None);
        check(&high(0.80).with(|facts| facts.volatility = Volatility::High), SUCCESS, to_mid);
        check(&high(0.80).with(|facts| facts.consolidation_threshold = Some(0.9)), SUCCESS, None);
    }

    #[test]
    fn c_what_fell_back_needs_a_success_since() {
        let fell_back = Past { birth: Some(Outcome::Success), has_moved: true, has_success_since: false };
        check(&high(0.90), fell_back, None);
        check(
            &high(0.90),
            Past { has_success_since: true, ..fell_back },
            Some(ConsolidationStep::To(Frequency::Mid)),
        );
    }

    #[test]
    fn c_what_has_helped_again_and_again_in_several_sessions_settles_to_low() {
        let to_low = Some(ConsolidationStep::To(Frequency::Low));
        check(&mid(0.95, 20, 0.95, 2), BORN, to_low);
        check(&mid(0.95, 19, 0.95, 2), BORN, None);
        check(&mid(0.95, 20, 0.9499, 2), BORN, None);
        check(&mid(0.95, 20, 0.95, 1), BORN, None);
        check(&mid(0.85, 20, 0.95, 2), BORN, None);
        check(&mid(0.96, 25, 0.96, 3), BORN, to_low);
    }

    #[test]
    fn what_is_volatile_stale_contested_or_of_little_trust_does_not_settle() {
        let good = || mid(0.96, 25, 0.96, 3);
        check(&good().with(|facts| facts.volatility = Volatility::High), BORN, None);
        check(
            &good().with(|facts| facts.volatility = Volatility::Medium),
            BORN,
            Some(ConsolidationStep::To(Frequency::Low)),
        );
        check(&good().with(|facts| facts.reliability = Some(0.39)), BORN, None);
        check(&good().with(|facts| facts.trust = Trust::Foreign), BORN, None);
        check(
            &good().with(|facts| facts.trust = Trust::Assistant),
            BORN,
            Some(ConsolidationStep::To(Frequency::Low)),
        );
        check(&good().with(|facts| facts.contested = true), BORN, None);
        check(&good().with(|facts| facts.status = MemoryStatus::Archived), BORN, None);
        check(&good().with(|facts| facts.is_volatile = true), BORN, None);
    }

    #[test]
    fn c_only_a_person_lets_a_memory_stay_for_ever() {
        check(&low(0.99, 2), BORN, Some(ConsolidationStep::Review));
        check(&low(0.99, 1), BORN, None);
        check(&low(0.9899, 2), BORN, None);
        check(&low(0.99, 2).with(|facts| facts.frequency = Frequency::UltraLow), BORN, None);
        assert_eq!(approve(Trust::User, Origin::User), Some(Trust::User));
        assert_eq!(approve(Trust::Assistant, Origin::User), Some(Trust::Approved));
        assert_eq!(approve(Trust::Foreign, Origin::User), None);
        for no_person in [Origin::Assistant, Origin::Tool, Origin::Document, Origin::System] {
            assert_eq!(approve(Trust::User, no_person), None, "{no_person:?}");
        }
    }

    #[track_caller]
    fn check_kept(facts: &MemoryFacts, days: f64, expected: Retention) {
        assert_eq!(retain(facts, false, day(days)), expected, "{facts:?} after {days} days");
    }

    fn by_hand(facts: MemoryFacts) -> MemoryFacts {
        facts.with(|facts| facts.learning_source = LearningSource::Manual)
    }

    #[test]
    fn c_high_is_archived_after_30_days_unless_it_was_checked_or_a_person_saved_it() {
        check_kept(&high(0.8), 30.0, Retention::Keep);
        check_kept(&high(0.8), 30.0 + SECOND, Retention::Archive);
        let checked = high(0.8).with(|facts| facts.state.validated_at = Some(day(30.0)));
        check_kept(&checked, 31.0, Retention::Keep);
        check_kept(&by_hand(high(0.8)), 31.0, Retention::Keep);
        check_kept(
            &by_hand(high(0.8)).with(|facts| facts.trust = Trust::Assistant),
            31.0,
            Retention::Archive,
        );
    }

    #[test]
    fn c_mid_falls_back_when_it_helps_too_seldom_or_is_hardly_used() {
        let accessed = |accesses| {
            MemoryFacts::sample(MemoryKind::Solution, Frequency::Mid)
                .with(|facts| facts.state.access_count = accesses)
        };
        check_kept(&mid(0.8, 10, 0.69, 2), 1.0, Retention::Downgrade);
        check_kept(&mid(0.8, 10, 0.70, 2), 1.0, Retention::Keep);
        check_kept(&mid(0.8, 4, 0.25, 2), 1.0, Retention::Keep);
        check_kept(&accessed(4), 61.0, Retention::Downgrade);
        check_kept(&accessed(5), 61.0, Retention::Keep);
        check_kept(&accessed(0), 60.0, Retention::Keep);
        check_kept(&by_hand(accessed(0)), 61.0, Retention::Keep);
        check_kept(&by_hand(mid(0.8, 10, 0.50, 2)), 61.0, Retention::Downgrade);
    }

    #[test]
    fn c_a_person_is_asked_about_low_that_helps_less_and_was_checked() {
        let checked =
            |checks| rated(low(0.9, 0), 20, 0.84, 2).with(|facts| facts.state.validation_count = checks);
        check_kept(&checked(1), 1.0, Retention::Review);
        check_kept(&checked(0), 1.0, Retention::Keep);
        check_kept(&low(0.9, 0), 4_000.0, Retention::Keep);
        let core = rated(low(0.9, 0), 20, 0.0, 2).with(|facts| facts.frequency = Frequency::UltraLow);
        check_kept(&core, 4_000.0, Retention::Keep);
    }

    #[test]
    fn g_a_low_score_is_archived_and_i_a_good_source_keeps_longer() {
        // The score is 0.1 * 0.5 * 0.8 = 0.04 at the start, and 0.032 after 7.5 days.
        let faint = |reliability| {
            MemoryFacts::sample(MemoryKind::General, Frequency::Mid).with(|facts| {
                facts.importance = 0.1;
                facts.reliability = reliability;
            })
        };
        check_kept(&faint(None), 7.0, Retention::Keep);
        check_kept(&faint(None), 7.5, Retention::Archive);
        check_kept(&faint(Some(0.5)), 7.5, Retention::Archive);
        check_kept(&faint(Some(0.8)), 7.5, Retention::Keep);
        check_kept(&faint(Some(0.3)), 7.5, Retention::Archive);
        check_kept(&by_hand(faint(None)), 7.5, Retention::Keep);
        check_kept(&faint(None).with(|facts| facts.pinned = true), 7.5, Retention::Keep);
        check_kept(&faint(None).with(|facts| facts.status = MemoryStatus::Forgotten), 7.5, Retention::Keep);
    }

    #[test]
    fn c_what_is_volatile_goes_with_its_session() {
        let state = high(1.0).with(|facts| facts.is_volatile = true);
        assert_eq!(retain(&state, true, day(0.0)), Retention::Clear);
        assert_eq!(retain(&state, false, day(90.0)), Retention::Keep);
    }

    /// Checks on which days something happens to a `mid` memory that is tended daily and never used.
    #[track_caller]
    fn check_days(kind: MemoryKind, importance: f64, trust: Trust, expected: &[(u32, Retention)]) {
        let mut facts = by_hand(MemoryFacts::sample(kind, Frequency::Mid)).with(|facts| {
            (facts.importance, facts.trust) = (importance, trust);
        });
        let mut past = Past { birth: Some(Outcome::Decision), ..BORN };
        let mut moves = Vec::new();
        for days in 1..=365 {
            let now = day(f64::from(days));
            assert_eq!(consolidate(&facts, past, now), None, "nothing rises unused");
            let retention = retain(&facts, false, now);
            match retention {
                Retention::Keep => continue,
                Retention::Downgrade => {
                    (facts.frequency, facts.frequency_since, past.has_moved) = (Frequency::High, now, true);
                }
                _ => facts.status = MemoryStatus::Archived,
            }
            moves.push((days, retention));
        }
        assert_eq!(moves, expected, "{kind:?} {importance}");
    }

    #[test]
    fn what_an_assistant_saved_and_nobody_uses_fades_and_what_a_person_saved_stays() {
        use Retention::{Archive, Downgrade};
        check_days(MemoryKind::Decision, 0.6, Trust::Assistant, &[(61, Downgrade), (69, Archive)]);
        check_days(MemoryKind::Procedure, 0.8, Trust::Assistant, &[(61, Downgrade), (81, Archive)]);
        check_days(MemoryKind::General, 0.6, Trust::Assistant, &[(53, Archive)]);
        check_days(MemoryKind::Decision, 0.6, Trust::User, &[]);
        check_days(MemoryKind::General, 0.1, Trust::User, &[]);
    }

    #[test]
    fn what_was_decided_rests_until_there_is_news() {
        assert!(may_ask_again(start(), true, day(30.0)));
        assert!(!may_ask_again(start(), true, day(29.0)));
        assert!(!may_ask_again(start(), false, day(300.0)));
    }
}
