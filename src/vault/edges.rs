//! Finds what people changed in the files of edges: the text and the strength of an edge.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use crate::{
    model::{
        edge::{Edge, NewEdge},
        ids::MemoryId,
        turn::Origin,
        vault::RefusedFile,
    },
    vault::{
        disk::{DiskFileKind, OnDisk},
        edge_file::{EdgeFile, FOLDER},
        export::{ExportState, WantedFile},
        state::{VaultState, WrittenFile},
    },
};

/// A person's changes to an edge's file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EdgeEdit {
    pub(crate) path: String,
    pub(crate) from: MemoryId,
    pub(crate) to: MemoryId,
    pub(crate) edge: NewEdge,
}

/// Returns people's changes to the files of edges. Files that changed on both sides, and outdated files, are left to the
/// writer, which sets them aside. `taken` are files that are newer than the database, which count
/// whole.
pub(crate) fn edge_changes(
    (known, wanted): (&ExportState, &BTreeMap<String, WantedFile>),
    (files, taken): (&[OnDisk], &BTreeSet<String>),
    state: &VaultState,
    text: impl Fn(&str) -> Option<String>,
) -> (Vec<EdgeEdit>, Vec<RefusedFile>) {
    let (mut edits, mut refused) = (Vec::new(), Vec::new());
    for OnDisk { path, found } in files.iter().filter(|file| file.path.starts_with(FOLDER)) {
        let mut refuse = |line, why: &str| {
            refused.push(RefusedFile { path: path.clone(), line, why: why.to_owned() });
        };
        let hash = match found {
            DiskFileKind::Text(hash) => hash,
            DiskFileKind::Refused(why) => {
                refuse(None, why);
                continue;
            }
        };
        let Some(written) = state.get(path) else {
            if !wanted.contains_key(path) {
                refuse(None, "no edge has this file: write relations in the file of a memory");
            }
            continue;
        };
        let is_taken = taken.contains(path);
        if !is_taken && written.is_of(hash) {
            continue;
        }
        let read = match text(path).as_deref().map(EdgeFile::read) {
            Some(Ok(read)) => read,
            Some(Err(why)) => {
                refuse(Some(why.line), why.why);
                continue;
            }
            None => {
                refuse(None, "it is not UTF-8 text");
                continue;
            }
        };
        if is_taken {
            match whole(&read) {
                Some((from, to, edge)) => edits.push(EdgeEdit { path: path.clone(), from, to, edge }),
                None => refuse(None, "it does not say which memories it relates, and how"),
            }
            continue;
        }
        match edit(known, &read, wanted, written) {
            Ok(Some((edge, new))) => {
                edits.push(EdgeEdit { path: path.clone(), from: edge.from, to: edge.to, edge: new });
            }
            Ok(None) => {}
            Err(why) => refuse(None, why),
        }
    }
    (edits, refused)
}

/// Returns an edge as its file states it, and its ends.
fn whole(read: &EdgeFile) -> Option<(MemoryId, MemoryId, NewEdge)> {
    let edge = NewEdge::new(read.edge_type?).origin(Origin::User).description(read.description.clone());
    Some((read.from_id.parse().ok()?, read.to_id.parse().ok()?, NewEdge { strength: read.strength, ..edge }))
}

/// Returns the edge and its new form as a person wants it. `None` if it is no longer known, or its file is outdated,
/// unchanged, or changed on both sides.
fn edit<'k>(
    known: &'k ExportState,
    read: &EdgeFile,
    wanted: &BTreeMap<String, WantedFile>,
    written: &WrittenFile,
) -> Result<Option<(&'k Edge, NewEdge)>, &'static str> {
    if read.description.trim().is_empty() {
        return Err("it has no text below its head, as if an editor had been interrupted");
    }
    if Uuid::parse_str(&read.id).ok() != written.id {
        return Err("its id has changed: put it back as it was");
    }
    let edge = known.edges.iter().find(|edge| Some(*edge.id.as_uuid()) == written.id);
    let now = wanted.values().find(|file| file.id == written.id);
    let (Some(edge), Some(now)) = (edge, now) else { return Ok(None) };
    let (there, was) = (read.fields(), written.fields.by_name());
    let is_edited = |name: &&str| there.get(*name) != was.get(*name);
    if is_edited(&"updated") {
        return Ok(None);
    }
    if ["type", "from_id", "from_title", "to_id", "to_title", "created"].iter().any(is_edited) {
        return Err("only the text and the strength can be edited here: put the rest back as it was");
    }
    let is_changed_here =
        |name: &&str| was.get(*name) != now.fields.get(*name) && there.get(*name) != now.fields.get(*name);
    let edited: Vec<&str> = ["strength", "description"].into_iter().filter(is_edited).collect();
    if edited.is_empty() || edited.iter().any(is_changed_here) {
        return Ok(None);
    }
    let strength = if edited.contains(&"strength") { read.strength } else { Some(edge.strength) };
    let description = if edited.contains(&"description") { &read.description } else { &edge.description };
    let new = NewEdge {
        strength,
        ..NewEdge::new(edge.edge_type)
            .origin(Origin::User)
            .context(edge.context.clone())
            .description(description.clone())
    };
    Ok(Some((edge, new)))
}
