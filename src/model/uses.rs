//! What is counted of contexts that answered a turn.

use serde::{Deserialize, Serialize};

use crate::model::word_enum::word_enum;

word_enum! {
    /// Under what something is counted. Nothing that is counted ranks.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    pub(crate) enum Aspect {
        /// What was of use, by the tier where it was.
        Tier = "tier",
        /// The same, by the rule that is on record for it.
        Rule = "rule",
        /// Contexts, by the profile that ranked them.
        Profile = "profile",
        /// What was of use, by how much of it was shown.
        PackedAs = "packed_as",
        /// By rules: how often a turn that the rule alone keeps was considered for a context that showed something of what
        /// was recalled.
        Chance = "chance",
        /// By rules: in how many of these chances the turn itself was shown.
        Taken = "taken",
        /// Contexts that reached a tier, by month and tier: `2026-03 cold`.
        Reached = "reached",
    }
    pub(crate) fn from_word;
}
