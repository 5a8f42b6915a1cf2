//! The result of forgetting memories.

use serde::{Deserialize, Serialize};

use crate::model::ids::{GroupId, MemoryId};

/// The memories that a call has forgotten. They are kept but hidden.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Forgotten {
    /// The id of the operation; `None` if nothing was forgotten. An undo of any of the memories brings all of them back.
    pub group: Option<GroupId>,
    /// The memories, the last saved first.
    pub memories: Vec<MemoryId>,
}
