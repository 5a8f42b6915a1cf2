//! Reads from the store what files show of a user. Everything but the directions of vectors and the histories is of one
//! moment.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::{
    embed::{BuiltIn, Embedder},
    error::{ErrorKind, Result},
    model::{
        change::Change,
        episode::EpisodeFilter,
        ids::MemoryId,
        memory::{core::CoreOptions, filter::MemoryFilter, known::Memory, words::MemoryStatus},
    },
    store::{
        Store,
        rows::memories::erased::{IdHash, id_hash},
        scope::Scope,
    },
    vault::export::ExportState,
};

/// How many rows are read at a time.
const PAGE: u32 = 1_000;

/// The memories that files must no longer show.
#[derive(Debug, Default)]
pub(crate) struct Hidden {
    /// The ids of memories that are forgotten or in quarantine, and their callers' ids.
    ids: BTreeSet<String>,
    erased: HashSet<IdHash>,
}

impl Hidden {
    /// Whether this id in a file is that of a memory that was erased, forgotten or hidden.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.ids.contains(id.trim_start_matches("mem_")) || self.is_erased(id)
    }

    /// Whether this id is that of a memory that was erased.
    pub(crate) fn is_erased(&self, id: &str) -> bool {
        id.parse().is_ok_and(|id: MemoryId| self.erased.contains(&id_hash(id)))
    }
}

/// Reads what files show, with at most 1,000 anchors, and which memories they must no longer show. The directions of vectors
/// and the histories are read separately.
pub(crate) fn known(store: &Store, scope: &Scope) -> Result<(ExportState, Hidden)> {
    let snapshot = store.snapshot_at_leisure()?;
    let mut known = ExportState { now: snapshot.now(), ..ExportState::default() };
    let list = |statuses: &[MemoryStatus]| {
        let filter = MemoryFilter::default().statuses(statuses.iter().copied());
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = snapshot.memories(scope, &filter, after, PAGE)?;
            let is_last = page.len() < PAGE as usize;
            after = page.last().map(|memory| memory.id);
            found.extend(page);
            if is_last {
                return Result::Ok(found);
            }
        }
    };
    known.memories = list(&[MemoryStatus::Active, MemoryStatus::Archived, MemoryStatus::Superseded])?;
    let mut hidden = Hidden::default();
    for memory in list(&[MemoryStatus::Forgotten, MemoryStatus::Quarantined])? {
        hidden.ids.insert(memory.id.as_uuid().to_string());
        hidden.ids.extend(memory.caller_id);
    }
    hidden.erased.extend(snapshot.erased_memories(scope)?);
    known.edges = snapshot.edges(scope)?;
    let mut after = None;
    loop {
        let page = snapshot.episodes(scope, &EpisodeFilter::default(), (after, PAGE))?;
        let is_last = page.len() < PAGE as usize;
        after = page.last().map(|episode| episode.id);
        known.episodes.extend(page);
        if is_last {
            break;
        }
    }
    known.episodes.reverse();
    known.anchors = snapshot.anchors(scope, None, PAGE)?;
    known.embedder = store.config().embedders.first().map(|embedder| embedder.space().model);
    known.core = snapshot.core(scope, &CoreOptions::default(), store.config().tokenizer)?.text;
    known.reflection = snapshot.reflection(scope)?;
    Ok((known, hidden))
}

/// Returns a direction for each memory that has a vector of the configured model.
pub(crate) fn directions(
    store: &Store,
    scope: &Scope,
    memories: &[Memory],
) -> Result<Vec<(MemoryId, Vec<f64>)>> {
    let configured = store.config().embedders.first().map(|embedder| embedder.space());
    let space = configured.unwrap_or_else(|| BuiltIn::default().space());
    store.snapshot()?.directions(scope, &space, memories)
}

/// Returns the newest 1,000 changes of each memory, oldest first.
pub(crate) fn histories(
    store: &Store,
    scope: &Scope,
    memories: &[Memory],
) -> Result<HashMap<MemoryId, Vec<Change>>> {
    let snapshot = store.snapshot()?;
    let of_one = |memory: &Memory| {
        let mut changes = snapshot.memory_changes(scope, memory.id, (None, PAGE))?;
        changes.reverse();
        Ok((memory.id, changes))
    };
    // A memory that was erased in the meantime has no changes.
    let found = memories
        .iter()
        .map(of_one)
        .filter(|found: &Result<_>| !found.as_ref().is_err_and(|error| error.kind() == ErrorKind::NotFound));
    found.collect()
}
