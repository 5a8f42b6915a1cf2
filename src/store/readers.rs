//! Reading: a pool of connections that cannot write, and a deadline for each read.

use std::{path::Path, time::Duration};

use r2d2::Pool;
use r2d2_sqlite::SqliteConnectionManager;
use rusqlite::Connection;

use crate::{
    clock::Deadline,
    config::Config,
    error::{Error, ErrorKind, Result},
    store::connect,
};

/// Virtual machine steps between two looks at the deadline: a look costs about as much as two steps.
const STEPS_BETWEEN_LOOKS: i32 = 10_000;

/// How long the connections may take to open, all together.
const OPENING_TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub(crate) struct Readers {
    pool: Pool<SqliteConnectionManager>,
    read_timeout_ms: u64,
}

impl Readers {
    pub(crate) fn new(path: &Path, config: &Config) -> Result<Self> {
        let manager = SqliteConnectionManager::file(path)
            .with_flags(connect::READ_ONLY)
            .with_init(|conn| connect::prepare_reader(conn));
        let pool = Pool::builder()
            .max_size(config.readers)
            // All are opened now: one opened behind our back could be the last to close, and leave its files behind.
            // A connection to a local file does not go away.
            .test_on_check_out(false)
            .max_lifetime(None)
            .idle_timeout(None)
            .connection_timeout(OPENING_TIMEOUT)
            .build(manager)
            .map_err(|error| {
                Error::caused(ErrorKind::Io, "no connection for reading could be opened", error)
            })?;
        Ok(Self { pool, read_timeout_ms: config.read_timeout_ms })
    }

    /// Runs `read` on one snapshot of the file; past the deadline it is stopped.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let conn = self.pool.get_timeout(Duration::from_millis(self.read_timeout_ms)).map_err(|error| {
            Error::caused(ErrorKind::TimedOut, "all connections for reading are in use; raise readers", error)
        })?;
        let deadline = Deadline::after_ms(self.read_timeout_ms);
        conn.progress_handler(STEPS_BETWEEN_LOOKS, Some(move || deadline.has_passed()))?;
        let tx = conn.unchecked_transaction()?;
        let answer = read(&tx)?;
        tx.commit()?;
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

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
