//! The open database file: its path, and checks that the file at this path is still the one that was opened.
//!
//! Files can be deleted or replaced while they are open. SQLite does not notice: it continues with the files it has open,
//! and nobody finds what it commits there. Worse, it finds a log by the name of its database: if another file gets that
//! name, SQLite copies the old log into that file. So the writer checks before it writes and before it answers, and readers
//! check before they answer. Once one of the files is missing or replaced, every later call fails ([`DbFile::noticed`]).
//!
//! A check looks up names and opens nothing, because closing a descriptor would drop every lock that SQLite holds on the
//! file in this process (POSIX).

use std::{
    ffi::OsString,
    fs,
    io::{self, ErrorKind as IoKind},
    path::{Path, PathBuf},
    sync::OnceLock,
};

use rusqlite::{Connection, OpenFlags};

use crate::{
    config::Config,
    error::{Error, ErrorKind, Result},
    store::file::{connect, errors::from_io, image::Image},
};

/// The identity of a file, independent of its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileKey(
    /// Device and inode.
    #[cfg(unix)]
    (u64, u64),
    /// The canonical path, on systems where an open file cannot be deleted.
    #[cfg(not(unix))]
    PathBuf,
);

/// Which file is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileOccupant {
    Ours,
    Nothing,
    Another,
}

/// The file of one [`Store`](crate::store::Store), with the log and the log's index (`-wal`, `-shm`) next to it.
#[derive(Debug)]
pub(crate) struct DbFile {
    /// The path with symbolic links resolved: SQLite resolves them too, and puts the log next to the file itself.
    path: PathBuf,
    key: FileKey,
    /// The log and the log's index. `None` if the file is open read-only: then the process that writes to it checks them.
    beside: Option<[SideFile; 2]>,
    /// The copy in memory that is read instead of the file. `None` if the file itself is read.
    image: Option<Image>,
    /// The error of the first check that failed, which every later call returns.
    lost: OnceLock<Error>,
}

#[derive(Debug)]
struct SideFile {
    path: PathBuf,
    key: FileKey,
}

impl DbFile {
    /// Describes the file at `path`, to which `conn` was opened, and which had `key` before that. Fails if the file has been
    /// replaced since.
    pub(crate) fn opened(path: PathBuf, key: FileKey, conn: &Connection) -> Result<Self> {
        connect::data_version(conn)?; // The first read creates the log and its index.
        let beside = |suffix: &str| -> Result<SideFile> {
            let path = beside(&path, suffix);
            Ok(SideFile { key: file_key(&path).map_err(|error| from_look(error, &path))?, path })
        };
        let beside = Some([beside("-wal")?, beside("-shm")?]);
        let file = Self { path, key, beside, image: None, lost: OnceLock::new() };
        file.check()?;
        Ok(file)
    }

    /// Describes a file that is open read-only, and read through `image` if there is one.
    pub(crate) fn looked_at(path: PathBuf, key: FileKey, image: Option<Image>) -> Self {
        Self { path, key, beside: None, image, lost: OnceLock::new() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn key(&self) -> &FileKey {
        &self.key
    }

    /// Returns the size of the log in bytes. 0 if the file is open read-only. A missing log is an error, not an empty log.
    pub(crate) fn log_bytes(&self) -> Result<u64> {
        let Some([log, _]) = &self.beside else { return Ok(0) };
        Ok(fs::metadata(&log.path).map_err(|error| from_look(error, &log.path))?.len())
    }

    /// Returns the path and flags with which readers open the file or its image.
    pub(crate) fn source(&self) -> (&Path, OpenFlags) {
        self.image.as_ref().map_or((&*self.path, connect::READ_ONLY), Image::source)
    }

    /// Opens a connection that writes to this file.
    pub(crate) fn writer(&self, config: &Config) -> Result<Connection> {
        self.opening(|path| connect::writer(path, config))
    }

    /// Opens a connection that reads from this file.
    pub(crate) fn reader(&self) -> Result<Connection> {
        self.opening(|_| connect::reader_of(self.source()))
    }

    /// Opens a connection for a backup.
    pub(crate) fn to_copy(&self) -> Result<Connection> {
        self.image.as_ref().map_or_else(|| self.reader(), Image::apart)
    }

    /// Runs `open` with the path. Fails if the path does not lead to this file, before or after.
    pub(crate) fn opening<T>(&self, open: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
        self.check()?;
        let opened = open(&self.path);
        self.check()?;
        opened
    }

    /// Fails if an earlier check found one of the files missing or replaced, or if the file no longer matches its image.
    pub(crate) fn noticed(&self) -> Result<()> {
        match (self.lost.get(), &self.image) {
            (Some(lost), _) => Err(lost.clone()),
            (None, Some(image)) => image.check(),
            (None, None) => Ok(()),
        }
    }

    /// Checks that the file, its log and the log's index are still at their paths.
    pub(crate) fn check(&self) -> Result<()> {
        self.check_itself()?;
        for beside in self.beside.iter().flatten() {
            if look(&beside.path, &beside.key)? != FileOccupant::Ours {
                let message = format!(
                    "{} was deleted or replaced while it was open, and nothing is acknowledged any more; what was \
                     recorded is in {} as far as that could be saved: open it again, and run doctor",
                    beside.path.display(),
                    self.path.display()
                );
                return Err(self.lost.get_or_init(|| Error::new(ErrorKind::Io, message)).clone());
            }
        }
        Ok(())
    }

    /// Checks only the database file, which is enough for a reader (0.5 microseconds).
    pub(crate) fn check_itself(&self) -> Result<()> {
        self.noticed()?;
        if look(&self.path, &self.key)? == FileOccupant::Ours {
            return Ok(());
        }
        let message = format!(
            "{} was deleted or replaced while it was open, and nothing is acknowledged any more; put it back, or keep \
             what is there now, and open it again",
            self.path.display()
        );
        Err(self.lost.get_or_init(|| Error::new(ErrorKind::Io, message)).clone())
    }

    /// Returns whether a connection whose file is lost should copy its log into the file it has open, and empty the log.
    /// `is_unshared` is true if nobody else has committed since all files were in place, according to the log's index that
    /// the connection has open.
    ///
    /// SQLite would copy a log that is left next to another file into that file. But if another process has written to the
    /// log since, we cannot tell to which file its commits belong, and must not move them.
    pub(crate) fn should_empty_log(&self, is_unshared: bool) -> bool {
        let Some([log, shm]) = &self.beside else { return false };
        let look = |path, key| look(path, key).unwrap_or(FileOccupant::Another);
        let is_unshared = is_unshared && look(&shm.path, &shm.key) == FileOccupant::Ours;
        match (look(&self.path, &self.key), look(&log.path, &log.key)) {
            // The log was deleted, so only our connection has it, and nobody has begun another one.
            (FileOccupant::Ours, FileOccupant::Nothing) => true,
            (FileOccupant::Ours, FileOccupant::Another)
            | (FileOccupant::Nothing | FileOccupant::Another, FileOccupant::Ours) => is_unshared,
            // If only the index is gone, the next opening rebuilds it from the log. In all other cases the files at these
            // paths now are not ours.
            _ => false,
        }
    }
}

/// Appends `suffix` to the file name, for example `-wal`.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

fn look(path: &Path, key: &FileKey) -> Result<FileOccupant> {
    match file_key(path) {
        Ok(found) if found == *key => Ok(FileOccupant::Ours),
        Ok(_) => Ok(FileOccupant::Another),
        Err(error) if matches!(error.kind(), IoKind::NotFound | IoKind::NotADirectory) => {
            Ok(FileOccupant::Nothing)
        }
        Err(error) => Err(from_look(error, path)),
    }
}

fn from_look(error: io::Error, path: &Path) -> Error {
    match error.kind() {
        IoKind::NotFound => {
            let message = format!("{} is missing, though the file is open; open it again", path.display());
            Error::caused(ErrorKind::Io, message, error)
        }
        _ => from_io(error, path),
    }
}

#[cfg(unix)]
pub(crate) fn file_key(path: &Path) -> io::Result<FileKey> {
    use std::os::unix::fs::MetadataExt;
    // A symbolic link at this path does not count as the file: SQLite would put the log next to the link's target.
    let file = fs::symlink_metadata(path)?;
    if file.nlink() == 0 {
        return Err(IoKind::NotFound.into()); // A deleted file may be reachable until its mount is removed.
    }
    Ok(FileKey((file.dev(), file.ino())))
}

/// Rejects a file with several names (hard links): the log is named after the name by which the file is opened, so a process
/// that opens the file by another name does not see that log.
pub(crate) fn check_one_name(path: &Path) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let names = fs::symlink_metadata(path).map_err(|error| from_io(error, path))?.nlink();
        if names > 1 {
            let message = format!(
                "{} has {names} names (hard links), and each would have a log of its own; leave only one",
                path.display()
            );
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
    }
    Ok(())
}

#[cfg(not(unix))]
pub(crate) fn file_key(path: &Path) -> io::Result<FileKey> {
    fs::canonicalize(path).map(FileKey)
}
