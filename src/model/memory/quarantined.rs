//! Quarantine: hiding a source with what came of it.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::model::{
    ids::{GroupId, MemoryId, SessionId, TurnId},
    turn::Origin,
};

/// The source to put in quarantine. What jobs made from it and what tools, documents and the assistant saved from it is
/// hidden, unless a person approved it, and so is what came of that. What the user or the backend saved stays. A session's
/// state is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum QuarantineSource {
    /// The memories that were made or saved from this turn.
    Turn(TurnId),
    /// The memories that were made or saved from this session's turns, or in this session.
    Session(SessionId),
    /// One memory.
    Memory(MemoryId),
    /// The memories that one call saved, rewrote or imported. The call is given by the id in
    /// [`SourceName::Caller`](crate::SourceName) or `SourceName::Import`.
    Call(Uuid),
    /// Every memory with words of this origin.
    Origin(Origin),
}

/// The result of a quarantine. [`lift`](crate::Memories::lift) undoes all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Quarantined {
    /// The id by which the quarantine can be lifted; `None` if the quarantine changed nothing.
    pub group: Option<GroupId>,
    /// The hidden memories, in the order of saving.
    pub memories: Vec<MemoryId>,
    /// Memories that stay because the user or the backend saved them, and that are now trusted like a document's words.
    pub lowered: Vec<MemoryId>,
    /// Memories that a hidden memory had superseded. Each has its earlier status again, or is archived if its place is
    /// taken. One whose own text is in quarantine is forgotten instead, and is not listed.
    pub restored: Vec<MemoryId>,
}
