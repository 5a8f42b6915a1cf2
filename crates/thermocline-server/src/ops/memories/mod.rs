//! Memories: knowledge in addition to what was said.

pub mod content;
pub mod edges;
pub mod edit;
pub mod episodes;
pub mod files;
pub mod forget;
pub mod hidden;
pub mod life;
pub mod lists;
pub mod name;
pub mod pages;
pub mod reviews;
pub mod save;
pub mod sensors;
pub mod tending;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::ops::{Row, memories::name::MemoryName};

/// Returns the operations on memories, and on what belongs to them.
pub fn rows() -> Vec<Row> {
    [
        save::rows(),
        lists::rows(),
        edit::rows(),
        forget::rows(),
        life::rows(),
        edges::rows(),
        episodes::rows(),
        pages::rows(),
        tending::rows(),
        sensors::rows(),
        reviews::rows(),
        hidden::rows(),
        files::rows(),
    ]
    .concat()
}

/// Names a memory.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfMemory {
    /// The memory: its id, 4 or more of the id's first or last digits (not for erasing), or `key:` and the caller's own
    /// id.
    pub memory: MemoryName,
}
