//! One memory as a file, independent of any folder.

use chrono::TimeDelta;

use crate::{
    error::Result,
    model::{
        edge::{Edge, EdgeStatus},
        episode::{EpisodeFilter, EpisodeRole},
        ids::MemoryId,
        vault::FileFormat,
    },
    store::{scope::Scope, snapshot::Snapshot},
    vault::{entry, export::relations, file::MemoryFile},
};

/// How many edges or episodes are read at a time.
const PAGE: u32 = 1_000;

/// Returns a memory as a file of this format.
pub(crate) fn as_file(
    snapshot: &Snapshot<'_>,
    scope: &Scope,
    id: MemoryId,
    format: FileFormat,
) -> Result<String> {
    let memory = snapshot.memory(scope, id)?;
    let (mut edges, mut after) = (Vec::new(), None);
    loop {
        let some = snapshot.neighbours(scope, id, (after, PAGE))?;
        let is_last = some.len() < PAGE as usize;
        after = some.last().map(|neighbour| neighbour.edge.id);
        edges.extend(some.into_iter().map(|neighbour| neighbour.edge));
        if is_last {
            break;
        }
    }
    let edges: Vec<&Edge> = edges.iter().filter(|edge| edge.status == EdgeStatus::Accepted).collect();
    if format == FileFormat::Markdown {
        return Ok(MemoryFile::of(&memory, relations(&edges).remove(&id).unwrap_or_default()).write());
    }
    // The birth of a memory happened when the memory was said.
    let filter = EpisodeFilter::default()
        .roles([EpisodeRole::Birth])
        .since(memory.said_at)
        .until(memory.said_at + TimeDelta::milliseconds(1));
    let mut after = None;
    let birth = loop {
        let some = snapshot.episodes(scope, &filter, (after, PAGE))?;
        let is_last = some.len() < PAGE as usize;
        after = some.last().map(|episode| episode.id);
        let birth = some.into_iter().find(|episode| episode.memory_id == Some(id));
        if birth.is_some() || is_last {
            break birth;
        }
    };
    Ok(entry::json(&memory, birth.as_ref(), &edges))
}
