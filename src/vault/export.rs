//! Decides which files a vault in the cognitive layout should have, and puts their contents together.

use std::collections::{BTreeMap, HashMap, HashSet};

use chrono::{DateTime, NaiveDate, Utc};
use uuid::Uuid;

use crate::{
    memory::slug,
    model::{
        anchor::Anchor,
        edge::{Edge, EdgeStatus},
        episode::Episode,
        ids::MemoryId,
        memory::known::Memory,
        vault::VaultOptions,
    },
    vault::{
        body::{self, inert},
        edge_file::EdgeFile,
        fields::{LINKS, fields, lineage, named, show_the_same},
        file::MemoryFile,
        lineage::Lineage,
        pages,
        places::{as_link, can_be_linked, without_case},
        relation::{Relation, edge_name, type_name},
        state::{VaultState, WrittenFile, short_hash_of, stamp_of},
        ties,
    },
};

/// What files show of a user, as known at one moment.
#[derive(Debug, Default)]
pub(crate) struct ExportState {
    /// Active, archived and superseded memories.
    pub(crate) memories: Vec<Memory>,
    pub(crate) edges: Vec<Edge>,
    /// Births and notes, ordered by time.
    pub(crate) episodes: Vec<Episode>,
    pub(crate) anchors: Vec<Anchor>,
    /// The texts of CORE.md and REFLECTION.md, with the default paths of memories.
    pub(crate) core: String,
    pub(crate) reflection: String,
    /// The model of the configured embedder; `None` means the built-in one.
    pub(crate) embedder: Option<String>,
    /// A direction for each memory that has a vector, if requested.
    pub(crate) directions: Option<Vec<(MemoryId, Vec<f64>)>>,
    pub(crate) now: DateTime<Utc>,
    /// The user's revision.
    pub(crate) revision: u64,
}

impl ExportState {
    /// Returns the accepted edges between memories that have files.
    pub(super) fn shown_edges(&self) -> Vec<&Edge> {
        let ids: HashSet<MemoryId> = self.memories.iter().map(|memory| memory.id).collect();
        let is_shown = |edge: &&Edge| {
            edge.status == EdgeStatus::Accepted && ids.contains(&edge.from) && ids.contains(&edge.to)
        };
        self.edges.iter().filter(is_shown).collect()
    }
}

/// The content that a file should have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WantedFile {
    pub(crate) text: String,
    /// The memory or edge that the file shows; `None` if it is about many.
    pub(crate) id: Option<Uuid>,
    /// For a memory or an edge: a hash of each field of its file.
    pub(crate) fields: BTreeMap<String, String>,
    /// When the file is written.
    pub(crate) when: When,
    /// For a memory: the versions that the file follows.
    pub(crate) lineage: Lineage,
    /// The stamp of the input that the file is made from; empty if it is unknown without generating the file.
    pub(crate) stamp: String,
}

/// When a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// If its fields differ from those written last; for a memory, all fields except those that use and checks change.
    FieldsDiffer,
    /// If its text differs.
    TextDiffers,
    /// If a line differs, other than the dates of updates and the list of the most used memories.
    LinesDiffer,
    /// If its text differs, until a person writes into it; from then on it is theirs.
    UntilEdited,
    /// Never: the existing file was made from the same input, so no text is generated.
    Settled,
}

impl WantedFile {
    pub(super) fn page(text: String, when: When) -> Self {
        let (fields, lineage) = (BTreeMap::new(), Lineage::default());
        Self { text, id: None, fields, when, lineage, stamp: String::new() }
    }

    /// Returns the page made from the input with this stamp, or a settled one without text.
    fn stamped(when: When, stamp: String, is_settled: bool, make: impl FnOnce() -> String) -> Self {
        let page =
            if is_settled { Self::page(String::new(), When::Settled) } else { Self::page(make(), when) };
        Self { stamp, ..page }
    }

    /// Returns the log of relations with added lines.
    pub(crate) fn appended(text: String) -> Self {
        Self::page(text, When::TextDiffers)
    }

    /// Whether these fields, which were written last, show the same.
    pub(crate) fn shows_the_same(&self, fields: &BTreeMap<String, String>) -> bool {
        show_the_same(&self.fields, fields)
    }
}

/// Returns a stamp of what a memory's file is made from, except its relations and what use changes.
fn stamp(memory: &Memory) -> String {
    format!("{}.{}.", memory.revision, memory.updated_at.timestamp_millis())
}

/// Returns the memory's revision in a stamp, and when it was made, in milliseconds.
pub(super) fn stamped_at(stamp: &str) -> Option<(u32, i64)> {
    let mut parts = stamp.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Returns all files, by path. `is_settled` says for a path and a stamp whether the existing file was made from the same
/// input.
pub(crate) fn wanted(
    known: &ExportState,
    state: &VaultState,
    options: &VaultOptions,
    is_settled: &dyn Fn(&str, &str) -> bool,
) -> BTreeMap<String, WantedFile> {
    let before: HashMap<Uuid, (&String, &WrittenFile)> =
        state.files().iter().filter_map(|(path, file)| Some((file.id?, (path, file)))).collect();
    let paths = paths(&known.memories, &before);
    let by_id: HashMap<MemoryId, &Memory> = known.memories.iter().map(|memory| (memory.id, memory)).collect();
    let edges = known.shown_edges();
    let mut relations = relations(&edges);
    let mut from: HashMap<MemoryId, Vec<&Edge>> = HashMap::new();
    for &edge in edges.iter().filter(|_| options.links) {
        from.entry(edge.from).or_default().push(edge);
    }
    for memory in &known.memories {
        let unknown = ties::unknown(memory);
        if !unknown.is_empty() {
            relations.entry(memory.id).or_default().extend(unknown);
        }
    }
    let related = related_at(&edges);
    let shown = |memory: &Memory| {
        let mut file = MemoryFile::of(memory, relations.get(&memory.id).cloned().unwrap_or_default());
        file.extra.remove(ties::UNKNOWN);
        file.updated = file.updated.max(related.get(&memory.id).copied());
        file
    };
    let leads_to =
        |edge: &&Edge| body::link(type_name(edge.edge_type), &paths[&edge.to], &by_id[&edge.to].title);
    let is_found = |edge: &&&Edge| can_be_linked(&paths[&edge.to]);
    let mut files = BTreeMap::new();
    for memory in &known.memories {
        let path = &paths[&memory.id];
        let relations = relations.get(&memory.id).map(|relations| short_hash_of(&format!("{relations:?}")));
        let block = options.links.then(|| {
            body::block(from.get(&memory.id).into_iter().flatten().filter(is_found).map(leads_to).collect())
        });
        let links = block.as_deref().map(short_hash_of);
        let of_both = relations.into_iter().chain(links.clone()).collect::<String>();
        let stamp = format!("{}{of_both}", stamp(memory));
        let wanted = if is_settled(path, &stamp) {
            WantedFile::page(String::new(), When::Settled)
        } else {
            let mut file = shown(memory);
            let mut fields = fields(&file, memory.pinned);
            fields.extend(links.map(|links| (LINKS.to_owned(), links)));
            file.lineage = lineage(&fields, before.get(memory.id.as_uuid()).map(|(_, file)| *file), state);
            let text = file.write_with(&block.unwrap_or_default());
            WantedFile { fields, lineage: file.lineage, ..WantedFile::page(text, When::FieldsDiffer) }
        };
        files.insert(path.clone(), WantedFile { id: Some(*memory.id.as_uuid()), stamp, ..wanted });
    }
    let edge_files = edge_files(&edges, &by_id, &before);
    let written = |(path, edge): (&String, &&Edge)| {
        let file = EdgeFile::of(edge, [by_id[&edge.from], by_id[&edge.to]]);
        let page = WantedFile::page(file.write(), When::FieldsDiffer);
        (path.clone(), WantedFile { id: Some(*edge.id.as_uuid()), fields: file.fields(), ..page })
    };
    files.extend(edge_files.iter().map(written));
    for (on, episodes) in days(&known.episodes, &paths) {
        let (path, stamp) = (format!("episodes/{on}.md"), stamp_of_day(&episodes, &paths));
        let is_settled = is_settled(&path, &stamp);
        let page = || inert(&pages::day(on, &episodes, &paths));
        files.insert(path, WantedFile::stamped(When::TextDiffers, stamp, is_settled, page));
    }
    let linked = |page: &str| inert(&link(page, &known.memories, &paths));
    files.insert("CORE.md".to_owned(), WantedFile::page(linked(&known.core), When::LinesDiffer));
    files.insert("REFLECTION.md".to_owned(), WantedFile::page(linked(&known.reflection), When::LinesDiffer));
    files.insert(
        "PROFILE.md".to_owned(),
        WantedFile::page(inert(&pages::profile(&known.anchors)), When::TextDiffers),
    );
    files.insert(
        "MEMORY.md".to_owned(),
        WantedFile::page(inert(&pages::curated(&known.memories, &paths)), When::UntilEdited),
    );
    files.insert(".gitignore".to_owned(), WantedFile::page(pages::IGNORED.to_owned(), When::UntilEdited));
    let shared = pages::shared(state).into_iter();
    files.extend(shared.map(|(path, text)| (path, WantedFile::page(text, When::TextDiffers))));
    let stamp = stamp_of_index(known, &files, &paths);
    let index = || {
        let entry = |memory: &Memory| (paths[&memory.id].clone(), shown(memory));
        pages::index(&known.memories.iter().map(entry).collect::<Vec<_>>(), &edge_files, known.now)
    };
    let is_index_settled = is_settled("_index.json", &stamp);
    let index = WantedFile::stamped(When::LinesDiffer, stamp, is_index_settled, index);
    files.insert("_index.json".to_owned(), index);
    let stamp = stamp_of_state(known);
    let is_state_settled = is_settled("_state.json", &stamp);
    let state = || pages::state(&known.memories, known.now);
    let state = WantedFile::stamped(When::LinesDiffer, stamp, is_state_settled, state);
    files.insert("_state.json".to_owned(), state);
    if let Some(directions) = &known.directions {
        let page = pages::embeddings(directions, known.embedder.as_deref(), known.now);
        files.insert("_embeddings.json".to_owned(), WantedFile::page(page, When::LinesDiffer));
    }
    files.insert(
        "_config.json".to_owned(),
        WantedFile::page(pages::config(known.embedder.as_deref()), When::TextDiffers),
    );
    files
}

/// Returns the edges that have their own texts, by the paths of their files. A file keeps its name when an end has another
/// title, because machines may differ in that.
fn edge_files<'e>(
    edges: &[&'e Edge],
    memories: &HashMap<MemoryId, &Memory>,
    before: &HashMap<Uuid, (&String, &WrittenFile)>,
) -> BTreeMap<String, &'e Edge> {
    let path = |edge: &Edge| match before.get(edge.id.as_uuid()) {
        Some((path, _)) => (*path).clone(),
        None => edge_path(edge, [memories[&edge.from], memories[&edge.to]]),
    };
    let has_text = |edge: &&&Edge| !edge.description.is_empty();
    edges.iter().filter(has_text).map(|edge| (path(edge), *edge)).collect()
}

fn stamp_of_day(episodes: &[&Episode], paths: &BTreeMap<MemoryId, String>) -> String {
    let tags: Vec<String> = episodes.iter().map(|episode| episode.tags.join("\n")).collect();
    let times: Vec<String> = episodes.iter().map(|episode| episode.happened_at.to_rfc3339()).collect();
    let parts = episodes.iter().zip(&tags).zip(&times).flat_map(|((episode, tags), at)| {
        let path = episode.memory_id.and_then(|id| paths.get(&id)).map_or("", String::as_str);
        let kind = episode.kind.map_or("", |kind| kind.as_str());
        [at, episode.title.as_str(), kind, tags, path, &episode.summary]
    });
    stamp_of(parts)
}

/// Returns a stamp of all memories and edges that have files, and of the memories' confidence.
fn stamp_of_index(
    known: &ExportState,
    files: &BTreeMap<String, WantedFile>,
    paths: &BTreeMap<MemoryId, String>,
) -> String {
    let sure: Vec<String> =
        known.memories.iter().map(|memory| memory.confidence.to_bits().to_string()).collect();
    let of_memories = known.memories.iter().zip(&sure).flat_map(|(memory, sure)| {
        let path = &paths[&memory.id];
        [path.as_str(), files[path].stamp.as_str(), sure.as_str()]
    });
    let edges: Vec<String> = files
        .iter()
        .filter(|(path, _)| path.starts_with("graph/edges/"))
        .map(|(path, file)| format!("{path} {:?} {}", file.id, file.text))
        .collect();
    stamp_of(of_memories.chain(edges.iter().map(String::as_str)))
}

/// Returns a stamp of the uses and revisions of memories, and of the day: values that fade are written once a day.
fn stamp_of_state(known: &ExportState) -> String {
    let used = |memory: &Memory| {
        let at = memory.state.last_used_at.map(|at| at.timestamp_millis());
        format!("{} {} {} {at:?}", memory.id, memory.revision, memory.state.access_count)
    };
    let mut parts = vec![known.now.date_naive().to_string()];
    parts.extend(known.memories.iter().map(used));
    stamp_of(parts.iter().map(String::as_str))
}

/// Returns the path of each memory. A file that a person named differently keeps its name while its title, kind and pin stay
/// the same.
fn paths(memories: &[Memory], before: &HashMap<Uuid, (&String, &WrittenFile)>) -> BTreeMap<MemoryId, String> {
    let mut taken: HashMap<String, MemoryId> = HashMap::new();
    let mut paths = BTreeMap::new();
    // Memories that keep the names of their files are first.
    for memory in memories {
        let Some((path, written)) = before.get(memory.id.as_uuid()) else { continue };
        let is_named_so = || {
            let fields = written.fields_then();
            named(memory).iter().all(|(name, hash)| fields.get(name) == Some(hash))
        };
        if written.stamp.starts_with(&stamp(memory)) || is_named_so() {
            taken.insert(without_case(path), memory.id);
            paths.insert(memory.id, (*path).clone());
        }
    }
    for memory in memories {
        if paths.contains_key(&memory.id) {
            continue;
        }
        let path = slug::path((memory.kind, memory.pinned), &memory.title, memory.id);
        let is_free = taken.get(&without_case(&path)).is_none_or(|other| *other == memory.id);
        // If two have the same title and last digits, the second one gets more digits.
        let digits = memory.id.as_uuid().simple().to_string();
        let path = if is_free { path } else { path.replace(&digits[26..], &digits) };
        taken.insert(without_case(&path), memory.id);
        paths.insert(memory.id, path);
    }
    paths
}

/// Returns the path of an edge's file, which the cognitive paper names after both ends.
fn edge_path(edge: &Edge, [from, to]: [&Memory; 2]) -> String {
    let short = |title: &str| {
        let slug = slug::slug(title);
        slug[..slug.floor_char_boundary(40)].trim_end_matches('-').to_owned()
    };
    let digits = edge.id.as_uuid().simple().to_string();
    format!(
        "graph/edges/{}--{}--{}-{}.md",
        short(&from.title),
        edge_name(edge.edge_type),
        short(&to.title),
        &digits[digits.len() - 6..]
    )
}

/// Returns when each memory's relations last changed. This is not an edit of the memory, but its file states it, because the
/// head shows which of two files is newer.
fn related_at(edges: &[&Edge]) -> HashMap<MemoryId, DateTime<Utc>> {
    let mut related: HashMap<MemoryId, DateTime<Utc>> = HashMap::new();
    for (end, edge) in edges.iter().flat_map(|edge| [(edge.from, edge), (edge.to, edge)]) {
        let at = related.entry(end).or_insert(edge.updated_at);
        *at = edge.updated_at.max(*at);
    }
    related
}

/// Returns the relations of each memory, from both ends, in an order that depends only on the edges.
pub(super) fn relations(edges: &[&Edge]) -> HashMap<MemoryId, Vec<Relation>> {
    let mut relations: HashMap<MemoryId, Vec<Relation>> = HashMap::new();
    for edge in edges {
        for of in [edge.from, edge.to] {
            relations.entry(of).or_default().push(ties::relation(edge, of));
        }
    }
    let key = |relation: &Relation| {
        (relation.direction.as_str(), relation.edge_type.as_str(), relation.target.clone())
    };
    for of_one in relations.values_mut() {
        of_one.sort_by(|a, b| key(a).cmp(&key(b)));
    }
    relations
}

/// Returns the episodes of each day, except those of memories without files.
fn days<'e>(
    episodes: &'e [Episode],
    paths: &BTreeMap<MemoryId, String>,
) -> BTreeMap<NaiveDate, Vec<&'e Episode>> {
    let mut days: BTreeMap<NaiveDate, Vec<&Episode>> = BTreeMap::new();
    for episode in episodes {
        if episode.memory_id.is_none_or(|id| paths.contains_key(&id)) {
            days.entry(episode.happened_at.date_naive()).or_default().push(episode);
        }
    }
    days
}

/// Replaces the default paths in a page's links by the paths of the existing files.
fn link(page: &str, memories: &[Memory], paths: &BTreeMap<MemoryId, String>) -> String {
    let mut page = page.to_owned();
    // Each file name on a page ends in the last digits of the id.
    let ends =
        page.match_indices(".md)").filter_map(|(at, _)| Some(page.get(at.checked_sub(6)?..at)?.to_owned()));
    let ends: HashSet<String> = ends.collect();
    for memory in memories {
        let digits = memory.id.as_uuid().simple().to_string();
        if !ends.contains(&digits[26..]) {
            continue;
        }
        let usual = slug::path((memory.kind, memory.pinned), &memory.title, memory.id);
        if usual != paths[&memory.id] {
            page = page.replace(&format!("]({usual})"), &format!("]({})", as_link(&paths[&memory.id])));
        }
    }
    page
}

/// Whether two pages show the same, ignoring the order of lines, the line or field with the date of the last update, and
/// the most used memories.
pub(crate) fn shows_the_same_lines(one: &str, other: &str) -> bool {
    fn lines(page: &str) -> Vec<&str> {
        let mut is_counted = false;
        let mut lines: Vec<&str> = page
            .lines()
            .filter(|line| {
                if line.starts_with("## ") {
                    is_counted = *line == "## Most Accessed";
                }
                !is_counted
                    && !line.starts_with("> Last updated")
                    && !line.trim_start().starts_with("\"updated\"")
            })
            .collect();
        lines.sort_unstable();
        lines
    }
    lines(one) == lines(other)
}
