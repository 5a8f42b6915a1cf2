//! What became of a memory that was saved.

use serde::{Deserialize, Serialize};

use crate::model::{
    ids::{MemoryId, ReviewId},
    memory::known::Memory,
};

/// A memory that was saved, or the one that was there already.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Saved {
    /// The memory as it is now.
    pub memory: Memory,
    /// What became of what was to be saved.
    pub outcome: SaveOutcome,
}

/// What became of what was to be saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SaveOutcome {
    /// Nothing like it was known.
    New,
    /// The same was known and active: its tags are joined, else it is as it was.
    Known,
    /// The same was known and archived: it is active again.
    Restored,
    /// It took the place of this one.
    Superseded(MemoryId),
    /// It contradicts what stands in its slot and has less trust: it waits, archived, until a person decides this review.
    Waits(ReviewId),
}
