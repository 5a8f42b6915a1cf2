//! The standing of a memory at a moment: numbers that fade, and warnings.

use serde::{Deserialize, Serialize};

use crate::model::word_enum::word_enum;

/// What follows for a memory at the moment of asking. None of it is stored: it is computed from what is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct Standing {
    /// How much it still matters, from 0 upwards: active from 0.5. 999 if it is pinned.
    pub decay_score: f64,
    /// The same, as a label.
    pub band: Band,
    /// How recent it is, from 0 to 1.
    pub current_relevance: f64,
    /// Why it is stale; empty if it is fresh.
    pub stale: Vec<StaleReason>,
    /// Its source was assessed, and is below 0.7.
    pub unverified: bool,
    /// What it says changes so fast that it should be looked up rather than believed.
    pub look_up: bool,
}

impl Standing {
    /// Whether its last check is too old, or its source too weak.
    pub fn is_stale(&self) -> bool {
        !self.stale.is_empty()
    }
}

word_enum! {
    /// A label of the decay score. It is independent of a memory's status.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum Band {
        /// From 0.5.
        #[default]
        Active = "active",
        /// From 0.2.
        Fading = "fading",
        /// From 0.05.
        Dormant = "dormant",
        /// Below 0.05.
        Archived = "archived",
    }
    pub fn from_word;
}

word_enum! {
    /// Why a memory is stale.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum StaleReason {
        /// Its last check is older than its window, or than its volatility allows.
        Expired = "expired",
        /// It is volatile, and its last check is older than such information holds.
        Old = "old",
        /// Its source is below 0.4.
        Weak = "weak",
    }
    pub fn from_word;
}
