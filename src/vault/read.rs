//! Reads from the store what files show of a user. Everything is of one moment, except the memories' histories and the
//! directions of their vectors.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::{
    embed::{BuiltIn, Embedder},
    error::{ErrorKind, Result},
    model::{
        anchor::Anchor,
        change::Change,
        episode::{Episode, EpisodeFilter},
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

/// Reads what files show, and which memories they must no longer show. The directions of vectors and the histories are read
/// separately.
pub(crate) fn known(store: &Store, scope: &Scope) -> Result<(ExportState, Hidden)> {
    let snapshot = store.snapshot_at_leisure()?;
    let revision = snapshot.revision(scope)?;
    let mut known = ExportState { now: *snapshot.now(), revision, ..ExportState::default() };
    let list = |statuses: &[MemoryStatus]| {
        let filter = MemoryFilter::default().statuses(statuses.iter().copied());
        all(|memory: &Memory| memory.id, |after| snapshot.memories(scope, &filter, after, PAGE))
    };
    known.memories = list(&[MemoryStatus::Active, MemoryStatus::Archived, MemoryStatus::Superseded])?;
    let mut hidden = Hidden::default();
    for memory in list(&[MemoryStatus::Forgotten, MemoryStatus::Quarantined])? {
        hidden.ids.insert(memory.id.as_uuid().to_string());
        hidden.ids.extend(memory.caller_id);
    }
    hidden.erased.extend(snapshot.erased_memories(scope)?);
    known.edges = snapshot.edges(scope)?;
    let filter = EpisodeFilter::default();
    known.episodes =
        all(|episode: &Episode| episode.id, |after| snapshot.episodes(scope, &filter, (after, PAGE)))?;
    known.episodes.reverse();
    known.anchors = all(|anchor: &Anchor| anchor.id, |after| snapshot.anchors(scope, after, PAGE))?;
    known.embedder = store.config().embedders.first().map(|embedder| embedder.space().model);
    known.core = snapshot.core(scope, &CoreOptions::default(), store.config().tokenizer)?.text;
    known.reflection = snapshot.reflection(scope)?;
    Ok((known, hidden))
}

/// Reads a whole list. `page` returns at most [`PAGE`] entries after the one with the given key.
fn all<T, K>(key: impl Fn(&T) -> K, mut page: impl FnMut(Option<K>) -> Result<Vec<T>>) -> Result<Vec<T>> {
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let some = page(after)?;
        let is_last = some.len() < PAGE as usize;
        after = some.last().map(&key);
        found.extend(some);
        if is_last {
            return Ok(found);
        }
    }
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

/// Returns all changes of each memory, oldest first.
pub(crate) fn histories(
    store: &Store,
    scope: &Scope,
    memories: &[Memory],
) -> Result<HashMap<MemoryId, Vec<Change>>> {
    let snapshot = store.snapshot()?;
    let of_one = |memory: &Memory| {
        let mut changes = all(
            |change: &Change| change.change_no,
            |before| snapshot.memory_changes(scope, memory.id, (before, PAGE)),
        )?;
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

/// Whether a memory's history has a change at this moment, in milliseconds.
pub(crate) fn changed_at(store: &Store, scope: &Scope, id: MemoryId, at_millis: i64) -> Result<bool> {
    let snapshot = store.snapshot()?;
    let changes =
        all(|change: &Change| change.change_no, |before| snapshot.memory_changes(scope, id, (before, PAGE)))?;
    Ok(changes.iter().any(|change| change.made_at.timestamp_millis() == at_millis))
}
