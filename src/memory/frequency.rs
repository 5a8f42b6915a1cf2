//! How settled a memory is: when it consolidates, when it falls back, when it is put away.

use crate::model::memory::{
    trust::Trust,
    words::{Frequency, Volatility},
};

/// How far a memory may settle at most: what the world outdates within hours stays an episode, what a tool or a document
/// says is never knowledge, and only what a person said or approved stays for ever.
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
