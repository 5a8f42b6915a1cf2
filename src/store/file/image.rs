//! A file in memory: for a file that is open read-only and has no log yet.
//!
//! SQLite reads a file in WAL mode only with a log and the log's index next to it, which it creates if they are missing. A
//! folder may not allow that, and one that does keeps them, with the mode of the file that must not be written. So the file
//! is read whole. `immutable=1` would read it in place, but would not notice a program that writes to it in the meantime.

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
use uuid::{NoContext, Timestamp, Uuid};

use crate::{
    error::{Error, ErrorKind, Result},
    store::file::{connect, errors::from_io},
};

/// The largest database that SQLite keeps in memory (`SQLITE_MEMDB_DEFAULT_MAXSIZE`).
const MAX_BYTES: u64 = 1 << 30;

/// How often to read a file that changes while it is read.
const TRIES: usize = 3;

/// The part of an SQLite file's first page that we look at.
const HEADER_BYTES: usize = 20;
/// The bytes that give the write and read versions: 1 for a rollback journal, 2 for a log.
const VERSIONS: std::ops::Range<usize> = 18..20;

/// The file as it was at one moment, shared by all connections to it.
#[derive(Debug)]
pub(crate) struct Image {
    /// The name by which SQLite finds it within this process.
    uri: PathBuf,
    of: ImagePaths,
    moment: FileStamp,
    /// Keeps the database in memory: it disappears with its last connection.
    keeper: Mutex<Connection>,
}

/// The path of a file, and those of the files that may be next to it.
#[derive(Debug)]
pub(crate) struct ImagePaths {
    pub(crate) file: PathBuf,
    pub(crate) log: PathBuf,
    pub(crate) shm: PathBuf,
}

/// What changes when anybody writes to the file or its log.
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
    /// Reads the file, which `open` opens, if it needs a log and the log is empty or missing. `None` if SQLite can read the
    /// file in place.
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
                return Ok(None); // Somebody has begun to write; what is in the log was not read.
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

    /// The path and flags by which SQLite opens it.
    pub(crate) fn source(&self) -> (&Path, OpenFlags) {
        (&self.uri, connect::READ_ONLY.union(OpenFlags::SQLITE_OPEN_URI))
    }

    /// A copy in a connection's own memory. Whatever an image's own connections attach, such as a backup, would be in memory
    /// too.
    pub(crate) fn apart(&self) -> Result<Connection> {
        let mut apart = Connection::open_in_memory()?;
        copy(&self.keeper.lock().expect("no one panics with it"), &mut apart)?;
        Ok(apart)
    }

    /// Fails if the file has been written since it was read.
    pub(crate) fn check(&self) -> Result<()> {
        if FileStamp::of(&self.of)? == self.moment {
            return Ok(());
        }
        let path = self.of.file.display();
        let message = format!("{path} was written since it was opened for reading; open it again");
        Err(Error::new(ErrorKind::Io, message))
    }
}

/// Reads this many bytes of a file that others may read at the same time.
fn read(mut file: &File, bytes: u64) -> io::Result<Vec<u8>> {
    /// A file that is opened once has only one read position.
    static READING: Mutex<()> = Mutex::new(());
    let _reading = READING.lock().expect("no one panics with it");
    file.seek(SeekFrom::Start(0))?;
    let mut all = Vec::new();
    file.take(bytes).read_to_end(&mut all)?;
    Ok(all)
}

/// Puts the file into SQLite's memory under a unique name, and returns the name and the connection that keeps it there.
fn in_memory(header: &[u8], rest: &[u8]) -> Result<(PathBuf, Connection)> {
    let mut header = header.to_vec();
    header[VERSIONS].fill(1); // There is no log in memory.
    let size = header.len() + rest.len();
    let mut alone = Connection::open_in_memory()?;
    alone.deserialize_read_exact("main", Cursor::new(header).chain(rest), size, true)?;
    // The random bits of a UUIDv7 without a time.
    let name = Uuid::new_v7(Timestamp::from_unix(NoContext, 0, 0)).simple();
    let uri = PathBuf::from(format!("file:/thermocline-{name}?vfs=memdb"));
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
