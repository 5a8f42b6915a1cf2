//! Why a turn is kept verbatim forever.

use serde::{Deserialize, Serialize};

use crate::model::word_enum::word_enum;

word_enum! {
    /// The rule that made a turn critical. If several apply, the first in this list is recorded.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum CriticalRule {
        /// The caller marked it.
        Caller = "caller",
        /// The backend's state snapshot differs from that of the turn before.
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
        /// It is the first of its session.
        FirstTurn = "first_turn",
        /// It ranked best among what was recalled in three contexts that answered a turn, before its session was compressed.
        Used = "used",
        /// A summarizer decided so, for reasons of its own.
        Summarizer = "summarizer",
    }
    pub(crate) fn from_word;
}

impl CriticalRule {
    /// Every rule, in the order above.
    pub const ALL: [Self; 11] = Self::EVERY;

    /// Whether the rule keeps turns regardless of their use: what somebody asked to keep, and what was of use.
    pub(crate) fn never_stops(self) -> bool {
        matches!(self, Self::Caller | Self::Preference | Self::Used)
    }
}
