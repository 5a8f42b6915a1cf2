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
    /// If the memory was known: the JSON names of the fields in which the memory kept its own value although the save stated
    /// another one. The fields on how the memory was learned are compared too (`outcome`, `session`, `task_id`,
    /// `task_name`, `trigger`). An [edit](crate::Memories::edit) can change most of the fields.
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
    /// The same memory was known and active. If the save is trusted enough, the memory got the save's tags in addition to
    /// its own, and its missing fields were filled. If the save is trusted more than the memory was, the memory now has
    /// the save's origin and trust. The rest stayed as it was.
    Known,
    /// The same memory was known, but it was archived, or it was forgotten and is not trusted more than the new save. Now
    /// it is active again.
    Restored,
    /// The same memory was known but does not hold, and that stays so, for one of two reasons. Either the caller's id names
    /// a memory that is superseded, in quarantine, or forgotten and trusted more than the new save. Or a person rejected
    /// the memory less than 30 days ago, and the memory that it contradicts still holds.
    PutAway,
    /// The saved memory, new or known, superseded this one.
    Superseded(MemoryId),
    /// The saved memory may not take the place of another one, which is trusted more or has the user's own words. A person
    /// has to decide this review. Until then the saved memory is archived, unless it was already known and active.
    Waits(ReviewId),
}
