//! Compares the file of a memory with what it was made from and with the memory as it is now.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    model::{
        memory::{
            edit::Edit,
            known::Memory,
            words::{Frequency, MemoryStatus},
        },
        turn::Origin,
    },
    vault::{
        body::with_line_feeds,
        export::{ExportState, WantedFile},
        fields::{LINKS, fields},
        file::MemoryFile,
        frontmatter::{FrontmatterError, refused},
        places::kind_of_folder,
        state::WrittenFile,
        ties::{self, Ties},
    },
};

/// What a file is compared with.
pub(super) struct Base {
    /// The fields of the file that it was made from.
    pub(super) written: BTreeMap<String, String>,
    /// The fields of the memory at that time.
    pub(super) then: BTreeMap<String, String>,
    /// Whether the file was written later, from another database.
    pub(super) is_later: bool,
}

impl Base {
    /// Compares with what was written or taken in last.
    pub(super) fn of(written: &WrittenFile) -> Self {
        Self { written: written.fields.by_name(), then: written.fields_then(), is_later: false }
    }

    /// Compares with what is known, so that everything in which the file differs counts.
    pub(super) fn known(now: &WantedFile) -> Self {
        Self { written: now.fields.clone(), then: now.fields.clone(), is_later: true }
    }
}

/// What became of a file.
pub(super) enum FileEdit {
    /// It says what it was made from, or what is known.
    Same,
    Edited(Box<Edit>, Ties),
    /// The memory changed in the same part, or it is unknown what the file was made from.
    Conflict,
}

/// Returns the hashes of the fields of a memory's file, and what became of it, compared with a base.
pub(super) fn edit(
    known: &ExportState,
    (path, mut read, memory): (&str, MemoryFile, &Memory),
    (now, base): (&WantedFile, Option<Base>),
) -> Result<(BTreeMap<String, String>, FileEdit), FrontmatterError> {
    let pinned = path.starts_with("vault/");
    // A file that was moved into another kind's folder gets that kind, unless its head says otherwise.
    if read.kind == Some(memory.kind) || read.kind.is_none() {
        read.kind = kind_of_folder(path).or(Some(memory.kind));
    }
    // What a person leaves out of the head does not change.
    read.importance = read.importance.or(Some(memory.importance));
    read.confidence = read.confidence.or(Some(memory.confidence));
    read.created = read.created.or(Some(memory.said_at));
    if read.title.is_empty() {
        memory.title.clone_into(&mut read.title);
    }
    // Editors add and remove blank lines around a text.
    let content = with_line_feeds(&memory.content);
    if read.content.trim() == content.trim() {
        read.content = content;
    }
    let is_said = [("origin", read.origin.is_some()), ("status", read.status.is_some())];
    read.origin = read.origin.or(Some(memory.origin).filter(|origin| *origin != Origin::Assistant));
    read.status = read.status.or(Some(memory.status).filter(|status| *status != MemoryStatus::Active));
    let mut there = fields(&read, pinned);
    // The block of links cannot be edited.
    there.extend(now.fields.get(LINKS).map(|links| (LINKS.to_owned(), links.clone())));
    let Some(Base { written, then, is_later }) = base else {
        // The file was not written from here, so its original content is unknown.
        let same = if now.shows_the_same(&there) { FileEdit::Same } else { FileEdit::Conflict };
        return Ok((there, same));
    };
    for (name, _) in is_said.into_iter().filter(|(_, is_said)| !is_said) {
        there.extend(written.get(name).map(|was| (name.to_owned(), was.clone())));
    }
    let differs = |one: &BTreeMap<String, String>, other: &BTreeMap<String, String>, name: &str| {
        one.get(name) != other.get(name)
    };
    let is_dated = read.updated.is_some() && read.lineage.is_unknown();
    if !is_later && is_dated && differs(&there, &written, "updated") {
        return Ok((there, FileEdit::Conflict));
    }
    let taken_out = written.keys().filter(|name| ties::is_name(name));
    let names = there.keys().chain(taken_out).map(String::as_str);
    let edited: BTreeSet<&str> = names.filter(|name| differs(&there, &written, name)).collect();
    if !is_later && ["status", "superseded_by", "origin", "created"].iter().any(|name| edited.contains(name))
    {
        return Err(refused(
            "status, superseded_by, origin and created cannot be edited in the file: put them back \
             as they were",
        ));
    }
    let changed_here = |name: &&str| differs(&now.fields, &then, name) && differs(&now.fields, &there, name);
    if edited.iter().filter(|name| **name != "updated").any(changed_here) {
        return Ok((there, FileEdit::Conflict));
    }
    let of = |name: &str| edited.contains(name) && differs(&there, &now.fields, name);
    let MemoryFile { kind, title, tags, importance, confidence, procedure, .. } = &read;
    let information_type = read.information_type.unwrap_or_default();
    let edit = Edit {
        expected_revision: Some(memory.revision),
        kind: kind.filter(|_| of("kind")),
        title: of("title").then(|| title.clone()),
        content: of("content").then(|| read.content.clone()),
        summary: of("summary").then(|| read.summary.clone()),
        procedure: of("procedure").then(|| Some(procedure.clone()).filter(|procedure| !procedure.is_empty())),
        tags: of("tags").then(|| tags.clone()),
        frequency: of("frequency").then(|| read.frequency.unwrap_or(Frequency::Mid)),
        importance: importance.filter(|_| of("importance")),
        confidence: confidence.filter(|_| of("confidence")),
        information_type: of("information_type").then_some(information_type),
        volatility: of("volatility")
            .then(|| read.volatility.unwrap_or(information_type.default_volatility())),
        validity_window: of("validity_window").then_some(read.validity_window),
        pinned: of("pinned").then_some(pinned),
        project: of("project").then(|| read.project.clone()),
        goal_signature: of("goal_signature").then(|| read.goal_signature.clone()),
        task_type: of("task_type").then_some(read.task_type),
        extra: of("extra").then(|| ties::with_unknown(&read.extra, &ties::unknown(memory))),
        ..Edit::default()
    };
    let ties = ties::ties(&known.edges, memory, &read.relations, of);
    if edit.is_empty() && ties == Ties::default() {
        return Ok((there, FileEdit::Same));
    }
    Ok((there, FileEdit::Edited(Box::new(edit), ties)))
}
