//! Receipts: what a recall considered, how it ranked, and what happened to each item.

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

/// The maximum number of cold turns that stay at hand in a session because its answers used them: the newest of use.
pub(crate) const MOST_PROMOTED: usize = 8;

/// An anchor below this only describes who the user is; what it came from answers nothing.
pub(crate) const LEAST_STRENGTH: f64 = 0.3;

word_enum! {
    /// What an item of a context is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum ItemKind {
        /// A turn, a part of it, or its summary in its place.
        Turn = "turn",
        /// The summary of a turn whose original is gone.
        Summary = "summary",
        /// A fact about someone.
        Anchor = "anchor",
        /// A standing wish of the user: a sentence of a turn.
        Wish = "wish",
        /// A memory: something known in addition to what was said.
        Memory = "memory",
    }
    pub(crate) fn from_word;
}

impl ItemKind {
    /// How confident it is that an item answers. An anchor that nothing in the query names or asks for does not answer.
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
    /// How much of an item is in the context.
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
    /// What happened to a considered item.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum ItemOutcome {
        /// A recall on its own found it.
        Recalled = "recalled",
        /// It is in the context.
        Packed = "packed",
        /// It is in the context because it was of use earlier in the session. It was counted then.
        Promoted = "promoted",
        /// It is already in the context.
        AlreadyShown = "already_shown",
        /// Not even a part of it fit.
        NoRoom = "no_room",
        /// It matches the message too poorly.
        BelowFloor = "below_floor",
    }
    pub(crate) fn from_word;
}

/// The stored record of one recall. Its ranks can be recomputed: the score of a turn or summary is [`Parts::score`] of its
/// parts, and that of an anchor is its strength.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Receipt {
    /// Its id.
    pub id: ReceiptId,
    /// The session whose context it was for; `None` for a recall on its own.
    pub session_id: Option<SessionId>,
    /// When it was asked, by the system clock.
    pub asked_at: DateTime<Utc>,
    /// The moment that ages were measured from.
    pub now: DateTime<Utc>,
    /// What was asked.
    pub query: String,
    /// How it was ranked.
    pub profile: Profile,
    /// How the query was understood.
    pub understood: Understood,
    /// How confident it is that something found answers, from 0 to 1; `None` if the receipt is older than this field.
    pub confidence: Option<f64>,
    /// What failed or was not ready, so that the answer does without it. Empty if everything worked.
    pub missing: Vec<String>,
    /// The context's token budget; `None` for a recall on its own.
    pub budget_tokens: Option<u32>,
    /// Tokens of the context.
    pub tokens: Option<u32>,
    /// How long finding and packing took; in JSON `took_us`, in whole microseconds.
    #[serde(rename = "took_us", serialize_with = "as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub took: Duration,
    /// When a turn that it answered was recorded; `None` if nobody said so.
    pub used_at: Option<DateTime<Utc>>,
    /// What was considered, best first.
    pub items: Vec<ReceiptItem>,
}

fn as_us<S: Serializer>(span: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(span.as_micros()).unwrap_or(u64::MAX))
}

/// How a query was understood.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[non_exhaustive]
pub struct Understood {
    /// How many words were searched for.
    pub words: usize,
    /// The times it names, `2023-05-01/2023-06-01`.
    pub times: Vec<String>,
    /// Whether it asks for what was said in these times, and for nothing else.
    pub is_only_time: bool,
    /// Whether the user speaks of themselves.
    pub refers_to_self: bool,
    /// Whether it refers back to something said earlier.
    pub refers_back: bool,
    /// Whether it was understood with the help of the turns before it.
    pub is_follow_up: bool,
    /// The model whose vectors were compared; `None` if only words were.
    pub model: Option<String>,
    /// The additional queries given by the caller of the context.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queries: Vec<String>,
    /// What [`Config::planner`](crate::Config::planner) said it needs; `None` if it was not asked, or its answer was
    /// unusable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Planned>,
    /// The reranker that determined the order; `None` if the items are ordered by score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reranker: Option<String>,
    /// The filter on what may answer.
    #[serde(skip_serializing_if = "Filter::is_open")]
    pub filter: Filter,
    /// Which sorts of things may answer.
    #[serde(skip_serializing_if = "Of::is_all")]
    pub of: Of,
    /// Which memories may answer; `None` means active and archived ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memories: Option<MemoryFilter>,
    /// Whether memories lent to those they are related to.
    #[serde(skip_serializing_if = "is_not")]
    pub graph: bool,
    /// For a context: the minimum confidence below which nothing recalled is shown. Contexts of older versions did not keep
    /// it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_confidence: Option<f64>,
    /// Sections of the context that the caller left out, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference to the field")]
fn is_not(is_so: &bool) -> bool {
    !*is_so
}

/// Which parts of LLM#1's plan were followed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct Planned {
    /// The model that made it.
    pub model: String,
    /// How long it took to answer, in whole milliseconds.
    pub took_ms: u64,
    /// Whether the answer is from earlier, for the same message after the same turns.
    pub is_cached: bool,
    /// What was searched for in addition to the message and the caller's queries.
    pub queries: Vec<String>,
    /// The time it pointed at, `2023-05-01/2023-06-01`; `None` if none, or if the message itself names or asks for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// It said that nothing older than the last turns is needed: recalled items were shown only if the confidence that one
    /// of them answers was at least 0.5.
    pub only_if_sure: bool,
    /// How many of the user's standing wishes it said apply; `None` if it said nothing about them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wishes: Option<usize>,
}

/// An item that a recall considered.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ReceiptItem {
    /// Its rank, from 1.
    pub rank: u32,
    /// What it is.
    pub kind: ItemKind,
    /// Its place in the user's order of recording, for a memory that of its text; `None` for an anchor.
    pub seq: Option<i64>,
    /// The id of the turn, the anchor or the memory.
    pub owner_id: Uuid,
    /// The tier it was in; `None` for an anchor or a memory.
    pub memory_tier: Option<MemoryTier>,
    /// Its score; greater is better.
    pub score: f64,
    /// How confident it is that the item answers, from 0 to 1; for an anchor, its score. `None` if it is there for its place
    /// in the session, or the receipt is older than this field.
    pub confidence: Option<f64>,
    /// The parts of score and confidence.
    pub parts: Parts,
    /// Its score by the reranker, on a scale of its own, greater is better; `None` if the reranker did not read it. Items
    /// with a score are ordered by it, before those without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerank_score: Option<f64>,
    /// The latest statement on the same subject, if the query asks how things are; `None` if nothing later was found, or the
    /// receipt is older.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newer: Option<Newer>,
    /// For a memory: its warnings.
    #[serde(skip_serializing_if = "MemoryFlags::is_empty")]
    pub flags: MemoryFlags,
    /// Items that are the same piece of knowledge and match less well, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub same_source: Vec<SameSource>,
    /// How much of it is in the context; `None` if it is not there.
    pub packed_as: Option<PackedAs>,
    /// What happened to it.
    pub outcome: ItemOutcome,
    /// Its tokens in the context.
    pub tokens: u32,
}

/// The latest statement on the same subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Newer {
    /// The turn's place in the user's order of recording.
    pub seq: i64,
    /// When it was said.
    pub said_at: DateTime<Utc>,
}

/// An item that is the same piece of knowledge as a recalled one but matches less well, and so is not listed by itself: a
/// turn that a memory rests on, a memory that rests on a turn, or one that rests on the same turn as another memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SameSource {
    /// What it is.
    pub kind: ItemKind,
    /// The id of the turn or the memory.
    pub owner_id: Uuid,
    /// Its place in the user's order of recording.
    pub seq: i64,
}

impl ReceiptItem {
    /// The entry for an item that matches too poorly to be read.
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
