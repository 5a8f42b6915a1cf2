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

/// The maximum number of cold turns that stay at hand in a session because its answers used them: the most recently
/// used ones.
pub(crate) const MOST_PROMOTED: usize = 8;

/// The lowest score of an anchor that can answer a query. An anchor below it only describes who the user is, and the
/// turns that it was derived from are not evidence for an answer.
pub(crate) const LEAST_STRENGTH: f64 = 0.3;

word_enum! {
    /// The kind of an item that a recall or a context considers.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum ItemKind {
        /// A turn, shown whole, in part, or as its summary.
        Turn = "turn",
        /// The summary of a turn whose original was deleted.
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
    /// Returns the confidence that an item answers the query. An anchor that nothing in the query names or asks for
    /// does not answer.
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
        /// The whole item.
        Whole = "whole",
        /// What the user said, without the reply.
        UserHalf = "user_half",
        /// Parts of the item, verbatim: what matched, or the beginning.
        Extract = "extract",
        /// The item's summary, marked as a summary.
        Summary = "summary",
    }
    pub(crate) fn from_word;
}

word_enum! {
    /// What happened to a considered item.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum ItemOutcome {
        /// A recall on its own, without a context, found the item.
        Recalled = "recalled",
        /// The item is in the context.
        Packed = "packed",
        /// The item is in the context because it was of use earlier in the session; the use was counted then.
        Promoted = "promoted",
        /// The context already shows the item for another reason, or shows something that says the same.
        AlreadyShown = "already_shown",
        /// Not even a part of the item fit.
        NoRoom = "no_room",
        /// The item matches the message too poorly.
        BelowFloor = "below_floor",
    }
    pub(crate) fn from_word;
}

/// The stored record of one recall. The score of a turn, a summary or a memory can be recomputed from its parts
/// ([`Parts::score`]). The score of an anchor is how strongly the query calls for it; the score of a wish is how well its
/// topic fits.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Receipt {
    /// The receipt's id.
    pub id: ReceiptId,
    /// The session whose context the receipt is for; `None` if the recall or context was for no session, or if that
    /// session no longer exists.
    pub session_id: Option<SessionId>,
    /// When the query was asked, by the system clock.
    pub asked_at: DateTime<Utc>,
    /// The moment that ages were measured from.
    pub now: DateTime<Utc>,
    /// The query or message: at most its first 4,096 bytes.
    pub query: String,
    /// The profile that ranked the items.
    pub profile: Profile,
    /// How the query was understood.
    pub understood: Understood,
    /// The confidence that one of the found items answers the query, from 0 to 1; `None` if an older version wrote the
    /// receipt.
    pub confidence: Option<f64>,
    /// What failed, was not ready or does not exist, so that the answer was made without it. Empty if nothing was missing.
    pub missing: Vec<String>,
    /// The context's token budget; `None` for a recall on its own.
    pub budget_tokens: Option<u32>,
    /// Tokens of the context; `None` for a recall on its own.
    pub tokens: Option<u32>,
    /// How long finding and packing took, not counting the caller's embedders, the reranker and the planner; in JSON
    /// `took_us`, in whole microseconds.
    #[serde(rename = "took_us", serialize_with = "as_us")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub took: Duration,
    /// When a turn was first recorded as the answer to this context; `None` if no turn named the receipt.
    pub used_at: Option<DateTime<Utc>>,
    /// The considered items, by rank. For a recall on its own: best first. For a context: what was recalled, best
    /// first, then anchors, turns shown only for their place in the session, and wishes. Items that were erased since
    /// are left out.
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
    /// How many different words were searched for, including those of additional queries.
    pub words: usize,
    /// The times that the query names, such as `2023-05-01/2023-06-01`.
    pub times: Vec<String>,
    /// Whether the query asks for what was said in the times that it names, and for nothing else.
    pub is_only_time: bool,
    /// Whether the user speaks of themselves in the query.
    pub refers_to_self: bool,
    /// Whether the query refers back to something said earlier.
    pub refers_back: bool,
    /// Whether the query was understood with the help of the turns before it.
    pub is_follow_up: bool,
    /// The model whose vectors were compared; `None` if only words were.
    pub model: Option<String>,
    /// The additional queries given by the caller of the context: at most the first 4,096 bytes of each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queries: Vec<String>,
    /// The parts of the planner's answer that were followed; `None` if [`Config::planner`](crate::Config::planner) was
    /// not asked, if its answer was unusable, or if turns were erased or replaced meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Planned>,
    /// The reranker that determined the order; `None` if the items are ordered by score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reranker: Option<String>,
    /// The filter on what could be recalled.
    #[serde(skip_serializing_if = "Filter::is_open")]
    pub filter: Filter,
    /// Whether turns, memories or both could be recalled.
    #[serde(skip_serializing_if = "Of::is_all")]
    pub of: Of,
    /// Which memories could be recalled; `None` means active and archived ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memories: Option<MemoryFilter>,
    /// Whether memories lent score to the memories that they are related to.
    #[serde(skip_serializing_if = "is_not")]
    pub graph: bool,
    /// For a context: the confidence below which nothing recalled is shown; `None` for a recall on its own, or if an
    /// older version wrote the receipt.
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

/// The parts of LLM#1's plan that were followed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct Planned {
    /// The model that made the plan.
    pub model: String,
    /// How long the model took to answer, in whole milliseconds.
    pub took_ms: u64,
    /// Whether the answer was cached: it was given earlier, for the same message after the same turns.
    pub is_cached: bool,
    /// The queries that were searched for in addition to the message and the caller's queries.
    pub queries: Vec<String>,
    /// The time that the plan names, such as `2023-05-01/2023-06-01`; `None` if the plan names none, or if the message
    /// itself names or asks for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// Whether the plan said that nothing older than the last turns is needed, and the message itself needs nothing
    /// older either. If so, recalled items were shown only if the confidence that one of them answers was at least 0.5.
    pub only_if_sure: bool,
    /// How many of the user's standing wishes apply, according to the plan; `None` if the plan said nothing about wishes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wishes: Option<usize>,
}

/// An item that a recall considered.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ReceiptItem {
    /// The item's rank, from 1.
    pub rank: u32,
    /// The kind of the item.
    pub kind: ItemKind,
    /// The item's place in the user's order of recording (for a memory, the place of its text); `None` for an anchor.
    pub seq: Option<i64>,
    /// The id of the anchor or the memory; for a turn, a summary or a wish, the id of the turn.
    pub owner_id: Uuid,
    /// The tier that the item was in; `None` for an anchor, a wish or a memory.
    pub memory_tier: Option<MemoryTier>,
    /// The item's score; greater is better.
    pub score: f64,
    /// The confidence that the item answers the query, from 0 to 1; for an anchor, its score, or 0 if that is below
    /// 0.3. An item that is only shown for its place in the session has 0. `None` for a wish, or if an older version
    /// wrote the receipt.
    pub confidence: Option<f64>,
    /// The parts of the score and of the confidence.
    pub parts: Parts,
    /// The reranker's score for the item, on the reranker's own scale; greater is better. `None` if the reranker did
    /// not read the item. Turns, summaries and memories with a reranker's score are ordered by it, before those without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerank_score: Option<f64>,
    /// The turn with the latest statement on the item's subject, if that turn is later than the item and the query asks
    /// how things are. `None` also if that turn was erased since, or if an older version wrote the receipt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newer: Option<Newer>,
    /// The warnings about a memory; empty for other items.
    #[serde(skip_serializing_if = "MemoryFlags::is_empty")]
    pub flags: MemoryFlags,
    /// Other items of the same piece of knowledge that match less well, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub same_source: Vec<SameSource>,
    /// How much of the item is in the context; `None` if it is not in the context.
    pub packed_as: Option<PackedAs>,
    /// What happened to the item.
    pub outcome: ItemOutcome,
    /// The item's tokens in the context; 0 if it is not in the context.
    pub tokens: u32,
}

/// The turn with the latest statement on an item's subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Newer {
    /// The turn's place in the user's order of recording.
    pub seq: i64,
    /// When the turn was said.
    pub said_at: DateTime<Utc>,
}

/// An item that is the same piece of knowledge as a recalled one but matches less well, and so is not listed by itself. It
/// is a turn that the recalled memory rests on, or a memory that rests on the recalled turn or on the same turn as the
/// recalled memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SameSource {
    /// The kind of the item.
    pub kind: ItemKind,
    /// The id of the turn or the memory.
    pub owner_id: Uuid,
    /// The item's place in the user's order of recording.
    pub seq: i64,
}

impl ReceiptItem {
    /// Creates the entry for an item whose text is not read because it matches too poorly.
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
