//! The result of a merge.

use serde::{Deserialize, Serialize};

use crate::model::{
    ids::{GroupId, MemoryId},
    memory::known::Memory,
};

/// The result of merging several memories into one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Merged {
    /// The group of the merge. [`undo_group`](crate::Memories::undo_group), or an undo of any of the memories, brings
    /// all of them back.
    pub group: GroupId,
    /// The merged memory.
    pub memory: Memory,
    /// The memories that the merged memory replaced, in the order in which the call named them.
    pub sources: Vec<MemoryId>,
}
