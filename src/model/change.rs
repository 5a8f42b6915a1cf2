//! Changes: the history of a memory, and what undo restores.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::model::{
    ids::{GroupId, MemoryId},
    memory::known::Memory,
    word_enum::word_enum,
};

word_enum! {
    /// What was done to a memory. Uses are not changes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum ChangeOp {
        /// It was saved.
        Save = "save",
        /// Its content or a property was changed by hand.
        Edit = "edit",
        /// It settled further, or fell back.
        Frequency = "frequency",
        /// It was archived, restored, forgotten, quarantined.
        Status = "status",
        /// It superseded another memory, or was superseded.
        Supersede = "supersede",
        /// Several memories became one.
        Merge = "merge",
        /// A sensor or a person checked whether it holds.
        Check = "check",
        /// A person approved it, or somebody trusted more said it.
        Trust = "trust",
        /// A person looked at it again, or dismissed it.
        Resurface = "resurface",
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
    /// The memory.
    pub memory_id: MemoryId,
    /// Its place in the memory's history, from 1.
    pub change_no: u32,
    /// What was done.
    pub op: ChangeOp,
    /// The operation it was part of: all changes of an operation are undone together.
    pub group_id: GroupId,
    /// Who did it: `user`, `assistant`, `import`, `tend`, `reflect`, or a sensor's name.
    pub made_by: String,
    /// When, by the system clock.
    pub made_at: DateTime<Utc>,
    /// The previous value, if the change is of a single value.
    pub old_value: Option<String>,
    /// The new value.
    pub new_value: Option<String>,
    /// Why: numbers and names of rules.
    pub reason: String,
    /// The changed columns by name, with their previous values; `None` if nothing changed, or they are no longer kept.
    pub before: Option<serde_json::Value>,
    /// The operation that undid it; `None` if it stands.
    pub undone_by: Option<GroupId>,
}

/// What an undo brought back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Undone {
    /// The operation that was taken back.
    pub group: GroupId,
    /// The memories it had changed, as they are now.
    pub memories: Vec<Memory>,
}
