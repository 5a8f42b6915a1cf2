//! Computes how a memory fades: how much it still matters, and how recent it is.

use chrono::{DateTime, Utc};

use crate::{
    memory::facts::MemoryFacts,
    model::{
        memory::{
            standing::Band,
            words::{Frequency, MemoryKind, Volatility},
        },
        profile::rounded,
    },
};

/// G: the loss per day; half is gone after 23 days.
const LAMBDA: f64 = 0.03;
/// G: the factor for the use of a memory that was never used.
const NEVER_USED: f64 = 0.5;
/// G: the score of a pinned memory.
const PINNED: f64 = 999.0;

/// Scales days by volatility (I): a day of `Low` ages a memory as much as 6 hours of `Medium`, an hour of `High` or a minute
/// of `Ephemeral`.
pub(crate) fn aged_days(days: f64, volatility: Volatility) -> f64 {
    let speed = match volatility {
        Volatility::Low => 1.0,
        Volatility::Medium => 4.0,
        Volatility::High => 24.0,
        Volatility::Ephemeral => 1_440.0,
    };
    speed * days.max(0.0)
}

/// G: the weight of each kind, which determines how long it lasts.
fn weight(kind: MemoryKind) -> f64 {
    match kind {
        MemoryKind::Procedure => 1.4,
        MemoryKind::Decision => 1.3,
        MemoryKind::Insight => 1.25,
        MemoryKind::Solution => 1.2,
        MemoryKind::CodePattern | MemoryKind::Configuration => 1.1,
        MemoryKind::Fix | MemoryKind::Workflow => 1.0,
        MemoryKind::Problem => 0.9,
        MemoryKind::Error | MemoryKind::General => 0.8,
    }
}

/// G: returns how much a memory still matters, from 0 upwards: more with every use, less with every day without one.
/// Volatility speeds up the days (I). The score is never stored, but computed on request.
pub(crate) fn decay_score(facts: &MemoryFacts, now: DateTime<Utc>) -> f64 {
    let fading = Fading {
        kind: facts.kind,
        pinned: facts.pinned,
        importance: facts.importance,
        volatility: facts.volatility,
        access_count: facts.state.access_count,
    };
    fading.score(facts.days_unused(now))
}

/// What the score depends on besides the days: all that is read of each memory when there are a hundred thousand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fading {
    pub(crate) kind: MemoryKind,
    pub(crate) pinned: bool,
    pub(crate) importance: f64,
    pub(crate) volatility: Volatility,
    pub(crate) access_count: u32,
}

impl Fading {
    /// Returns the score this many days after the last use.
    pub(crate) fn score(self, days_unused: f64) -> f64 {
        if self.pinned {
            return PINNED;
        }
        let aged = aged_days(days_unused, self.volatility);
        let use_factor = match self.access_count {
            0 => NEVER_USED,
            accesses => libm::log2(f64::from(accesses) + 1.0),
        };
        rounded(self.importance * libm::exp(-LAMBDA * aged) * use_factor * weight(self.kind))
    }
}

/// G: returns the label of a score. A score equal to a bound belongs to the band above it.
pub(crate) fn band(decay_score: f64) -> Band {
    match decay_score {
        0.5.. => Band::Active,
        0.2.. => Band::Fading,
        0.05.. => Band::Dormant,
        _ => Band::Archived,
    }
}

/// E: returns how recent a memory is, from 0 to 1. Fading starts after a grace period, which is shorter for less settled
/// memories, and knowledge does not fade. Volatility shortens the grace period too (I).
pub(crate) fn current_relevance(facts: &MemoryFacts, now: DateTime<Utc>) -> f64 {
    let (rate, grace) = match facts.frequency {
        Frequency::High => (0.1, 7.0),
        Frequency::Mid => (0.05, 30.0),
        Frequency::Low | Frequency::UltraLow => return 1.0,
    };
    let aged = aged_days(facts.days_unused(now), facts.volatility);
    rounded(libm::exp(-rate * (aged - grace).max(0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{cases::check_digits, facts::sample::day};
    use Frequency::{High, Low, Mid};
    use MemoryKind::{
        CodePattern, Configuration, Decision, Error, Fix, General, Insight, Problem, Procedure, Solution,
        Workflow,
    };

    fn faded(kind: MemoryKind, importance: f64, accesses: u32) -> MemoryFacts {
        MemoryFacts::sample(kind, Mid).with(|facts| {
            facts.importance = importance;
            facts.state.access_count = accesses;
        })
    }

    /// Checks the score and its band this many days after the memory was saved or last used.
    #[track_caller]
    fn check(facts: &MemoryFacts, days: f64, expected: f64, expected_band: Band) {
        let score = decay_score(facts, day(days));
        check_digits(score, expected, &format!("{facts:?} after {days} days"));
        assert_eq!(band(score), expected_band, "{facts:?} after {days} days");
    }

    #[test]
    fn g_a_memory_fades_and_use_raises_it() {
        check(&faded(Solution, 0.8, 0), 0.0, 0.4800, Band::Fading);
        check(&faded(Solution, 0.8, 1), 0.0, 0.9600, Band::Active);
        check(&faded(Solution, 0.8, 1), 23.1049, 0.4800, Band::Fading);
        check(&faded(Solution, 0.8, 5), 0.0, 2.4816, Band::Active);
        check(&faded(Solution, 0.8, 5), 7.0, 2.0115, Band::Active);
        check(&faded(Decision, 0.9, 3), 30.0, 0.9514, Band::Active);
        check(&faded(Procedure, 0.8, 0), 60.0, 0.0926, Band::Dormant);
        check(&faded(CodePattern, 0.5, 3), 10.0, 0.8149, Band::Active);
        check(&faded(Workflow, 0.5, 3), 10.0, 0.7408, Band::Active);
        check(&faded(Fix, 0.6, 1), 30.0, 0.2439, Band::Fading);
        check(&faded(Error, 0.4, 0), 45.0, 0.0415, Band::Archived);
        check(&faded(Insight, 0.7, 10), 90.0, 0.2034, Band::Fading);
        check(&faded(General, 0.5, 1), 120.0, 0.0109, Band::Archived);
        check(&faded(Error, 0.9, 7), 14.0, 1.4192, Band::Active);
        check(&faded(Configuration, 0.7, 4), 10.0, 1.3245, Band::Active);
    }

    #[test]
    fn g_a_bound_belongs_to_the_band_above() {
        check(&faded(General, 0.5, 0), 0.0, 0.2000, Band::Fading);
        check(&faded(General, 0.5, 0), 46.0, 0.0503, Band::Dormant);
        check(&faded(General, 0.5, 0), 47.0, 0.0488, Band::Archived);
        let bands = [0.5, 0.499_999, 0.2, 0.199_999, 0.05, 0.049_999].map(band);
        assert_eq!(
            bands,
            [Band::Active, Band::Fading, Band::Fading, Band::Dormant, Band::Dormant, Band::Archived]
        );
    }

    #[test]
    fn g_a_clock_that_went_back_changes_nothing() {
        check(&faded(Problem, 0.6, 2), -3.0, 0.8559, Band::Active);
        check(&faded(Problem, 0.6, 2), 0.0, 0.8559, Band::Active);
    }

    #[test]
    fn g_days_are_counted_from_the_last_use() {
        let used = faded(Solution, 0.8, 5).with(|facts| facts.state.last_used_at = Some(day(100.0)));
        check(&used, 107.0, 2.0115, Band::Active);
    }

    #[test]
    fn i_volatility_speeds_up_fading() {
        let of = |facts: MemoryFacts, volatility| facts.with(|facts| facts.volatility = volatility);
        check(&of(faded(Configuration, 0.7, 4), Volatility::Medium), 10.0, 0.5385, Band::Active);
        check(&of(faded(Solution, 0.8, 1), Volatility::Medium), 2.0, 0.7552, Band::Active);
        check(&of(faded(Solution, 0.8, 1), Volatility::High), 2.0, 0.2275, Band::Fading);
        check(&of(faded(Solution, 0.8, 1), Volatility::Ephemeral), 1.0 / 24.0, 0.1587, Band::Dormant);
    }

    #[test]
    fn g_what_is_pinned_does_not_fade() {
        let pinned = faded(General, 0.1, 0).with(|facts| facts.pinned = true);
        check(&pinned, 10_000.0, 999.0, Band::Active);
    }

    #[track_caller]
    fn check_relevance(frequency: Frequency, volatility: Volatility, days: f64, expected: f64) {
        let facts = MemoryFacts::sample(General, frequency).with(|facts| facts.volatility = volatility);
        check_digits(
            current_relevance(&facts, day(days)),
            expected,
            &format!("{frequency:?} {volatility:?} {days}"),
        );
    }

    #[test]
    fn e_what_is_less_settled_is_past_sooner() {
        check_relevance(High, Volatility::Low, 7.0, 1.0000);
        check_relevance(High, Volatility::Low, 8.0, 0.9048);
        check_relevance(High, Volatility::Low, 17.0, 0.3679);
        check_relevance(Mid, Volatility::Low, 30.0, 1.0000);
        check_relevance(Mid, Volatility::Low, 50.0, 0.3679);
        check_relevance(Low, Volatility::Low, 4_000.0, 1.0000);
        check_relevance(Frequency::UltraLow, Volatility::Low, 4_000.0, 1.0000);
    }

    #[test]
    fn i_volatility_speeds_up_the_grace_too() {
        check_relevance(Mid, Volatility::Medium, 7.5, 1.0000);
        check_relevance(Mid, Volatility::Medium, 10.0, 0.6065);
        check_relevance(High, Volatility::High, 7.0 / 24.0, 1.0000);
        check_relevance(High, Volatility::High, 7.5 / 24.0, 0.9512);
        check_relevance(High, Volatility::Ephemeral, 15.0 / 1_440.0, 0.4493);
    }
}
