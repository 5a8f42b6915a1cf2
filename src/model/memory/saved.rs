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
    /// If the memory was known: the JSON names of fields for which the save stated another value, which the memory did not
    /// take, including how it began (outcome, session, task, trigger). An [edit](crate::Memories::edit) can change most of
    /// them.
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
    /// The same memory was known and active. As far as the save is trusted, its tags were joined with the new ones and
    /// missing fields were filled. If the save is trusted more, the memory has its origin and trust now. The rest stayed
    /// as it was.
    Known,
    /// The same memory was known, but archived, or forgotten and not trusted more than the new save. It is active
    /// again.
    Restored,
    /// The same memory was known and does not hold, and it stays that way. It is known by the caller's id and is superseded,
    /// in quarantine, or forgotten and trusted more than the new save; or a person rejected it less than 30 days ago, and
    /// the memory that it contradicts still holds.
    PutAway,
    /// The saved memory, new or known, superseded this one.
    Superseded(MemoryId),
    /// The saved memory may not take the place of another one, which is trusted more or has the user's own words. A person
    /// has to decide this review. Until then the saved memory is archived, unless it was already known and active.
    Waits(ReviewId),
}
