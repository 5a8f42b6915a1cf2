//! Quarantine: hiding a source with what jobs derived from it.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::model::{
    ids::{GroupId, MemoryId, SessionId, TurnId},
    turn::Origin,
};

/// The source to put in quarantine. What jobs made from a hidden memory is hidden too. A session's state is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum QuarantineSource {
    /// What jobs made from a turn.
    Turn(TurnId),
    /// What jobs made from a session's turns, and the memories saved in the session that are trusted less than the
    /// user's words.
    Session(SessionId),
    /// One memory.
    Memory(MemoryId),
    /// What one call saved, rewrote or imported, by the call's id, as in [`SourceName::Caller`](crate::SourceName) or
    /// `SourceName::Import`.
    Call(Uuid),
    /// Every memory with words of this origin.
    Origin(Origin),
}

/// The result of a quarantine. [`lift`](crate::Memories::lift) undoes all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Quarantined {
    /// The id of the operation, by which it can be lifted; `None` if it changed nothing.
    pub group: Option<GroupId>,
    /// The hidden memories, in the order of saving.
    pub memories: Vec<MemoryId>,
    /// Memories that stay because somebody saved them, and that are now trusted like a document's words.
    pub lowered: Vec<MemoryId>,
    /// Memories that are as they were before a hidden one superseded them, active or archived, or that are archived because
    /// their place is taken.
    pub restored: Vec<MemoryId>,
}
