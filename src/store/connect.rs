//! Connections, and the settings that each of them must have.

use std::{path::Path, time::Duration};

use rusqlite::{Connection, OpenFlags, config::DbConfig};

use crate::{
    config::{Config, Durability},
    error::{Error, ErrorKind, Result},
};

/// How long a connection waits for another process's lock before it says so.
pub(crate) const BUSY_TIMEOUT_MS: u32 = 5_000;
/// Pages in the WAL after which the writer checkpoints, once it has acknowledged: 4 MB, as SQLite's own default.
pub(crate) const CHECKPOINT_PAGES: i32 = 1_000;

const WRITER_CACHE_KIB: i32 = 2_048;
const READER_CACHE_KIB: i32 = 1_024;

/// The one connection that writes. It checkpoints by itself only when it is told to: a checkpoint inside a
/// commit would be paid by a caller who waits.
pub(crate) fn writer(path: &Path, config: &Config) -> Result<Connection> {
    let mut conn = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    prepare(&conn)?;
    if conn.is_readonly("main")? {
        return Err(Error::new(ErrorKind::ReadOnly, format!("{} cannot be written", path.display())));
    }
    conn.set_transaction_behavior(rusqlite::TransactionBehavior::Immediate);
    let mode: String = conn.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        return Err(Error::new(
            ErrorKind::Unsupported,
            format!("{} lies on a file system where SQLite's WAL does not work ({mode})", path.display()),
        ));
    }
    conn.busy_timeout(Duration::from_millis(config.record_timeout_ms.min(BUSY_TIMEOUT_MS.into())))?;
    let synchronous = match config.durability {
        Durability::Full => "FULL",
        Durability::Relaxed => "NORMAL",
    };
    conn.execute_batch(&format!(
        "PRAGMA synchronous = {synchronous};
         PRAGMA cache_size = -{WRITER_CACHE_KIB};
         PRAGMA secure_delete = ON;
         PRAGMA journal_size_limit = 16777216;
         PRAGMA wal_autocheckpoint = 0;"
    ))?;
    Ok(conn)
}

/// A connection that cannot write.
pub(crate) fn reader(path: &Path) -> Result<Connection> {
    let conn = Connection::open_with_flags(path, READ_ONLY)?;
    prepare_reader(&conn)?;
    Ok(conn)
}

/// How a connection that cannot write is opened ...
pub(crate) const READ_ONLY: OpenFlags =
    OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// ... and set up.
pub(crate) fn prepare_reader(conn: &Connection) -> rusqlite::Result<()> {
    prepare(conn)?;
    conn.execute_batch(&format!("PRAGMA query_only = ON; PRAGMA cache_size = -{READER_CACHE_KIB};"))
}

fn prepare(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute_batch(&format!(
        "PRAGMA busy_timeout = {BUSY_TIMEOUT_MS};
         PRAGMA foreign_keys = ON;
         PRAGMA trusted_schema = OFF;
         PRAGMA temp_store = MEMORY;
         PRAGMA mmap_size = 0;"
    ))?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.set_prepared_statement_cache_capacity(64);
    Ok(())
}
