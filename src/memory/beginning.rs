//! The initial values of a memory, and how outcomes and checks change them.

use crate::{
    memory::frequency::most_settled,
    model::{
        memory::{
            new::NewMemory,
            trust::Trust,
            words::{Frequency, LearningSource, Outcome, Volatility},
        },
        profile::rounded,
        turn::Origin,
    },
};

/// The maximum confidence that an import can claim.
const MOST_CLAIMED: f64 = 0.80;
/// The share of doubt that a passed check removes.
const PASS: f64 = 0.10;
/// The share of doubt that a success removes: 0.80 becomes 0.85 after 5 successes and 0.96 after 25, as on days 1, 2 and 30
/// of the continuum paper.
const SUCCESS: f64 = 0.06;
/// The factor on confidence after a failure.
const FAILURE: f64 = 0.88;
/// The factor on confidence after a correction or a failed check.
const WRONG: f64 = 0.5;
/// The maximum reliability of a source after a failed check.
const FAILED_RELIABILITY: f64 = 0.3;

/// Who found that something is worth knowing, which determines the initial confidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finder {
    /// Somebody who saves it.
    Hand,
    /// A file; what it states is a claim.
    Import,
    /// A rule, in a turn's words of this origin.
    Rules(Origin),
    /// LLM#1, which quotes a turn's words of this origin.
    Llm(Origin),
}

/// Returns how much a memory matters (entry paper): as stated; otherwise by how settled it is and how the task that it came
/// from ended.
pub(crate) fn initial_importance(frequency: Frequency, outcome: Option<Outcome>, stated: Option<f64>) -> f64 {
    let by_frequency = match frequency {
        Frequency::High => 0.5,
        Frequency::Mid => 0.6,
        Frequency::Low | Frequency::UltraLow => 0.8,
    };
    let by_outcome = match outcome {
        Some(Outcome::Correction) => 0.3,
        Some(Outcome::Failure | Outcome::Decision) => 0.2,
        Some(Outcome::Success) => 0.1,
        Some(Outcome::Observation) | None => 0.0,
    };
    stated.unwrap_or_else(|| rounded(f64::min(1.0, by_frequency + by_outcome)))
}

/// Returns how likely a new memory is true: as stated, otherwise by who found it. An import gets at most [`MOST_CLAIMED`].
pub(crate) fn initial_confidence(stated: Option<f64>, finder: Finder) -> f64 {
    let unstated = match finder {
        Finder::Hand | Finder::Import | Finder::Rules(Origin::User) => 0.80, // Cognitive paper.
        Finder::Llm(Origin::User) => 0.75,
        Finder::Rules(_) | Finder::Llm(_) => 0.70,
    };
    let most = if finder == Finder::Import { MOST_CLAIMED } else { 1.0 };
    stated.unwrap_or(unstated).min(most)
}

impl NewMemory {
    /// Returns how fast the world outdates the memory: as stated, otherwise by its information type (memory information
    /// paper).
    pub(crate) fn initial_volatility(&self) -> Volatility {
        self.volatility.unwrap_or_else(|| self.information_type.default_volatility())
    }

    /// Returns how settled the memory is at first: as stated; otherwise `mid` if somebody saves it and `high` if it was
    /// learned, and no further than its volatility allows.
    pub(crate) fn initial_frequency(&self) -> Frequency {
        let unstated = match self.learning_source {
            LearningSource::Manual => Frequency::Mid,
            LearningSource::Execution | LearningSource::Consolidation => Frequency::High,
        };
        let most = most_settled(self.initial_volatility(), Trust::Approved);
        self.frequency.unwrap_or(unstated.min(most))
    }
}

/// Returns the trust in words of all these origins together: the lowest of them. `None` if there are none: a memory without
/// a basis is refused.
pub(crate) fn trust_in_words(origins: impl IntoIterator<Item = Origin>) -> Option<Trust> {
    origins.into_iter().map(Trust::of).min()
}

/// The outcomes of a memory so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OutcomeRecord {
    pub(crate) confidence: f64,
    /// The number of uses whose outcome says whether the memory helped.
    pub(crate) usage_count: u32,
    /// The share of these uses in which the memory helped; `None` if there are none.
    pub(crate) success_rate: Option<f64>,
}

impl OutcomeRecord {
    /// Returns the record after one more use. An outcome that does not say whether the memory helped changes nothing here.
    pub(crate) fn after_outcome(self, outcome: Outcome) -> Self {
        let Self { confidence, usage_count, success_rate } = self;
        let Some(helped) = outcome.helped() else { return self };
        let uses = f64::from(usage_count);
        let successes = success_rate.unwrap_or(0.0) * uses + f64::from(u8::from(helped));
        let confidence = match outcome {
            _ if helped => confidence + SUCCESS * (1.0 - confidence),
            Outcome::Correction => WRONG * confidence,
            _ => FAILURE * confidence,
        };
        Self {
            confidence: rounded(confidence),
            usage_count: usage_count.saturating_add(1),
            success_rate: Some(rounded(successes / (uses + 1.0))),
        }
    }
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Checked {
    /// The memory holds, as far as a sensor of this reliability, from 0 to 1, can tell.
    Passed { reliability: f64 },
    /// The memory does not hold.
    Failed,
    /// The sensor cannot tell: nothing changes.
    Unknown,
}

/// Returns the confidence and reliability after a check, from those before it. A check proves no more than its sensor can: a
/// pass raises the confidence at most to the sensor's reliability, and does not lower a higher one.
pub(crate) fn after_check(confidence: f64, reliability: Option<f64>, checked: Checked) -> (f64, Option<f64>) {
    match checked {
        Checked::Passed { reliability } => {
            let raised = (confidence + PASS * (1.0 - confidence)).min(reliability);
            (rounded(confidence.max(raised)), Some(reliability))
        }
        Checked::Failed => {
            let least = reliability.unwrap_or(1.0).min(FAILED_RELIABILITY);
            (rounded(WRONG * confidence), Some(least))
        }
        Checked::Unknown => (confidence, reliability),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        memory::cases::check_digits,
        model::memory::words::{InformationType, MemoryKind},
    };

    #[track_caller]
    fn check_importance(frequency: Frequency, outcome: Outcome, stated: Option<f64>, expected: f64) {
        let importance = initial_importance(frequency, Some(outcome), stated);
        check_digits(importance, expected, &format!("{frequency:?} {outcome:?}"));
    }

    #[test]
    fn e_importance_begins_by_frequency_and_outcome() {
        check_importance(Frequency::High, Outcome::Correction, None, 0.8);
        check_importance(Frequency::Mid, Outcome::Decision, None, 0.8);
        check_importance(Frequency::Low, Outcome::Correction, None, 1.0);
        check_importance(Frequency::UltraLow, Outcome::Failure, None, 1.0);
        check_importance(Frequency::Mid, Outcome::Success, None, 0.7);
        check_importance(Frequency::Mid, Outcome::Observation, None, 0.6);
        check_importance(Frequency::High, Outcome::Correction, Some(0.75), 0.75);
    }

    #[test]
    fn confidence_begins_by_who_found_it_and_in_whose_words() {
        let check = |stated, finder, expected| {
            check_digits(initial_confidence(stated, finder), expected, &format!("{finder:?} {stated:?}"));
        };
        check(None, Finder::Hand, 0.80);
        check(None, Finder::Rules(Origin::User), 0.80);
        check(None, Finder::Llm(Origin::User), 0.75);
        check(None, Finder::Llm(Origin::Assistant), 0.70);
        check(None, Finder::Rules(Origin::Document), 0.70);
        check(Some(0.99), Finder::Hand, 0.99);
        check(Some(0.99), Finder::Import, 0.80);
        check(Some(0.30), Finder::Import, 0.30);
    }

    #[track_caller]
    fn check_frequency(memory: &NewMemory, expected: Frequency) {
        assert_eq!(memory.initial_frequency(), expected, "{memory:?}");
    }

    #[test]
    fn what_somebody_saves_begins_at_mid_and_what_was_learned_at_high() {
        let memory = NewMemory::new(MemoryKind::General, "a", "b");
        check_frequency(&memory, Frequency::Mid);
        check_frequency(&memory.clone().learning_source(LearningSource::Execution), Frequency::High);
        check_frequency(&memory.clone().frequency(Frequency::Low), Frequency::Low);
        check_frequency(&memory.clone().information_type(InformationType::Dynamic), Frequency::Mid);
        check_frequency(&memory.clone().information_type(InformationType::Ephemeral), Frequency::High);
    }

    fn after(mut record: OutcomeRecord, outcome: Outcome, times: usize) -> OutcomeRecord {
        for _ in 0..times {
            record = record.after_outcome(outcome);
        }
        record
    }

    fn record(confidence: f64) -> OutcomeRecord {
        OutcomeRecord { confidence, usage_count: 0, success_rate: None }
    }

    #[track_caller]
    fn check_confidence(outcome: Outcome, times: usize, expected: f64) {
        let confidence = after(record(0.80), outcome, times).confidence;
        check_digits(confidence, expected, &format!("{outcome:?} {times} times"));
    }

    #[test]
    fn c_success_raises_confidence_and_failure_lowers_it() {
        check_confidence(Outcome::Success, 1, 0.8120);
        check_confidence(Outcome::Success, 5, 0.8532);
        check_confidence(Outcome::Success, 25, 0.9574);
        check_confidence(Outcome::Failure, 1, 0.7040);
        check_confidence(Outcome::Correction, 1, 0.4000);
        check_confidence(Outcome::Decision, 1, 0.8000);
        check_confidence(Outcome::Observation, 1, 0.8000);
    }

    #[track_caller]
    fn check_successes(from: f64, to: f64, expected: usize) {
        let reaches = |times: &usize| after(record(from), Outcome::Success, *times).confidence >= to;
        assert_eq!((0..100).find(reaches), Some(expected), "from {from} to {to}");
    }

    #[test]
    fn c_so_many_successes_lead_from_one_threshold_to_the_next() {
        check_successes(0.80, 0.95, 23);
        check_successes(0.80, 0.99, 49);
        check_successes(0.75, 0.95, 27);
        check_successes(0.75, 0.99, 53);
        check_successes(0.70, 0.75, 3);
    }

    #[track_caller]
    fn check_rate(usage_count: u32, success_rate: f64, outcome: Outcome, expected: f64) {
        let before = OutcomeRecord {
            confidence: 0.8,
            usage_count,
            success_rate: (usage_count > 0).then_some(success_rate),
        };
        let after = before.after_outcome(outcome);
        check_digits(after.success_rate.unwrap(), expected, &format!("{success_rate} of {usage_count}"));
        assert_eq!(after.usage_count, usage_count + 1);
    }

    #[test]
    fn c_the_success_rate_is_that_of_rated_uses() {
        check_rate(1, 1.0, Outcome::Failure, 0.5000);
        check_rate(15, 0.93, Outcome::Success, 0.9344);
        check_rate(20, 0.95, Outcome::Failure, 0.9048);
        check_rate(20, 0.95, Outcome::Correction, 0.9048);
        check_rate(0, 0.0, Outcome::Success, 1.0);
        let rated = record(0.8).after_outcome(Outcome::Observation);
        assert_eq!(rated, record(0.8));
    }

    #[track_caller]
    fn check_check(before: (f64, Option<f64>), checked: Checked, expected: (f64, Option<f64>)) {
        assert_eq!(after_check(before.0, before.1, checked), expected, "{before:?} {checked:?}");
    }

    #[test]
    fn i_a_check_proves_no_more_than_its_sensor_can() {
        let (file, human) = (Checked::Passed { reliability: 0.80 }, Checked::Passed { reliability: 0.95 });
        check_check((0.80, None), file, (0.80, Some(0.80)));
        check_check((0.80, None), human, (0.82, Some(0.95)));
        check_check((0.945, None), human, (0.95, Some(0.95)));
        check_check((0.97, None), file, (0.97, Some(0.80)));
        check_check((0.80, Some(0.9)), Checked::Failed, (0.40, Some(0.3)));
        check_check((0.80, None), Checked::Failed, (0.40, Some(0.3)));
        check_check((0.80, Some(0.2)), Checked::Failed, (0.40, Some(0.2)));
        check_check((0.80, Some(0.9)), Checked::Unknown, (0.80, Some(0.9)));
    }

    #[test]
    fn trust_is_the_least_of_the_lineage() {
        use Origin::{Assistant, Document, System, Tool, User};
        assert_eq!(trust_in_words([User, Assistant]), Some(Trust::Assistant));
        assert_eq!(trust_in_words([User, Tool]), Some(Trust::Foreign));
        assert_eq!(trust_in_words([Document]), Some(Trust::Foreign));
        assert_eq!(trust_in_words([User]), Some(Trust::User), "LLM#1 quotes the user");
        assert_eq!(trust_in_words([System]), Some(Trust::User));
        assert_eq!(trust_in_words([]), None, "its quote was not found");
    }
}
