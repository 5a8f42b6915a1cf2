//! The input of the rules: a memory's numbers, times and properties, without its texts.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use crate::model::memory::{
    known::Memory,
    state::MemoryState,
    trust::Trust,
    words::{Frequency, LearningSource, MemoryKind, MemoryStatus, Volatility},
};

/// The facts that the rules use.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MemoryFacts {
    pub(crate) kind: MemoryKind,
    pub(crate) status: MemoryStatus,
    pub(crate) frequency: Frequency,
    pub(crate) frequency_since: DateTime<Utc>,
    pub(crate) importance: f64,
    pub(crate) confidence: f64,
    pub(crate) reliability: Option<f64>,
    pub(crate) consolidation_threshold: Option<f64>,
    pub(crate) volatility: Volatility,
    pub(crate) validity_window: Option<Duration>,
    pub(crate) trust: Trust,
    pub(crate) learning_source: LearningSource,
    pub(crate) pinned: bool,
    /// Whether the memory is removed with its session.
    pub(crate) is_volatile: bool,
    /// Whether another memory contradicts it, and no person has decided yet.
    pub(crate) contested: bool,
    pub(crate) said_at: DateTime<Utc>,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) state: MemoryState,
}

impl MemoryFacts {
    /// Returns the days since the memory was last used, or saved if it was never used. Negative if the clock was set back.
    pub(crate) fn days_unused(&self, now: DateTime<Utc>) -> f64 {
        days(now - self.state.last_used_at.unwrap_or(self.created_at))
    }

    /// Whether a person saved the memory, as their own words or the backend's. Tending never archives such a memory.
    pub(crate) fn is_by_hand(&self) -> bool {
        self.learning_source == LearningSource::Manual && self.trust >= Trust::User
    }
}

impl From<&Memory> for MemoryFacts {
    fn from(memory: &Memory) -> Self {
        Self {
            kind: memory.kind,
            status: memory.status,
            frequency: memory.frequency,
            frequency_since: memory.frequency_since,
            importance: memory.importance,
            confidence: memory.confidence,
            reliability: memory.reliability,
            consolidation_threshold: memory.consolidation_threshold,
            volatility: memory.volatility,
            validity_window: memory.validity_window,
            trust: memory.trust,
            learning_source: memory.learning_source,
            pinned: memory.pinned,
            is_volatile: memory.is_volatile(),
            contested: memory.contested,
            said_at: memory.said_at,
            created_at: memory.created_at,
            state: memory.state.clone(),
        }
    }
}

/// Returns a duration in days, to the millisecond.
#[expect(clippy::cast_precision_loss, reason = "milliseconds of ten thousand years are less than 2^53")]
pub(crate) fn days(span: TimeDelta) -> f64 {
    span.num_milliseconds() as f64 / 86_400_000.0
}

#[cfg(test)]
pub(crate) mod sample {
    use super::*;

    /// Returns the moment at which samples begin.
    pub(crate) fn start() -> DateTime<Utc> {
        "2026-01-01T00:00:00Z".parse().unwrap()
    }

    /// Returns the moment this many days after [`start`].
    pub(crate) fn day(days: f64) -> DateTime<Utc> {
        #[expect(clippy::cast_possible_truncation, reason = "it is a test's number")]
        let millis = (days * 86_400_000.0).round() as i64;
        start() + TimeDelta::milliseconds(millis)
    }

    impl MemoryFacts {
        /// Returns a memory that was learned at [`start`] and never used, with low volatility and a trust of 3.
        pub(crate) fn sample(kind: MemoryKind, frequency: Frequency) -> Self {
            Self {
                kind,
                status: MemoryStatus::Active,
                frequency,
                frequency_since: start(),
                importance: 0.6,
                confidence: 0.8,
                reliability: None,
                consolidation_threshold: None,
                volatility: Volatility::Low,
                validity_window: None,
                trust: Trust::User,
                learning_source: LearningSource::Execution,
                pinned: false,
                is_volatile: false,
                contested: false,
                said_at: start(),
                created_at: start(),
                state: MemoryState::default(),
            }
        }

        /// Returns the same facts with changes made by the test.
        pub(crate) fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
            change(&mut self);
            self
        }
    }
}
