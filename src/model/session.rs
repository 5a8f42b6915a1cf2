//! Sessions as they are stored.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::model::{
    ids::{SessionId, TurnId},
    tier::MemoryTier,
    word_enum::word_enum,
};

/// What the file knows of one session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SessionInfo {
    /// Its id.
    pub id: SessionId,
    /// The caller's own key, if it has one.
    pub caller_id: Option<String>,
    /// 1, or 2, 3 ... where the talk went on after it had ended, under the same key.
    pub part: u32,
    /// How the caller shows it in a list.
    pub title: Option<String>,
    /// What the caller files it under.
    pub project: Option<String>,
    /// When its first turn was said; until then, when it was made.
    pub started_at: DateTime<Utc>,
    /// When the caller ended it; if silence did, when its last turn was said.
    pub ended_at: Option<DateTime<Utc>>,
    /// Why it ended.
    pub end_reason: Option<EndReason>,
    /// The session in which the talk went on after this one had ended.
    pub successor_id: Option<SessionId>,
    /// The number of its newest turn, but for one that is incomplete. What was replaced is not counted.
    pub turn_count: u32,
    /// How many of these were erased one by one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub erased_turns: u32,
    /// The message that waits for its reply: it stands behind them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete_turn: Option<TurnId>,
    /// Their tokens, as they were said.
    pub total_tokens: u64,
    /// `hot` while it is open, `warm` once it has ended, `cold` once it is compressed.
    pub memory_tier: MemoryTier,
    /// The system clock at its last record.
    pub last_active_at: DateTime<Utc>,
    /// What the caller keeps beside it; none: nothing. See [`Session::set_metadata`](crate::Session::set_metadata).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<serde_json::Value>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl SessionInfo {
    /// Whether its talk can go on: it is open, or has a key under which the next part begins, or silence ended it. An
    /// unnamed session that was ended by call is over.
    pub fn can_go_on(&self) -> bool {
        self.end_reason != Some(EndReason::Call) || self.caller_id.is_some()
    }
}

word_enum! {
    /// Why a session ended.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum EndReason {
        /// The caller ended it.
        Call = "call",
        /// Nothing was said for the configured time.
        Silence = "silence",
    }
    pub(crate) fn from_word;
}
