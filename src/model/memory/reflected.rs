//! Proposals from a look over all memories.

use serde::{Deserialize, Serialize};

use crate::model::{
    edge::Edge,
    ids::{MemoryId, ReviewId},
};

/// Two memories that may be the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ProposedMerge {
    /// The review that asks.
    pub review_id: ReviewId,
    /// The older one.
    pub memory_id: MemoryId,
    /// The newer one.
    pub other_id: MemoryId,
    /// Why: `cosine 0.95`.
    pub why: String,
}

/// What a reflection proposes. No text was written, and nothing takes effect until a person approves it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Reflected {
    /// Memories that were compared: the newest 2,000 that are fresh, trusted and not contested.
    pub memories: u64,
    /// How many of these have no vector yet, and so are like nothing.
    pub without_vectors: u64,
    /// Proposed edges `similar_to`, the most alike first: at most 64.
    pub edges: Vec<Edge>,
    /// Reviews that ask whether two are one, the most alike first: at most 32.
    pub merges: Vec<ProposedMerge>,
}
