//! Why a turn is kept verbatim forever.

use serde::{Deserialize, Serialize};

use crate::model::word_enum::word_enum;

word_enum! {
    /// The rule that made a turn critical. If several apply, the first in this list is recorded, except rules that no longer
    /// keep this user's turns because the turns were of no use.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum CriticalRule {
        /// The caller or LLM#2 marked the turn.
        Caller = "caller",
        /// The turn and the one before it have different state snapshots of the backend.
        StageChange = "stage_change",
        /// The user corrects something said earlier.
        Correction = "correction",
        /// The user says who they are: name, home, work, family, health and the like.
        PersonalFact = "personal_fact",
        /// The user has decided something.
        Decision = "decision",
        /// The user promises something, or mentions an appointment or deadline of theirs.
        Commitment = "commitment",
        /// The user states how things should be from now on; in older files also what they like or dislike.
        Preference = "preference",
        /// The user shows a strong feeling.
        Emotion = "emotion",
        /// The turn is the first of its session.
        FirstTurn = "first_turn",
        /// The turn ranked best among the recalled items of three contexts that were used for replies, before its session
        /// was compressed.
        Used = "used",
        /// A summarizer decided to keep the turn, for reasons of its own.
        Summarizer = "summarizer",
    }
    pub(crate) fn from_word;
}

impl CriticalRule {
    /// Every rule, in the order of the list.
    pub const ALL: [Self; 11] = Self::EVERY;

    /// Returns whether the rule keeps turns regardless of their use: turns that somebody asked to keep, and turns that
    /// were of use.
    pub(crate) fn never_stops(self) -> bool {
        matches!(self, Self::Caller | Self::Preference | Self::Used)
    }
}
