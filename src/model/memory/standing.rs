//! The standing of a memory at a moment: numbers that fade with time, and warnings.

use serde::{Deserialize, Serialize};

use crate::model::word_enum::word_enum;

/// What follows from a memory's stored data at the moment of the call. It is computed for the call, not stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct Standing {
    /// How much the memory still matters, from 0 upwards; 999 if the memory is pinned.
    pub decay_score: f64,
    /// The label of the decay score.
    pub band: Band,
    /// How recent the memory is, from 0 to 1; always 1 for the frequencies `low` and `ultra_low`.
    pub current_relevance: f64,
    /// Why the memory is stale; empty if it is fresh.
    pub stale: Vec<StaleReason>,
    /// Whether the memory's source was assessed below 0.7.
    pub unverified: bool,
    /// Whether what the memory says should be looked up rather than believed, because its volatility is high or
    /// ephemeral.
    pub look_up: bool,
}

impl Standing {
    /// Returns whether the last passed check is too old, or the source too weak.
    pub fn is_stale(&self) -> bool {
        !self.stale.is_empty()
    }
}

word_enum! {
    /// A label of the decay score, independent of the memory's status.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum Band {
        /// A decay score of 0.5 or more.
        #[default]
        Active = "active",
        /// A decay score from 0.2 to below 0.5.
        Fading = "fading",
        /// A decay score from 0.05 to below 0.2.
        Dormant = "dormant",
        /// A decay score below 0.05.
        Archived = "archived",
    }
    pub fn from_word;
}

word_enum! {
    /// Why a memory is stale. If the memory never passed a check, the time since it was said counts instead of the time
    /// since its last passed check.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum StaleReason {
        /// The last passed check is older than the memory's window or, if the memory has none, than its volatility allows.
        Expired = "expired",
        /// The volatility is high or ephemeral, and the last passed check is older than the shorter of two times: the
        /// memory's window, and what its volatility allows.
        Old = "old",
        /// The reliability of the memory's source is below 0.4.
        Weak = "weak",
    }
    pub fn from_word;
}
