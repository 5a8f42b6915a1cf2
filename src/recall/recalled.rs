//! Recall results, as a caller gets them.

use serde::Serialize;

use crate::model::{
    anchor::Anchor,
    ids::ReceiptId,
    memory::recalled::RecalledMemory,
    profile::Parts,
    receipt::{ItemKind, ItemOutcome, Newer, ReceiptItem, SameSource},
    summary::Summary,
    tier::MemoryTier,
    turn::Turn,
};

/// The result of a recall.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Recall {
    /// The results, best first: by score, or with a [`Config::reranker`](crate::Config::reranker) by its
    /// [`rerank_score`](Recalled::rerank_score). A reranker leaves anchors in place.
    pub items: Vec<Recalled>,
    /// The confidence that something answers the query, from 0 to 1: the maximum over the anchors that the query calls for
    /// and the best 32 turns and memories, whether they are among `items` or not.
    pub confidence: f64,
    /// What failed or is not ready yet, so that the search ran without it. Empty if all went well.
    pub missing: Vec<String>,
    /// The receipt, which has more details: [`User::receipt`](crate::User::receipt).
    pub receipt: ReceiptId,
}

/// One result, and why it ranks where it does.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Recalled {
    /// The result itself.
    #[serde(flatten)]
    pub item: RecalledItem,
    /// Recall's own score for this query; greater is better. Not comparable between queries.
    pub score: f64,
    /// The confidence that this result answers the query, from 0 to 1 ([`Parts::confidence`]); for an anchor, its score.
    pub confidence: f64,
    /// The parts that score and confidence are computed from.
    pub parts: Parts,
    /// The reranker's score, on its own scale; greater is better. `None` if the reranker was not asked about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerank_score: Option<f64>,
    /// The latest turn about the same thing, if the query asks how things are and this result is older. `None` if nothing
    /// later was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newer: Option<Newer>,
    /// Items of the same piece of knowledge that fit less well, best first: for a memory, the turns that it rests on,
    /// and memories that rest on one of these and say the same; for a turn, the memories that rest on it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub same_source: Vec<SameSource>,
}

/// Something that can be recalled.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RecalledItem {
    /// A turn of any tier.
    Turn(Box<Turn>),
    /// The summary of a turn whose original was deleted or is damaged.
    Summary {
        /// The summary.
        #[serde(flatten)]
        summary: Box<Summary>,
        /// The turn's place in the user's recording order.
        seq: i64,
        /// The caller's own id for the turn.
        caller_id: Option<String>,
    },
    /// A fact about a person.
    Anchor(Box<Anchor>),
    /// A memory.
    Memory(Box<RecalledMemory>),
}

impl Recalled {
    /// Returns the turn, if the result is one.
    pub fn turn(&self) -> Option<&Turn> {
        match &self.item {
            RecalledItem::Turn(turn) => Some(turn),
            _ => None,
        }
    }

    /// Returns the memory, if the result is one.
    pub fn memory(&self) -> Option<&RecalledMemory> {
        match &self.item {
            RecalledItem::Memory(memory) => Some(memory),
            _ => None,
        }
    }

    /// Returns the tier of a turn or summary; `None` for anchors and memories.
    pub fn memory_tier(&self) -> Option<MemoryTier> {
        match &self.item {
            RecalledItem::Turn(turn) => Some(turn.memory_tier),
            RecalledItem::Summary { .. } => Some(MemoryTier::Cold),
            RecalledItem::Anchor(_) | RecalledItem::Memory(_) => None,
        }
    }

    /// Returns the item's place in the user's recording order; `None` for anchors.
    pub(crate) fn seq(&self) -> Option<i64> {
        match &self.item {
            RecalledItem::Turn(turn) => Some(turn.seq),
            RecalledItem::Summary { seq, .. } => Some(*seq),
            RecalledItem::Memory(memory) => Some(memory.seq),
            RecalledItem::Anchor(_) => None,
        }
    }

    /// Returns the item's line in a receipt.
    pub(crate) fn receipt_item(&self, rank: u32) -> ReceiptItem {
        let (kind, owner_id) = match &self.item {
            RecalledItem::Turn(turn) => (ItemKind::Turn, turn.id.as_uuid()),
            RecalledItem::Summary { summary, .. } => (ItemKind::Summary, summary.original_turn_id.as_uuid()),
            RecalledItem::Anchor(anchor) => (ItemKind::Anchor, anchor.id.as_uuid()),
            RecalledItem::Memory(memory) => (ItemKind::Memory, memory.memory.id.as_uuid()),
        };
        let flags = self.memory().map(|memory| memory.flags.clone()).unwrap_or_default();
        ReceiptItem {
            rank,
            kind,
            seq: self.seq(),
            owner_id: *owner_id,
            memory_tier: self.memory_tier(),
            score: self.score,
            confidence: Some(self.confidence),
            parts: self.parts,
            rerank_score: self.rerank_score,
            newer: self.newer,
            flags,
            same_source: self.same_source.clone(),
            packed_as: None,
            outcome: ItemOutcome::Recalled,
            tokens: 0,
        }
    }
}
