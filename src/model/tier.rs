//! Tiers, and the moves between them.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::model::ids::SessionId;

/// Where a turn lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryTier {
    /// Among the last few turns of an open session: always in the context.
    Hot,
    /// In the session so far, outside of hot.
    Warm,
    /// In an ended and compressed session.
    Cold,
}

impl MemoryTier {
    /// The word in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hot => "hot",
            Self::Warm => "warm",
            Self::Cold => "cold",
        }
    }

    pub(crate) fn from_word(word: &str) -> Option<Self> {
        [Self::Hot, Self::Warm, Self::Cold].into_iter().find(|tier| tier.as_str() == word)
    }
}

/// Why a turn moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MoveReason {
    /// The hot tier had too many turns.
    TurnLimit,
    /// The hot tier had too many tokens.
    TokenBudget,
    /// The session ended, by call or by silence.
    SessionEnd,
    /// The ended session was compressed.
    Compression,
    /// The session was restored: its compression was undone.
    Restoration,
    /// A recalled turn was of use: it is warm in the session that used it, until that ends.
    Recall,
    /// The session that had used it ended.
    RecallEnd,
}

impl MoveReason {
    /// The word in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TurnLimit => "turn_limit",
            Self::TokenBudget => "token_budget",
            Self::SessionEnd => "session_end",
            Self::Compression => "compression",
            Self::Restoration => "restoration",
            Self::Recall => "recall",
            Self::RecallEnd => "recall_end",
        }
    }

    pub(crate) fn from_word(word: &str) -> Option<Self> {
        const ALL: [MoveReason; 7] = [
            MoveReason::TurnLimit,
            MoveReason::TokenBudget,
            MoveReason::SessionEnd,
            MoveReason::Compression,
            MoveReason::Restoration,
            MoveReason::Recall,
            MoveReason::RecallEnd,
        ];
        ALL.into_iter().find(|reason| reason.as_str() == word)
    }
}

/// One move of one turn between tiers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transition {
    /// The turn's session.
    pub session_id: SessionId,
    /// The turn's place in it, from 1.
    pub turn_number: u32,
    /// 1 for the turn's first move.
    pub move_number: u32,
    /// Where it was.
    pub from: MemoryTier,
    /// Where it went.
    pub to: MemoryTier,
    /// Why.
    pub reason: MoveReason,
    /// When, by the system clock.
    pub moved_at: DateTime<Utc>,
}
