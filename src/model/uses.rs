//! Counters of use: what was of use (by tier, rule, profile and form), the chances of rules, and the tiers that were
//! reached.

use serde::{Deserialize, Serialize};

use crate::model::word_enum::word_enum;

word_enum! {
    /// What a counter counts, and by which property. Counters do not affect ranking.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    pub(crate) enum Aspect {
        /// Units that were of use, by the tier they were in.
        Tier = "tier",
        /// Units that were of use, by the critical rule on record for them.
        Rule = "rule",
        /// Contexts, by the profile that ranked them.
        Profile = "profile",
        /// What was of use, by how much of it was shown.
        PackedAs = "packed_as",
        /// Chances of a rule: how often a context that showed something recalled had considered a turn that only this
        /// rule keeps.
        Chance = "chance",
        /// Chances of a rule that were taken: the turn itself was shown.
        Taken = "taken",
        /// Contexts that reached a tier, by month and tier: `2026-03 cold`.
        Reached = "reached",
    }
    pub(crate) fn from_word;
}
