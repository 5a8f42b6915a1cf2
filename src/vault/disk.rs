//! The folder of a vault: the only code that reads and writes there.
//!
//! Everything is opened below one handle of the folder, component by component, following no link. What is written is
//! written beside, synced, and renamed: a file is as it was, or as it is to be.

use std::{
    fs::TryLockError,
    io::{self, Read, Write},
    path::Path,
    thread,
    time::Duration,
};

use cap_fs_ext::{DirExt, FollowSymlinks, MetadataExt, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::{
    ambient_authority,
    fs::{Dir, File, OpenOptions},
};

use crate::{
    error::{Error, ErrorKind, Result},
    faults::{Faults, Moment},
    vault::{
        places::most_bytes,
        state::{FileHash, hash_of},
    },
};

/// The most of the vault's own state.
const MAX_STATE_BYTES: u64 = 256 << 20;
/// The most files below the folder.
pub(crate) const MAX_FILES: usize = 200_000;
/// The deepest a file lies: `graph/fixes/name.md` is 3.
const MAX_DEPTH: usize = 4;
/// What is being written, until it is renamed.
const BESIDE: &str = ".thermocline-new";
/// The file that one process at a time holds.
const LOCK: &str = "_lock";
/// How long it is waited for: a second.
const LOCK_TRIES: usize = 50;
const BETWEEN_TRIES: Duration = Duration::from_millis(20);

/// Whether one call makes all files of the disk last; else each is synced by itself.
const SYNCS_ALL: bool = cfg!(any(target_os = "linux", target_os = "android"));

/// The folder, which no other process syncs meanwhile.
#[derive(Debug)]
pub(crate) struct Disk {
    root: Dir,
    /// Locked until it is dropped; by it the file system is synced.
    lock: std::fs::File,
    /// Where tests cut it short.
    faults: Faults,
}

/// A file that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OnDisk {
    pub(crate) path: String,
    pub(crate) found: DiskFileKind,
}

/// What lies below the folder.
#[derive(Debug)]
pub(crate) struct FolderScan {
    /// In the order of their paths.
    pub(crate) files: Vec<OnDisk>,
    /// What a run was writing that was cut short.
    pub(crate) left_behind: Vec<String>,
    /// Texts that were set beside files: `NAME.conflict.md`.
    pub(crate) beside: Vec<String>,
}

/// What a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DiskFileKind {
    /// Text, by its hash.
    Text(FileHash),
    /// Nothing that is read, and why.
    Refused(&'static str),
}

impl Disk {
    /// Opens a folder, and keeps other processes from syncing it. `check` is shown the file that marks it, before anything is
    /// written there.
    pub(crate) fn open(
        folder: &Path,
        marker: &str,
        faults: Faults,
        check: impl FnOnce(Option<&[u8]>) -> Result<()>,
    ) -> Result<Self> {
        let root =
            Dir::open_ambient_dir(folder, ambient_authority()).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => {
                    Error::not_found("there is no such folder: vault init makes it one of a vault")
                }
                _ => failed("open", &error),
            })?;
        check(read_in(&root, marker, most_bytes(marker)).ok().as_deref())?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).follow(FollowSymlinks::No).nonblock(true);
        private(&mut options);
        let lock = root.open_with(LOCK, &options).map_err(|error| failed("lock", &error))?.into_std();
        for _ in 0..LOCK_TRIES {
            match lock.try_lock() {
                Ok(()) => return Ok(Self { root, lock, faults }),
                // A process that is being started holds what its parent has open, for a moment.
                Err(TryLockError::WouldBlock) => thread::sleep(BETWEEN_TRIES),
                Err(TryLockError::Error(error)) => return Err(failed("lock", &error)),
            }
        }
        Err(Error::new(ErrorKind::Busy, "another process syncs this vault; try again when it is done"))
    }

    /// Every file that is asked for below the folder, by its path; hidden ones, and folders that are hidden, are nobody's
    /// business here. What is no regular file is there, refused.
    pub(crate) fn files(&self, is_wanted: impl Fn(&str) -> bool) -> Result<FolderScan> {
        let (mut found, mut left_behind, mut beside) = (Vec::new(), Vec::new(), Vec::new());
        let mut folders =
            vec![(String::new(), self.root.try_clone().map_err(|error| failed("read", &error))?)];
        while let Some((above, folder)) = folders.pop() {
            for entry in folder.entries().map_err(|error| failed("read", &error))? {
                let entry = entry.map_err(|error| failed("read", &error))?;
                let Ok(name) = entry.file_name().into_string() else { continue };
                let path = if above.is_empty() { name.clone() } else { format!("{above}/{name}") };
                if name.starts_with(BESIDE) {
                    left_behind.push(path);
                    continue;
                }
                if name.starts_with('.') {
                    continue;
                }
                let kind = entry.file_type().map_err(|error| failed("read", &error))?;
                if kind.is_dir() {
                    if path.split('/').count() < MAX_DEPTH
                        && let Ok(below) = folder.open_dir_nofollow(&name)
                    {
                        folders.push((path, below));
                    }
                    continue;
                }
                if path.ends_with(".conflict.md") {
                    beside.push(path);
                    continue;
                }
                if !is_wanted(&path) {
                    continue;
                }
                let what = match read_in(&folder, &name, most_bytes(&path)) {
                    Ok(bytes) => DiskFileKind::Text(hash_of(&bytes)),
                    Err(UnreadReason::Refused(why)) => DiskFileKind::Refused(why),
                    Err(UnreadReason::Gone) => continue,
                };
                found.push(OnDisk { path, found: what });
                if found.len() > MAX_FILES {
                    return Err(Error::invalid(format!("the folder has more than {MAX_FILES} files")));
                }
            }
        }
        found.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(FolderScan { files: found, left_behind, beside })
    }

    /// Whether there is nothing by this path. What cannot be looked at may be there: a folder that is closed, or that became
    /// a link.
    pub(crate) fn is_gone(&self, path: &str) -> bool {
        match self.folder_of(path, false) {
            Ok(Some((folder, name))) => {
                folder.symlink_metadata(name).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
            }
            Ok(None) => true,
            Err(_) => false,
        }
    }

    /// The text of a file; `None`: there is none, or it is not to be read.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let (folder, name) = self.folder_of(path, false).ok()??;
        let bytes = read_in(&folder, name, most_bytes(path)).ok()?;
        String::from_utf8(bytes).ok()
    }

    /// The vault's own state; `None`: there is none that can be read.
    pub(crate) fn state(&self, name: &str) -> Option<Vec<u8>> {
        read_in(&self.root, name, MAX_STATE_BYTES).ok()
    }

    /// Writes files, all of them beside first: when the first is renamed, all bytes are on the disk.
    ///
    /// `may_replace` is shown what lies by a path right before that is replaced: who edits a file meanwhile keeps what they
    /// typed. What was not written for that.
    pub(crate) fn write<'f>(
        &self,
        files: impl IntoIterator<Item = (&'f str, &'f [u8])>,
        may_replace: impl Fn(&str, &FileHash) -> bool,
    ) -> Result<Vec<String>> {
        let (mut written, mut left) = (Vec::new(), Vec::new());
        for (path, bytes) in files {
            self.meet("write", path)?;
            let (folder, name) =
                self.folder_of(path, true).map_err(|error| failed("write", &error))?.ok_or_else(no_path)?;
            let beside = format!("{BESIDE}-{}", written.len());
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(true).follow(FollowSymlinks::No);
            private(&mut options);
            // What a run left behind that was cut short may be anything.
            let _ = folder.remove_file(&beside);
            let mut file = folder.open_with(&beside, &options).map_err(|error| failed("write", &error))?;
            file.write_all(bytes).map_err(|error| failed("write", &error))?;
            if !SYNCS_ALL {
                file.sync_all().map_err(|error| failed("sync", &error))?;
            }
            written.push((folder, beside, name, path));
        }
        self.sync()?;
        for (folder, beside, name, path) in written {
            self.meet("rename to", path)?;
            let now = read_in(&folder, name, most_bytes(path)).ok().map(|bytes| hash_of(&bytes));
            if now.is_some_and(|now| !may_replace(path, &now)) {
                folder.remove_file(&beside).map_err(|error| failed("write", &error))?;
                left.push(path.to_owned());
                continue;
            }
            folder.rename(&beside, &folder, name).map_err(|error| failed("write", &error))?;
        }
        self.sync()?;
        Ok(left)
    }

    /// Takes a file away. One that is gone already is no error.
    pub(crate) fn remove(&self, path: &str) -> Result<()> {
        self.meet("remove", path)?;
        let Some((folder, name)) = self.folder_of(path, false).map_err(|error| failed("remove", &error))?
        else {
            return Ok(());
        };
        match folder.remove_file(name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("remove", &error)),
            _ => Ok(()),
        }
    }

    /// Gives a file another name.
    pub(crate) fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.meet("rename to", to)?;
        let failed = |error: io::Error| failed("rename", &error);
        let (Some((old, from)), Some((new, to))) =
            (self.folder_of(from, false).map_err(failed)?, self.folder_of(to, true).map_err(failed)?)
        else {
            return Err(no_path());
        };
        old.rename(from, &new, to).map_err(failed)
    }

    /// The folder that a file lies in, and its name there; `None`: there is no such folder.
    fn folder_of<'p>(&self, path: &'p str, is_made: bool) -> io::Result<Option<(Dir, &'p str)>> {
        let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
        let mut folder = self.root.try_clone()?;
        for part in above.split('/').filter(|part| !part.is_empty()) {
            if is_made {
                make_folder(&folder, part)?;
            }
            folder = match folder.open_dir_nofollow(part) {
                Ok(below) => below,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error),
            };
        }
        Ok(Some((folder, name)))
    }

    /// All that was written is on the disk.
    fn sync(&self) -> Result<()> {
        self.meet("sync", "")?;
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            use std::os::fd::AsFd;
            rustix::fs::syncfs(self.lock.as_fd()).map_err(|error| failed("sync", &error.into()))
        }
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        self.lock.sync_all().map_err(|error| failed("sync", &error))
    }

    fn meet(&self, what: &str, path: &str) -> Result<()> {
        self.faults.meet(Moment::Before, &format!("vault: {what} {path}"))
    }
}

/// Why a file is not read.
enum UnreadReason {
    Gone,
    Refused(&'static str),
}

impl From<io::Error> for UnreadReason {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Gone,
            _ => Self::Refused("it cannot be opened"),
        }
    }
}

fn read_in(folder: &Dir, name: &str, most: u64) -> std::result::Result<Vec<u8>, UnreadReason> {
    let kind = folder.symlink_metadata(name)?;
    if !kind.is_file() {
        return Err(UnreadReason::Refused("it is no regular file"));
    }
    // Without waiting: a fifo may have taken its place since.
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No).nonblock(true);
    let file: File = folder.open_with(name, &options)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.nlink() > 1 {
        return Err(UnreadReason::Refused("it has several names, or is no regular file"));
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(UnreadReason::Refused("it is too large"));
    }
    Ok(bytes)
}

fn make_folder(folder: &Dir, name: &str) -> io::Result<()> {
    let mut builder = cap_std::fs::DirBuilder::new();
    #[cfg(unix)]
    {
        use cap_std::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    match folder.create_dir_with(name, &builder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// Files are their owner's alone.
fn private(options: &mut OpenOptions) {
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    #[cfg(not(unix))]
    let _ = options;
}

fn failed(what: &str, error: &io::Error) -> Error {
    Error::caused(ErrorKind::Io, format!("cannot {what} in the vault's folder"), error.kind().to_string())
}

fn no_path() -> Error {
    Error::invalid("a folder of the vault is gone")
}
