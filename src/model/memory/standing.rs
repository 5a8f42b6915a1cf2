//! What follows of a memory at a moment: numbers that fade, and what to mind.

use serde::{Deserialize, Serialize};

use crate::model::word_enum::word_enum;

/// What follows of a memory at the moment of asking. None of it is kept: it is worked out from what is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct Standing {
    /// How much it still matters, from 0 upwards: 0.5 and more is active. 999 if it is pinned.
    pub decay_score: f64,
    /// The same, as a label.
    pub band: Band,
    /// How recent it is, from 0 to 1.
    pub current_relevance: f64,
    /// Why it is stale; empty: it is fresh.
    pub stale: Vec<StaleReason>,
    /// Its source is assessed, and below 0.7.
    pub unverified: bool,
    /// What it says changes so fast that it is better looked up than believed.
    pub look_up: bool,
}

impl Standing {
    /// Whether its last check is too old, or its source too weak.
    pub fn is_stale(&self) -> bool {
        !self.stale.is_empty()
    }
}

word_enum! {
    /// A label of the decay score. It says nothing of a memory's status.
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
        /// Below.
        Archived = "archived",
    }
    pub fn from_word;
}

word_enum! {
    /// Why a memory is stale.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum StaleReason {
        /// Its last check is longer ago than its window, or than that of its volatility.
        Expired = "expired",
        /// It is volatile, and its last check is longer ago than such information holds.
        Old = "old",
        /// Its source is below 0.4.
        Weak = "weak",
    }
    pub fn from_word;
}
