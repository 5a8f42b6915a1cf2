//! The sources of a memory.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::model::{
    ids::{MemoryId, TurnId},
    turn::Origin,
};

/// A source of a memory, and whose words it has: no memory is trusted more than its least trusted source, unless a person
/// rewrote or approved it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MemorySource {
    /// Where it is.
    pub from: SourceName,
    /// Whose words they are.
    pub origin: Origin,
    /// Who found it: `caller`, `import`, `rules`, or the name of a summarizer.
    pub made_by: String,
    /// When it was said.
    pub said_at: DateTime<Utc>,
    /// The words there that prove it; empty if there are none.
    pub quote: String,
}

/// What names a source of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SourceName {
    /// A turn.
    Turn(TurnId),
    /// Another memory, which may have been erased.
    Memory(MemoryId),
    /// A caller's call, by an id of its own.
    Caller(Uuid),
    /// An import, by an id of its own.
    Import(Uuid),
}
