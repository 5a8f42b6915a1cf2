//! Reads memories for recall, by their units.

use std::collections::HashSet;

use crate::{
    error::Result,
    model::{
        memory::{filter::MemoryFilter, recalled::RecalledMemory},
        place::{MemoryNo, Seq},
        stored_time::StoredTime,
    },
    store::{
        rows::memories::recalled::{self, MetMemories, RelatedUnit, UnitMemory},
        scope::Scope,
        snapshot::Snapshot,
    },
    text::words::Word,
};

impl Snapshot<'_> {
    /// Returns the memories of these units, with the columns that ranking needs.
    pub(crate) fn memories_of_units(&self, scope: &Scope, units: &[u32]) -> Result<MetMemories> {
        self.ask(|sql| recalled::of_units(sql, scope, units))
    }

    /// Returns the units that hold older texts of a memory.
    pub(crate) fn older_units(&self, scope: &Scope, memory: &UnitMemory) -> Result<Vec<u32>> {
        self.ask(|sql| recalled::older_units(sql, scope, memory))
    }

    /// Returns the units that hold the texts which the texts of these units replaced.
    pub(crate) fn units_before(&self, scope: &Scope, units: &[u32]) -> Result<Vec<u32>> {
        self.ask(|sql| recalled::units_before(sql, scope, units))
    }

    /// Returns the units that hold older texts of any of the user's memories.
    pub(crate) fn all_older_units(&self, scope: &Scope) -> Result<Vec<u32>> {
        self.ask(|sql| recalled::all_older_units(sql, scope))
    }

    /// Returns the set of words of each of these units.
    pub(crate) fn words_of_memories(&self, scope: &Scope, units: &[u32]) -> Result<Vec<HashSet<Word>>> {
        self.ask(|sql| recalled::words_of_units(sql, scope, units))
    }

    /// Returns the units of the memories that pass a filter, in ascending order.
    pub(crate) fn memories_passing(&self, scope: &Scope, filter: &MemoryFilter) -> Result<Vec<u32>> {
        self.ask(|sql| recalled::passing(sql, scope, filter))
    }

    /// Returns a memory's neighbours, strongest edges first.
    pub(crate) fn beside(&self, scope: &Scope, memory: MemoryNo, limit: u32) -> Result<Vec<RelatedUnit>> {
        self.ask(|sql| recalled::beside(sql, scope, memory, limit))
    }

    /// Returns the memory whose current text is this unit, with its standing at `now`. `None` if the unit holds an older
    /// text or is not a memory's.
    pub(crate) fn recalled_memory(
        &self,
        scope: &Scope,
        seq: Seq,
        now: StoredTime,
    ) -> Result<Option<RecalledMemory>> {
        self.ask(|sql| recalled::whole(sql, scope, seq, now))
    }
}
