//! Sessions as they are stored.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::model::{
    ids::{SessionId, TurnId},
    memory::trust::Trust,
    tier::MemoryTier,
    word_enum::word_enum,
};

/// A session as the file describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SessionInfo {
    /// The session's id.
    pub id: SessionId,
    /// The caller's own key for the session, if it has one.
    pub caller_id: Option<String>,
    /// Which part of its conversation the session is, from 1. Each later part continues the conversation after the
    /// session before it ended.
    pub part: u32,
    /// The session's title in the caller's lists.
    pub title: Option<String>,
    /// The project that the session is filed under.
    pub project: Option<String>,
    /// When the session's first turn was said; before that, when the session was created.
    pub started_at: DateTime<Utc>,
    /// When the session ended; `None` if it is open. This is the time that the caller gave or, without one, the time of the
    /// call. If silence ended the session, it is when its last turn was said, even if a call ended it again later.
    pub ended_at: Option<DateTime<Utc>>,
    /// Why the session ended; `None` if it is open.
    pub end_reason: Option<EndReason>,
    /// The session in which the conversation continued after this one ended, if it did.
    pub successor_id: Option<SessionId>,
    /// How many turns the session has had, which is also the number of the newest; 0 if there was none. Erased turns
    /// count; incomplete and replaced ones do not.
    pub turn_count: u32,
    /// How many of the turns that `turn_count` counts were erased one by one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub erased_turns: u32,
    /// The newest turn, if its message still waits for a reply. `turn_count` does not count it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete_turn: Option<TurnId>,
    /// The tokens of the session's turns as they were said, except incomplete, replaced and erased ones.
    pub total_tokens: u64,
    /// `hot` while the session is open, `warm` once it has ended or was restored, `cold` once it is compressed.
    pub memory_tier: MemoryTier,
    /// When a turn, a message or a reply was last recorded in the session, by the system clock; before that, when the
    /// session was created.
    pub last_active_at: DateTime<Utc>,
    /// How far the session is trusted: as far as who opened it or, if that is more, the most trusted turn that was
    /// recorded in it. Whoever is trusted less may record in the session, but not change, end or erase it. Omitted from
    /// the JSON if it is the user's, 3.
    #[serde(default = "Trust::users", skip_serializing_if = "Trust::is_users")]
    pub trust: Trust,
    /// What the caller stores with the session; `None` if nothing. See
    /// [`Session::set_metadata`](crate::Session::set_metadata).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<serde_json::Value>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl SessionInfo {
    /// Returns whether the conversation can continue: the session is open, has a key under which the next part can
    /// start, or was ended by silence. A session without a key that was ended by call cannot continue.
    pub fn can_go_on(&self) -> bool {
        self.end_reason != Some(EndReason::Call) || self.caller_id.is_some()
    }
}

word_enum! {
    /// Why a session ended.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum EndReason {
        /// The caller ended the session, or started another one in its place.
        Call = "call",
        /// Nothing was said for the configured time.
        Silence = "silence",
    }
    pub(crate) fn from_word;
}
