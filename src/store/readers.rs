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
            .min_idle(Some(1))
            // A connection to a local file does not go away.
            .test_on_check_out(false)
            .max_lifetime(None)
            .idle_timeout(None)
            .connection_timeout(Duration::from_millis(config.read_timeout_ms))
            .build(manager)
            .map_err(|error| {
                Error::caused(ErrorKind::Io, "no connection for reading could be opened", error)
            })?;
        Ok(Self { pool, read_timeout_ms: config.read_timeout_ms })
    }

    /// Runs `read` on one snapshot of the file; past the deadline it is stopped.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let conn = self.pool.get().map_err(|error| {
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
