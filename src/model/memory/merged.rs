//! The result of a merge.

use serde::{Deserialize, Serialize};

use crate::model::{
    ids::{GroupId, MemoryId},
    memory::known::Memory,
};

/// Several memories that became one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Merged {
    /// The operation: [`undo_group`](crate::Memories::undo_group), or an undo of any of them, brings all of them back.
    pub group: GroupId,
    /// The memory they became.
    pub memory: Memory,
    /// The memories it replaced, in the order in which they were named.
    pub sources: Vec<MemoryId>,
}
