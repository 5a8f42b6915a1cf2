//! Hiding a source with everything derived from it.

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
    /// A turn: what jobs made from it.
    Turn(TurnId),
    /// A session: what jobs made from its turns, and what others than the user saved from it.
    Session(SessionId),
    /// A memory itself.
    Memory(MemoryId),
    /// What one call saved, by the call's id, as in [`SourceName::Caller`](crate::SourceName).
    Call(Uuid),
    /// Everything that has words of this origin.
    Origin(Origin),
}

/// What a quarantine did. [`lift`](crate::Memories::lift) takes all of it back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Quarantined {
    /// The operation. `None` if nothing came from the source.
    pub group: Option<GroupId>,
    /// The hidden memories, in the order of saving.
    pub memories: Vec<MemoryId>,
    /// Memories that stay because somebody saved them, now trusted like a document's words.
    pub lowered: Vec<MemoryId>,
    /// Memories that hold again because what had superseded them is hidden.
    pub restored: Vec<MemoryId>,
}
