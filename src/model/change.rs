//! Changes: the history of a memory, and what undo restores.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::model::{
    ids::{GroupId, MemoryId},
    memory::known::Memory,
    word_enum::word_enum,
};

word_enum! {
    /// The operation of a [`Change`]. A use of a memory is a change only if its outcome rates the memory.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum ChangeOp {
        /// The memory was saved.
        Save = "save",
        /// The memory's content or a property was changed, by an edit or because the memory was saved again.
        Edit = "edit",
        /// The memory settled further, or fell back.
        Frequency = "frequency",
        /// The memory was archived, restored, forgotten or quarantined.
        Status = "status",
        /// The memory superseded another one, or was superseded.
        Supersede = "supersede",
        /// Several memories became one.
        Merge = "merge",
        /// A sensor or a person checked whether the memory holds.
        Check = "check",
        /// The memory's trust changed: a person approved it, somebody trusted more said the same, or a source of it was
        /// quarantined.
        Trust = "trust",
        /// A person looked at the memory again, or dismissed it.
        Resurface = "resurface",
        /// A use rated the memory: the values are its confidence before and after.
        Use = "use",
        /// A change was taken back.
        Undo = "undo",
    }
    pub fn from_word;
}

/// One change of one memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Change {
    /// The changed memory.
    pub memory_id: MemoryId,
    /// The change's number in the memory's history, from 1.
    pub change_no: u32,
    /// What was done to the memory.
    pub op: ChangeOp,
    /// The operation that the change was part of: all changes of an operation are undone together.
    pub group_id: GroupId,
    /// Who made the change: the origin that the handle acted for (`user`, `assistant` ...), a job (`rules`, `tend`), an
    /// `erase`, or the name of a summarizer or a sensor.
    pub made_by: String,
    /// When the change was made, by the system clock.
    pub made_at: DateTime<Utc>,
    /// The previous value; `None` if the change is not of a single value.
    pub old_value: Option<String>,
    /// The new value, such as a status or the result of a check; `None` if there is none.
    pub new_value: Option<String>,
    /// The reason for the change: numbers, names of rules, or what the caller stated.
    pub reason: String,
    /// The changed columns by name, with their previous values; `None` if no column changed, or if the values are no
    /// longer kept. Of a use also the counts that it changed, and the id of its episode.
    pub before: Option<serde_json::Value>,
    /// The operation that undid the change; `None` if it was not undone.
    pub undone_by: Option<GroupId>,
}

/// The result of an undo.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Undone {
    /// The operation that was taken back.
    pub group: GroupId,
    /// The memories that the operation had changed, as they are now.
    pub memories: Vec<Memory>,
}
