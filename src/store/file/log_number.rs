//! Tells to which file a log belongs.
//!
//! A log (`-wal`) does not say which file it belongs to, so SQLite copies any log beside a file into that file. After a
//! crash the log of the lost file is still there, and a backup that is put in its place would be destroyed by it.
//!
//! So a file of ours has a number in its header, its *log number* (`PRAGMA user_version`): a new file, and every backup,
//! begins with a random one, and each new log raises it by one, in the log. A log belongs to the file if the file's number
//! is one that the log has, or the one before. In a backend's own file that number is the backend's, and only SQLite's own
//! count of changes, which is in the header too, is compared. A log that has no header proves nothing: then the file is
//! checked as the log would make it, before anything is copied.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, config::DbConfig};

use crate::{
    error::{Error, ErrorKind, Result},
    model::ids::random_bits,
    store::file::{
        connect,
        db_file::{FileKey, beside},
        errors::from_io,
        held::{self, Access},
        page_one::{self, APPLICATION_ID, PageOne},
    },
};

/// The size of a log's header.
const LOG_HEADER: usize = 32;
/// The size of the header of a page in the log.
const FRAME_HEADER: usize = 24;
/// The beginning of a log. The last bit says in which order the bytes of its checksums are.
const MAGIC: u32 = 0x377f_0682;

/// Raises the file's log number in a transaction that is probably the first of its log, or sets it if there is none. The
/// header is written in any case, so that the log has one.
pub(super) fn raise(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    let ask = |pragma: &str| -> rusqlite::Result<i32> {
        tx.prepare_cached(&format!("PRAGMA {pragma}"))?.query_row([], |row| row.get(0))
    };
    let number = match (ask("application_id")?, ask("user_version")?) {
        (APPLICATION_ID, 0) => random().cast_signed(),
        (APPLICATION_ID, number) if number >= LEAST.cast_signed() => number.wrapping_add(1),
        (_, another_programs) => another_programs,
    };
    tx.pragma_update(None, "user_version", number)
}

/// Gives a file that is being made its first log number.
pub(super) fn begin(conn: &Connection) -> rusqlite::Result<()> {
    conn.pragma_update(None, "user_version", random())
}

/// Gives a copy numbers of its own, so that no log of the original is taken for one of the copy.
pub(super) fn renumber(copy: &File) -> io::Result<()> {
    let has_number = |page: &PageOne| is_ours(page) && (page.user_version == 0 || page.user_version >= LEAST);
    let has_number = PageOne::read(copy)?.as_ref().is_some_and(has_number);
    page_one::renumber(copy, random(), has_number.then(random))
}

fn is_ours(page: &PageOne) -> bool {
    page.application_id == APPLICATION_ID.cast_unsigned()
}

/// The least log number. A smaller `user_version` is that of a program that has its own tables in the file.
const LEAST: u32 = 1 << 24;

/// Returns a random number from [`LEAST`] to 2^30, so that raising it never overflows.
fn random() -> u32 {
    LEAST + u32::try_from(random_bits() % u64::from((1 << 30) - LEAST)).unwrap_or(0)
}

/// Checks the log beside a file, before the first connection reads through it. Does nothing if there is no log, or if
/// another connection has the file open: then the first one has checked it.
///
/// Writes nothing. Fails if the log is another file's.
pub(super) fn check(path: &Path, key: &FileKey) -> Result<()> {
    if log_bytes(path)? <= LOG_HEADER as u64 {
        return Ok(());
    }
    let is_ours = match alone(path)? {
        Some(conn) => is_of(&conn, path, key)?,
        None if connect::check_writable(path).is_ok() => true,
        // Who may not write cannot keep others out, and perhaps cannot read through the log either.
        None => match verdict(path, key)? {
            Verdict::Unknown => connect::reader(path).is_ok_and(|conn| is_sound(&conn)),
            verdict => verdict == Verdict::Ours,
        },
    };
    if is_ours { Ok(()) } else { Err(foreign(path)) }
}

/// Returns whether the log beside a file is the file's. `conn` must be the only connection.
pub(super) fn is_of(conn: &Connection, path: &Path, key: &FileKey) -> Result<bool> {
    Ok(match verdict(path, key)? {
        Verdict::Ours => true,
        Verdict::Foreign => false,
        Verdict::Unknown => is_sound(conn),
    })
}

fn verdict(path: &Path, key: &FileKey) -> Result<Verdict> {
    let page = PageOne::read(held::open(path, key, Access::Read)?).map_err(|error| from_io(error, path))?;
    // SQLite removes a log beside an empty file.
    page.map_or(Ok(Verdict::Ours), |page| Ok(judge(&page, &Log::read(path)?)))
}

fn foreign(path: &Path) -> Error {
    let (log, path) = (beside(path, "-wal"), path.display());
    let message = format!(
        "the log {} is not of the file {path}, but of one that was there before, and would destroy it: put the backup back \
         with `thermocline --db {path} restore BACKUP`, which sets that log aside",
        log.display()
    );
    Error::new(ErrorKind::Corrupt, message)
}

/// Returns the size of the log beside a file. 0 if there is none.
pub(super) fn log_bytes(path: &Path) -> Result<u64> {
    let log = beside(path, "-wal");
    match std::fs::metadata(&log) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        found => Ok(found.map_err(|error| from_io(error, &log))?.len()),
    }
}

/// Opens a connection that nobody else can have a connection beside. `None` if somebody has one, or if the file cannot be
/// written. The connection writes nothing when it closes, and keeps the log's index to itself.
pub(super) fn alone(path: &Path) -> Result<Option<Connection>> {
    // Another process may be at this very check: then it is waited for, and the second try finds the file free.
    for _ in 0..2 {
        let Ok(conn) = Connection::open_with_flags(
            path,
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
        ) else {
            return Ok(None);
        };
        if conn.is_readonly("main")? {
            return Ok(None);
        }
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        conn.execute_batch(
            "PRAGMA trusted_schema = OFF; PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE",
        )?;
        let read = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
        match read.map_err(|error| error.sqlite_error_code()) {
            Err(Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)) => {}
            _ => return Ok(Some(conn)), // Damage is the log's, or is found later.
        }
        drop(conn);
        let waiting = connect::reader(path);
        let _ = waiting.map(|conn| conn.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())));
    }
    Ok(None)
}

/// Checks every page of the file, as the log makes it.
pub(super) fn is_sound(conn: &Connection) -> bool {
    conn.query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0))
        .is_ok_and(|said| said == "ok")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Ours,
    Foreign,
    /// The log has no header of a file.
    Unknown,
}

/// Decides whether a log belongs to a file whose header is `page`.
fn judge(page: &PageOne, log: &Log) -> Verdict {
    let Log { page_size, headers: Some((first, last)), .. } = log else {
        // A log without a whole transaction changes nothing. One without the first page does not change the file's size.
        return match log.page_size {
            0 => Verdict::Ours,
            page_size if page_size == page.page_size && log.pages == page.pages => Verdict::Unknown,
            _ => Verdict::Foreign,
        };
    };
    // What the log begins with may be one more than what the file had, and parts of the log may be in the file already.
    let is_of = |of: fn(&PageOne) -> u32| {
        let before = of(first).wrapping_sub(1);
        of(page).wrapping_sub(before) <= of(last).wrapping_sub(before)
    };
    let has_number = |page: &PageOne| is_ours(page) && page.user_version >= LEAST;
    if *page_size != page.page_size || !is_of(|page| page.changes) {
        Verdict::Foreign
    } else if is_ours(page) && page.user_version == 0 {
        Verdict::Unknown // A file of an older version, or one that is being made.
    } else if has_number(page) && has_number(first) && !is_of(|page| page.user_version) {
        Verdict::Foreign
    } else {
        Verdict::Ours
    }
}

/// What the whole transactions in a log say.
#[derive(Debug, Default, PartialEq, Eq)]
struct Log {
    /// The size of its pages. 0 if there is no whole transaction in it.
    page_size: usize,
    /// The number of pages that the file has after it.
    pages: u32,
    /// The first and the last header of the file in it.
    headers: Option<(PageOne, PageOne)>,
}

impl Log {
    /// Reads the log beside a file up to the end of its last whole transaction, as SQLite's recovery does.
    fn read(path: &Path) -> Result<Self> {
        let path = beside(path, "-wal");
        let log = File::open(&path).and_then(|file| Self::parse(io::BufReader::new(file)));
        log.map_err(|error| from_io(error, &path))
    }

    fn parse(mut log: impl Read) -> io::Result<Self> {
        let mut header = [0; LOG_HEADER];
        if !is_filled(&mut log, &mut header)? {
            return Ok(Self::default());
        }
        let number = |bytes: &[u8], at: usize| -> u32 {
            bytes.get(4 * at..4 * at + 4).and_then(|four| four.try_into().ok()).map_or(0, u32::from_be_bytes)
        };
        let mut sums = Checksums { is_big_endian: number(&header, 0) == MAGIC | 1, first: 0, second: 0 };
        sums.add(&header[..24]);
        let page_size = number(&header, 2) as usize;
        let is_log = number(&header, 0) & !1 == MAGIC
            && page_size.is_power_of_two()
            && (512..=65_536).contains(&page_size)
            && sums.are(number(&header, 6), number(&header, 7));
        if !is_log {
            return Ok(Self::default());
        }
        let (mut whole, mut headers) = (Self::default(), None);
        let mut frame = vec![0; FRAME_HEADER + page_size];
        while is_filled(&mut log, &mut frame)? {
            let (head, page) = frame.split_at(FRAME_HEADER);
            sums.add(&head[..8]);
            sums.add(page);
            if head[8..16] != header[16..24] || !sums.are(number(head, 4), number(head, 5)) {
                break; // Left from an earlier log, or written in part.
            }
            if number(head, 0) == 1
                && let Some(page) = PageOne::of(page)
            {
                headers = Some((headers.map_or(page, |(first, _)| first), page));
            }
            let pages = number(head, 1); // 0 within a transaction.
            if pages > 0 {
                whole = Self { page_size, pages, headers };
            }
        }
        Ok(whole)
    }
}

/// Fills `bytes`. Returns `false` if the log ends before.
fn is_filled(log: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match log.read_exact(bytes) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| true),
    }
}

/// The running checksums of a log (SQLite's file format, section 4.2).
struct Checksums {
    is_big_endian: bool,
    first: u32,
    second: u32,
}

impl Checksums {
    fn add(&mut self, bytes: &[u8]) {
        let (pairs, _) = bytes.as_chunks::<8>();
        for &[a, b, c, d, e, f, g, h] in pairs {
            let number = if self.is_big_endian { u32::from_be_bytes } else { u32::from_le_bytes };
            self.first = self.first.wrapping_add(number([a, b, c, d])).wrapping_add(self.second);
            self.second = self.second.wrapping_add(number([e, f, g, h])).wrapping_add(self.first);
        }
    }

    fn are(&self, first: u32, second: u32) -> bool {
        (self.first, self.second) == (first, second)
    }
}
