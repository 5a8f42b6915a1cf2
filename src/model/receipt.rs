//! Receipts: what a recall considered, how it ranked and what became of each.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize, Serializer};
use uuid::Uuid;

use crate::model::{
    filter::Filter,
    ids::{ReceiptId, SessionId},
    memory::{
        filter::{MemoryFilter, Of},
        recalled::MemoryFlags,
    },
    profile::{Parts, Profile},
    tier::MemoryTier,
    word_enum::word_enum,
};

/// Cold turns that a session has at hand for its answers used them, at most: the newest of use.
pub(crate) const MOST_PROMOTED: usize = 8;

/// An anchor below this is only wanted for who the user is; what it came from answers nothing.
pub(crate) const LEAST_STRENGTH: f64 = 0.3;

word_enum! {
    /// What something in a context is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum ItemKind {
        /// A turn, or a part of it, or its summary in its place.
        Turn = "turn",
        /// The summary of a turn whose original is gone.
        Summary = "summary",
        /// What is known of someone.
        Anchor = "anchor",
        /// A standing wish of the user: a sentence of a turn.
        Wish = "wish",
        /// A memory: what is known beside what was said.
        Memory = "memory",
    }
    pub(crate) fn from_word;
}

impl ItemKind {
    /// How sure it is that something answers. An anchor that nothing in the query names or asks for is no answer.
    pub(crate) fn confidence(self, score: f64, parts: &Parts) -> f64 {
        match self {
            Self::Anchor if score < LEAST_STRENGTH => 0.0,
            Self::Wish => 0.0,
            Self::Anchor => score,
            _ => parts.confidence(),
        }
    }
}

word_enum! {
    /// How much of something is in the context.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum PackedAs {
        /// All of it.
        Whole = "whole",
        /// What the user said; the reply is left out.
        UserHalf = "user_half",
        /// Parts of it, verbatim: what matched, or the beginning.
        Extract = "extract",
        /// Its summary, marked as such.
        Summary = "summary",
    }
    pub(crate) fn from_word;
}

word_enum! {
    /// What became of something that was considered.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum ItemOutcome {
        /// A recall by itself found it.
        Recalled = "recalled",
        /// It is in the context.
        Packed = "packed",
        /// It is in the context since it was of use earlier in the session. It was counted then.
        Promoted = "promoted",
        /// It is in the context already.
        AlreadyShown = "already_shown",
        /// Neither it nor a part of it had room.
        NoRoom = "no_room",
        /// It fits the message too badly.
        BelowFloor = "below_floor",
    }
    pub(crate) fn from_word;
}

/// The stored record of one recall. Its ranks can be worked out again: the score of a turn or summary is
/// [`Parts::score`] of its parts, that of an anchor is its strength.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Receipt {
    /// Its id.
    pub id: ReceiptId,
    /// The session whose context it was for; none: a recall by itself.
    pub session_id: Option<SessionId>,
    /// By the system clock.
    pub asked_at: DateTime<Utc>,
    /// The moment of asking that ages were measured from.
    pub now: DateTime<Utc>,
    /// What was asked.
    pub query: String,
    /// How it was ranked.
    pub profile: Profile,
    /// What the query was taken for.
    pub understood: Understood,
    /// How sure it is that something of what was found answers, from 0 to 1; none: the receipt is older than
    /// this number.
    pub confidence: Option<f64>,
    /// What failed or was not ready, so that it was answered without. Empty when all went well.
    pub missing: Vec<String>,
    /// Tokens that the context might have; none: a recall by itself.
    pub budget_tokens: Option<u32>,
    /// Tokens that it had.
    pub tokens: Option<u32>,
    /// What finding and packing took; in JSON `took_us`, whole microseconds.
    #[serde(rename = "took_us", serialize_with = "as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub took: Duration,
    /// When a turn was recorded that it answered; none: nobody said so.
    pub used_at: Option<DateTime<Utc>>,
    /// What was considered, best first.
    pub items: Vec<ReceiptItem>,
}

fn as_us<S: Serializer>(span: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(span.as_micros()).unwrap_or(u64::MAX))
}

/// What a query was taken for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[non_exhaustive]
pub struct Understood {
    /// How many words were looked for.
    pub words: usize,
    /// Times that it names, `2023-05-01/2023-06-01`.
    pub times: Vec<String>,
    /// It asks for what was said in these times, and for nothing else.
    pub is_only_time: bool,
    /// The user speaks of themself.
    pub refers_to_self: bool,
    /// It points back to something said earlier.
    pub refers_back: bool,
    /// It was understood by the turns before it.
    pub is_follow_up: bool,
    /// The model whose vectors were compared; none: words alone.
    pub model: Option<String>,
    /// What was searched for beside it, as the caller of the context said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queries: Vec<String>,
    /// What [`Config::planner`](crate::Config::planner) said that it needs; none: it was not asked, or said nothing usable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Planned>,
    /// The reranker whose order it is; none: the items stand by their scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reranker: Option<String>,
    /// What might answer it.
    #[serde(skip_serializing_if = "Filter::is_open")]
    pub filter: Filter,
    /// Which sorts of things might.
    #[serde(skip_serializing_if = "Of::is_all")]
    pub of: Of,
    /// Which memories might; none: those that hold, and those that are archived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memories: Option<MemoryFilter>,
    /// Memories lent to what they stand beside.
    #[serde(skip_serializing_if = "is_not")]
    pub graph: bool,
    /// Of a context: how sure it must be that something answers, or nothing recalled is shown. Contexts of older versions
    /// did not keep it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_confidence: Option<f64>,
    /// Sections of the context that the caller left out, by their names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference to the field")]
fn is_not(is_so: &bool) -> bool {
    !*is_so
}

/// What of LLM#1's plan was followed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct Planned {
    /// The model that made it.
    pub model: String,
    /// What asking took, in whole milliseconds.
    pub took_ms: u64,
    /// It was asked before, for the same message behind the same turns.
    pub is_cached: bool,
    /// What was searched for beside the message and the caller's queries.
    pub queries: Vec<String>,
    /// The time that it pointed at, `2023-05-01/2023-06-01`; none: none, or the message names or asks for one itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// It said that nothing older than the last turns is needed: nothing recalled was shown but where it is at least 0.5
    /// sure, of 1, that something of it answers.
    pub only_if_sure: bool,
    /// How many of the user's standing wishes it said apply; none: it said nothing of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wishes: Option<usize>,
}

/// Something that a recall considered.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ReceiptItem {
    /// Its rank, from 1.
    pub rank: u32,
    /// What it is.
    pub kind: ItemKind,
    /// Its place in the user's order of recording, of a memory that of its text; none: an anchor.
    pub seq: Option<i64>,
    /// The turn's id, the anchor's or the memory's.
    pub owner_id: Uuid,
    /// Where it was; none: an anchor or a memory.
    pub memory_tier: Option<MemoryTier>,
    /// Greater is better.
    pub score: f64,
    /// How sure it is that it answers, from 0 to 1; of an anchor its score. None: it is there for its place in the session,
    /// or the receipt is older than this number.
    pub confidence: Option<f64>,
    /// What score and confidence were made of.
    pub parts: Parts,
    /// What the reranker gave it, on a scale of its own, greater is better; none: it was not asked of it. What has one
    /// stands by it, before what has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerank_score: Option<f64>,
    /// What was said last of the same thing, where the query asks how things are; none: nothing later was found, or it is an
    /// older receipt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newer: Option<Newer>,
    /// Of a memory: what to mind of it.
    #[serde(skip_serializing_if = "MemoryFlags::is_empty")]
    pub flags: MemoryFlags,
    /// What is one piece of knowledge with it and fits less well, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub same_source: Vec<SameSource>,
    /// How much of it is in the context; none: it is not there.
    pub packed_as: Option<PackedAs>,
    /// What became of it.
    pub outcome: ItemOutcome,
    /// Its tokens in the context.
    pub tokens: u32,
}

/// What was said last of the same thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Newer {
    /// The turn's place in the user's order of recording.
    pub seq: i64,
    /// When it was said.
    pub said_at: DateTime<Utc>,
}

/// What is one piece of knowledge with something that was recalled, fits less well, and so does not stand by itself: a turn
/// that a memory rests on, a memory that rests on a turn, or on the same turn as another memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SameSource {
    /// What it is.
    pub kind: ItemKind,
    /// The turn's id, or the memory's.
    pub owner_id: Uuid,
    /// Its place in the user's order of recording.
    pub seq: i64,
}

impl ReceiptItem {
    /// The line of something that fits too badly to be read.
    pub(crate) fn unread(kind: ItemKind, seq: impl Into<i64>, owner_id: Uuid) -> Self {
        Self {
            rank: 0,
            kind,
            seq: Some(seq.into()),
            owner_id,
            memory_tier: None,
            score: 0.0,
            confidence: None,
            parts: Parts::default(),
            rerank_score: None,
            newer: None,
            flags: MemoryFlags::default(),
            same_source: Vec::new(),
            packed_as: None,
            outcome: ItemOutcome::BelowFloor,
            tokens: 0,
        }
    }
}
