//! Memories: what is known beside what was said.

pub mod content;
pub mod edges;
pub mod edit;
pub mod episodes;
pub mod files;
pub mod forget;
pub mod hidden;
pub mod life;
pub mod lists;
pub mod pages;
pub mod reviews;
pub mod save;
pub mod sensors;
pub mod tending;

use schemars::JsonSchema;
use serde::Deserialize;
use thermocline::{Memory, MemoryId, blocking::Memories};

use crate::ops::{Result, Row, call::KEY};

/// The rows about memories, and what belongs to them.
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

/// A memory.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfMemory {
    /// The memory's id, with or without `mem_`.
    pub memory: MemoryId,
}

/// A memory by its id, by `key:` and the caller's own id, or by the first or last digits of its id.
fn named(memories: &Memories, name: &str) -> Result<Memory> {
    if let Some(caller_id) = name.strip_prefix(KEY) {
        return Ok(memories.by_caller_id(caller_id)?);
    }
    Ok(match name.parse() {
        Ok(id) => memories.get(id)?,
        Err(_) => memories.find(name)?,
    })
}
