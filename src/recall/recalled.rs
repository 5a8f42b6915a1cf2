//! What was recalled, as a caller gets it.

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

/// What was recalled.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Recall {
    /// The best first: by their scores, or in the order of [`Config::reranker`](crate::Config::reranker), by
    /// [`rerank_score`](Recalled::rerank_score). A reranker leaves anchors at their places.
    pub items: Vec<Recalled>,
    /// How sure it is that something answers, from 0 to 1: of the surest of the anchors that the query calls for and of the
    /// best 32 turns, whether it is among `items` or not.
    pub confidence: f64,
    /// What failed or is not ready yet, so that it was searched without it. Empty when all went well.
    pub missing: Vec<String>,
    /// Its receipt, which says more: [`User::receipt`](crate::User::receipt).
    pub receipt: ReceiptId,
}

/// Something recalled, and why it stands where it stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Recalled {
    /// What it is.
    #[serde(flatten)]
    pub item: RecalledItem,
    /// Recall's own rank of it at this query, greater is better. Not comparable between queries.
    pub score: f64,
    /// How sure it is that it answers, from 0 to 1 ([`Parts::confidence`]); of an anchor its score.
    pub confidence: f64,
    /// What score and confidence were made of.
    pub parts: Parts,
    /// What the reranker gave it, on a scale of its own, greater is better; none: it was not asked of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerank_score: Option<f64>,
    /// What was said last of the same thing, where the query asks how things are and this is older; none: nothing later was
    /// found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newer: Option<Newer>,
    /// What is one piece of knowledge with it and fits less well: of a memory the turns that it rests on, of a turn the
    /// memories that rest on it. Best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub same_source: Vec<SameSource>,
}

/// What can be recalled.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RecalledItem {
    /// A turn, wherever it lives.
    Turn(Box<Turn>),
    /// What stands for a turn whose original was deleted.
    Summary {
        /// The summary.
        #[serde(flatten)]
        summary: Box<Summary>,
        /// The turn's place in the user's order of recording.
        seq: i64,
        /// The caller's own id for the turn.
        caller_id: Option<String>,
    },
    /// What is known of somebody.
    Anchor(Box<Anchor>),
    /// What is known beside what was said.
    Memory(Box<RecalledMemory>),
}

impl Recalled {
    /// The turn, if it is one.
    pub fn turn(&self) -> Option<&Turn> {
        match &self.item {
            RecalledItem::Turn(turn) => Some(turn),
            _ => None,
        }
    }

    /// The memory, if it is one.
    pub fn memory(&self) -> Option<&RecalledMemory> {
        match &self.item {
            RecalledItem::Memory(memory) => Some(memory),
            _ => None,
        }
    }

    /// Where it lives; anchors and memories live in no tier.
    pub fn memory_tier(&self) -> Option<MemoryTier> {
        match &self.item {
            RecalledItem::Turn(turn) => Some(turn.memory_tier),
            RecalledItem::Summary { .. } => Some(MemoryTier::Cold),
            RecalledItem::Anchor(_) | RecalledItem::Memory(_) => None,
        }
    }

    /// Its place in the user's order of recording; anchors have none.
    pub(crate) fn seq(&self) -> Option<i64> {
        match &self.item {
            RecalledItem::Turn(turn) => Some(turn.seq),
            RecalledItem::Summary { seq, .. } => Some(*seq),
            RecalledItem::Memory(memory) => Some(memory.seq),
            RecalledItem::Anchor(_) => None,
        }
    }

    /// Its line in a receipt.
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
