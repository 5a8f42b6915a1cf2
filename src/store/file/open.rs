//! Opening a file: is it ours, may it become ours, and is it ready.
//!
//! All refusals come before the first byte is written.

use std::{
    fs::{self, OpenOptions},
    io::ErrorKind as IoKind,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use rusqlite::{Connection, OptionalExtension};

use crate::{
    clock::Deadline,
    config::Config,
    error::{Error, ErrorKind, Result},
    store::file::{
        connect,
        db_file::{self, DbFile},
        errors::from_io,
        migrate, paper, row_check,
    },
};

/// Marks files that Thermocline made (`ThCl` in ASCII).
pub(crate) const APPLICATION_ID: i32 = 0x5468_436c;

/// Older versions can damage a file when two connections write and checkpoint at the same instant
/// (sqlite.org/wal.html, the WAL-reset bug).
const OLDEST_SQLITE: i32 = 3_051_003;

/// How long opening waits for other processes that open the same file.
const OPEN_TIMEOUT: Duration = Duration::from_secs(20);

/// Makes the file ready and gives it back with the writer's connection.
pub(crate) fn open(path: &Path, config: &Config) -> Result<(DbFile, Connection)> {
    check_sqlite(rusqlite::version_number())?;
    let path = checked_path(path)?;
    if !config.must_exist {
        create(&path)?;
    }
    let path = resolved(path, config)?;
    let deadline = Deadline::after(OPEN_TIMEOUT);
    loop {
        match prepare(&path, config) {
            // Another process is opening the same file: changing to WAL does not wait by itself.
            Err(error) if error.kind() == ErrorKind::Busy && !deadline.has_passed() => {
                thread::sleep(Duration::from_millis(10));
            }
            prepared => return prepared,
        }
    }
}

fn prepare(path: &Path, config: &Config) -> Result<(DbFile, Connection)> {
    let found = examine(path, config)?;
    if config.must_exist && matches!(found, Found::Empty | Found::Backend) {
        return Err(Error::not_found(format!("there is no memory in {} yet", path.display())));
    }
    db_file::check_one_name(path)?;
    let key = db_file::file_key(path).map_err(|error| from_io(error, path))?;
    let mut conn =
        connect::writer_before_migration(path, config).map_err(|error| explain_unwritable(error, path))?;
    if found == Found::Empty {
        conn.execute_batch(&format!("PRAGMA application_id = {APPLICATION_ID}"))?;
    }
    if found != Found::Current {
        migrate::migrate(&mut conn)?;
    }
    row_check::seal(&conn)?;
    row_check::keep(&conn)?;
    Ok((DbFile::opened(path.to_owned(), key, &conn)?, conn))
}

/// What lies at the path.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    /// Nothing yet.
    Empty,
    /// Our tables, of this version.
    Current,
    /// Our tables, of an older version.
    Older,
    /// A backend's database with a table of users, and none of our tables.
    Backend,
}

/// Looks without writing; refuses what is neither ours nor may become ours.
fn examine(path: &Path, config: &Config) -> Result<Found> {
    let file_len = match fs::metadata(path) {
        Err(error) if error.kind() == IoKind::NotFound && config.must_exist => 0,
        file => file.map_err(|error| from_io(error, path))?.len(),
    };
    if file_len == 0 {
        return Ok(Found::Empty);
    }
    let conn = look(path).map_err(|error| explain_unwritable(error, path))?;
    let application_id: i32 = conn
        .query_row("PRAGMA application_id", [], |row| row.get(0))
        .map_err(|error| at(error.into(), path))?;
    if application_id != 0
        && application_id != APPLICATION_ID
        && config.backend_application_id != Some(application_id)
    {
        return Err(Error::new(
            ErrorKind::ForeignFile,
            format!(
                "{} is another program's database (application_id {application_id:#x}); choose another path, or \
                 name that id in backend_application_id if it is your backend's",
                path.display()
            ),
        ));
    }
    if let Some(version) = migrate::version(&conn)? {
        return match version.cmp(&migrate::LATEST) {
            std::cmp::Ordering::Equal => Ok(Found::Current),
            std::cmp::Ordering::Less => Ok(Found::Older),
            std::cmp::Ordering::Greater => Err(Error::new(
                ErrorKind::NewerSchema,
                format!(
                    "{} has schema version {version}; this build knows up to {}: upgrade Thermocline",
                    path.display(),
                    migrate::LATEST
                ),
            )),
        };
    }
    let tables: i64 = conn.query_row(
        "SELECT count(*) FROM sqlite_schema WHERE tbl_name <> ?1",
        [migrate::HISTORY],
        |row| row.get(0),
    )?;
    if tables == 0 {
        return Ok(Found::Empty);
    }
    if paper::is_papers(&conn)? {
        return Err(Error::new(
            ErrorKind::ForeignFile,
            format!(
                "{} has the tables of the tiering paper, made by another program; `thermocline --db NEW.db replay FILE --user \
                 NAME` (or PaperFile) records its conversations in a file of Thermocline's own",
                path.display()
            ),
        ));
    }
    check_backend(&conn, path)?;
    Ok(Found::Backend)
}

/// A connection to look with. A backend that crashed may have left a journal, which only a connection that may
/// write can roll back: that restores what was there, and is what the backend's next opening would do.
fn look(path: &Path) -> Result<Connection> {
    let can_read = |conn: Connection| -> Result<Connection> {
        conn.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        Ok(conn)
    };
    match connect::reader(path).and_then(can_read) {
        Err(error) if error.kind() == ErrorKind::ReadOnly => {
            can_read(Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE)?)
        }
        looked => looked,
    }
}

/// A database that we did not make is joined only if it looks like a chat backend's: a `users` table with
/// `id BLOB` as its key, and none of our names taken.
fn check_backend(conn: &Connection, path: &Path) -> Result<()> {
    let refuse = |reason: String| {
        Err(Error::new(ErrorKind::ForeignFile, format!("{} cannot be joined: {reason}", path.display())))
    };
    let key_of = |table: &str| -> Result<Option<String>> {
        let columns = "SELECT type FROM pragma_table_info(?1) WHERE name = 'id' COLLATE NOCASE AND pk = 1
                       AND (SELECT count(*) FROM pragma_table_info(?1) WHERE pk > 0) = 1";
        Ok(conn.query_row(columns, [table], |row| row.get(0)).optional()?)
    };
    let has = |name: &str| -> Result<bool> {
        let found = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE)";
        Ok(conn.query_row(found, [name], |row| row.get(0))?)
    };
    for (table, needed) in [("users", true), ("state_snapshots", false)] {
        if !has(table)? {
            if needed {
                return refuse(
                    "it has tables of its own, but no table users(id BLOB PRIMARY KEY)".to_owned(),
                );
            }
            continue;
        }
        match key_of(table)? {
            Some(kind) if kind.eq_ignore_ascii_case("blob") => {}
            _ => return refuse(format!("its table {table} has no key \"id BLOB PRIMARY KEY\"")),
        }
    }
    for name in migrate::OUR_NAMES.iter().filter(|&&name| name != migrate::HISTORY) {
        if has(name)? {
            return refuse(format!("it already has a {name} of its own"));
        }
    }
    Ok(())
}

fn check_sqlite(version: i32) -> Result<()> {
    if version < OLDEST_SQLITE {
        return Err(Error::new(
            ErrorKind::Unsupported,
            format!(
                "this build carries SQLite {version}; {OLDEST_SQLITE} (3.51.3) or newer is needed: its WAL is safe"
            ),
        ));
    }
    Ok(())
}

/// An absolute path: SQLite takes one that starts with `file:` for a URI and `:memory:` for no file at all.
fn checked_path(path: &Path) -> Result<PathBuf> {
    let text = path.to_string_lossy();
    if text.is_empty() || text == ":memory:" || text.starts_with("file:") {
        return Err(Error::invalid(
            "a path to a file is needed: in memory each connection would be its own database, and nothing durable",
        ));
    }
    if path.is_dir() {
        return Err(Error::invalid(format!("{} is a folder; name a file in it", path.display())));
    }
    std::path::absolute(path).map_err(|error| from_io(error, path))
}

/// The path without links: one file has one path, however it is named.
fn resolved(path: PathBuf, config: &Config) -> Result<PathBuf> {
    match fs::canonicalize(&path) {
        Err(error) if error.kind() == IoKind::NotFound && config.must_exist => Ok(path), // `examine` reports it.
        Err(error) if error.kind() == IoKind::NotFound => {
            let message = format!("{} is a link to nothing; mend or remove the link", path.display());
            Err(Error::caused(ErrorKind::NotFound, message, error))
        }
        resolved => resolved.map_err(|error| from_io(error, &path)),
    }
}

/// A new file is the owner's alone; SQLite gives the files beside it the same mode.
fn create(path: &Path) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == IoKind::AlreadyExists => Ok(()),
        Err(error) => Err(from_io(error, path)),
    }
}

/// At opening, a file that cannot be opened or written is a place that cannot be written.
fn explain_unwritable(error: Error, path: &Path) -> Error {
    let cannot_open = std::error::Error::source(&error)
        .and_then(|source| source.downcast_ref::<rusqlite::Error>())
        .and_then(rusqlite::Error::sqlite_error_code)
        == Some(rusqlite::ErrorCode::CannotOpen);
    if cannot_open || error.kind() == ErrorKind::ReadOnly {
        let message = format!(
            "{} cannot be written; the file, its folder, and the -wal and -shm files beside it must be writable",
            path.display()
        );
        return Error::caused(ErrorKind::ReadOnly, message, error);
    }
    at(error, path)
}

/// Names the file in an error that does not.
fn at(error: Error, path: &Path) -> Error {
    Error::caused(error.kind(), format!("{}: {error}", path.display()), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_sqlite_with_the_wal_reset_bug_is_refused() {
        assert_eq!(check_sqlite(3_051_002).unwrap_err().kind(), ErrorKind::Unsupported);
        assert!(check_sqlite(OLDEST_SQLITE).is_ok());
        assert!(check_sqlite(rusqlite::version_number()).is_ok());
    }
}
