//! A user's memories as files.

mod taking;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use self::taking::Taking;
use crate::{
    error::{Error, ErrorKind, Result},
    event::in_span,
    handles::{Memories, off_thread, open::Open},
    model::{
        ids::UserId,
        turn::Origin,
        vault::{VaultOptions, VaultReport},
    },
    store::scope::Scope,
    vault::{
        disk::{Disk, Found, Looked, OnDisk},
        export::{Known, wanted},
        incoming::{Changes, Folder, Incoming, changes},
        outgoing::{self, There},
        places::is_ours,
        read::{Hidden, known},
        state::{STATE, State, hash_of},
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
    hidden: Hidden,
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
        let (folder, user_id) = (self.folder.clone(), self.scope.user_id);
        let faults = self.store.config().faults.clone();
        off_thread(move || {
            make_folder(&folder)?;
            let mut is_new = false;
            let disk = Disk::open(&folder, MARKER, faults, |marker| {
                is_new = marker.is_none();
                if is_new { Ok(()) } else { check_marker(marker, user_id) }
            })?;
            if !is_new {
                return Ok(());
            }
            let marker = serde_json::to_vec(&Marker { user_id }).expect("it is plain data");
            disk.write([(MARKER, marker.as_slice())])
        })
        .await
    }

    /// Writes what is known into the folder, and takes nothing from it. A file that a person edited is left as it is, and
    /// named.
    ///
    /// Errors: `NotFound` if the folder is no vault; `Conflict` if it is another user's; `Busy` while another process
    /// works in it; `Io`.
    pub async fn export(&self) -> Result<VaultReport> {
        in_span("export_vault", (self.scope.user_id, None), self.export_all()).await
    }

    async fn export_all(&self) -> Result<VaultReport> {
        let seen = self.look().await?;
        let mut report = VaultReport { dry_run: self.options.dry_run, ..VaultReport::default() };
        off_thread(move || {
            let Seen { disk, mut state, files, known, .. } = seen;
            let there = There::of(&files);
            let is_settled = |path: &str, stamp: &str| there.is_settled(path, stamp, state.get(path));
            let wanted = wanted(&known, &state, &is_settled);
            outgoing::write(&disk, &mut state, &wanted, &there, &mut report)?;
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
    ///   taken; where they changed the same, what is known stands, the file's text goes to `NAME.conflict.md`, and a review
    ///   ([`Conflict`](crate::ReviewKind::Conflict)) asks a person. Beside goes also
    ///   the text of a file that is of another time (an old checkout), and of a generated page that somebody wrote into.
    /// - A new file is a memory, with the words of [`VaultOptions::origin`]: confidence at most .80, frequency at most
    ///   `mid`, whatever it says. A file of `vault/` is pinned; one that moves to another folder is of that kind.
    /// - A file that is gone is written again, unless [`VaultOptions::deletes`] says that its memory is forgotten.
    /// - What cannot be read stays as it is, and is named with its line.
    ///
    /// Errors: those of [`export`](Self::export); `Conflict` if more memories would be forgotten than
    /// [`VaultOptions::max_deletes`] allows, and then nothing is changed.
    pub async fn sync(&self) -> Result<VaultReport> {
        in_span("sync_vault", (self.scope.user_id, None), Box::pin(self.sync_all())).await
    }

    async fn sync_all(&self) -> Result<VaultReport> {
        let options = &self.options;
        let Seen { disk, state, files, known: before, hidden } = self.look().await?;
        let mut report = VaultReport { dry_run: options.dry_run, ..VaultReport::default() };
        let (origin, reader) = (options.origin, Arc::clone(&disk));
        let (before, hidden, mut there, first, mut state, Changes { incoming, refused }) =
            off_thread(move || {
                let (mut state, there) = (state, There::of(&files));
                let all = |state: &State| {
                    let is_settled = |path: &str, stamp: &str| there.is_settled(path, stamp, state.get(path));
                    wanted(&before, state, &is_settled)
                };
                let first = all(&state);
                let folder = Folder {
                    files: &files,
                    text: &|path| reader.text(path),
                    is_gone: &|path| reader.is_gone(path),
                    is_hidden: &|id| hidden.has(id),
                };
                let changes = changes(&before, &first, &folder, &mut state, origin);
                // A file that was moved and says the same is known by its new path.
                let first = if state.is_changed() { all(&state) } else { first };
                Ok((before, hidden, there, first, state, changes))
            })
            .await?;
        there.kept.extend(refused.iter().map(|file| file.path.clone()));
        report.refused = refused;
        self.check_deletes(&incoming, &before)?;
        let taking = Taking::new(&self.memories, (&before, &hidden), (&mut state, &mut there), &mut report);
        let has_tied = taking.all(incoming, options.deletes).await?;
        let (store, scope) = (Arc::clone(&self.store), self.scope);
        let is_unchanged =
            report.edited.is_empty() && report.saved.is_empty() && report.forgotten.is_empty() && !has_tied;
        off_thread(move || {
            let wanted = if is_unchanged || report.dry_run {
                first
            } else {
                let is_settled = |path: &str, stamp: &str| there.is_settled(path, stamp, state.get(path));
                wanted(&known(&store, &scope)?.0, &state, &is_settled)
            };
            outgoing::write(&disk, &mut state, &wanted, &there, &mut report)?;
            Ok(report)
        })
        .await
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
        off_thread(move || {
            let faults = store.config().faults.clone();
            let disk = Disk::open(&folder, MARKER, faults, |marker| check_marker(marker, scope.user_id))?;
            // Both take as long; the tokenizer, by which CORE.md is bounded, comes with the folder, which is sooner done.
            let (folder, known) = std::thread::scope(|threads| {
                let folder = threads.spawn(|| {
                    store.config().tokenizer.preload();
                    look_through(&disk)
                });
                let known = known(&store, &scope);
                (folder.join().expect("it does not panic"), known)
            });
            let ((state, files), (known, hidden)) = (folder?, known?);
            Ok(Seen { disk: Arc::new(disk), state, files, known, hidden })
        })
        .await
    }
}

/// What was written last, and what lies there.
fn look_through(disk: &Disk) -> Result<(State, Vec<OnDisk>)> {
    let state = State::read(disk.state(STATE).as_deref());
    let Looked { mut files, left_behind } = disk.files(is_ours)?;
    // Nobody writes while the folder is locked: what is half written is nobody's.
    for path in left_behind {
        disk.remove(&path)?;
    }
    if let Some(text) = disk.state(IGNORE) {
        let found = Found::Text(hash_of(&text));
        let at = files.partition_point(|file| file.path.as_str() < IGNORE);
        files.insert(at, OnDisk { path: IGNORE.to_owned(), found });
    }
    Ok((state, files))
}

fn check_marker(marker: Option<&[u8]>, user_id: UserId) -> Result<()> {
    let Some(marker) = marker else {
        return Err(Error::not_found("the folder is no vault: vault init makes it one"));
    };
    match serde_json::from_slice::<Marker>(marker) {
        Ok(marker) if marker.user_id == user_id => Ok(()),
        Ok(_) => Err(Error::new(ErrorKind::Conflict, "the folder is the vault of another user")),
        Err(_) => Err(Error::invalid(".thermocline in the folder cannot be read: is it a vault?")),
    }
}

fn make_folder(folder: &Path) -> Result<()> {
    let made = std::fs::create_dir_all(folder);
    made.map_err(|error| {
        Error::caused(ErrorKind::Io, "the vault's folder cannot be made", error.kind().to_string())
    })
}
