//! Why a turn is kept verbatim for ever.

use serde::{Deserialize, Serialize};

use crate::model::word_enum::word_enum;

word_enum! {
    /// The rule that made a turn critical. Where several hold, the first of this list is the one on record.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum CriticalRule {
        /// The caller marked it.
        Caller = "caller",
        /// The backend's state snapshot is another one than at the turn before.
        StageChange = "stage_change",
        /// The user corrects what was said before.
        Correction = "correction",
        /// The user says who they are: name, home, work, family, health and the like.
        PersonalFact = "personal_fact",
        /// The user has decided something.
        Decision = "decision",
        /// The user promises something, or names an appointment or deadline of theirs.
        Commitment = "commitment",
        /// The user says how things are to be from now on; in older files also what they like or dislike.
        Preference = "preference",
        /// The user shows a strong feeling.
        Emotion = "emotion",
        /// It is the first of its session.
        FirstTurn = "first_turn",
        /// It was the best of what was recalled in three contexts that answered a turn, before its session was compressed.
        Used = "used",
        /// A summarizer judged so, for reasons of its own.
        Summarizer = "summarizer",
    }
    pub(crate) fn from_word;
}

impl CriticalRule {
    /// Every rule, in the order above.
    pub const ALL: [Self; 11] = Self::EVERY;

    /// Whether the rule keeps turns whatever comes of them: what somebody asked to have kept, and what was of use.
    pub(crate) fn never_stops(self) -> bool {
        matches!(self, Self::Caller | Self::Preference | Self::Used)
    }
}
