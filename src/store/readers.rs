//! Reading: a pool of connections that cannot write, and a deadline for each read.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard},
    time::Duration,
};

use rusqlite::Connection;

use crate::{
    clock::Deadline,
    config::Config,
    error::{Error, ErrorKind, Result},
    store::{errors::poisons_connection, file::DbFile},
};

/// Virtual machine steps between two looks at the deadline: a look costs about as much as two steps.
const STEPS_BETWEEN_LOOKS: i32 = 10_000;

/// Connections are opened when they are first needed, and kept.
#[derive(Debug)]
pub(crate) struct Readers {
    file: Arc<DbFile>,
    pool: Mutex<Pool>,
    /// Told when a connection came back, or went.
    returned: Condvar,
    max: u32,
    read_timeout_ms: u64,
}

#[derive(Debug)]
struct Pool {
    idle: Vec<Connection>,
    /// How many there are, idle or in use.
    open: u32,
}

/// A connection in use. Dropping it gives it back.
struct Taken<'a> {
    readers: &'a Readers,
    /// `None` only while it is dropped.
    conn: Option<Connection>,
    /// Whether another read may have it. Not if the disk has failed under it, or a read has panicked.
    is_sound: bool,
}

impl Readers {
    pub(crate) fn new(file: Arc<DbFile>, config: &Config) -> Result<Self> {
        let pool = Pool { idle: vec![file.reader()?], open: 1 };
        Ok(Self {
            file,
            pool: Mutex::new(pool),
            returned: Condvar::new(),
            max: config.readers,
            read_timeout_ms: config.read_timeout_ms,
        })
    }

    /// Runs `read` on one snapshot of the file; past the deadline it is stopped.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        self.file.noticed()?;
        let mut taken = self.take()?;
        let conn = taken.conn.as_ref().expect("it is dropped below");
        let answer = read_before(Deadline::after_ms(self.read_timeout_ms), conn, read);
        taken.is_sound = !answer.as_ref().is_err_and(poisons_connection);
        drop(taken);
        // Beside another file even a snapshot cannot be trusted: that one's log may lie where ours did.
        self.file.check_itself()?;
        answer
    }

    /// Drops the connections that nobody uses; those in use go when they are given back, if the file is lost.
    pub(crate) fn let_go(&self) {
        let mut pool = self.lock();
        pool.open = pool.open.saturating_sub(u32::try_from(pool.idle.len()).unwrap_or(u32::MAX));
        pool.idle.clear();
    }

    fn take(&self) -> Result<Taken<'_>> {
        let deadline = Deadline::after_ms(self.read_timeout_ms);
        let mut pool = self.lock();
        loop {
            if let Some(conn) = pool.idle.pop() {
                return Ok(Taken { readers: self, conn: Some(conn), is_sound: false });
            }
            if pool.open < self.max {
                break;
            }
            let remaining = deadline.remaining();
            if remaining == Duration::ZERO {
                return Err(Error::new(
                    ErrorKind::TimedOut,
                    "all connections for reading are in use; raise readers",
                ));
            }
            pool = self.returned.wait_timeout(pool, remaining).expect("no one panics with the pool").0;
        }
        pool.open += 1;
        drop(pool);
        // If it cannot be opened, the caller hears why, at once.
        let mut taken = Taken { readers: self, conn: None, is_sound: false };
        taken.conn = Some(self.file.reader()?);
        Ok(taken)
    }

    fn lock(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().expect("no one panics with the pool")
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        // One that could not leave its transaction would show the same old snapshot for ever.
        let is_kept =
            |conn: &Connection| self.is_sound && conn.is_autocommit() && self.readers.file.noticed().is_ok();
        let kept = self.conn.take().filter(is_kept); // One that is not kept is closed here, not under the lock.
        let mut pool = self.readers.lock();
        match kept {
            Some(conn) => pool.idle.push(conn),
            None => pool.open -= 1,
        }
        drop(pool);
        self.readers.returned.notify_one();
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

#[cfg(test)]
mod tests {
    use rusqlite::ffi;
    use tempfile::TempDir;

    use super::*;
    use crate::store::{connect, open};

    /// Marks the one connection, lets a read on it fail, and looks whether the next read has the same one.
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
    fn if_no_connection_can_be_opened_the_read_says_why_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let (file, writer) = open::open(&folder.path().join("r.db"), &Config::default()).unwrap();
        writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        let config = Config { readers: 1, ..Config::default() };
        let readers = Readers::new(Arc::new(file), &config).unwrap();
        // What was there can be read no more: not by this connection, and by no other.
        std::fs::write(folder.path().join("r.db"), [0xff; 8_192]).unwrap();
        readers.read(|_| Err::<(), _>(sqlite(ffi::SQLITE_IOERR))).unwrap_err();
        for _ in 0..3 {
            let error = readers.read(|conn| number(conn, "SELECT count(*) FROM users")).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        }
    }

    #[test]
    fn while_all_connections_are_in_use_a_read_waits_and_then_says_so() {
        let (_folder, mut readers) = readers();
        readers.max = 1;
        readers.read_timeout_ms = 20;
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
