//! The tags and entities of memories.

use serde::{Deserialize, Serialize};

/// A tag or an entity of a user's memories, whatever its spelling, and how many active memories have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TermCount {
    /// The folded form (lower case, no accents), by which spellings are compared: `redis`.
    pub term: String,
    /// The spelling in one of the memories: `Redis`.
    pub name: String,
    /// The number of active memories that have the term.
    pub memories: u64,
}
