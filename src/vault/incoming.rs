//! What people did to the files of a vault since they were written, as changes of memories: a pure function.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::Path,
};

use uuid::Uuid;

use crate::{
    memory::slug,
    model::{
        edge::{Direction, Edge, EdgeType, NewEdge},
        ids::{EdgeId, MemoryId},
        memory::{
            edit::Edit,
            known::Memory,
            new::NewMemory,
            words::{Frequency, MemoryKind},
        },
        turn::Origin,
        vault::RefusedFile,
    },
    vault::{
        body::with_line_feeds,
        disk::{Found, OnDisk},
        export::{Known, LINKS, Wanted, fields},
        file::MemoryFile,
        relation::Relation,
        state::State,
    },
};

/// A claim is believed no more than this.
const MOST_CONFIDENCE: f64 = 0.8;

/// What is to be done for a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Incoming {
    /// A person changed what a memory says.
    Edit { path: String, id: MemoryId, edit: Box<Edit>, ties: Ties },
    /// A person wrote a memory.
    New { path: String, memory: Box<NewMemory>, relations: Vec<Relation> },
    /// Both changed, or the file is of another time: its text is put beside.
    Conflict { path: String },
    /// A person took the file away.
    Gone { path: String, id: MemoryId },
}

/// What is to be related and what no more.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ties {
    pub(crate) add: Vec<Relation>,
    pub(crate) remove: Vec<EdgeId>,
}

/// What was found in a folder.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) incoming: Vec<Incoming>,
    pub(crate) refused: Vec<RefusedFile>,
}

/// Whether a file has an ending, in whatever case.
pub(crate) fn has_ending(path: &str, ending: &str) -> bool {
    Path::new(path).extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

/// The files of memories, as their paths say it.
pub(crate) fn is_of_memory(path: &str) -> bool {
    has_ending(path, "md")
        && !path.ends_with(".conflict.md")
        && (path.starts_with("vault/") || (path.starts_with("graph/") && !path.starts_with("graph/edges/")))
}

/// What people did. Files that were moved are followed: the state knows them by their new paths afterwards. `text` reads a
/// file; `is_hidden` says of an id that is no memory's that is shown, whether it is one that was forgotten or hidden.
pub(crate) fn changes(
    known: &Known,
    wanted: &BTreeMap<String, Wanted>,
    files: &[OnDisk],
    state: &mut State,
    origin: Origin,
    text: impl Fn(&str) -> Option<String>,
    is_hidden: impl Fn(&str) -> bool,
) -> Changes {
    let memories: HashMap<Uuid, &Memory> =
        known.memories.iter().map(|memory| (*memory.id.as_uuid(), memory)).collect();
    let by_caller_id: HashMap<&str, &Memory> =
        known.memories.iter().filter_map(|memory| Some((memory.caller_id.as_deref()?, memory))).collect();
    let there: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let mut changes = Changes::default();
    for OnDisk { path, found } in files.iter().filter(|file| is_of_memory(&file.path)) {
        let mut refuse = |line, why: &str| {
            changes.refused.push(RefusedFile { path: path.clone(), line, why: why.to_owned() });
        };
        let hash = match found {
            Found::Text(hash) => hash,
            Found::Refused(why) => {
                refuse(None, why);
                continue;
            }
        };
        let written = state.files.get(path);
        if written.is_some_and(|written| written.hash == *hash || written.pending.as_ref() == Some(hash)) {
            continue;
        }
        let was_cut_short = written.is_some_and(|written| written.pending.is_some());
        let read = match text(path).as_deref().map(MemoryFile::read) {
            Some(Ok(read)) => read,
            _ if was_cut_short => {
                changes.incoming.push(Incoming::Conflict { path: path.clone() });
                continue;
            }
            Some(Err(refused)) => {
                refuse(Some(refused.line), refused.why);
                continue;
            }
            None => {
                refuse(None, "it is no UTF-8 text");
                continue;
            }
        };
        if read.content.trim().is_empty() {
            refuse(None, "it has no text below its head, as if an editor had been interrupted");
            continue;
        }
        let own = Uuid::parse_str(read.id.trim_start_matches("mem_"))
            .ok()
            .and_then(|id| memories.get(&id).copied());
        let own = own.or_else(|| by_caller_id.get(read.id.as_str()).copied());
        let Some(memory) = own else {
            if !read.id.is_empty() && is_hidden(&read.id) {
                refuse(None, "its memory was erased, forgotten or hidden: undo that, or take the file away");
            } else {
                changes.incoming.push(new(path, read, origin));
            }
            continue;
        };
        let before = state.files.iter().find(|(_, file)| file.id == Some(*memory.id.as_uuid()));
        let before = before.map(|(path, _)| path.clone());
        match before {
            Some(before) if before != *path && there.contains(before.as_str()) => {
                refuse(None, "another file has the same id");
                continue;
            }
            Some(before) if before != *path => {
                let file = state.files.remove(&before).expect("it was found there");
                state.files.insert(path.clone(), file);
            }
            _ => {}
        }
        match edit(known, (path, read, memory), wanted, state) {
            Ok(Some(incoming)) => changes.incoming.push(incoming),
            Ok(None) => {}
            Err(why) => refuse(None, why),
        }
    }
    for (path, file) in &state.files {
        let memory = file.id.and_then(|id| memories.get(&id)).filter(|_| is_of_memory(path));
        if let Some(memory) = memory.filter(|_| !there.contains(path.as_str())) {
            changes.incoming.push(Incoming::Gone { path: path.clone(), id: memory.id });
        }
    }
    changes
}

/// What a person changed in the file of a memory; `None`: nothing that it says. Held against what was written last.
fn edit(
    known: &Known,
    (path, mut read, memory): (&str, MemoryFile, &Memory),
    wanted: &BTreeMap<String, Wanted>,
    state: &State,
) -> Result<Option<Incoming>, &'static str> {
    let conflict = || Ok(Some(Incoming::Conflict { path: path.to_owned() }));
    let now = wanted.values().find(|file| file.id == Some(*memory.id.as_uuid()));
    let Some(now) = now else { return conflict() };
    let pinned = path.starts_with("vault/");
    // A file that was moved to another kind's folder is of that kind, unless its head says otherwise.
    if read.kind == Some(memory.kind) || read.kind.is_none() {
        read.kind = kind_of_folder(path).or(Some(memory.kind));
    }
    // What a person leaves out of the head is left as it is.
    read.importance = read.importance.or(Some(memory.importance));
    read.confidence = read.confidence.or(Some(memory.confidence));
    read.created = read.created.or(Some(memory.said_at));
    if read.title.is_empty() {
        memory.title.clone_into(&mut read.title);
    }
    // Editors add and take away blank lines around a text.
    let content = with_line_feeds(&memory.content);
    if read.content.trim() == content.trim() {
        read.content = content;
    }
    let mut there = fields(&read, pinned);
    // Nobody's to edit.
    there.extend(now.fields.get(LINKS).map(|links| (LINKS.to_owned(), links.clone())));
    let Some(written) = state.files.get(path) else {
        // It was not written from here: what it was when it was written, nobody knows.
        let says_the_same = now.shows_the_same(&there);
        return if says_the_same { Ok(None) } else { conflict() };
    };
    let differs = |one: &BTreeMap<String, String>, other: &BTreeMap<String, String>, name: &str| {
        one.get(name) != other.get(name)
    };
    if read.updated.is_some() && differs(&there, &written.fields, "updated") {
        return conflict();
    }
    let edited: BTreeSet<&str> =
        there.keys().map(String::as_str).filter(|name| differs(&there, &written.fields, name)).collect();
    if ["status", "superseded_by", "origin", "created"].iter().any(|name| edited.contains(name)) {
        return Err(
            "status, superseded_by, origin and created are not changed by an edit of the file: put them back as they were",
        );
    }
    let changed_here =
        |name: &&str| differs(&now.fields, &written.fields, name) && differs(&now.fields, &there, name);
    if edited.iter().filter(|name| **name != "updated").any(changed_here) {
        return conflict();
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
        extra: of("extra").then(|| read.extra.clone()),
        ..Edit::default()
    };
    let ties = if of("relations") { ties(known, memory.id, &read.relations) } else { Ties::default() };
    if edit.is_empty() && ties == Ties::default() {
        return Ok(None);
    }
    Ok(Some(Incoming::Edit { path: path.to_owned(), id: memory.id, edit: Box::new(edit), ties }))
}

/// How a file's relations differ from those that there are.
fn ties(known: &Known, of: MemoryId, relations: &[Relation]) -> Ties {
    let is_edge = |edge: &Edge, relation: &Relation| {
        let (other, direction) =
            if edge.from == of { (edge.to, Direction::Outgoing) } else { (edge.from, Direction::Incoming) };
        relation.edge_type == edge.edge_type
            && (relation.direction == direction || edge.edge_type.is_symmetric())
            && relation.target.trim_start_matches("mem_") == other.as_uuid().to_string()
    };
    let edges: Vec<&Edge> = known
        .edges
        .iter()
        .filter(|edge| (edge.from == of || edge.to == of) && edge.edge_type != EdgeType::Supersedes)
        .collect();
    let is_said = |edge: &Edge| relations.iter().any(|relation| is_edge(edge, relation));
    let is_there = |relation: &Relation| {
        edges.iter().any(|edge| {
            is_edge(edge, relation)
                && relation.context == edge.context
                && relation.strength.is_none_or(|strength| (strength - edge.strength).abs() < 1e-9)
        })
    };
    Ties {
        add: relations
            .iter()
            .filter(|relation| relation.edge_type != EdgeType::Supersedes && !is_there(relation))
            .cloned()
            .collect(),
        remove: edges.iter().filter(|edge| !is_said(edge)).map(|edge| edge.id).collect(),
    }
}

/// The edge that a relation of a file is.
pub(crate) fn new_edge(relation: &Relation, origin: Origin) -> NewEdge {
    let edge = NewEdge::new(relation.edge_type).origin(origin).context(relation.context.clone());
    match relation.strength {
        Some(strength) => edge.strength(strength),
        None => edge,
    }
}

/// The kind whose folder a file lies in.
pub(super) fn kind_of_folder(path: &str) -> Option<MemoryKind> {
    let is_in = |kind: &&MemoryKind| path.starts_with(&format!("graph/{}/", slug::folder(**kind)));
    MemoryKind::ALL.iter().find(is_in).copied()
}

/// A memory that a person wrote as a file: a claim, whatever the file says of itself.
fn new(path: &str, file: MemoryFile, origin: Origin) -> Incoming {
    let stem = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".md");
    let pinned = path.starts_with("vault/");
    let relations = file.relations.clone();
    let memory = claim(file, kind_of_folder(path).unwrap_or(MemoryKind::General), stem, (origin, pinned));
    Incoming::New { path: path.to_owned(), memory: Box::new(memory), relations }
}

/// What a file claims, as a memory to save: its confidence is at most .80, its frequency at most mid.
pub(crate) fn claim(
    file: MemoryFile,
    kind: MemoryKind,
    stem: &str,
    (origin, pinned): (Origin, bool),
) -> NewMemory {
    let (title, content) = titled(&file, stem);
    let mut new = NewMemory::new(file.kind.unwrap_or(kind), title, content);
    let is_procedure = new.kind == MemoryKind::Procedure;
    new.procedure = Some(file.procedure).filter(|procedure| is_procedure && !procedure.is_empty());
    new.tags = file.tags;
    new.importance = file.importance;
    new.confidence = file.confidence.map(|confidence| confidence.min(MOST_CONFIDENCE));
    new.information_type = file.information_type.unwrap_or_default();
    new.volatility = file.volatility;
    new.validity_window = file.validity_window;
    new.frequency = file.frequency.map(|frequency| frequency.min(Frequency::Mid));
    new.goal_signature = file.goal_signature;
    new.task_type = file.task_type;
    new.project = file.project;
    new.summary = file.summary;
    new.said_at = file.created;
    new.caller_id = Some(file.id).filter(|id| !id.is_empty());
    new.pinned = pinned;
    new.origin = origin;
    new.extra = file.extra;
    new
}

/// A file without a title has its first heading, or its name.
fn titled(file: &MemoryFile, stem: &str) -> (String, String) {
    let content = file.content.trim();
    if !file.title.is_empty() {
        return (file.title.clone(), content.to_owned());
    }
    if let Some((heading, rest)) = content.strip_prefix("# ").and_then(|text| text.split_once('\n'))
        && !rest.trim().is_empty()
    {
        return (heading.trim().to_owned(), rest.trim().to_owned());
    }
    (stem.replace(['-', '_'], " "), content.to_owned())
}
