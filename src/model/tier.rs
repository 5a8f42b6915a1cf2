//! Tiers, and the moves between them.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::model::{ids::SessionId, word_enum::word_enum};

/// The maximum of `Config::hot_turns`. Checks of files and exports use it, because neither records the setting.
pub(crate) const MAX_HOT_TURNS: u64 = 50;

word_enum! {
    /// The tier of a turn.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum MemoryTier {
        /// One of the last few turns of an open session.
        Hot = "hot",
        /// An older turn of an open session, or a turn of an ended session that is not compressed or was restored.
        Warm = "warm",
        /// A turn of an ended and compressed session.
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

/// One move of one turn between tiers. If a warm turn is hot again because later ones were erased or replaced, the move
/// to warm is removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Transition {
    /// The turn's session.
    pub session_id: SessionId,
    /// The turn's number in the session, from 1.
    pub turn_number: u32,
    /// The move's number among the turn's moves, from 1.
    pub move_number: u32,
    /// The tier that the turn left.
    pub from: MemoryTier,
    /// The tier that the turn entered.
    pub to: MemoryTier,
    /// Why the turn moved.
    pub reason: MoveReason,
    /// When the turn moved, by the system clock.
    pub moved_at: DateTime<Utc>,
}
