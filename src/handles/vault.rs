//! A user's memories as files.

use std::{
    collections::{BTreeSet, HashMap},
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, ErrorKind, Result},
    event::in_span,
    handles::{Memories, foreign::is_of_the_file, off_thread, open::Open},
    model::{
        edge::Direction,
        ids::{MemoryId, UserId},
        memory::{known::Memory, saved::SaveOutcome},
        turn::Origin,
        vault::{Layout, RefusedFile, VaultOptions, VaultReport},
    },
    store::scope::Scope,
    vault::{
        continuum,
        disk::{Disk, OnDisk},
        edges::{EdgeEdit, edge_changes},
        entry,
        export::{self, Known, Wanted, named, wanted},
        incoming::{Changes, Incoming, changes, has_ending, is_of_memory, new_edge},
        links,
        outgoing::{self, There},
        read::{self, known},
        relation::Relation,
        state::{STATE, State, Written, hash_of},
    },
};

/// What makes a folder a vault.
const MARKER: &str = ".thermocline";
/// Files that a person may have before the vault, which is why they are not listed with the others.
const IGNORE: &str = ".gitignore";
/// Of so many memories one may be forgotten for a file that is gone, and no more than so many, unless that is said.
const DELETES_OF: u64 = 10;
const MOST_DELETES: u64 = 20;

/// Whose vault a folder is.
#[derive(Serialize, Deserialize)]
struct Marker {
    user_id: UserId,
    #[serde(default, skip_serializing_if = "is_default")]
    layout: Layout,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference to the field")]
fn is_default(layout: &Layout) -> bool {
    *layout == Layout::default()
}

/// A folder that shows a user's memories as files: markdown with a head, in the form of the cognitive paper, for people,
/// Obsidian and git. The file of Thermocline stays the truth: what is edited in the folder comes in by [`sync`](Self::sync), and
/// only what both sides changed is left to a person.
///
/// What was written last is kept in the folder (`_sync.json`), not in the file: a folder that is copied, moved or restored
/// brings the state that its files are of. One process at a time works in a folder. Feature `files`.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> thermocline::Result<()> {
/// # let folder = tempfile::tempdir().expect("a folder");
/// use thermocline::{MemoryKind, NewMemory, Origin, Thermocline, VaultOptions};
///
/// let file = Thermocline::open(folder.path().join("memory.db")).await?;
/// let alex = file.user("alex").await?;
/// alex.memories().save(NewMemory::new(MemoryKind::Fix, "Redis timeouts", "Keepalive fixes them.")).await?;
/// let vault = alex.vault(folder.path().join("notes"), VaultOptions::default());
/// vault.init().await?;
/// let report = vault.sync().await?;
/// assert!(report.written.iter().any(|path| path.starts_with("graph/fixes/redis-timeouts-")));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Vault {
    store: Arc<Open>,
    scope: Scope,
    memories: Memories,
    folder: PathBuf,
    options: VaultOptions,
}

/// A folder, and what is known, at one moment.
struct Seen {
    disk: Arc<Disk>,
    state: State,
    files: Vec<OnDisk>,
    known: Known,
    hidden: BTreeSet<String>,
}

impl Vault {
    pub(super) fn new(store: Arc<Open>, scope: Scope, folder: PathBuf, options: VaultOptions) -> Self {
        let memories = Memories::new(Arc::clone(&store), scope).by(Origin::User);
        Self { store, scope, memories, folder, options }
    }

    /// Makes the folder, if there is none, and says that it is the user's vault. Whatever lies there stays.
    ///
    /// Errors: `Conflict` if it is another user's; `Io`.
    pub async fn init(&self) -> Result<()> {
        let folder = self.folder.clone();
        let own = Marker { user_id: self.scope.user_id, layout: self.options.layout };
        off_thread(move || {
            make_folder(&folder)?;
            let mut is_new = false;
            let disk = Disk::open(&folder, MARKER, |marker| {
                is_new = marker.is_none();
                if is_new { Ok(()) } else { check_marker(marker, &own) }
            })?;
            if !is_new {
                return Ok(());
            }
            let marker = serde_json::to_vec(&own).expect("it is plain data");
            disk.write([(MARKER, marker.as_slice())])
        })
        .await
    }

    /// Writes what is known into the folder, and takes nothing from it. A file that a person edited is left as it is, and
    /// named. A folder that is to have another [layout](Layout) than the cognitive one is made a vault by the way; there
    /// all files are generated, and what a person wrote into one is set beside.
    ///
    /// Errors: `NotFound` if the folder is no vault; `Conflict` if it is another user's; `Busy` while another process
    /// works in it; `Io`.
    pub async fn export(&self) -> Result<VaultReport> {
        in_span("export_vault", (self.scope.user_id, None), self.export_all()).await
    }

    async fn export_all(&self) -> Result<VaultReport> {
        let layout = self.options.layout;
        if layout != Layout::Cognitive && !self.options.dry_run {
            self.init().await?;
        }
        let seen = self.look().await?;
        let mut report = VaultReport { dry_run: self.options.dry_run, ..VaultReport::default() };
        let (store, scope, options) = (Arc::clone(&self.store), self.scope, self.options.clone());
        off_thread(move || {
            let Seen { disk, mut state, files, known, .. } = seen;
            let mut there = There::of(&files);
            let wanted = match layout {
                Layout::Cognitive => wanted(&known, &state, &options),
                Layout::Continuum => {
                    continuum::wanted(&known, &read::histories(&store, &scope, &known.memories)?)
                }
                Layout::Entry => {
                    let log = disk.state(entry::LOG).unwrap_or_default();
                    let (mut files, log) = entry::wanted(&known, &String::from_utf8_lossy(&log));
                    match log {
                        Some(log) => drop(files.insert(entry::LOG.to_owned(), Wanted::appended(log))),
                        None => drop(there.kept.insert(entry::LOG.to_owned())),
                    }
                    files
                }
            };
            outgoing::write(&disk, &mut state, &wanted, &mut there, &mut report)?;
            Ok(report)
        })
        .await
    }

    /// What a [`sync`](Self::sync) would do, file by file; nothing is changed.
    ///
    /// Errors: those of [`export`](Self::export).
    pub async fn status(&self) -> Result<VaultReport> {
        let options = self.options.clone().dry_run();
        Box::pin(Self { options, ..self.clone() }.sync()).await
    }

    /// Takes what people changed in the folder, then writes what is known.
    ///
    /// - An edit is the user's, and can be undone as any. Of two edits, there and here, that changed different things both are
    ///   taken; where they changed the same, what is known stands, and the file's text goes to `NAME.conflict.md`. So does
    ///   the text of a file that is of another time (an old checkout), and of a generated page that somebody wrote into.
    /// - In the file of an edge the text and the strength are a person's to edit.
    /// - A new file is a memory, with the words of [`VaultOptions::origin`]: confidence at most .80, frequency at most
    ///   `mid`, whatever it says. A file of `vault/` is pinned; one that moves to another folder is of that kind.
    /// - A file that is gone is written again, unless [`VaultOptions::deletes`] says that its memory is forgotten.
    /// - What cannot be read stays as it is, and is named with its line.
    ///
    /// Errors: those of [`export`](Self::export); `InvalidInput` for another layout than the cognitive one; `Conflict` if more memories would be forgotten than
    /// [`VaultOptions::max_deletes`] allows, and then nothing is changed.
    pub async fn sync(&self) -> Result<VaultReport> {
        in_span("sync_vault", (self.scope.user_id, None), Box::pin(self.sync_all())).await
    }

    async fn sync_all(&self) -> Result<VaultReport> {
        if self.options.layout != Layout::Cognitive {
            return Err(Error::invalid("only the cognitive layout is synced; export writes the others"));
        }
        let options = &self.options;
        let Seen { disk, state, files, known: before, hidden } = self.look().await?;
        let mut report = VaultReport { dry_run: options.dry_run, ..VaultReport::default() };
        let mut there = There::of(&files);
        let (options_then, reader) = (options.clone(), Arc::clone(&disk));
        let (before, first, mut state, Changes { incoming, refused }, edges) = off_thread(move || {
            let mut state = state;
            let paths: Vec<String> = state.files.keys().cloned().collect();
            let wanted = wanted(&before, &state, &options_then);
            let mut changes = changes(
                &before,
                &wanted,
                &files,
                &mut state,
                options_then.origin,
                |path| reader.text(path),
                |id| hidden.contains(id.trim_start_matches("mem_")),
            );
            if options_then.links {
                links::tie(&mut changes.incoming, &before, &wanted);
            }
            let edges = edge_changes(&before, &wanted, &files, &state, |path| reader.text(path));
            // A file that was moved and says the same is known by its new path.
            let is_moved = !state.files.keys().eq(paths.iter());
            let wanted = if is_moved { export::wanted(&before, &state, &options_then) } else { wanted };
            Ok((before, wanted, state, changes, edges))
        })
        .await?;
        let (edge_edits, refused_edges) = edges;
        report.refused = refused.into_iter().chain(refused_edges).collect();
        there.kept.extend(report.refused.iter().map(|file| file.path.clone()));
        self.check_deletes(&incoming, &before)?;
        self.take(incoming, &before, (&mut state, &mut there), &mut report).await?;
        self.take_edges(edge_edits, &mut there, &mut report).await?;
        let (store, scope, options) = (Arc::clone(&self.store), self.scope, options.clone());
        let is_unchanged = report.edited.is_empty() && report.saved.is_empty() && report.forgotten.is_empty();
        off_thread(move || {
            let wanted = if is_unchanged || report.dry_run {
                first
            } else {
                wanted(&all_known(&store, &scope, &options)?.0, &state, &options)
            };
            outgoing::write(&disk, &mut state, &wanted, &mut there, &mut report)?;
            Ok(report)
        })
        .await
    }

    /// Does in the file of Thermocline what was done in the folder.
    async fn take(
        &self,
        incoming: Vec<Incoming>,
        known: &Known,
        (state, there): (&mut State, &mut There),
        report: &mut VaultReport,
    ) -> Result<()> {
        let dry_run = self.options.dry_run;
        let mut ids: HashMap<String, MemoryId> = HashMap::new();
        for memory in &known.memories {
            ids.insert(memory.id.as_uuid().to_string(), memory.id);
            ids.extend(memory.caller_id.clone().map(|caller_id| (caller_id, memory.id)));
        }
        let mut to_relate: Vec<(String, MemoryId, Vec<Relation>, Origin)> = Vec::new();
        for one in incoming {
            match one {
                Incoming::Conflict { path } => drop(there.beside.insert(path)),
                Incoming::Gone { path, id } => {
                    if self.options.deletes {
                        if !dry_run {
                            self.memories.forget(id).await?;
                        }
                        there.kept.insert(path.clone());
                        if !dry_run {
                            state.files.remove(&path);
                        }
                        report.forgotten.push(path);
                    }
                }
                Incoming::Edit { path, id, edit, ties } => {
                    let mut edit = *edit;
                    edit.origin = Some(Origin::User);
                    let done = if dry_run { Ok(()) } else { self.edit(id, edit, &ties.remove).await };
                    match done {
                        Ok(()) => {
                            to_relate.push((path.clone(), id, ties.add, Origin::User));
                            there.taken.insert(path.clone());
                            report.edited.push(path);
                        }
                        Err(error) => refuse(error, path, there, report)?,
                    }
                }
                Incoming::New { path, memory, relations } => {
                    if dry_run {
                        there.kept.insert(path.clone());
                        report.saved.push(path);
                        continue;
                    }
                    let (origin, caller_id) = (memory.origin, memory.caller_id.clone());
                    let saved = match self.memories.save(*memory).await {
                        Ok(saved) => saved,
                        Err(error) => {
                            refuse(error, path, there, report)?;
                            continue;
                        }
                    };
                    let uuid = *saved.memory.id.as_uuid();
                    let other =
                        state.files.iter().find(|(_, file)| file.id == Some(uuid)).map(|(path, _)| path);
                    if let Some(other) = other {
                        let why = format!("it says the same as {other}: take one of them away");
                        leave(path, why, there, report);
                        continue;
                    }
                    if let (
                        Some(caller_id),
                        SaveOutcome::New | SaveOutcome::Restored | SaveOutcome::Superseded(_),
                    ) = (caller_id, saved.outcome)
                    {
                        ids.insert(caller_id, saved.memory.id);
                    }
                    ids.insert(uuid.to_string(), saved.memory.id);
                    state.files.insert(path.clone(), keeps_its_name(&saved.memory, &path, there));
                    to_relate.push((path.clone(), saved.memory.id, relations, origin));
                    there.taken.insert(path.clone());
                    report.saved.push(path);
                }
            }
        }
        for (path, from, relations, origin) in to_relate {
            for relation in relations {
                let Some(&to) = ids.get(relation.target.trim_start_matches("mem_")) else {
                    let why = "a relation names no memory that is known: correct its target, or take it out";
                    leave(path.clone(), why.to_owned(), there, report);
                    continue;
                };
                if dry_run {
                    continue;
                }
                let (from, to) =
                    if relation.direction == Direction::Incoming { (to, from) } else { (from, to) };
                if let Err(error) = self.memories.relate(from, new_edge(&relation, origin), to).await {
                    refuse(error, path.clone(), there, report)?;
                }
            }
        }
        Ok(())
    }

    /// Does with the edges what was done to their files.
    async fn take_edges(
        &self,
        edits: Vec<EdgeEdit>,
        there: &mut There,
        report: &mut VaultReport,
    ) -> Result<()> {
        for EdgeEdit { path, from, to, edge } in edits {
            let is_dry = self.options.dry_run;
            let done = if is_dry { Ok(()) } else { self.memories.relate(from, edge, to).await.map(drop) };
            match done {
                Ok(()) => {
                    there.taken.insert(path.clone());
                    report.edited.push(path);
                }
                Err(error) => refuse(error, path, there, report)?,
            }
        }
        Ok(())
    }

    async fn edit(&self, id: MemoryId, edit: crate::Edit, unrelated: &[crate::EdgeId]) -> Result<()> {
        if !edit.is_empty() {
            self.memories.edit(id, edit).await?;
        }
        for edge in unrelated {
            self.memories.unrelate(*edge).await?;
        }
        Ok(())
    }

    /// Refuses that a folder which is empty by mistake forgets everything.
    fn check_deletes(&self, incoming: &[Incoming], known: &Known) -> Result<()> {
        let gone = incoming.iter().filter(|one| matches!(one, Incoming::Gone { .. })).count() as u64;
        let all = known.memories.len() as u64;
        let most = self.options.max_deletes.unwrap_or((all / DELETES_OF).clamp(1, MOST_DELETES));
        if !self.options.deletes || gone <= most {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Conflict,
            format!(
                "the files of {gone} of {all} memories are gone, and at most {most} may be forgotten at once: put them back, or \
                 say how many"
            ),
        ))
    }

    /// The folder, locked, and what is known.
    async fn look(&self) -> Result<Seen> {
        let (store, scope, folder) = (Arc::clone(&self.store), self.scope, self.folder.clone());
        let options = self.options.clone();
        let expected = Marker { user_id: scope.user_id, layout: self.options.layout };
        off_thread(move || {
            let disk = Disk::open(&folder, MARKER, |marker| check_marker(marker, &expected))?;
            let state = State::read(disk.state(STATE).as_deref());
            let mut files = disk.files(|path| is_ours(path, expected.layout))?;
            if let Some(text) = disk.state(IGNORE) {
                let found = crate::vault::disk::Found::Text(hash_of(&text));
                files.push(OnDisk { path: IGNORE.to_owned(), found });
            }
            let (known, hidden) = all_known(&store, &scope, &options)?;
            Ok(Seen { disk: Arc::new(disk), state, files, known, hidden })
        })
        .await
    }
}

/// What is known, with all that these options show of it.
fn all_known(store: &Open, scope: &Scope, options: &VaultOptions) -> Result<(Known, BTreeSet<String>)> {
    let (mut known, hidden) = known(store, scope)?;
    if options.embeddings {
        known.directions = Some(read::directions(store, scope, &known.memories)?);
    }
    Ok((known, hidden))
}

/// What lies in a vault: memories, edges, days, and pages at the top; of another layout all of its kind.
fn is_ours(path: &str, layout: Layout) -> bool {
    if layout != Layout::Cognitive {
        return (has_ending(path, "md") && !path.ends_with(".conflict.md")) || path == entry::LOG;
    }
    is_of_memory(path)
        || (has_ending(path, "md")
            && !path.ends_with(".conflict.md")
            && (path.starts_with("graph/edges/") || path.starts_with("episodes/") || !path.contains('/')))
        || (path.starts_with('_') && has_ending(path, "json") && path != STATE)
}

/// Notes that a file keeps the name that a person gave it.
fn keeps_its_name(memory: &Memory, path: &str, there: &There) -> Written {
    let hash = there.files.get(path).cloned().flatten().unwrap_or_else(|| hash_of(b""));
    Written { id: Some(*memory.id.as_uuid()), hash, pending: None, fields: named(memory) }
}

/// What one file is refused for does not keep the others from being taken; what stands in the way of all does.
fn refuse(error: Error, path: String, there: &mut There, report: &mut VaultReport) -> Result<()> {
    if !is_of_the_file(error.kind()) {
        return Err(error);
    }
    leave(path, error.to_string(), there, report);
    Ok(())
}

/// Leaves a file as it is, and says why.
fn leave(path: String, why: String, there: &mut There, report: &mut VaultReport) {
    there.kept.insert(path.clone());
    report.refused.push(RefusedFile { path, line: None, why });
}

fn check_marker(marker: Option<&[u8]>, expected: &Marker) -> Result<()> {
    let Some(marker) = marker else {
        return Err(Error::not_found("the folder is no vault: vault init makes it one"));
    };
    let conflict = |why: String| Err(Error::new(ErrorKind::Conflict, why));
    match serde_json::from_slice::<Marker>(marker) {
        Ok(marker) if marker.user_id != expected.user_id => {
            conflict("the folder is the vault of another user".to_owned())
        }
        Ok(marker) if marker.layout != expected.layout => conflict(format!(
            "the folder has the layout {}, not {}: take another folder",
            marker.layout.as_str(),
            expected.layout.as_str()
        )),
        Ok(_) => Ok(()),
        Err(_) => Err(Error::invalid(".thermocline in the folder cannot be read: is it a vault?")),
    }
}

fn make_folder(folder: &Path) -> Result<()> {
    let made = std::fs::create_dir_all(folder);
    made.map_err(|error| {
        Error::caused(ErrorKind::Io, "the vault's folder cannot be made", error.kind().to_string())
    })
}
