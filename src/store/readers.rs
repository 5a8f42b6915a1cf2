//! Reading: a pool of connections that cannot write, and a deadline for each read.

use std::{
    cell::Cell,
    path::Path,
    sync::{Mutex, mpsc},
    time::Duration,
};

use r2d2::{ManageConnection, Pool};
use r2d2_sqlite::SqliteConnectionManager;
use rusqlite::Connection;

use crate::{
    clock::Deadline,
    config::Config,
    error::{Error, ErrorKind, Result},
    store::{connect, errors::poisons_connection},
};

/// Virtual machine steps between two looks at the deadline: a look costs about as much as two steps.
const STEPS_BETWEEN_LOOKS: i32 = 10_000;

/// How long the connections may take to open, all together.
const OPENING_TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub(crate) struct Readers {
    pool: Pool<Opener>,
    // Dropped after the pool.
    _closed: AllClosed,
    read_timeout_ms: u64,
}

/// Dropping it waits, for a bounded time, until the pool and all its connections are gone. The pool opens them on
/// threads of its own, and these may hold it for a moment longer than we do: a connection that outlived the writer
/// was seen to leave the files beside the database behind.
#[derive(Debug)]
struct AllClosed {
    ended: Mutex<mpsc::Receiver<()>>,
    timeout: Duration,
}

impl Drop for AllClosed {
    fn drop(&mut self) {
        if let Ok(ended) = self.ended.get_mut() {
            let _ = ended.recv_timeout(self.timeout);
        }
    }
}

/// A connection of the pool.
struct Reader {
    conn: Connection,
    /// Whether the disk has failed under it; then it goes, and another is opened.
    broken: Cell<bool>,
    _alive: mpsc::Sender<()>, // Dropped last.
}

/// Opens the connections of the pool, and says which of them must go.
#[derive(Debug)]
struct Opener {
    manager: SqliteConnectionManager,
    alive: mpsc::Sender<()>,
}

impl Readers {
    pub(crate) fn new(path: &Path, config: &Config) -> Result<Self> {
        let manager = SqliteConnectionManager::file(path)
            .with_flags(connect::READ_ONLY)
            .with_init(|conn| connect::prepare_reader(conn));
        let (alive, ended) = mpsc::channel();
        let timeout = Duration::from_millis(config.close_timeout_ms);
        let closed = AllClosed { ended: Mutex::new(ended), timeout };
        let pool = Pool::builder()
            .max_size(config.readers)
            .min_idle(Some(1))
            // A connection to a local file does not go away.
            .test_on_check_out(false)
            .max_lifetime(None)
            .idle_timeout(None)
            .connection_timeout(OPENING_TIMEOUT)
            .build(Opener { manager, alive })
            .map_err(|error| {
                Error::caused(ErrorKind::Io, "no connection for reading could be opened", error)
            })?;
        Ok(Self { pool, _closed: closed, read_timeout_ms: config.read_timeout_ms })
    }

    /// Runs `read` on one snapshot of the file; past the deadline it is stopped.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let reader = self.pool.get_timeout(Duration::from_millis(self.read_timeout_ms)).map_err(|error| {
            Error::caused(ErrorKind::TimedOut, "all connections for reading are in use; raise readers", error)
        })?;
        let answer = read_before(Deadline::after_ms(self.read_timeout_ms), &reader.conn, read);
        if answer.as_ref().is_err_and(poisons_connection) {
            reader.broken.set(true);
        }
        answer
    }
}

fn read_before<T>(
    deadline: Deadline,
    conn: &Connection,
    read: impl FnOnce(&Connection) -> Result<T>,
) -> Result<T> {
    conn.progress_handler(STEPS_BETWEEN_LOOKS, Some(move || deadline.has_passed()))?;
    let tx = conn.unchecked_transaction()?;
    let answer = read(&tx)?;
    tx.commit()?;
    Ok(answer)
}

impl ManageConnection for Opener {
    type Connection = Reader;
    type Error = rusqlite::Error;

    fn connect(&self) -> rusqlite::Result<Reader> {
        Ok(Reader { conn: self.manager.connect()?, broken: Cell::new(false), _alive: self.alive.clone() })
    }

    fn is_valid(&self, reader: &mut Reader) -> rusqlite::Result<()> {
        self.manager.is_valid(&mut reader.conn)
    }

    fn has_broken(&self, reader: &mut Reader) -> bool {
        // One that could not leave its transaction would show the same old snapshot for ever.
        reader.broken.get() || !reader.conn.is_autocommit()
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;
    use tempfile::TempDir;

    use super::*;

    /// Marks the one connection, lets a read on it fail, and looks whether the next read has the same one.
    #[track_caller]
    fn check(error: Error, is_kept: bool) {
        const MARK: i64 = -77;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        std::fs::write(&path, "").unwrap();
        let config = Config { readers: 1, ..Config::default() };
        let readers = Readers::new(&path, &config).unwrap();
        readers.read(|conn| Ok(conn.pragma_update(None, "cache_size", MARK)?)).unwrap();
        readers.read(|_| Err::<(), _>(error)).unwrap_err();
        let cache_size: i64 =
            readers.read(|conn| Ok(conn.query_row("PRAGMA cache_size", [], |row| row.get(0))?)).unwrap();
        assert_eq!(cache_size == MARK, is_kept, "{cache_size}");
    }

    fn sqlite(code: i32) -> Error {
        Error::from(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None))
    }

    #[test]
    fn after_the_disk_has_failed_the_next_read_has_another_connection() {
        check(sqlite(ffi::SQLITE_IOERR), false);
        check(sqlite(ffi::SQLITE_CORRUPT), false);
    }

    #[test]
    fn other_failures_keep_the_connection() {
        check(Error::not_found("there is no such turn"), true);
        check(sqlite(ffi::SQLITE_INTERRUPT), true);
    }

    fn readers() -> (TempDir, Readers) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.db");
        std::fs::write(&path, "").unwrap();
        let conn = connect::writer(&path, &Config::default()).unwrap();
        conn.execute_batch("CREATE TABLE notes(n); INSERT INTO notes VALUES (7)").unwrap();
        (folder, Readers::new(&path, &Config::default()).unwrap())
    }

    fn number(conn: &Connection, sql: &str) -> Result<i64> {
        Ok(conn.query_row(sql, [], |row| row.get(0))?)
    }

    #[test]
    fn a_read_past_its_deadline_is_stopped_and_the_next_one_is_served() {
        let (_folder, mut readers) = readers();
        readers.read_timeout_ms = 1;
        // As good as for ever; the bound lets the test fail, not hang, if nobody stops it.
        let endless = "WITH RECURSIVE up(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up LIMIT 100000000)
                       SELECT count(*) FROM up";
        for _ in 0..3 {
            let error = readers.read(|conn| number(conn, endless)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::TimedOut);
        }
        readers.read_timeout_ms = 60_000;
        assert_eq!(readers.read(|conn| number(conn, "SELECT n FROM notes")).unwrap(), 7);
    }

    #[test]
    fn no_read_can_write() {
        let (_folder, readers) = readers();
        readers
            .read(|conn| {
                assert_eq!(number(conn, "PRAGMA query_only")?, 1);
                assert_eq!(number(conn, "PRAGMA trusted_schema")?, 0);
                assert!(conn.is_readonly("main")?);
                conn.execute("DELETE FROM notes", []).unwrap_err();
                Ok(())
            })
            .unwrap();
    }

    #[test]
    fn a_read_sees_one_moment_of_the_file() {
        let (folder, readers) = readers();
        let count = |conn: &Connection| number(conn, "SELECT count(*) FROM notes");
        readers
            .read(|conn| {
                assert_eq!(count(conn)?, 1);
                let writer = connect::writer(&folder.path().join("r.db"), &Config::default())?;
                writer.execute("INSERT INTO notes VALUES (8)", [])?;
                assert_eq!(count(conn)?, 1);
                Ok(())
            })
            .unwrap();
        assert_eq!(readers.read(count).unwrap(), 2);
    }
}
