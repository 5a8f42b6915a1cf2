//! Images: reads a whole file of at most 1 GiB into memory if it is opened read-only, is in WAL mode, and has no log in use.
//!
//! SQLite reads a file in WAL mode only with a log and the log's index next to it, and creates them if they are missing. The
//! folder may not allow this. If it does, the new log and index stay there, with the permissions of the read-only file.
//! SQLite's option `immutable=1` would read the file in place, but would not notice a program that writes to it in the
//! meantime.

use std::{
    fs::{self, File},
    io::{self, Cursor, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    sync::Mutex,
    time::SystemTime,
};

use rusqlite::{
    Connection, OpenFlags,
    backup::{Backup, StepResult},
};

use crate::{
    error::{Error, ErrorKind, Result},
    model::ids::random_bits,
    store::file::{connect, errors::from_io},
};

/// The largest database that SQLite keeps in memory (`SQLITE_MEMDB_DEFAULT_MAXSIZE`).
const MAX_BYTES: u64 = 1 << 30;

/// How many times to try to read a file that changes while it is read.
const TRIES: usize = 3;

/// How many bytes of an SQLite file's header are needed.
const HEADER_BYTES: usize = 20;
/// The bytes of the header with the write and read versions: 1 for a rollback journal, 2 for WAL.
const VERSIONS: std::ops::Range<usize> = 18..20;

/// A copy of the file in memory, as of one moment. All readers share it.
#[derive(Debug)]
pub(crate) struct Image {
    /// The name by which SQLite finds the image within this process.
    uri: PathBuf,
    of: ImagePaths,
    moment: FileStamp,
    /// A connection that keeps the image in memory, since SQLite discards it with the last connection.
    keeper: Mutex<Connection>,
}

/// The path of a file, and the paths of its log and the log's index.
#[derive(Debug)]
pub(crate) struct ImagePaths {
    pub(crate) file: PathBuf,
    pub(crate) log: PathBuf,
    pub(crate) shm: PathBuf,
}

/// Sizes and a time that change when any process writes to the file or its log.
#[derive(Debug, PartialEq, Eq)]
struct FileStamp {
    bytes: u64,
    modified: Option<SystemTime>,
    log_bytes: u64,
}

impl FileStamp {
    fn of(place: &ImagePaths) -> Result<Self> {
        let file = fs::metadata(&place.file).map_err(|error| from_io(error, &place.file))?;
        let log_bytes = match fs::metadata(&place.log) {
            Ok(log) => log.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(from_io(error, &place.log)),
        };
        Ok(Self { bytes: file.len(), modified: file.modified().ok(), log_bytes })
    }
}

impl Image {
    /// Reads the file, which `open` opens, if it is in WAL mode and its log is empty or missing.
    ///
    /// `None` if the file is to be read in place: it is not in WAL mode, its log is not empty, the log's index exists, or it
    /// is larger than [`MAX_BYTES`].
    pub(crate) fn of(
        place: ImagePaths,
        open: impl FnOnce() -> Result<&'static File>,
    ) -> Result<Option<Self>> {
        let mut before = FileStamp::of(&place)?;
        if before.log_bytes > 0 || place.shm.exists() || before.bytes > MAX_BYTES {
            return Ok(None);
        }
        let file = open()?;
        for _ in 0..TRIES {
            let read = read(file, before.bytes).map_err(|error| from_io(error, &place.file))?;
            let Some((header, rest)) = read.split_at_checked(HEADER_BYTES) else { return Ok(None) };
            if header[VERSIONS] != [2, 2] {
                return Ok(None);
            }
            let now = FileStamp::of(&place)?;
            if now.log_bytes > 0 || place.shm.exists() || now.bytes > MAX_BYTES {
                return Ok(None); // Another process has begun to write, and its log was not read.
            }
            if now == before {
                let (uri, keeper) = in_memory(header, rest)?;
                return Ok(Some(Self { uri, of: place, moment: now, keeper: Mutex::new(keeper) }));
            }
            before = now;
        }
        let message = format!("{} is being written; try again", place.file.display());
        Err(Error::new(ErrorKind::Busy, message))
    }

    /// Returns the path and flags with which SQLite opens the image.
    pub(crate) fn source(&self) -> (&Path, OpenFlags) {
        (&self.uri, connect::READ_ONLY.union(OpenFlags::SQLITE_OPEN_URI))
    }

    /// Copies the image into a private in-memory database, for a backup. A connection to the image itself would create every
    /// attached file in memory too, including the backup.
    pub(crate) fn apart(&self) -> Result<Connection> {
        let mut apart = Connection::open_in_memory()?;
        copy(&self.keeper.lock().expect("no one panics with it"), &mut apart)?;
        Ok(apart)
    }

    /// Fails if the file or its log has changed since the file was read.
    pub(crate) fn check(&self) -> Result<()> {
        if FileStamp::of(&self.of)? == self.moment {
            return Ok(());
        }
        let path = self.of.file.display();
        let message = format!("{path} was written since it was opened for reading; open it again");
        Err(Error::new(ErrorKind::Io, message))
    }
}

/// Reads the first `bytes` bytes of a file. Other threads may read the same handle.
fn read(mut file: &File, bytes: u64) -> io::Result<Vec<u8>> {
    /// Allows one reader at a time, because the threads share the handle's read position.
    static READING: Mutex<()> = Mutex::new(());
    let _reading = READING.lock().expect("no one panics with it");
    file.seek(SeekFrom::Start(0))?;
    let mut all = Vec::new();
    file.take(bytes).read_to_end(&mut all)?;
    Ok(all)
}

/// Creates an in-memory database from the file's bytes. Returns its unique name, and the connection that keeps it in memory.
fn in_memory(header: &[u8], rest: &[u8]) -> Result<(PathBuf, Connection)> {
    let mut header = header.to_vec();
    header[VERSIONS].fill(1); // Not WAL mode: there is no log in memory.
    let size = header.len() + rest.len();
    let mut alone = Connection::open_in_memory()?;
    alone.deserialize_read_exact("main", Cursor::new(header).chain(rest), size, true)?;
    let uri = PathBuf::from(format!("file:/thermocline-{:x}?vfs=memdb", random_bits()));
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut shared = Connection::open_with_flags(&uri, flags)?;
    copy(&alone, &mut shared)?;
    Ok((uri, shared))
}

fn copy(from: &Connection, to: &mut Connection) -> Result<()> {
    match Backup::new(from, to)?.step(-1)? {
        StepResult::Done => Ok(()),
        _ => Err(Error::new(ErrorKind::Busy, "the copy in memory was not finished; try again")),
    }
}
