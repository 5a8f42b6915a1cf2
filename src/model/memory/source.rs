//! The sources of a memory.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::model::{
    ids::{MemoryId, TurnId},
    turn::Origin,
};

/// A source of a memory. A memory is at first trusted as far as the least trusted of its own origin and its sources. Its
/// trust may change later: if its text is rewritten, if a person approves that the memory stays forever, if somebody who is
/// trusted more says the same, or if a source is put in quarantine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MemorySource {
    /// What the source is: a turn, a memory, a call or an import.
    pub from: SourceName,
    /// Whose words the source contains.
    pub origin: Origin,
    /// Who found the source: `caller`, `import`, `rules`, or the name of a summarizer.
    pub made_by: String,
    /// When the source was said; for a call, when the call was made.
    pub said_at: DateTime<Utc>,
    /// The words in the source that prove the memory; empty if there are none.
    pub quote: String,
}

/// The identity of a memory's source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SourceName {
    /// A turn.
    Turn(TurnId),
    /// Another memory.
    Memory(MemoryId),
    /// A call, by an id that was generated for it.
    Caller(Uuid),
    /// An import, by an id that was generated for it.
    Import(Uuid),
}
