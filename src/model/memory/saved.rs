//! The result of saving a memory.

use serde::{Deserialize, Serialize};

use crate::model::{
    ids::{MemoryId, ReviewId},
    memory::known::Memory,
};

/// The result of a save: the new memory, or the one that was already known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Saved {
    /// The memory as it is now.
    pub memory: Memory,
    /// What became of the memory to save.
    pub outcome: SaveOutcome,
    /// If the memory was known: the JSON names of the fields for which the save stated a value that the memory did not
    /// take. An [edit](crate::Memories::edit) can change them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_taken: Vec<String>,
}

/// What became of a memory to save.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SaveOutcome {
    /// The memory is new.
    New,
    /// The same memory was known and active. Its tags were joined with the new ones, missing fields were filled, and
    /// the rest stayed as it was.
    Known,
    /// The same memory was known, but archived, or forgotten and not trusted more than the new save. It is active
    /// again.
    Restored,
    /// The same memory was known by the caller's id and no longer holds: it is superseded, in quarantine, or forgotten
    /// and trusted more than the new save. It stays that way.
    PutAway,
    /// The new memory superseded this one.
    Superseded(MemoryId),
    /// The new memory may not supersede the one in its slot, which is trusted more or has the user's own words. The new
    /// memory waits, archived, until a person decides this review.
    Waits(ReviewId),
}
