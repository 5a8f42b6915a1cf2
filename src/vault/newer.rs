//! Finds the files that are newer than the database: those of a folder whose database was put back to a backup. They may be
//! the only copy of what was said since, so nothing may overwrite or remove them unasked.
//!
//! The state of the folder has the revision of each memory that was written, and its moment. A database that came after it
//! has this moment in the memory's history. A database that lacks the memory must have erased or hidden it. Edges have no
//! history: for them, the user's revision decides.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use uuid::Uuid;

use crate::{
    error::Result,
    model::{ids::MemoryId, memory::known::Memory},
    vault::{
        edge_file::FOLDER,
        export::{ExportState, WantedFile, When, stamped_at},
        places::is_of_memory,
        read::Hidden,
        state::{VaultState, WrittenFile},
    },
};

/// Returns the paths of the files that say what the database does not know. `wanted` are the files that it would write;
/// `changed_at` says whether a memory has a change at a moment, in milliseconds, in its history.
pub(crate) fn newer_files(
    (known, hidden): (&ExportState, &Hidden),
    wanted: &BTreeMap<String, WantedFile>,
    state: &VaultState,
    changed_at: impl Fn(MemoryId, i64) -> Result<bool>,
) -> Result<BTreeSet<String>> {
    let memories: HashMap<Uuid, &Memory> =
        known.memories.iter().map(|memory| (*memory.id.as_uuid(), memory)).collect();
    let by_id: HashMap<Uuid, &WantedFile> =
        wanted.values().filter_map(|file| Some((file.id?, file))).collect();
    let is_of_newer_memory = |path: &str, id: Uuid, written: &WrittenFile| -> Result<bool> {
        if !is_of_memory(path) || hidden.has(&id.to_string()) {
            return Ok(false);
        }
        let (Some(memory), Some(now)) = (memories.get(&id), by_id.get(&id)) else { return Ok(true) };
        let Some((revision, at)) = stamped_at(&written.stamp) else { return Ok(false) };
        if is_stamped(memory, written)
            || now.when == When::Settled
            || now.shows_the_same(&written.fields_then())
        {
            return Ok(false);
        }
        Ok(memory.revision <= revision || !changed_at(memory.id, at)?)
    };
    let mut newer = BTreeSet::new();
    for (path, written) in state.files() {
        if let Some(id) = written.id
            && is_of_newer_memory(path, id, written)?
        {
            newer.insert(path.clone());
        }
    }
    if newer.is_empty() && known.revision >= state.revision() {
        return Ok(newer);
    }
    // The edges are older, too: what the files say of them stays.
    let tells_of_edges = |(path, written): &(&String, &WrittenFile)| {
        let Some(id) = written.id else { return false };
        let is_shown =
            |now: &&WantedFile| now.when == When::Settled || now.shows_the_same(&written.fields_then());
        let is_other = !by_id.get(&id).is_some_and(is_shown);
        let is_same = |memory: &&Memory| is_stamped(memory, written);
        is_other && (path.starts_with(FOLDER) || memories.get(&id).is_some_and(is_same))
    };
    newer.extend(state.files().iter().filter(tells_of_edges).map(|(path, _)| path.clone()));
    Ok(newer)
}

/// Whether a file shows a memory as it is now, apart from its edges.
fn is_stamped(memory: &Memory, written: &WrittenFile) -> bool {
    stamped_at(&written.stamp) == Some((memory.revision, memory.updated_at.timestamp_millis()))
}
