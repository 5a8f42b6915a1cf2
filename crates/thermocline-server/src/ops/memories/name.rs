//! The names by which requests refer to memories.

use schemars::JsonSchema;
use serde::Deserialize;
use thermocline::{Memory, MemoryId, blocking::Memories};

use crate::ops::{Result, call::KEY, problem::Problem};

/// The maximum number of names in one request.
const MOST_NAMES: usize = 1_000;

/// A memory's id, with or without `mem_`; 4 or more of its first or last digits; or `key:` and the caller's own id.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct MemoryName(#[schemars(length(min = 1))] String);

impl MemoryName {
    /// Returns the memory with this name. Errors: the name is not valid, there is no such memory, or the digits belong to
    /// several memories.
    pub fn memory(&self, memories: &Memories) -> Result<Memory> {
        if let Some(caller_id) = self.0.strip_prefix(KEY) {
            return Ok(memories.by_caller_id(caller_id)?);
        }
        Ok(match self.0.parse() {
            Ok(id) => memories.get(id)?,
            Err(_) => memories.find(&self.0)?,
        })
    }

    /// Returns the id of the memory with this name. A complete id is not looked up, because the operation itself finds
    /// out whether the memory exists.
    pub fn id(&self, memories: &Memories) -> Result<MemoryId> {
        match self.0.parse() {
            Ok(id) => Ok(id),
            Err(_) => Ok(self.memory(memories)?.id),
        }
    }

    /// Returns the id like [`id`](Self::id), for an operation that cannot be undone. A part of an id is refused: after
    /// the memory is erased, the same digits may match another one.
    pub fn whole_id(&self, memories: &Memories) -> Result<MemoryId> {
        if !self.0.starts_with(KEY) && self.0.parse::<MemoryId>().is_err() {
            return Err(Problem::invalid(
                "memory",
                "a memory is erased by its whole id, or by key: and the caller's own id",
            ));
        }
        self.id(memories)
    }

    /// Returns the ids of the memories with these names. Errors: there are more than 1,000 names; and the errors of
    /// [`memory`](Self::memory).
    pub fn ids(names: &[Self], memories: &Memories) -> Result<Vec<MemoryId>> {
        if names.len() > MOST_NAMES {
            return Err(Problem::invalid("memories", "a request names at most 1,000 memories"));
        }
        let mut ids = Vec::with_capacity(names.len());
        for name in names {
            ids.push(name.id(memories)?);
        }
        Ok(ids)
    }
}
