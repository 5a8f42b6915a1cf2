//! Hiding a source with all that came of it.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::model::{
    ids::{GroupId, MemoryId, SessionId, TurnId},
    turn::Origin,
};

/// What is put in quarantine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum QuarantineSource {
    /// A turn: what jobs made of it.
    Turn(TurnId),
    /// A session: what jobs made of its turns, and what was saved out of it by others than the user.
    Session(SessionId),
    /// A memory itself.
    Memory(MemoryId),
    /// What one call saved, by the call's id, as [`SourceName::Caller`](crate::SourceName) has it.
    Call(Uuid),
    /// All that has words of this origin.
    Origin(Origin),
}

/// What a quarantine did. [`lift`](crate::Memories::lift) takes all of it back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Quarantined {
    /// The operation. None: nothing came of the source.
    pub group: Option<GroupId>,
    /// What is hidden, in the order of saving.
    pub memories: Vec<MemoryId>,
    /// What stays, since somebody saved it, and is trusted like a document's words from now on.
    pub lowered: Vec<MemoryId>,
    /// What holds again, since what had taken its place is hidden.
    pub restored: Vec<MemoryId>,
}
