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
    /// The reason, such as `cosine 0.95`.
    pub why: String,
}

/// The proposals of a reflection. No memory was changed. No proposal takes effect by itself: a person decides each review,
/// and a proposed edge counts only once [`Memories::relate`](crate::Memories::relate) states it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Reflected {
    /// The number of memories that were considered. These are the newest 2,000 active memories that are trusted at least
    /// as much as the assistant's words, without the stale and the contested ones.
    pub memories: u64,
    /// How many of the considered memories have no vector yet, and so were not compared.
    pub without_vectors: u64,
    /// New proposed edges of the type `similar_to`, at most 64; those of the most similar memories come first.
    pub edges: Vec<Edge>,
    /// New reviews that ask whether two memories are one, the most similar memories first: at most 32.
    pub merges: Vec<ProposedMerge>,
}
