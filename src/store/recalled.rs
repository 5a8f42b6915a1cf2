//! Reads memories for recall: questions to a snapshot about memories' units.

use std::collections::HashSet;

use chrono::{DateTime, Utc};

use crate::{
    error::Result,
    model::{
        memory::{filter::MemoryFilter, recalled::RecalledMemory},
        place::{MemoryNo, Seq},
    },
    store::{
        rows::memories::recalled::{self, RelatedUnit, UnitMemory},
        scope::Scope,
        snapshot::Snapshot,
    },
    text::words::Word,
};

impl Snapshot<'_> {
    /// The memories of these units, as far as ranking needs them. `None` if the unit is not a text of a memory.
    pub(crate) fn memories_of_units(&self, scope: &Scope, units: &[u32]) -> Result<Vec<Option<UnitMemory>>> {
        self.ask(|sql| recalled::of_units(sql, scope, units))
    }

    /// The units with older texts of a memory.
    pub(crate) fn older_units(&self, scope: &Scope, memory: &UnitMemory) -> Result<Vec<u32>> {
        self.ask(|sql| recalled::older_units(sql, scope, memory))
    }

    /// The units with the texts that these memory units replaced.
    pub(crate) fn units_before(&self, scope: &Scope, units: &[u32]) -> Result<Vec<u32>> {
        self.ask(|sql| recalled::units_before(sql, scope, units))
    }

    /// The units with older texts of all of the user's memories.
    pub(crate) fn all_older_units(&self, scope: &Scope) -> Result<Vec<u32>> {
        self.ask(|sql| recalled::all_older_units(sql, scope))
    }

    /// The words of these memory units, each once.
    pub(crate) fn words_of_memories(&self, scope: &Scope, units: &[u32]) -> Result<Vec<HashSet<Word>>> {
        self.ask(|sql| recalled::words_of_units(sql, scope, units))
    }

    /// The units of the memories that pass a filter, ascending.
    pub(crate) fn memories_passing(&self, scope: &Scope, filter: &MemoryFilter) -> Result<Vec<u32>> {
        self.ask(|sql| recalled::passing(sql, scope, filter))
    }

    /// A memory's neighbours, strongest edges first.
    pub(crate) fn beside(&self, scope: &Scope, memory: MemoryNo, limit: u32) -> Result<Vec<RelatedUnit>> {
        self.ask(|sql| recalled::beside(sql, scope, memory, limit))
    }

    /// The memory whose current text is this unit, at a moment. `None` if the unit holds an older text or none of a memory.
    pub(crate) fn recalled_memory(
        &self,
        scope: &Scope,
        seq: Seq,
        now: DateTime<Utc>,
    ) -> Result<Option<RecalledMemory>> {
        self.ask(|sql| recalled::whole(sql, scope, seq, now))
    }
}
