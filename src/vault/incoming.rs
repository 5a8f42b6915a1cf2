//! Finds what people did to the files of memories since these were last written, as changes of memories. Touches no folder:
//! the caller passes what is there.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use uuid::Uuid;

use crate::{
    model::{
        edge::NewEdge,
        ids::MemoryId,
        memory::{known::Memory, new::NewMemory, words::MemoryKind},
        turn::Origin,
        vault::{NewerFiles, RefusedFile},
    },
    vault::{
        body,
        change::{FolderChanges, Followed, Incoming},
        claim::{claim, keep_unfitting, titled},
        compare::{Base, FileEdit, edit},
        disk::{DiskFileKind, OnDisk},
        export::{ExportState, WantedFile},
        fields::{LINKS, fields, show_the_same},
        file::MemoryFile,
        frontmatter::{self, FrontmatterError, refused},
        lineage::Descent,
        places::{is_of_memory, kind_of_folder},
        relation::Relation,
        state::{FileHash, VaultState, WrittenFile, hash_of, short_hash_of},
        ties::MemoryNames,
        versions::{Choice, Version},
    },
};

/// The folder as [`changes`] sees it.
pub(crate) struct Folder<'f> {
    /// The files that are newer than the database, and what the caller wants to become of them.
    pub(crate) newer: (&'f BTreeSet<String>, Option<NewerFiles>),
    /// Ordered by path.
    pub(crate) files: &'f [OnDisk],
    /// Reads a file; `None` if it is not text.
    pub(crate) text: &'f dyn Fn(&str) -> Option<String>,
    /// Whether nothing exists at a path: what cannot be examined may exist.
    pub(crate) is_gone: &'f dyn Fn(&str) -> bool,
    /// Whether an id is that of an erased, forgotten or hidden memory. Asked only about ids of no shown memory.
    pub(crate) is_hidden: &'f dyn Fn(&str) -> bool,
}

impl Folder<'_> {
    fn is_newer(&self, path: &str) -> bool {
        self.newer.0.contains(path)
    }

    fn has(&self, path: &str) -> bool {
        self.files.binary_search_by(|file| file.path.as_str().cmp(path)).is_ok()
    }
}

/// Finds people's changes. Follows moved files: afterwards the state has them under their new paths.
pub(crate) fn changes(
    known: &ExportState,
    wanted: &BTreeMap<String, WantedFile>,
    folder: &Folder<'_>,
    state: &mut VaultState,
    origin: Origin,
) -> FolderChanges {
    let mut changes = FolderChanges::default();
    let is_as_written = |file: &&OnDisk| match &file.found {
        DiskFileKind::Text(hash) => state.get(&file.path).is_some_and(|written| written.is_of(hash)),
        DiskFileKind::Refused(_) => false,
    };
    let files = folder.files.iter().filter(|file| is_of_memory(&file.path));
    let differing: Vec<&OnDisk> =
        files.filter(|file| folder.is_newer(&file.path) || !is_as_written(file)).collect();
    let is_missing = |path: &String| is_of_memory(path) && !folder.has(path);
    if differing.is_empty() && !state.files().keys().any(is_missing) {
        return changes; // The usual case.
    }
    let mut reading = FolderReading::of(known, wanted, folder, origin);
    for OnDisk { path, found } in differing {
        let hash = match found {
            DiskFileKind::Text(hash) => hash,
            DiskFileKind::Refused(why) => {
                changes.refused.push(RefusedFile { path: path.clone(), line: None, why: (*why).to_owned() });
                continue;
            }
        };
        let was_cut_short = state.get(path).is_some_and(|written| written.pending.is_some());
        match (reading.file((path, hash), state), was_cut_short) {
            (Ok(None), _) => {}
            (Ok(Some(taken @ Incoming::Taken { .. })), _) => changes.incoming.push(taken),
            // An interrupted write may leave a torn file, which is not an edit, whatever it says.
            (_, true) => {
                let id = state.get(path).and_then(|written| written.id);
                let id = id.and_then(|id| reading.memories.get(&id)).map(|memory| memory.id);
                changes.incoming.push(Incoming::Conflict { path: path.clone(), id });
            }
            (Ok(Some(incoming)), false) => changes.incoming.push(incoming),
            (Err(FrontmatterError { line, why }), false) => {
                let line = Some(line).filter(|line| *line > 0);
                changes.refused.push(RefusedFile { path: path.clone(), line, why: why.to_owned() });
            }
        }
    }
    changes.incoming.extend(reading.gone(state));
    changes
}

/// Why a file is refused whose memory has another one.
const SECOND: &str = "another file has the same id";

/// The files being read, compared with what is known.
struct FolderReading<'r> {
    known: &'r ExportState,
    folder: &'r Folder<'r>,
    origin: Origin,
    memories: HashMap<Uuid, &'r Memory>,
    by_caller_id: HashMap<&'r str, &'r Memory>,
    names: MemoryNames,
    /// The content that each memory's file should have.
    wanted: HashMap<Uuid, &'r WantedFile>,
    /// Memories whose files exist, even if they cannot be read.
    seen: BTreeSet<Uuid>,
}

impl<'r> FolderReading<'r> {
    fn of(
        known: &'r ExportState,
        wanted: &'r BTreeMap<String, WantedFile>,
        folder: &'r Folder<'r>,
        origin: Origin,
    ) -> Self {
        let all = || known.memories.iter();
        Self {
            known,
            folder,
            origin,
            memories: all().map(|memory| (*memory.id.as_uuid(), memory)).collect(),
            by_caller_id: all().filter_map(|memory| Some((memory.caller_id.as_deref()?, memory))).collect(),
            names: MemoryNames::of(&known.memories),
            wanted: wanted.values().filter_map(|file| Some((file.id?, file))).collect(),
            seen: BTreeSet::new(),
        }
    }

    /// Returns the change to a file that differs from what was written; `None` if the difference means no change.
    fn file(
        &mut self,
        (path, hash): (&str, &FileHash),
        state: &mut VaultState,
    ) -> Result<Option<Incoming>, FrontmatterError> {
        let text = (self.folder.text)(path).ok_or(refused("it is not UTF-8 text"))?;
        let mut read = self.read(path, &text, state)?;
        let is_newer = self.folder.is_newer(path);
        if is_newer && self.folder.newer.1 == Some(NewerFiles::SetAside) {
            let memory = state.get(path).and_then(|written| self.memories.get(&written.id?));
            self.seen.extend(memory.map(|memory| *memory.id.as_uuid()));
            let id = memory.map(|memory| memory.id);
            return Ok(Some(Incoming::Conflict { path: path.to_owned(), id }));
        }
        if let Some(written) = state.get(path).filter(|written| !is_newer && written.was(hash)) {
            self.seen.extend(written.id);
            let id = written.id.and_then(|id| self.memories.get(&id)).map(|memory| memory.id);
            return Ok(Some(Incoming::Conflict { path: path.to_owned(), id }));
        }
        let links = state.get(path).and_then(|written| written.fields.by_name().remove(LINKS));
        if let Some(links) = links
            && let Some(own) = body::without_known_block(&read.content, |block| short_hash_of(block) == links)
        {
            read.content = own;
        }
        self.names.spell_out(&mut read.relations);
        let id = uuid(&read.id);
        self.seen.extend(id);
        if read.content.is_empty() {
            return Err(refused("it has no text below its head, as if an editor had been interrupted"));
        }
        let by_id = id.and_then(|id| self.memories.get(&id).copied());
        let by_caller_id = || self.by_caller_id.get(read.id.as_str()).copied();
        let Some(memory) = by_id.or_else(by_caller_id) else {
            return self.unknown((path, hash, &text), read, state).map(Some);
        };
        let own = *memory.id.as_uuid();
        self.seen.insert(own);
        match path_before(state, own, path) {
            Some(before) if before != path && self.folder.has(&before) => {
                let now = self.wanted.get(&own).ok_or(refused(SECOND))?;
                let version = Version { path, hash, read, before: state.get(&before).cloned() };
                return self.second((version, &before), (memory, now), state);
            }
            Some(before) if before != path => {
                let file = state.remove(&before).expect("it was found there");
                state.put(path, file);
            }
            // The file was saved as a memory, but an interruption kept this from being recorded.
            None if by_id.is_none() && says_the_text_of(&read, path, memory) => {
                return Ok(Some(new(path, read, id, (self.origin, hash))));
            }
            _ => {}
        }
        let Some(now) = self.wanted.get(&own) else {
            return Ok(Some(Incoming::Conflict { path: path.to_owned(), id: Some(memory.id) }));
        };
        let is_version = !is_newer && !read.lineage.is_unknown();
        if is_version {
            let version = Version { path, hash, read, before: state.get(path).cloned() };
            if version.descent() != Descent::Same {
                return Ok(Some(match version.choose(self.known, (memory, now), state)? {
                    Choice::Theirs(incoming) => incoming,
                    Choice::Ours(lineage) => {
                        let nothing = || WrittenFile::new(Some(own), hash_of(b""), &BTreeMap::new());
                        let before = state.get(path).cloned().unwrap_or_else(nothing);
                        state.put(path, WrittenFile { lineage, ..before });
                        Incoming::Conflict { path: path.to_owned(), id: Some(memory.id) }
                    }
                }));
            }
            read = version.read;
        }
        // What a newer file says is compared with what is known, because that is where it began.
        let base = match state.get(path) {
            _ if is_newer => Some(Base::known(now)),
            written => written.map(Base::of),
        };
        let (fields, done) = edit(self.known, (path, read, memory), (now, base))?;
        match done {
            FileEdit::Same => {}
            FileEdit::Edited(edit, ties) => {
                let (path, id) = (path.to_owned(), memory.id);
                return Ok(Some(Incoming::Edit { path, id, edit, ties, followed: None }));
            }
            FileEdit::Conflict => {
                return Ok(Some(Incoming::Conflict { path: path.to_owned(), id: Some(memory.id) }));
            }
        }
        // The file says the same as before, in other words or with other line ends, or what is already known.
        let says_what_was_written = match state.get(path) {
            // Each machine has its own numbers of use.
            Some(written) if is_version => show_the_same(&fields, &written.fields.by_name()),
            Some(written) => written.fields.by_name() == fields,
            None => true,
        };
        if !says_what_was_written {
            return Ok(Some(Incoming::Taken { path: path.to_owned() }));
        }
        let before = state.get(path);
        let (lineage, stands_for) =
            before.map(|before| (before.lineage.clone(), before.stands_for.clone())).unwrap_or_default();
        let written =
            WrittenFile { lineage, stands_for, ..WrittenFile::new(Some(own), hash.clone(), &fields) };
        let written = written.after(before);
        state.put(path, written);
        Ok(None)
    }

    /// Reads a file. One that lost its id is that of the memory whose file was written there.
    fn read(&mut self, path: &str, text: &str, state: &VaultState) -> Result<MemoryFile, FrontmatterError> {
        let read = match merge_mark(text) {
            Some(line) => {
                Err(FrontmatterError { line, why: "it has git's conflict markers: resolve the conflict" })
            }
            None => MemoryFile::read(text),
        };
        let mut read = read.inspect_err(|_| self.seen.extend(id_in(text)))?;
        if let Some(known) = state.get(path).and_then(|written| written.id)
            && read.id.is_empty()
            && self.memories.contains_key(&known)
        {
            self.seen.insert(known);
            if !frontmatter::has_head(text) {
                return Err(refused(
                    "it has lost its head, the lines between --- and ---: put it back, or remove the file",
                ));
            }
            known.to_string().clone_into(&mut read.id);
        }
        Ok(read)
    }

    /// Returns what becomes of a file of no known memory. Without an id, it gets one that other machines give it, too.
    fn unknown(
        &self,
        (path, hash, text): (&str, &FileHash, &str),
        read: MemoryFile,
        state: &VaultState,
    ) -> Result<Incoming, FrontmatterError> {
        if !read.id.is_empty() && (self.folder.is_hidden)(&read.id) {
            return Err(refused("its memory was erased, forgotten or hidden: undo that, or remove the file"));
        }
        let id = if read.id.is_empty() { Some(state.id_of(path, text)) } else { uuid(&read.id) };
        let is_free =
            |id: &Uuid| !self.memories.contains_key(id) && !(self.folder.is_hidden)(&id.to_string());
        Ok(new(path, read, id.filter(is_free), (self.origin, hash)))
    }

    /// Returns what becomes of the second file of a memory, whose first is at another path: on one machine it was renamed.
    fn second(
        &self,
        (version, at): (Version<'_>, &str),
        (memory, now): (&Memory, &WantedFile),
        state: &mut VaultState,
    ) -> Result<Option<Incoming>, FrontmatterError> {
        let first = self.folder.files.iter().find(|file| file.path == at).map(|file| &file.found);
        let (Some(DiskFileKind::Text(first)), Some(before)) = (first, version.before.clone()) else {
            return Err(refused(SECOND));
        };
        let (path, hash) = (version.path.to_owned(), version.hash.clone());
        let is_plain_copy = version.is_as_a_machine_wrote();
        match version.descent() {
            _ if !before.is_of(first) || version.read.lineage.is_unknown() => return Err(refused(SECOND)),
            Descent::Same => return Err(refused(SECOND)), // A person's copy.
            Descent::Older if is_plain_copy => {
                state.put(&path, Version::stale(&hash));
                return Ok(None);
            }
            _ => {}
        }
        match version.choose(self.known, (memory, now), state)? {
            Choice::Theirs(incoming) => {
                state.put(at, Version::stale(first));
                Ok(Some(incoming))
            }
            Choice::Ours(lineage) => {
                state.put(at, WrittenFile { lineage, ..before });
                Ok(Some(Incoming::Conflict { path, id: Some(memory.id) }))
            }
        }
    }

    /// Returns the memories whose files a person removed. Leaves out files that an interrupted run had not written yet,
    /// files in a folder that cannot be examined, and files that exist under another name but cannot be read.
    fn gone(&self, state: &VaultState) -> Vec<Incoming> {
        let is_here =
            |(path, file): &(&String, &WrittenFile)| file.pending.is_some() || self.folder.has(path);
        let here: BTreeSet<Uuid> =
            state.files().iter().filter(is_here).filter_map(|(_, file)| file.id).collect();
        let gone = |(path, file): (&String, &WrittenFile)| {
            let memory = file.id.and_then(|id| self.memories.get(&id)).filter(|_| is_of_memory(path))?;
            let id = memory.id.as_uuid();
            let is_gone = !here.contains(id) && !self.seen.contains(id) && (self.folder.is_gone)(path);
            is_gone.then(|| Incoming::Gone { path: path.clone(), id: memory.id })
        };
        state.files().iter().filter_map(gone).collect()
    }
}

/// Whether a file without a state, if saved, would have the title and text of an existing memory.
fn says_the_text_of(read: &MemoryFile, path: &str, memory: &Memory) -> bool {
    titled(read, stem(path)) == (memory.title.clone(), memory.content.clone())
}

/// Parses the memory id in a file, if it is one of our ids.
fn uuid(id: &str) -> Option<Uuid> {
    Uuid::parse_str(id.trim_start_matches("mem_")).ok()
}

/// Returns the number of the line where an unresolved git merge conflict begins.
fn merge_mark(text: &str) -> Option<usize> {
    let begins = |mark: &str| text.lines().position(|line| line.starts_with(mark));
    let (ours, theirs) = (begins("<<<<<<< ")?, begins(">>>>>>> ")?);
    let between = text.lines().position(|line| line.trim_end() == "=======")?;
    (ours < between && between < theirs).then_some(ours + 1)
}

/// Finds the id in a file whose head cannot be read.
pub(crate) fn id_in(text: &str) -> Option<Uuid> {
    text.lines().find_map(|line| uuid(line.strip_prefix("id:")?.trim().trim_matches('"')))
}

/// Returns the path at which a memory's file was last written: this path, if it was written there.
fn path_before(state: &VaultState, id: Uuid, path: &str) -> Option<String> {
    if state.get(path).is_some_and(|file| file.id == Some(id)) {
        return Some(path.to_owned());
    }
    state.files().iter().find(|(_, file)| file.id == Some(id)).map(|(path, _)| path.clone())
}

/// Returns the edge for a relation of a file.
pub(crate) fn new_edge(relation: &Relation, origin: Origin) -> NewEdge {
    let edge = NewEdge::new(relation.edge_type).origin(origin).context(relation.context.clone());
    NewEdge { strength: relation.strength, id: relation.edge_id.parse().ok(), ..edge }
}

/// Returns the name of a file without its extension.
fn stem(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path).trim_end_matches(".md")
}

/// Turns a file that a person wrote into a memory to save: it is a claim, whatever the file says about itself.
fn new(path: &str, mut file: MemoryFile, id: Option<Uuid>, (origin, hash): (Origin, &FileHash)) -> Incoming {
    let pinned = path.starts_with("vault/");
    let relations = file.relations.clone();
    let followed = (!file.lineage.is_unknown()).then(|| {
        let written = WrittenFile::new(uuid(&file.id), hash.clone(), &fields(&file, pinned));
        Box::new(Followed {
            written: WrittenFile { lineage: file.lineage.clone(), ..written },
            is_adopted: true,
            is_contested: false,
            superseded_by: file.superseded_by.clone(),
        })
    });
    let kind = kind_of_folder(path).unwrap_or(MemoryKind::General);
    keep_unfitting(&mut file, kind);
    let memory = NewMemory { id: id.map(MemoryId::from), ..claim(file, kind, stem(path), (origin, pinned)) };
    Incoming::New { path: path.to_owned(), memory: Box::new(memory), relations, followed }
}
