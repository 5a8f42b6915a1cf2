//! The proposals of a reflection on all memories.

use serde::{Deserialize, Serialize};

use crate::model::{
    edge::Edge,
    ids::{MemoryId, ReviewId},
};

/// A proposal to merge two memories that may be the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ProposedMerge {
    /// The review that asks whether the two memories are the same.
    pub review_id: ReviewId,
    /// The older memory.
    pub memory_id: MemoryId,
    /// The newer memory.
    pub other_id: MemoryId,
    /// The reason: `cosine 0.95`.
    pub why: String,
}

/// The proposals of a reflection. No memory was changed, and no proposal takes effect until a person approves it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Reflected {
    /// The number of memories that were considered: those of the newest 2,000 that are fresh, trusted and not
    /// contested.
    pub memories: u64,
    /// How many of the considered memories have no vector yet, and so were not compared.
    pub without_vectors: u64,
    /// Proposed edges of the type `similar_to`, the most similar memories first: at most 64.
    pub edges: Vec<Edge>,
    /// Reviews that ask whether two memories are one, the most similar memories first: at most 32.
    pub merges: Vec<ProposedMerge>,
}
