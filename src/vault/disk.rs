//! The folder of a vault. This is the only code that reads and writes in it.
//!
//! Everything is opened below one handle of the folder, component by component, without following links. A file is written
//! under a temporary name, synced, and renamed, so that it has either its old or its new content.

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
    model::vault::RefusedFile,
    vault::{
        places::{has_ending, most_bytes},
        state::{FileHash, hash_of},
    },
};

/// The maximum size of the vault's own state.
const MAX_STATE_BYTES: u64 = 256 << 20;
/// The maximum number of files in the folder.
pub(crate) const MAX_FILES: usize = 200_000;
/// The maximum depth of a file: `graph/fixes/name.md` is 3.
const MAX_DEPTH: usize = 4;
/// The prefix of the name of a file being written, until it is renamed.
const BESIDE: &str = ".thermocline-new";
/// The file that a process locks, so that only one syncs at a time.
const LOCK: &str = "_lock";
/// How often the lock is tried: for a second in total.
const LOCK_TRIES: usize = 50;
const BETWEEN_TRIES: Duration = Duration::from_millis(20);

/// Whether one call syncs all files of the file system; otherwise each file is synced separately.
const SYNCS_ALL: bool = cfg!(any(target_os = "linux", target_os = "android"));

/// The folder, locked against syncs by other processes.
#[derive(Debug)]
pub(crate) struct Disk {
    root: Dir,
    /// Locked until it is dropped; also used to sync the file system.
    lock: std::fs::File,
    /// Where tests interrupt the work on the folder.
    faults: Faults,
}

/// A file in the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OnDisk {
    pub(crate) path: String,
    pub(crate) found: DiskFileKind,
}

/// What a scan of the folder found.
#[derive(Debug)]
pub(crate) struct FolderScan {
    /// Ordered by path.
    pub(crate) files: Vec<OnDisk>,
    /// Temporary files that an interrupted run was writing.
    pub(crate) left_behind: Vec<String>,
    /// Texts that were set aside in files next to others: `NAME.conflict.md`.
    pub(crate) beside: Vec<String>,
    /// What was not looked into, with the reason: names that are not UTF-8, links among the memories, closed folders.
    pub(crate) passed: Vec<RefusedFile>,
}

/// The content of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DiskFileKind {
    /// Text, with its hash.
    Text(FileHash),
    /// Not readable, for this reason.
    Refused(&'static str),
}

impl Disk {
    /// Opens a folder, and keeps other processes from syncing it. `check` receives the content of the marker file before
    /// anything is written in the folder.
    pub(crate) fn open(
        folder: &Path,
        marker: &str,
        faults: Faults,
        check: impl FnOnce(Option<&[u8]>) -> Result<()>,
    ) -> Result<Self> {
        let root =
            Dir::open_ambient_dir(folder, ambient_authority()).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => {
                    Error::not_found("there is no such folder: vault init creates it as a vault")
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
                // A process that is just starting briefly holds the handles of its parent, and so the parent's lock.
                Err(TryLockError::WouldBlock) => thread::sleep(BETWEEN_TRIES),
                Err(TryLockError::Error(error)) => return Err(failed("lock", &error)),
            }
        }
        Err(Error::new(ErrorKind::Busy, "another process syncs this vault; try again when it is done"))
    }

    /// Lists the wanted files in the folder, by path. Hidden files and folders are ignored, and so is what is nested too
    /// deep. A file that is not regular, cannot be opened, is too large or has several names is listed as refused.
    pub(crate) fn files(&self, is_wanted: impl Fn(&str) -> bool) -> Result<FolderScan> {
        let (mut found, mut left_behind, mut beside) = (Vec::new(), Vec::new(), Vec::new());
        let mut passed = Vec::new();
        let mut pass = |path: &str, why: &str| passed.push(RefusedFile::new(path, why));
        let mut folders =
            vec![(String::new(), self.root.try_clone().map_err(|error| failed("read", &error))?)];
        while let Some((above, folder)) = folders.pop() {
            for entry in folder.entries().map_err(|error| failed("read", &error))? {
                let entry = entry.map_err(|error| failed("read", &error))?;
                let path =
                    |name: &str| if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") };
                let name = match entry.file_name().into_string() {
                    Ok(name) => name,
                    Err(name) => {
                        pass(&path(&name.to_string_lossy()), "its name is not UTF-8: rename it");
                        continue;
                    }
                };
                let path = path(&name);
                if name.starts_with(BESIDE) {
                    left_behind.push(path);
                    continue;
                }
                if name.starts_with('.') {
                    continue;
                }
                let kind = entry.file_type().map_err(|error| failed("read", &error))?;
                if kind.is_dir() {
                    if path.split('/').count() < MAX_DEPTH {
                        match folder.open_dir_nofollow(&name) {
                            Ok(below) => folders.push((path, below)),
                            Err(_) => pass(&path, "the folder cannot be opened"),
                        }
                    }
                    continue;
                }
                if kind.is_symlink() && may_hold_memories(&path) {
                    pass(&path, "it is a link, which is not followed");
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
        Ok(FolderScan { files: found, left_behind, beside, passed })
    }

    /// Whether nothing exists at this path. If a path cannot be examined, for example in a closed folder or one that became
    /// a link, something may exist there: returns false.
    pub(crate) fn is_gone(&self, path: &str) -> bool {
        match self.folder_of(path, false) {
            Ok(Some((folder, name))) => {
                folder.symlink_metadata(name).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
            }
            Ok(None) => true,
            Err(_) => false,
        }
    }

    /// Returns the text of a file; `None` if it does not exist, cannot be read or is not UTF-8.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let (folder, name) = self.folder_of(path, false).ok()??;
        let bytes = read_in(&folder, name, most_bytes(path)).ok()?;
        String::from_utf8(bytes).ok()
    }

    /// Returns the vault's own state; `None` if there is none, or it cannot be read.
    pub(crate) fn state(&self, name: &str) -> Option<Vec<u8>> {
        read_in(&self.root, name, MAX_STATE_BYTES).ok()
    }

    /// Writes all files under temporary names, and then renames them: before the first rename, all bytes are on the disk.
    ///
    /// `may_replace` receives the hash of the content that a path has right before the rename, so that what somebody types
    /// into a file in the meantime is not lost. Returns the paths that were therefore not written.
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
            // A file left behind by an interrupted run may have any content.
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

    /// Removes a file. It is not an error if the file is already gone.
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

    /// Renames a file.
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

    /// Returns the folder of a file, and the file's name in it; `None` if there is no such folder. `is_made`: creates
    /// missing folders.
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

    /// Makes everything that was written durable.
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

/// Whether a link at this path, which is not a markdown file, may stand for a folder with memories.
fn may_hold_memories(path: &str) -> bool {
    let is_below = path.starts_with("graph/") || path.starts_with("vault/");
    !has_ending(path, "md") && (is_below || matches!(path, "graph" | "vault"))
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
        return Err(UnreadReason::Refused("it is not a regular file"));
    }
    // Opened without blocking: a fifo may have taken the file's place in the meantime.
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No).nonblock(true);
    let file: File = folder.open_with(name, &options)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.nlink() > 1 {
        return Err(UnreadReason::Refused("it has several names, or is not a regular file"));
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

/// Makes files accessible only to their owner.
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
