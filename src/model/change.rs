//! Changes: the history of a memory, and what undo goes back to.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::model::{
    ids::{GroupId, MemoryId},
    memory::known::Memory,
    word_enum::word_enum,
};

word_enum! {
    /// What was done to a memory. Use is not among it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum ChangeOp {
        /// It was saved.
        Save = "save",
        /// What it says or is was changed by hand.
        Edit = "edit",
        /// It settled, or fell back.
        Frequency = "frequency",
        /// It was archived, restored, forgotten, quarantined.
        Status = "status",
        /// It took another one's place, or another one its place.
        Supersede = "supersede",
        /// Several became one.
        Merge = "merge",
        /// A sensor or a person looked whether it holds.
        Check = "check",
        /// A person approved it, or somebody said it who is trusted further.
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
    /// The operation that it was part of: its changes are undone together.
    pub group_id: GroupId,
    /// Who did it: `user`, `assistant`, `import`, `tend`, `reflect`, or a sensor's name.
    pub made_by: String,
    /// When, by the system clock.
    pub made_at: DateTime<Utc>,
    /// Of what has one value: the one before.
    pub old_value: Option<String>,
    /// And the one since.
    pub new_value: Option<String>,
    /// Why: numbers and names of rules.
    pub reason: String,
    /// What changed, by the names of its columns, as it was before; none: nothing did, or it is kept no longer.
    pub before: Option<serde_json::Value>,
    /// The operation that took it back; none: it holds.
    pub undone_by: Option<GroupId>,
}

/// What an undo brought back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Undone {
    /// The operation that was taken back.
    pub group: GroupId,
    /// The memories that it had changed, as they are now.
    pub memories: Vec<Memory>,
}
