//! The tags and entities of memories.

use serde::{Deserialize, Serialize};

/// A tag or an entity of a user's memories, in any spelling, and how many active memories have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TermCount {
    /// In the form that is compared: `redis`.
    pub term: String,
    /// As written in one of them: `Redis`.
    pub name: String,
    /// Active memories that have it.
    pub memories: u64,
}
