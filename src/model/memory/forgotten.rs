//! What was forgotten.

use serde::{Deserialize, Serialize};

use crate::model::ids::{GroupId, MemoryId};

/// The memories that a call has forgotten: they are kept, and hidden.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Forgotten {
    /// The operation: undo on any of them brings all of them back. None: nothing was forgotten.
    pub group: Option<GroupId>,
    /// Which they are, newest first.
    pub memories: Vec<MemoryId>,
}
