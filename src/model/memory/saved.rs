//! The result of saving a memory.

use serde::{Deserialize, Serialize};

use crate::model::{
    ids::{MemoryId, ReviewId},
    memory::known::Memory,
};

/// A memory that was saved, or the existing one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Saved {
    /// The memory as it is now.
    pub memory: Memory,
    /// What happened to the memory to be saved.
    pub outcome: SaveOutcome,
    /// If the memory was known: the stated fields that it has with another value, by their JSON names. An
    /// [edit](crate::Memories::edit) changes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_taken: Vec<String>,
}

/// What happened to the memory to be saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SaveOutcome {
    /// Nothing like it was known.
    New,
    /// The same was known and active: tags are joined, missing fields are filled, and the rest stays as it was.
    Known,
    /// The same was known and archived, or forgotten by somebody who is not trusted more: it is active again.
    Restored,
    /// The same was known by the caller's id and no longer holds: it is superseded, in quarantine, or was forgotten and had
    /// been said by somebody who is trusted more. It stays so.
    PutAway,
    /// It superseded this memory.
    Superseded(MemoryId),
    /// It contradicts the memory in its slot and is trusted less: it waits, archived, until a person decides this review.
    Waits(ReviewId),
}
