//! Finds what people changed in the files of edges: the text and the strength of an edge.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use crate::{
    model::{
        edge::{Edge, NewEdge},
        ids::{EdgeId, MemoryId},
        turn::Origin,
        vault::RefusedFile,
    },
    vault::{
        disk::{DiskFileKind, OnDisk},
        edge_file::{EdgeFile, FOLDER},
        export::{ExportState, WantedFile},
        incoming::id_in,
        state::{VaultState, WrittenFile},
        versions::Version,
    },
};

/// A person's changes to an edge's file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EdgeEdit {
    pub(crate) path: String,
    pub(crate) from: MemoryId,
    pub(crate) to: MemoryId,
    pub(crate) edge: NewEdge,
    /// The state of the file if another machine wrote it: then it stays as it is.
    pub(crate) followed: Option<WrittenFile>,
}

/// Returns people's changes to the files of edges. Files that changed on both sides, and outdated files, are left to the
/// writer, which sets them aside. `taken` are files that are newer than the database, which count
/// whole.
pub(crate) fn edge_changes(
    (known, wanted): (&ExportState, &BTreeMap<String, WantedFile>),
    (files, taken): (&[OnDisk], &BTreeSet<String>),
    state: &mut VaultState,
    origin: Origin,
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
        // Two machines may name the file after other titles: all keep the first name.
        if let Some((at, file)) = other_name(path, state, &text) {
            let is_there = files.binary_search_by(|file| file.path.as_str().cmp(&at)).is_ok();
            if is_there && *path > at {
                state.put(path, Version::stale(hash));
                continue;
            }
            state.put(&at, Version::stale(&file.hash));
            state.put(path, file);
        }
        let written = state.get(path);
        let is_taken = taken.contains(path);
        let is_as_written = written.map_or(wanted.contains_key(path), |written| written.is_of(hash));
        if !is_taken && is_as_written {
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
        let path = path.clone();
        let followed = |id| WrittenFile::new(id, hash.clone(), &read.fields()).after(written);
        let Some(written) = written.filter(|_| !is_taken) else {
            // A file from another machine: the head of a memory has brought its edge.
            let id = read.id.parse::<EdgeId>().ok().map(|id| *id.as_uuid());
            match whole(&read, if is_taken { Origin::User } else { origin }) {
                Some((from, to, edge)) if is_taken => {
                    edits.push(EdgeEdit { path, from, to, edge, followed: None });
                }
                Some((from, to, edge)) if id.is_some() => {
                    edits.push(EdgeEdit { path, from, to, edge, followed: Some(followed(id)) });
                }
                _ => refuse(None, NO_EDGE),
            }
            continue;
        };
        match edit(known, &read, wanted, written) {
            Ok(EdgeFileEdit::Edited { edge, new, is_later }) => {
                let followed = is_later.then(|| followed(written.id));
                edits.push(EdgeEdit { path, from: edge.from, to: edge.to, edge: new, followed });
            }
            Ok(EdgeFileEdit::Known) => {
                let followed = followed(written.id);
                state.put(&path, followed);
            }
            Ok(EdgeFileEdit::Left) => {}
            Err(why) => refuse(None, why),
        }
    }
    (edits, refused)
}

/// Returns another path at which the file of this edge is known, if a machine named this one.
fn other_name(
    path: &str,
    state: &VaultState,
    text: impl Fn(&str) -> Option<String>,
) -> Option<(String, WrittenFile)> {
    if state.get(path).is_some() {
        return None;
    }
    let id = id_in(&text(path)?)?;
    let digits = id.simple().to_string();
    let is_named_so = path.ends_with(&format!("-{}.md", &digits[26..]));
    let mut known = state.files().iter().filter(|(at, file)| at.starts_with(FOLDER) && file.id == Some(id));
    known.find(|_| is_named_so).map(|(at, file)| (at.clone(), file.clone()))
}

/// Why a file is refused that no edge has.
pub(crate) const NO_EDGE: &str = "no edge has this file: write relations in the file of a memory";

/// Returns an edge as its file states it, and its ends.
fn whole(read: &EdgeFile, origin: Origin) -> Option<(MemoryId, MemoryId, NewEdge)> {
    let edge = NewEdge::new(read.edge_type?).origin(origin).description(read.description.clone());
    Some((read.from_id.parse().ok()?, read.to_id.parse().ok()?, NewEdge { strength: read.strength, ..edge }))
}

/// What became of the file of an edge.
enum EdgeFileEdit<'k> {
    /// `is_later`: on another machine, after the edge was changed here.
    Edited { edge: &'k Edge, new: NewEdge, is_later: bool },
    /// It is another machine's, and says what is known.
    Known,
    /// The edge is no longer known, or its file is outdated, unchanged, or changed on both sides.
    Left,
}

/// Returns what became of the file of an edge. Of two versions, the one that was changed later is taken.
fn edit<'k>(
    known: &'k ExportState,
    read: &EdgeFile,
    wanted: &BTreeMap<String, WantedFile>,
    written: &WrittenFile,
) -> Result<EdgeFileEdit<'k>, &'static str> {
    if read.description.trim().is_empty() {
        return Err("it has no text below its head, as if an editor had been interrupted");
    }
    if Uuid::parse_str(&read.id).ok() != written.id {
        return Err("its id has changed: put it back as it was");
    }
    let edge = known.edges.iter().find(|edge| Some(*edge.id.as_uuid()) == written.id);
    let now = wanted.values().find(|file| file.id == written.id);
    let (Some(edge), Some(now)) = (edge, now) else { return Ok(EdgeFileEdit::Left) };
    let (there, was) = (read.fields(), written.fields.by_name());
    let is_edited = |name: &&str| there.get(*name) != was.get(*name);
    let is_later =
        is_edited(&"updated") && read.updated.is_some_and(|at| at.timestamp() > edge.updated_at.timestamp());
    if is_edited(&"updated") && !is_later {
        let is_known =
            ["strength", "description"].iter().all(|name| there.get(*name) == now.fields.get(*name));
        return Ok(if is_known { EdgeFileEdit::Known } else { EdgeFileEdit::Left });
    }
    if !is_later && ["type", "from_id", "from_title", "to_id", "to_title"].iter().any(is_edited) {
        return Err("only the text and the strength can be edited here: put the rest back as it was");
    }
    let is_changed_here =
        |name: &&str| was.get(*name) != now.fields.get(*name) && there.get(*name) != now.fields.get(*name);
    let edited: Vec<&str> = ["strength", "description"].into_iter().filter(is_edited).collect();
    if edited.iter().any(is_changed_here) {
        return Ok(EdgeFileEdit::Left);
    }
    if edited.is_empty() {
        return Ok(if is_later { EdgeFileEdit::Known } else { EdgeFileEdit::Left });
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
    Ok(EdgeFileEdit::Edited { edge, new, is_later })
}
