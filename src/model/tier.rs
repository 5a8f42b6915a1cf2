//! Tiers, and the moves between them.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::model::{ids::SessionId, word_enum::word_enum};

/// The maximum of `Config::hot_turns`: neither a file nor an export records what it was.
pub(crate) const MAX_HOT_TURNS: u64 = 50;

word_enum! {
    /// Where a turn is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum MemoryTier {
        /// Among the last few turns of an open session: always in the context.
        Hot = "hot",
        /// Earlier in the session, and not hot.
        Warm = "warm",
        /// In an ended and compressed session.
        Cold = "cold",
    }
    pub(crate) fn from_word;
}

word_enum! {
    /// Why a turn moved.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum MoveReason {
        /// The hot tier had too many turns.
        TurnLimit = "turn_limit",
        /// The hot tier had too many tokens.
        TokenBudget = "token_budget",
        /// The session ended, by call or by silence.
        SessionEnd = "session_end",
        /// The ended session was compressed.
        Compression = "compression",
        /// The session was restored: its compression was undone.
        Restoration = "restoration",
    }
    pub(crate) fn from_word;
}

/// One move of one turn between tiers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Transition {
    /// The turn's session.
    pub session_id: SessionId,
    /// The turn's number in the session, from 1.
    pub turn_number: u32,
    /// 1 for the turn's first move.
    pub move_number: u32,
    /// The tier it left.
    pub from: MemoryTier,
    /// The tier it entered.
    pub to: MemoryTier,
    /// Why it moved.
    pub reason: MoveReason,
    /// When it moved, by the system clock.
    pub moved_at: DateTime<Utc>,
}
