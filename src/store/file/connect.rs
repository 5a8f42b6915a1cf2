//! Opens connections with the settings that every connection must have.

use std::{path::Path, time::Duration};

use rusqlite::{Connection, OpenFlags, config::DbConfig};

use crate::{
    config::{Config, Durability},
    error::{Error, ErrorKind, Result},
    store::file::{row_check, shrink},
};

/// How long a connection waits for another process's lock before it returns `SQLITE_BUSY`.
pub(crate) const BUSY_TIMEOUT_MS: u32 = 5_000;

const WRITER_CACHE_KIB: i32 = 2_048;
const READER_CACHE_KIB: i32 = 1_024;

/// Returns how long SQLite itself waits for another process's lock before the writer checks its deadlines.
pub(crate) fn writers_patience(config: &Config) -> Duration {
    config.record_timeout.min(Duration::from_millis(BUSY_TIMEOUT_MS.into()))
}

/// Opens the only connection that writes.
pub(crate) fn writer(path: &Path, config: &Config) -> Result<Connection> {
    let conn = writer_before_migration(path, config)?;
    row_check::keep(&conn)?;
    Ok(conn)
}

/// Opens the writer's connection to a file whose tables may still need a migration.
///
/// The connection has no automatic checkpoints, because a caller would wait for a checkpoint inside its commit. When it
/// closes, it copies and removes nothing unless [`tidies_on_close`] was called: SQLite removes the files next to the
/// database by name, even if other files have taken their names.
pub(crate) fn writer_before_migration(path: &Path, config: &Config) -> Result<Connection> {
    let mut conn = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    prepare(&conn)?;
    check(&conn, path)?;
    conn.set_transaction_behavior(rusqlite::TransactionBehavior::Immediate);
    shrink::prepare(&conn)?; // Has an effect only before the file has its first page.
    let mode: String = conn.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        return Err(Error::new(
            ErrorKind::Unsupported,
            format!("{} is on a file system where SQLite's WAL does not work ({mode})", path.display()),
        ));
    }
    conn.busy_timeout(writers_patience(config))?;
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
    row_check::add_functions(&conn)?;
    Ok(conn)
}

/// Checks that the file can be written, without writing to it.
pub(crate) fn check_writable(path: &Path) -> Result<()> {
    check(&Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?, path)
}

/// Fails if the connection is read-only: SQLite opens a file read-only if the process may not write it.
fn check(conn: &Connection, path: &Path) -> Result<()> {
    if conn.is_readonly("main")? {
        return Err(Error::new(ErrorKind::ReadOnly, format!("{} cannot be written", path.display())));
    }
    Ok(())
}

/// Makes the connection, if it is the last one to close, checkpoint and remove the files next to the database.
pub(crate) fn tidies_on_close(conn: &Connection) -> rusqlite::Result<()> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map(drop)
}

/// Returns a number that changes whenever another connection has committed.
pub(crate) fn data_version(conn: &Connection) -> rusqlite::Result<i64> {
    conn.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))
}

/// Opens a connection that cannot write.
pub(crate) fn reader(path: &Path) -> Result<Connection> {
    reader_of((path, READ_ONLY))
}

/// Opens a connection that cannot write, to the file with this name and with these flags.
pub(crate) fn reader_of((name, flags): (&Path, OpenFlags)) -> Result<Connection> {
    let conn = Connection::open_with_flags(name, flags)?;
    prepare_reader(&conn)?;
    Ok(conn)
}

/// The flags of a connection that cannot write.
pub(crate) const READ_ONLY: OpenFlags =
    OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// Sets up a connection that cannot write.
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
    // With this setting each statement is planned once. Without it, SQLite plans some again when bound values change.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.set_prepared_statement_cache_capacity(64);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rusqlite::types::Value;
    use tempfile::TempDir;

    use super::*;
    use crate::{
        config::Config,
        store::{Store, sql::values},
    };

    /// Creates a file with our tables, and returns its folder, which is removed on drop, and its path.
    fn file() -> (TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.db");
        Store::open(&path, Config::default()).unwrap().close().unwrap();
        (folder, path)
    }

    #[track_caller]
    fn check(conn: &Connection, settings: &[(&str, i64)]) {
        for &(name, expected) in settings {
            let value: i64 = conn.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0)).unwrap();
            assert_eq!(value, expected, "{name}");
        }
        let timeout_ms: i64 = conn.query_row("PRAGMA busy_timeout", [], |row| row.get(0)).unwrap();
        assert!(timeout_ms > 0, "a connection that meets a lock waits");
        assert!(conn.db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE).unwrap());
    }

    const OF_EVERY_CONNECTION: &[(&str, i64)] =
        &[("foreign_keys", 1), ("trusted_schema", 0), ("temp_store", 2), ("mmap_size", 0)];

    #[test]
    fn no_setting_is_left_to_what_this_build_of_sqlite_begins_with() {
        let (_folder, path) = file();
        let conn = Connection::open_with_flags(&path, READ_ONLY).unwrap();
        let others = "PRAGMA busy_timeout = 0; PRAGMA foreign_keys = OFF; PRAGMA trusted_schema = ON;
                      PRAGMA temp_store = FILE; PRAGMA mmap_size = 65536;";
        conn.execute_batch(others).unwrap();
        prepare(&conn).unwrap();
        check(&conn, OF_EVERY_CONNECTION);
    }

    #[test]
    fn the_writer_has_its_settings() {
        let (_folder, path) = file();
        for (durability, synchronous) in [(Durability::Full, 2), (Durability::Relaxed, 1)] {
            let conn = writer(&path, &Config { durability, ..Config::default() }).unwrap();
            check(&conn, OF_EVERY_CONNECTION);
            check(
                &conn,
                &[
                    ("synchronous", synchronous),
                    ("secure_delete", 1),
                    ("journal_size_limit", 16_777_216),
                    ("wal_autocheckpoint", 0),
                    ("query_only", 0),
                ],
            );
            let mode: Value = conn.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
            assert_eq!(mode, Value::Text("wal".to_owned()));
        }
    }

    #[test]
    fn no_statement_of_the_writer_changes_the_schema_behind_its_back() {
        let (_folder, path) = file();
        let conn = writer(&path, &Config::default()).unwrap();
        conn.execute_batch("PRAGMA writable_schema = ON").unwrap();
        conn.execute("UPDATE sqlite_schema SET sql = sql", []).unwrap_err();
    }

    #[test]
    fn a_reader_has_its_settings_and_cannot_write() {
        let (_folder, path) = file();
        let conn = reader(&path).unwrap();
        check(&conn, OF_EVERY_CONNECTION);
        check(&conn, &[("query_only", 1)]);
        assert!(conn.is_readonly("main").unwrap(), "two locks: the file is opened for reading alone");
        conn.execute("DELETE FROM user_scopes", []).unwrap_err();
        conn.execute_batch("PRAGMA query_only = OFF").unwrap();
        conn.execute("DELETE FROM user_scopes", []).unwrap_err();
    }

    #[tokio::test]
    async fn the_log_is_copied_into_the_file_before_it_grows_large() {
        const WRITES: u64 = 400;
        const WRITE_BYTES: u64 = 60_000; // As a long turn. Blobs, since counting so many words takes 15 s.
        const LIMIT_BYTES: u64 = 12_000_000;
        const { assert!(WRITES * WRITE_BYTES >= 2 * LIMIT_BYTES) } // The log's size without checkpoints.
        let folder = tempfile::tempdir().unwrap();
        let config = Config { durability: Durability::Relaxed, ..Config::default() };
        let store = Store::open(&folder.path().join("c.db"), config).unwrap();
        store.write(|tx| tx.sql.change("CREATE TABLE long(text)", &[])).await.unwrap();
        let mut largest = 0;
        for _ in 0..WRITES {
            let insert = "INSERT INTO long VALUES (zeroblob(?1))";
            store.write(move |tx| tx.sql.change(insert, values![WRITE_BYTES])).await.unwrap();
            largest = largest.max(fs::metadata(folder.path().join("c.db-wal")).unwrap().len());
        }
        assert!((WRITE_BYTES..LIMIT_BYTES).contains(&largest), "the log grew to {largest} bytes");
    }
}
