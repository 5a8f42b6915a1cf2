//! The result of forgetting memories.

use serde::{Deserialize, Serialize};

use crate::model::ids::{GroupId, MemoryId};

/// The memories that a call has forgotten. They are kept but hidden.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Forgotten {
    /// The operation. An undo of any of the memories brings all of them back. `None` if nothing was forgotten.
    pub group: Option<GroupId>,
    /// The memories, the last saved first.
    pub memories: Vec<MemoryId>,
}
