//! Why a turn is kept verbatim for ever.

use serde::{Deserialize, Serialize};

/// The rule that made a turn critical. Where several hold, the first of this list is the one on record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CriticalRule {
    /// The caller marked it.
    Caller,
    /// The backend's state snapshot is another one than at the turn before.
    StageChange,
    /// The user corrects what was said before.
    Correction,
    /// The user says who they are: name, home, work, family, health and the like.
    PersonalFact,
    /// The user has decided something.
    Decision,
    /// The user promises something, or names an appointment or deadline of theirs.
    Commitment,
    /// The user likes or dislikes something, lastingly.
    Preference,
    /// The user shows a strong feeling.
    Emotion,
    /// It is the first of its session.
    FirstTurn,
    /// A summarizer judged so, for reasons of its own.
    Summarizer,
}

impl CriticalRule {
    /// Every rule, in the order above.
    pub const ALL: [Self; 10] = [
        Self::Caller,
        Self::StageChange,
        Self::Correction,
        Self::PersonalFact,
        Self::Decision,
        Self::Commitment,
        Self::Preference,
        Self::Emotion,
        Self::FirstTurn,
        Self::Summarizer,
    ];

    /// The word in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Caller => "caller",
            Self::StageChange => "stage_change",
            Self::Correction => "correction",
            Self::PersonalFact => "personal_fact",
            Self::Decision => "decision",
            Self::Commitment => "commitment",
            Self::Preference => "preference",
            Self::Emotion => "emotion",
            Self::FirstTurn => "first_turn",
            Self::Summarizer => "summarizer",
        }
    }

    pub(crate) fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.as_str() == word)
    }
}
