//! Sessions as they are stored.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::model::{ids::SessionId, tier::MemoryTier, word_enum::word_enum};

/// What the file knows of one session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionInfo {
    /// Its id.
    pub id: SessionId,
    /// The caller's own key, if it has one.
    pub caller_id: Option<String>,
    /// 1, or 2, 3 ... where the talk went on after silence, under the same key.
    pub part: u32,
    /// What the caller files it under.
    pub project: Option<String>,
    /// When its first turn was said; until then, when it was made.
    pub started_at: DateTime<Utc>,
    /// When the caller ended it; if silence did, when its last turn was said.
    pub ended_at: Option<DateTime<Utc>>,
    /// Why it ended.
    pub end_reason: Option<EndReason>,
    /// The session that a record after silence started in its place.
    pub successor_id: Option<SessionId>,
    /// Turns ever recorded in it.
    pub turn_count: u32,
    /// Their tokens, as they were said.
    pub total_tokens: u64,
    /// `hot` while it is open, `warm` once it has ended, `cold` once it is compressed.
    pub memory_tier: MemoryTier,
    /// The system clock at its last record.
    pub last_active_at: DateTime<Utc>,
}

word_enum! {
    /// Why a session ended.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum EndReason {
        /// The caller ended it.
        Call = "call",
        /// Nothing was said for the configured time.
        Silence = "silence",
    }
    pub(crate) fn from_word;
}
