//! The handle of a folder that shows a user's memories as files.

mod taking;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use self::taking::VaultIntake;
use crate::{
    error::{Error, ErrorKind, Result},
    event::in_span,
    handles::{Memories, off_thread, open::Open},
    model::{
        ids::UserId,
        turn::Origin,
        vault::{Layout, NewerFiles, RefusedFile, VaultOptions, VaultReport},
    },
    store::scope::Scope,
    vault::{
        change::{FolderChanges, Incoming},
        continuum,
        disk::{Disk, DiskFileKind, FolderScan, OnDisk},
        edges::edge_changes,
        entry,
        export::{ExportState, WantedFile, wanted},
        graves::{self, Graves},
        incoming::{Folder, changes, id_in},
        links,
        newer::newer_files,
        outgoing::{self, There},
        pages::SALT,
        places::{LOG, is_of_memory, is_ours},
        read::{self, Hidden, known},
        state::{STATE, VaultState, hash_of},
    },
};

/// The name of the file that marks a folder as a vault.
const MARKER: &str = ".thermocline";
/// The path of git's ignore file. It is listed separately from the other files, because a person may have written it
/// before the vault existed.
const IGNORE: &str = ".gitignore";
/// The divisor of the default limit: one sync may forget a tenth of all memories, but at least 1 and at most
/// [`MOST_DELETES`].
const DELETES_OF: u64 = 10;
const MOST_DELETES: u64 = 20;

/// The contents of the marker file: whose vault a folder is, and what its files show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Marker {
    user_id: UserId,
    #[serde(default)]
    layout: Layout,
    #[serde(default)]
    links: bool,
    #[serde(default)]
    embeddings: bool,
}

/// A folder that shows a user's memories as files: markdown with a head, by default in the format of the cognitive paper,
/// for people, Obsidian and git. The memory file remains the source of truth. [`sync`](Self::sync) applies the edits that
/// people made in the folder; where the file and the memory both changed the same part, a person has to decide.
///
/// The state of the last write is stored in the folder (`_sync.json`), not in the memory file, so that a folder that is
/// copied, moved or restored brings the state that matches its files. Only one process at a time may work in a folder.
/// Feature `files`.
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

/// The state of a folder and of the known memories at one moment.
struct VaultView {
    disk: Arc<Disk>,
    state: VaultState,
    files: Vec<OnDisk>,
    known: ExportState,
    hidden: Hidden,
    /// Paths of texts that were set aside next to files.
    beside: Vec<String>,
    /// What in the folder was not looked into.
    passed: Vec<RefusedFile>,
    /// The options, with what the folder's marker says about its files.
    options: VaultOptions,
}

impl Vault {
    pub(super) fn new(store: Arc<Open>, scope: Scope, folder: PathBuf, options: VaultOptions) -> Self {
        let memories = Memories::new(Arc::clone(&store), scope).by(Origin::User);
        Self { store, scope, memories, folder, options }
    }

    /// Creates the folder if there is none, and marks it as the user's vault. Existing files stay. The folder never changes
    /// its [`layout`](VaultOptions::layout). Whether its files have [`links`](VaultOptions::links) and
    /// [`embeddings`](VaultOptions::embeddings) is stored in the folder: no sync and no export of the cognitive layout
    /// changes it, only the next call of `init`. `init` writes even if the options ask for a
    /// [dry run](VaultOptions::dry_run).
    ///
    /// Errors: `Conflict` if the folder is another user's vault, or has another layout; `InvalidInput` if its marker
    /// cannot be read; `Busy` while another process works in it; `Io`.
    pub async fn init(&self) -> Result<()> {
        let folder = self.folder.clone();
        let faults = self.store.config().faults.clone();
        let (store, scope, mut own) = (Arc::clone(&self.store), self.scope, self.marker());
        off_thread(move || {
            make_folder(&folder)?;
            let mut before = None;
            let disk = Disk::open(&folder, MARKER, faults, |marker| {
                before = marker.map(|marker| read_marker(marker, own)).transpose()?;
                Ok(())
            })?;
            if let Some(before) = before {
                check_owner(&store, &scope, (&disk, before))?;
                // A user who was moved shares the folder with where they came from: it keeps its marker.
                own.user_id = before.user_id;
            }
            if before == Some(own) {
                return Ok(());
            }
            let marker = serde_json::to_vec(&own).expect("it is plain data");
            disk.write([(MARKER, marker.as_slice())], |_, _| true).map(drop)
        })
        .await
    }

    /// Returns the marker that the folder should have.
    fn marker(&self) -> Marker {
        let VaultOptions { layout, links, embeddings, .. } = self.options;
        Marker { user_id: self.scope.user_id, layout, links, embeddings }
    }

    /// Writes what is known into the folder, and applies nothing from it. A memory's file that a person edited is left as it
    /// is and reported, or set aside if the memory now has another file or none. What a person wrote into any other page is
    /// set aside. A file that is [newer](VaultReport::newer) than the database is left as it is. With another [layout](Layout) than the cognitive one, the first export makes the folder a vault; all of
    /// its files are generated, so whatever a person wrote into one is set aside. A [dry run](VaultOptions::dry_run) makes
    /// no vault.
    ///
    /// Errors: `NotFound` if the folder is not a vault; `Conflict` if it is another user's, or has another layout;
    /// `InvalidInput` if its marker cannot be read, or if it has more than 200,000 files; `Busy` while another process
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
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        off_thread(move || {
            let VaultView { disk, mut state, files, known, hidden, passed, options, .. } = seen;
            report.refused.extend(passed);
            let revision = known.revision;
            let mut there = There::of(&files);
            let wanted = match layout {
                Layout::Cognitive => {
                    graves::keep(&mut state, &known, &hidden);
                    state.take_salt(disk.text(SALT).as_deref().and_then(graves::salt));
                    let is_settled = |path: &str, stamp: &str| there.is_settled(path, stamp, state.get(path));
                    let files = wanted(&known, &state, &options, &is_settled);
                    let changed_at = |id, at| read::changed_at(&store, &scope, id, at);
                    let newer = newer_files((&known, &hidden), &files, &state, changed_at)?;
                    there.kept.extend(newer.iter().cloned());
                    report.newer.extend(newer);
                    files
                }
                Layout::Continuum => {
                    continuum::wanted(&known, &read::histories(&store, &scope, &known.memories)?)
                }
                Layout::Entry => {
                    let log = disk.state(LOG).unwrap_or_default();
                    let (mut files, log) = entry::wanted(&known, &String::from_utf8_lossy(&log));
                    match log {
                        Some(log) => drop(files.insert(LOG.to_owned(), WantedFile::appended(log))),
                        None => drop(there.kept.insert(LOG.to_owned())),
                    }
                    files
                }
            };
            state.is_of_revision(state.revision().max(revision));
            outgoing::write(&disk, &mut state, &wanted, &there, &mut report)?;
            Ok(report)
        })
        .await
    }

    /// Reports what a [`sync`](Self::sync) would do, file by file, and does none of it.
    ///
    /// Errors: those of [`sync`](Self::sync).
    pub async fn status(&self) -> Result<VaultReport> {
        let options = self.options.clone().dry_run();
        Box::pin(Self { options, ..self.clone() }.sync()).await
    }

    /// Applies to the memory file what people changed in the folder, then writes what is known into the folder.
    ///
    /// - An edit counts as the user's, and can be undone like any other. If both the file and the memory were edited,
    ///   changes to different parts are merged. If both changed the same part, the memory stays, the file's text is set
    ///   aside as `NAME.conflict.md`, and a review ([`Conflict`](crate::ReviewKind::Conflict)) asks a person. A text is
    ///   also set aside if its file is out of date (an old checkout), or if somebody wrote into a generated page.
    /// - In the file of an edge, a person may edit the text and the strength.
    /// - A new file becomes a memory whose words count as those of [`VaultOptions::origin`]. Its confidence is at most .80
    ///   and its frequency at most `mid`, whatever the file says. The memory of a file in `vault/` is pinned. The memory of
    ///   a file that was moved to another folder gets that folder's kind, unless the file's head was edited to say another.
    /// - A file that is gone is written again, unless [`VaultOptions::deletes`] says that its memory is to be
    ///   forgotten.
    /// - A file that cannot be read stays as it is, and is reported, if possible with the line of the problem.
    ///
    /// Errors: those of [`export`](Self::export); `InvalidInput` for another layout than the cognitive one; `Conflict`
    /// if more memories would be forgotten than [`VaultOptions::max_deletes`] allows, or if files are newer than the
    /// database and [`VaultOptions::newer`] does not say what becomes of them; in both cases nothing is changed.
    pub async fn sync(&self) -> Result<VaultReport> {
        in_span("sync_vault", (self.scope.user_id, None), Box::pin(self.sync_all())).await
    }

    async fn sync_all(&self) -> Result<VaultReport> {
        if self.options.layout != Layout::Cognitive {
            return Err(Error::invalid("only the cognitive layout can be synced; use export for the others"));
        }
        let VaultView { disk, state, files, known: before, hidden, beside, passed, options } =
            self.look().await?;
        let mut report = VaultReport { dry_run: options.dry_run, ..VaultReport::default() };
        let (options_then, reader) = (options.clone(), Arc::clone(&disk));
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        let (before, hidden, mut there, first, mut state, FolderChanges { incoming, refused }, edges, newer) =
            off_thread(move || {
                let (mut state, mut there) = (state, There::of(&files));
                graves::keep(&mut state, &before, &hidden);
                state.take_salt(reader.text(SALT).as_deref().and_then(graves::salt));
                let all = |state: &VaultState| {
                    let is_settled = |path: &str, stamp: &str| there.is_settled(path, stamp, state.get(path));
                    wanted(&before, state, &options_then, &is_settled)
                };
                let first = all(&state);
                let changed_at = |id, at| read::changed_at(&store, &scope, id, at);
                let newer = newer_files((&before, &hidden), &first, &state, changed_at)?;
                let none = BTreeSet::new();
                let taken = if options_then.newer == Some(NewerFiles::Take) { &newer } else { &none };
                let folder = Folder {
                    newer: (&newer, options_then.newer),
                    files: &files,
                    text: &|path| reader.text(path),
                    is_gone: &|path| reader.is_gone(path),
                    is_hidden: &|id| hidden.has(id),
                };
                let mut changes = changes(&before, &first, &folder, &mut state, options_then.origin);
                let paths = files.iter().map(|file| file.path.as_str());
                let Graves { incoming, refused } =
                    graves::arrived(paths, |path| reader.text(path), (&before, &first), &mut state);
                changes.incoming.extend(incoming);
                changes.refused.extend(refused);
                if options_then.links {
                    links::tie(&mut changes.incoming, &before, &first);
                }
                let edges = edge_changes(
                    (&before, &first),
                    (&files, taken),
                    &mut state,
                    options_then.origin,
                    |path| reader.text(path),
                );
                // A file that was moved and has the same content is known by its new path, so what is wanted has to be
                // computed again.
                let first = if state.is_changed() { all(&state) } else { first };
                if taken.is_empty() {
                    there.beside.extend(newer.iter().filter(|path| !is_of_memory(path)).cloned());
                }
                Ok((before, hidden, there, first, state, changes, edges, newer))
            })
            .await?;
        if !newer.is_empty() && options.newer.is_none() && !options.dry_run {
            return Err(is_older(&newer));
        }
        let is_stopped = !newer.is_empty() && options.newer.is_none();
        report.newer = newer.into_iter().collect();
        if is_stopped {
            return Ok(report);
        }
        let (edge_edits, refused_edges) = edges;
        report.refused = refused.into_iter().chain(refused_edges).chain(passed).collect();
        there.kept.extend(report.refused.iter().map(|file| file.path.clone()));
        self.check_deletes(&incoming, &before)?;
        let taking =
            VaultIntake::new(&self.memories, (&before, &hidden), (&mut state, &mut there), &mut report);
        let has_tied = taking.all(incoming, edge_edits, options.deletes).await?;
        let (store, scope, options) = (Arc::clone(&self.store), self.scope, options.clone());
        let is_unchanged =
            report.edited.is_empty() && report.saved.is_empty() && report.forgotten.is_empty() && !has_tied;
        off_thread(move || {
            let wanted = if is_unchanged || report.dry_run {
                state.is_of_revision(before.revision);
                first
            } else {
                let (known, hidden) = all_known(&store, &scope, &options)?;
                state.is_of_revision(known.revision);
                graves::keep(&mut state, &known, &hidden);
                let is_settled = |path: &str, stamp: &str| there.is_settled(path, stamp, state.get(path));
                wanted(&known, &state, &options, &is_settled)
            };
            outgoing::write(&disk, &mut state, &wanted, &there, &mut report)?;
            // An erased memory's texts that were set aside are removed too.
            let is_erased = |text: String| id_in(&text).is_some_and(|id| hidden.is_erased(&id.to_string()));
            for path in beside.into_iter().filter(|path| disk.text(path).is_some_and(is_erased)) {
                if !report.dry_run {
                    disk.remove(&path)?;
                }
                report.removed.push(path);
            }
            Ok(report)
        })
        .await
    }

    /// Refuses a sync that would forget too many memories: a folder that is empty by mistake must not forget all of
    /// them.
    fn check_deletes(&self, incoming: &[Incoming], known: &ExportState) -> Result<()> {
        let is_gone = |one: &&Incoming| match one {
            Incoming::Gone { .. } => self.options.deletes,
            Incoming::Buried { .. } => true,
            _ => false,
        };
        let gone = incoming.iter().filter(is_gone).count() as u64;
        let all = known.memories.len() as u64;
        let most = self.options.max_deletes.unwrap_or((all / DELETES_OF).clamp(1, MOST_DELETES));
        if gone <= most {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Conflict,
            format!(
                "the files of {gone} of {all} memories are gone, here or on another machine, and at most {most} \
                 may be forgotten at once: put them back, or allow more (max_deletes)"
            ),
        ))
    }

    /// Locks the folder, and reads it and what is known.
    async fn look(&self) -> Result<VaultView> {
        let (store, scope, folder) = (Arc::clone(&self.store), self.scope, self.folder.clone());
        let (mut options, expected) = (self.options.clone(), self.marker());
        off_thread(move || {
            let faults = store.config().faults.clone();
            let mut found = expected;
            let disk = Disk::open(&folder, MARKER, faults, |marker| {
                let marker = marker
                    .ok_or_else(|| Error::not_found("the folder is not a vault: vault init makes it one"))?;
                found = read_marker(marker, expected)?;
                Ok(())
            })?;
            check_owner(&store, &scope, (&disk, found))?;
            (options.links, options.embeddings) = (found.links, found.embeddings);
            // Both take about as long, so they run in parallel. The folder's thread is done sooner, so it also loads
            // the tokenizer, which limits CORE.md.
            let (folder, known) = std::thread::scope(|threads| {
                let folder = threads.spawn(|| {
                    store.config().tokenizer.preload();
                    look_through(&disk, expected.layout, options.dry_run)
                });
                let known = all_known(&store, &scope, &options);
                (folder.join().expect("it does not panic"), known)
            });
            let ((state, scan), (known, hidden)) = (folder?, known?);
            let FolderScan { files, beside, passed, .. } = scan;
            Ok(VaultView { disk: Arc::new(disk), state, files, known, hidden, beside, passed, options })
        })
        .await
    }
}

/// Reads everything that is known, with the vectors if these options show them.
fn all_known(store: &Open, scope: &Scope, options: &VaultOptions) -> Result<(ExportState, Hidden)> {
    let (mut known, hidden) = known(store, scope)?;
    if options.embeddings {
        known.directions = Some(read::directions(store, scope, &known.memories)?);
    }
    Ok((known, hidden))
}

/// Reads the state of the last write, and what is in the folder. Removes what an interrupted run left behind, except in a dry
/// run.
fn look_through(disk: &Disk, layout: Layout, is_dry_run: bool) -> Result<(VaultState, FolderScan)> {
    let state = VaultState::read(disk.state(STATE).as_deref());
    let mut scan = disk.files(|path| is_ours(path, layout))?;
    // Nobody else writes while the folder is locked, so no process will finish a half-written file.
    for path in scan.left_behind.iter().filter(|_| !is_dry_run) {
        disk.remove(path)?;
    }
    if let Some(text) = disk.state(IGNORE) {
        let found = DiskFileKind::Text(hash_of(&text));
        let at = scan.files.partition_point(|file| file.path.as_str() < IGNORE);
        scan.files.insert(at, OnDisk { path: IGNORE.to_owned(), found });
    }
    Ok((state, scan))
}

/// Fails if a vault is another user's. A user who was moved by an export and an import has another id since, but still has
/// the memories that the files show, and nobody else in any database has them.
fn check_owner(store: &Open, scope: &Scope, (disk, marker): (&Disk, Marker)) -> Result<()> {
    if marker.user_id == scope.user_id {
        return Ok(());
    }
    let snapshot = store.snapshot()?;
    let files = disk.files(|path| is_ours(path, marker.layout))?.files;
    let mut ids = files.iter().filter_map(|file| id_in(&disk.text(&file.path)?));
    if ids.any(|id| snapshot.memory(scope, id.into()).is_ok()) {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Conflict,
        "the folder is the vault of another user; to use it for this one, remove .thermocline from it",
    ))
}

/// Reads the folder's marker. Fails if the vault has another layout.
fn read_marker(marker: &[u8], expected: Marker) -> Result<Marker> {
    let conflict = |why: String| Err(Error::new(ErrorKind::Conflict, why));
    match serde_json::from_slice::<Marker>(marker) {
        Ok(marker) if marker.layout != expected.layout => conflict(format!(
            "the folder has the layout {}, not {}: use another folder",
            marker.layout.as_str(),
            expected.layout.as_str()
        )),
        Ok(marker) => Ok(marker),
        Err(_) => Err(Error::invalid(".thermocline in the folder cannot be read: is it a vault?")),
    }
}

/// The error of a sync whose files are newer than the database.
fn is_older(newer: &BTreeSet<String>) -> Error {
    let first = newer.first().map_or("", String::as_str);
    Error::new(
        ErrorKind::Conflict,
        format!(
            "the database is older than the folder, as after a backup was put back: it does not know what {} of \
             the files say, {first} first; nothing was changed. Put the newer database back, or say what becomes \
             of these files (newer): take what they say, or set_aside as .conflict.md",
            newer.len()
        ),
    )
}

fn make_folder(folder: &Path) -> Result<()> {
    let made = std::fs::create_dir_all(folder);
    made.map_err(|error| {
        Error::caused(ErrorKind::Io, "the vault's folder cannot be created", error.kind().to_string())
    })
}
