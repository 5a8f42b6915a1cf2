//! Sessions as they are stored.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::model::{
    ids::{SessionId, TurnId},
    tier::MemoryTier,
    word_enum::word_enum,
};

/// A session as the file describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SessionInfo {
    /// Its id.
    pub id: SessionId,
    /// The caller's own key, if it has one.
    pub caller_id: Option<String>,
    /// 1; or 2, 3 ... if the conversation continued under the same key after it had ended.
    pub part: u32,
    /// Its title in the caller's lists.
    pub title: Option<String>,
    /// What the caller files it under.
    pub project: Option<String>,
    /// When its first turn was said; before that, when it was created.
    pub started_at: DateTime<Utc>,
    /// When the caller ended it; if silence ended it, when its last turn was said.
    pub ended_at: Option<DateTime<Utc>>,
    /// Why it ended.
    pub end_reason: Option<EndReason>,
    /// The session in which the conversation continued after this one ended.
    pub successor_id: Option<SessionId>,
    /// The number of its newest turn, except an incomplete one. Replaced turns are not counted.
    pub turn_count: u32,
    /// How many of these turns were erased one by one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub erased_turns: u32,
    /// The message that waits for its reply; it follows these turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete_turn: Option<TurnId>,
    /// The tokens of these turns, as they were said.
    pub total_tokens: u64,
    /// `hot` while it is open, `warm` once it has ended, `cold` once it is compressed.
    pub memory_tier: MemoryTier,
    /// The system clock at its last record.
    pub last_active_at: DateTime<Utc>,
    /// What the caller stores with it; `None` if nothing. See [`Session::set_metadata`](crate::Session::set_metadata).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<serde_json::Value>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl SessionInfo {
    /// Whether its conversation can continue: it is open, has a key under which the next part can start, or was ended by
    /// silence. An unnamed session that was ended by call cannot continue.
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
