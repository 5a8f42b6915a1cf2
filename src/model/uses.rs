//! Counters of contexts that answered a turn.

use serde::{Deserialize, Serialize};

use crate::model::word_enum::word_enum;

word_enum! {
    /// What a counter counts by. Counters do not affect ranking.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    pub(crate) enum Aspect {
        /// What was of use, by the tier it was in.
        Tier = "tier",
        /// What was of use, by the critical rule on record for it.
        Rule = "rule",
        /// Contexts, by the profile that ranked them.
        Profile = "profile",
        /// What was of use, by how much of it was shown.
        PackedAs = "packed_as",
        /// By rule: how often a turn that only this rule keeps was considered for a context that showed something it
        /// recalled.
        Chance = "chance",
        /// By rule: in how many of these chances the turn itself was shown.
        Taken = "taken",
        /// Contexts that reached a tier, by month and tier: `2026-03 cold`.
        Reached = "reached",
    }
    pub(crate) fn from_word;
}
