//! What became of a memory that was saved.

use serde::{Deserialize, Serialize};

use crate::model::{
    ids::{MemoryId, ReviewId},
    memory::known::Memory,
};

/// A memory that was saved, or the one that was there already.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Saved {
    /// The memory as it is now.
    pub memory: Memory,
    /// What became of what was to be saved.
    pub outcome: SaveOutcome,
    /// Of a memory that was known: the fields that were stated and that it has otherwise, by their names in JSON. An
    /// [edit](crate::Memories::edit) changes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_taken: Vec<String>,
}

/// What became of what was to be saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SaveOutcome {
    /// Nothing like it was known.
    New,
    /// The same was known and active: its tags are joined, what it lacked is filled, else it is as it was.
    Known,
    /// The same was known and archived, or forgotten by somebody who is not trusted further: it is active again.
    Restored,
    /// The same was known by the caller's id and holds no more: it is superseded, in quarantine, or somebody who is trusted
    /// further said it and it was forgotten. It stays so.
    PutAway,
    /// It took the place of this one.
    Superseded(MemoryId),
    /// It contradicts what stands in its slot and has less trust: it waits, archived, until a person decides this review.
    Waits(ReviewId),
}
