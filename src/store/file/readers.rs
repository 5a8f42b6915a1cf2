//! Read transactions, and a pool of connections that cannot write. A transaction on one of these connections has a deadline.

use std::{
    cell::Cell,
    ops::Deref,
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use r2d2::{ManageConnection, NopErrorHandler, Pool, PooledConnection};
use r2d2_sqlite::SqliteConnectionManager;
use rusqlite::Connection;

use crate::{
    clock::Deadline,
    config::Config,
    error::{Error, ErrorKind, Result},
    store::file::{connect, db_file::DbFile, errors::poisons_connection},
};

/// The number of SQLite's virtual machine steps between two checks of the deadline. A check costs about as much as two
/// steps.
const STEPS_BETWEEN_LOOKS: i32 = 10_000;

/// How long a caller waits for a free connection before it checks whether any connection can be opened.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// How long opening the first connection may take.
const OPENING_TIMEOUT: Duration = Duration::from_secs(20);

/// The longest pause before the pool tries again to open a connection that could not be opened.
const LONGEST_RETRY: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct Readers {
    file: Arc<DbFile>,
    pool: Pool<Opener>,
    // Dropped after the pool.
    _closed: AllClosed,
    refused: Arc<Mutex<Option<Error>>>,
    read_timeout: Duration,
}

/// A guard that waits on drop until the pool and all its connections are gone, at most for `timeout`.
///
/// The pool opens connections on its own threads, which may keep it alive for a moment after we have dropped it. A
/// connection that outlived the writer once kept the files next to the database from being removed.
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
#[derive(Debug)]
struct PooledReader {
    conn: Connection,
    /// Whether the disk has failed under this connection. If so, the pool closes and replaces it.
    broken: Cell<bool>,
    _alive: mpsc::Sender<()>, // Dropped last.
}

/// Opens the pool's connections, and decides which of them must be closed.
#[derive(Debug)]
struct Opener {
    file: Arc<DbFile>,
    manager: SqliteConnectionManager,
    /// The error of the last attempt to open a connection. `None` if it succeeded.
    refused: Arc<Mutex<Option<Error>>>,
    alive: mpsc::Sender<()>,
}

impl Readers {
    pub(crate) fn new(file: Arc<DbFile>, config: &Config) -> Result<Self> {
        let (name, flags) = file.source();
        let manager = SqliteConnectionManager::file(name)
            .with_flags(flags)
            .with_init(|conn| connect::prepare_reader(conn));
        let (alive, ended) = mpsc::channel();
        let timeout = config.close_timeout;
        let closed = AllClosed { ended: Mutex::new(ended), timeout };
        let refused = Arc::default();
        let opener = Opener { file: Arc::clone(&file), manager, refused: Arc::clone(&refused), alive };
        let pool = Pool::builder()
            .max_size(config.readers)
            // No connections are opened in advance: one that is still being opened when the file is closed would be a reader
            // that keeps the log from being emptied.
            .min_idle(Some(0))
            // A connection to a local file does not break by itself.
            .test_on_check_out(false)
            .max_lifetime(None)
            .idle_timeout(None)
            .connection_timeout(2 * LONGEST_RETRY) // The pool waits at most half of this between tries.
            .error_handler(Box::new(NopErrorHandler))
            .build_unchecked(opener);
        let readers = Self { file, pool, _closed: closed, refused, read_timeout: config.read_timeout };
        readers.take(Deadline::after(OPENING_TIMEOUT))?; // A permanent failure is reported when the file is opened.
        Ok(readers)
    }

    /// Begins a read transaction. Its statements are interrupted once `Config::read_timeout` has passed.
    pub(crate) fn begin(&self) -> Result<ReadTransaction> {
        self.begin_within(self.read_timeout)
    }

    /// Like `begin`, with this time limit.
    pub(crate) fn begin_within(&self, timeout: Duration) -> Result<ReadTransaction> {
        self.file.noticed()?;
        let deadline = Deadline::after(timeout);
        let reader = self.take(deadline)?;
        reader.conn.progress_handler(STEPS_BETWEEN_LOOKS, Some(move || deadline.has_passed()))?;
        ReadTransaction::begin(HeldConnection::Pooled(reader))
    }

    /// Closes unused connections. Called once the file is lost: connections in use are then closed when they are returned.
    pub(crate) fn let_go(&self) {
        let idle: Vec<_> = std::iter::from_fn(|| self.pool.try_get()).collect();
        for reader in &idle {
            reader.broken.set(true);
        }
    }

    fn take(&self, deadline: Deadline) -> Result<PooledConnection<Opener>> {
        loop {
            if let Ok(reader) = self.pool.get_timeout(deadline.remaining().min(BETWEEN_LOOKS)) {
                return Ok(reader);
            }
            let refused = self.refused.lock().expect("no one panics with it").clone();
            // As long as the pool has connections, one of them will be returned to it.
            let is_hopeless = self.pool.state().connections == 0 || deadline.has_passed();
            if let Some(why) = refused.filter(|_| is_hopeless) {
                return Err(why);
            }
            if deadline.has_passed() {
                let message = "all connections for reading are in use; raise readers";
                return Err(Error::new(ErrorKind::TimedOut, message));
            }
        }
    }
}

impl ManageConnection for Opener {
    type Connection = PooledReader;
    type Error = Error;

    fn connect(&self) -> Result<PooledReader> {
        let conn = self.file.opening(|_| Ok(self.manager.connect()?));
        let refused = conn.as_ref().err().cloned();
        *self.refused.lock().expect("no one panics with it") = refused;
        Ok(PooledReader { conn: conn?, broken: Cell::new(false), _alive: self.alive.clone() })
    }

    fn is_valid(&self, reader: &mut PooledReader) -> Result<()> {
        Ok(self.manager.is_valid(&mut reader.conn)?)
    }

    fn has_broken(&self, reader: &mut PooledReader) -> bool {
        // A connection that is stuck in its transaction would see the same old state of the file for ever.
        reader.broken.get() || !reader.conn.is_autocommit() || self.file.noticed().is_err()
    }
}

/// A read transaction, which sees one moment of the file and ends on drop.
#[derive(Debug)]
pub(crate) struct ReadTransaction(HeldConnection);

#[derive(Debug)]
enum HeldConnection {
    Pooled(PooledConnection<Opener>),
    /// A connection outside the pool, for long reads without a deadline.
    Own(Connection),
}

impl ReadTransaction {
    /// Begins a read transaction on a new connection and without a deadline.
    pub(crate) fn at_leisure(file: &DbFile) -> Result<Self> {
        Self::begin(HeldConnection::Own(file.reader()?))
    }

    fn begin(held: HeldConnection) -> Result<Self> {
        let reading = Self(held);
        let begun = reading.prepare_cached("BEGIN").and_then(|mut begin| begin.execute([]));
        begun.map_err(|error| {
            let error = error.into();
            reading.heard(&error);
            error
        })?;
        Ok(reading)
    }

    /// Takes note of an error of a read: a connection under which the disk has failed is not used again.
    pub(crate) fn heard(&self, error: &Error) {
        if let HeldConnection::Pooled(reader) = &self.0
            && poisons_connection(error)
        {
            reader.broken.set(true);
        }
    }
}

impl Deref for ReadTransaction {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        match &self.0 {
            HeldConnection::Pooled(reader) => &reader.conn,
            HeldConnection::Own(conn) => conn,
        }
    }
}

impl Drop for ReadTransaction {
    /// Ends the transaction with a rollback, because a commit fails after a statement that met a damaged page.
    fn drop(&mut self) {
        // If the rollback fails, the pool does not use the connection again.
        let _ = self.prepare_cached("ROLLBACK").and_then(|mut rollback| rollback.execute([]));
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;
    use tempfile::TempDir;

    use super::*;
    use crate::store::file::open;

    impl Readers {
        /// Reads as the store does, so that the pool takes note of errors.
        fn read<T>(&self, read: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
            let reading = self.begin()?;
            read(&reading).inspect_err(|error| reading.heard(error))
        }
    }

    /// Marks the only connection, makes a read on it fail, and checks whether the next read gets the same connection.
    #[track_caller]
    fn check(error: Error, is_kept: bool) {
        const MARK: i64 = -77;
        let folder = tempfile::tempdir().unwrap();
        let (file, _writer) = open::open(&folder.path().join("memory.db"), &Config::default()).unwrap();
        let config = Config { readers: 1, ..Config::default() };
        let readers = Readers::new(Arc::new(file), &config).unwrap();
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
        let (file, conn) = open::open(&folder.path().join("r.db"), &Config::default()).unwrap();
        conn.execute_batch("CREATE TABLE notes(n); INSERT INTO notes VALUES (7)").unwrap();
        (folder, Readers::new(Arc::new(file), &Config::default()).unwrap())
    }

    fn number(conn: &Connection, sql: &str) -> Result<i64> {
        Ok(conn.query_row(sql, [], |row| row.get(0))?)
    }

    #[test]
    fn a_read_past_its_deadline_is_stopped_and_the_next_one_is_served() {
        let (_folder, mut readers) = readers();
        readers.read_timeout = Duration::from_millis(1);
        // Practically endless. If nothing interrupts it, its limit makes the test fail instead of hang.
        let endless = "WITH RECURSIVE up(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up LIMIT 100000000)
                       SELECT count(*) FROM up";
        for _ in 0..3 {
            let error = readers.read(|conn| number(conn, endless)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::TimedOut);
        }
        readers.read_timeout = Duration::from_mins(1);
        assert_eq!(readers.read(|conn| number(conn, "SELECT n FROM notes")).unwrap(), 7);
    }

    #[test]
    fn if_no_connection_can_be_opened_the_read_says_why_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let (file, writer) = open::open(&folder.path().join("r.db"), &Config::default()).unwrap();
        writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        let config = Config { readers: 1, ..Config::default() };
        let readers = Readers::new(Arc::new(file), &config).unwrap();
        // From here on no connection can read the file's contents.
        std::fs::write(folder.path().join("r.db"), [0xff; 8_192]).unwrap();
        readers.read(|_| Err::<(), _>(sqlite(ffi::SQLITE_IOERR))).unwrap_err();
        for _ in 0..3 {
            let error = readers.read(|conn| number(conn, "SELECT count(*) FROM users")).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        }
    }

    #[test]
    fn while_all_connections_are_in_use_a_read_waits_and_then_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let (file, _writer) = open::open(&folder.path().join("r.db"), &Config::default()).unwrap();
        let config = Config { readers: 1, ..Config::default() };
        let mut readers = Readers::new(Arc::new(file), &config).unwrap();
        readers.read_timeout = Duration::from_millis(20);
        let nested = readers.read(|_| Ok(readers.read(|_| Ok(())).unwrap_err())).unwrap();
        assert_eq!(nested.kind(), ErrorKind::TimedOut);
        readers.read(|_| Ok(())).unwrap();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            readers.read(|_| -> Result<()> { panic!("on purpose") })
        }));
        assert!(panicked.is_err());
        readers.read(|_| Ok(())).unwrap();
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
