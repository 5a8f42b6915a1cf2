//! Opens a file, read-write or read-only, after checking that it is ours or may become ours.
//!
//! A file is refused before anything is written to it, except that a journal left by a crash may be rolled back first. A
//! missing file is created empty.

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
        db_file::{self, DbFile, beside},
        errors::from_io,
        held::{self, Access},
        image::{Image, ImagePaths},
        log_number, migrate,
        page_one::APPLICATION_ID,
        paper, row_check, schema,
    },
};

/// The oldest SQLite version that is accepted, 3.51.3. Older versions can damage a file when two connections write and
/// checkpoint at the same instant (sqlite.org/wal.html, the WAL-reset bug).
const OLDEST_SQLITE: i32 = 3_051_003;

/// How long opening waits for other processes that are opening the same file.
const OPEN_TIMEOUT: Duration = Duration::from_secs(20);

/// Opens a file read-write: creates it if it is missing and may be created, migrates it, and returns it with the writer's
/// connection.
pub(crate) fn open(path: &Path, config: &Config) -> Result<(DbFile, Connection)> {
    check_sqlite(rusqlite::version_number())?;
    let path = checked_path(path)?;
    if !config.must_exist {
        create(&path)?;
    }
    let path = resolved(path, config.must_exist)?;
    check_is_file(&path)?;
    let deadline = Deadline::after(OPEN_TIMEOUT);
    loop {
        match prepare(&path, config) {
            // Another process is opening the same file. SQLite does not wait when it changes the journal mode to WAL.
            Err(error) if error.kind() == ErrorKind::Busy && !deadline.has_passed() => {
                thread::sleep(Duration::from_millis(10));
            }
            prepared => return prepared,
        }
    }
}

/// Returns the path of the file to open or to make at this path.
pub(super) fn place_of(path: &Path) -> Result<PathBuf> {
    let path = resolved(checked_path(path)?, true)?;
    check_is_file(&path)?;
    Ok(path)
}

/// Fails if there is something else at the path than a file, such as a device.
fn check_is_file(path: &Path) -> Result<()> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => {
            let message =
                format!("{} is not a file but a device, a pipe or a socket; name a file", path.display());
            Err(Error::invalid(message))
        }
        _ => Ok(()), // The caller reports a missing file.
    }
}

/// Opens a file read-only. Creates and writes nothing, so the file must be up to date.
pub(crate) fn look_only(path: &Path, config: &Config) -> Result<DbFile> {
    check_sqlite(rusqlite::version_number())?;
    let path = place_of(path)?;
    if file_bytes(&path, true)? == 0 {
        return Err(no_memory(&path));
    }
    db_file::check_one_name(&path)?;
    let key = db_file::file_key(&path).map_err(|error| from_io(error, &path))?;
    log_number::check(&path, &key)?;
    let place = ImagePaths { file: path.clone(), log: beside(&path, "-wal"), shm: beside(&path, "-shm") };
    let image = Image::of(place, || held::open(&path, &key, Access::Read))?;
    let file = DbFile::looked_at(path.clone(), key, image);
    let conn = file.reader().and_then(can_read).map_err(|error| explain_unreadable(error, &path))?;
    let kind = of_schema(&conn, &path, config)?;
    if kind == DatabaseKind::Current {
        schema::check_readable(&conn, &path)?;
    }
    match kind {
        DatabaseKind::Empty | DatabaseKind::Backend => Err(no_memory(&path)),
        DatabaseKind::Current if row_check::is_sealed(&conn)? => Ok(file),
        // `Current` is possible after a crash between the migration and `row_check::seal`.
        DatabaseKind::Older | DatabaseKind::Current => Err(Error::new(
            ErrorKind::ReadOnly,
            format!(
                "{} was last opened by an older version and must be upgraded, which changes it; open it for writing, \
                 or copy it to a writable place and open the copy",
                path.display()
            ),
        )),
    }
}

fn no_memory(path: &Path) -> Error {
    Error::not_found(format!("there is no memory in {} yet", path.display()))
}

fn prepare(path: &Path, config: &Config) -> Result<(DbFile, Connection)> {
    let (found, is_whole) = examine(path, config)?;
    if config.must_exist && matches!(found, DatabaseKind::Empty | DatabaseKind::Backend) {
        return Err(no_memory(path));
    }
    db_file::check_one_name(path)?;
    let key = db_file::file_key(path).map_err(|error| from_io(error, path))?;
    let mut conn =
        connect::writer_before_migration(path, config).map_err(|error| explain_unwritable(error, path))?;
    if found == DatabaseKind::Empty {
        conn.execute_batch(&format!("PRAGMA application_id = {APPLICATION_ID}"))?;
        log_number::begin(&conn)?;
    }
    if found != DatabaseKind::Current {
        migrate::migrate(&mut conn)?;
    }
    row_check::seal(&conn)?;
    if !is_whole {
        let tx = conn.unchecked_transaction()?;
        schema::settle(&tx, path)?;
        tx.commit()?;
    }
    row_check::keep(&conn)?;
    Ok((DbFile::opened(path.to_owned(), key, &conn)?, conn))
}

/// What the file at the path is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DatabaseKind {
    /// A missing or empty file, or a database without tables.
    Empty,
    /// A database with our tables, of this build's schema version.
    Current,
    /// A database with our tables, of an older schema version.
    Older,
    /// A backend's database with a table of users, and none of our tables.
    Backend,
}

/// Examines the file. Writes nothing, except that a journal left by a crash may be rolled back. Fails if the file is neither
/// ours nor may become ours. Returns `true` beside its kind if nothing of its schema is missing.
fn examine(path: &Path, config: &Config) -> Result<(DatabaseKind, bool)> {
    if file_bytes(path, config.must_exist)? == 0 {
        return Ok((DatabaseKind::Empty, true));
    }
    // Before anything is read, because a read may make SQLite create a log next to the file, with the file's mode.
    connect::check_writable(path).map_err(|error| explain_unwritable(error, path))?;
    log_number::check(path, &db_file::file_key(path).map_err(|error| from_io(error, path))?)?;
    let conn = look(path).map_err(|error| explain_unwritable(error, path))?;
    let moment = conn.unchecked_transaction()?; // Another process may be migrating the file.
    let found = of_schema(&moment, path, config)?;
    if found == DatabaseKind::Older
        && let Some(version) = migrate::version(&moment)?
        && let Some(name) = migrate::taken_name(&moment, version)?
    {
        return Err(Error::new(
            ErrorKind::ForeignFile,
            format!(
                "{} cannot be upgraded: it already has {} of its own; rename that, or keep using the \
                 version that last opened it",
                path.display(),
                with_article(name)
            ),
        ));
    }
    let is_whole = config.faults.lets_triggers_be() || schema::check(&moment, path)?.is_empty();
    Ok((found, is_whole))
}

/// Returns the file's size in bytes. A missing file has 0 bytes if `may_be_missing` is true, otherwise it is an error.
fn file_bytes(path: &Path, may_be_missing: bool) -> Result<u64> {
    match fs::metadata(path) {
        Err(error) if error.kind() == IoKind::NotFound && may_be_missing => Ok(0),
        file => Ok(file.map_err(|error| from_io(error, path))?.len()),
    }
}

/// Determines the kind of a database. If it has our tables, their schema version decides. Otherwise its `application_id`
/// must be 0, ours, or the one that the configuration names: a backend's file keeps its own.
pub(super) fn of_schema(conn: &Connection, path: &Path, config: &Config) -> Result<DatabaseKind> {
    if let Some(version) = migrate::version(conn).map_err(|error| at(error, path))? {
        return match version.cmp(&migrate::LATEST) {
            std::cmp::Ordering::Equal => Ok(DatabaseKind::Current),
            std::cmp::Ordering::Less => Ok(DatabaseKind::Older),
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
    let application_id: i32 = conn.query_row("PRAGMA application_id", [], |row| row.get(0))?;
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
    let tables: i64 = conn.query_row(
        "SELECT count(*) FROM sqlite_schema WHERE tbl_name <> ?1",
        [migrate::HISTORY],
        |row| row.get(0),
    )?;
    if tables == 0 {
        return Ok(DatabaseKind::Empty);
    }
    if paper::is_papers(conn)? {
        return Err(Error::new(
            ErrorKind::ForeignFile,
            format!(
                "{} has the tables of the tiering paper, made by another program; `thermocline --db NEW.db replay FILE --user \
                 NAME` (or PaperFile) records its conversations in a file of Thermocline's own",
                path.display()
            ),
        ));
    }
    check_backend(conn, path)?;
    Ok(DatabaseKind::Backend)
}

/// Opens a connection for examining the file.
///
/// A backend that crashed may have left a journal, which only a connection that may write can roll back. The rollback
/// restores the previous state, as the backend's next opening would.
fn look(path: &Path) -> Result<Connection> {
    match connect::reader(path).and_then(can_read) {
        Err(error) if error.kind() == ErrorKind::ReadOnly => {
            can_read(Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE)?)
        }
        looked => looked,
    }
}

fn can_read(conn: Connection) -> Result<Connection> {
    conn.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(conn)
}

/// Checks that our tables can be added to a database that we did not create: it must have a `users` table with the key
/// `id BLOB`, and none of our names.
fn check_backend(conn: &Connection, path: &Path) -> Result<()> {
    let refuse = |reason: String| {
        Err(Error::new(ErrorKind::ForeignFile, format!("{} cannot be joined: {reason}", path.display())))
    };
    for (table, needed) in [("users", true), ("state_snapshots", false)] {
        if !migrate::has(conn, table)? {
            if needed {
                return refuse(format!(
                    "it has tables of its own, but no table users(id BLOB PRIMARY KEY); {APART}"
                ));
            }
            continue;
        }
        if let Some(found) = other_key(conn, table)? {
            return refuse(format!(
                "its table {table} {found}, and \"id BLOB PRIMARY KEY\" is needed, a UUID in 16 bytes; {APART}"
            ));
        }
    }
    for name in migrate::OUR_NAMES.iter().filter(|&&name| name != migrate::HISTORY) {
        if migrate::has(conn, name)? {
            return refuse(format!("it already has {} of its own", with_article(name)));
        }
    }
    Ok(())
}

/// The advice for a backend whose tables do not fit.
const APART: &str = "give Thermocline a file of its own beside it, where user(name) takes your users' keys \
     as names, like \"4711\"";

/// Describes how a table's key differs from `id BLOB PRIMARY KEY`. `None` if it does not.
fn other_key(conn: &Connection, table: &str) -> Result<Option<String>> {
    let columns = "SELECT type, pk = 1 AND (SELECT count(*) FROM pragma_table_info(?1) WHERE pk > 0) = 1
                   FROM pragma_table_info(?1) WHERE name = 'id' COLLATE NOCASE";
    let id = conn.query_row(columns, [table], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let (kind, is_key): (String, bool) = match id {
        Some(id) => id,
        None => return Ok(Some("has no column id".to_owned())),
    };
    Ok(match (&*kind, is_key) {
        (kind, true) if kind.eq_ignore_ascii_case("blob") => None,
        ("", true) => Some("has the key id without a type".to_owned()),
        (kind, true) => Some(format!("has the key id {kind}")),
        (_, false) => Some("has a column id that is not its key alone".to_owned()),
    })
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

/// Makes the path absolute. Rejects a path that starts with `file:`, which SQLite takes for a URI, and `:memory:`, which it
/// takes for no file at all.
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

/// Resolves symbolic links, so that a file has one path, whichever name it is opened by.
fn resolved(path: PathBuf, may_be_missing: bool) -> Result<PathBuf> {
    match fs::canonicalize(&path) {
        Err(error) if error.kind() == IoKind::NotFound && may_be_missing => Ok(path), // The caller reports it.
        Err(error) if error.kind() == IoKind::NotFound => {
            let message = format!("{} is a broken link; fix or remove it", path.display());
            Err(Error::caused(ErrorKind::NotFound, message, error))
        }
        resolved => resolved.map_err(|error| from_io(error, &path)),
    }
}

/// Creates the file if it does not exist, with access for its owner only. SQLite gives the files next to it the same mode.
fn create(path: &Path) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    if path.as_os_str().as_encoded_bytes().ends_with(std::path::MAIN_SEPARATOR_STR.as_bytes()) {
        return Err(Error::invalid(format!(
            "{} names a folder that does not exist; name a file",
            path.display()
        )));
    }
    match options.open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == IoKind::AlreadyExists => Ok(()),
        Err(error) => Err(from_io(error, path)),
    }
}

/// Converts an error of opening a file read-write. If the file cannot be opened or written, names what must be writable.
fn explain_unwritable(error: Error, path: &Path) -> Error {
    if cannot_open(&error) || error.kind() == ErrorKind::ReadOnly {
        let message = format!(
            "{} cannot be written; the file, its folder, and the -wal and -shm files beside it must be writable",
            path.display()
        );
        return Error::caused(ErrorKind::ReadOnly, message, error);
    }
    at(error, path)
}

/// Converts an error of opening a file read-only. If SQLite would have to write next to the file, explains why.
fn explain_unreadable(error: Error, path: &Path) -> Error {
    if !cannot_open(&error) && error.kind() != ErrorKind::ReadOnly {
        return at(error, path);
    }
    let left = |suffix| file_bytes(&beside(path, suffix), true).is_ok_and(|bytes| bytes > 0);
    let left = match (left("-wal"), left("-journal")) {
        (true, _) => {
            "-wal, its log, is not empty, and SQLite can neither use nor make the log's index, -shm, there"
        }
        (_, true) => {
            "-journal was left by a program that was interrupted, and must be rolled back, which writes"
        }
        _ => {
            let message = format!("{} cannot be read; check its owner and mode", path.display());
            return Error::caused(ErrorKind::Io, message, error);
        }
    };
    let message = format!(
        "{0} cannot be read where it is: {0}{left}; copy both files to a writable place, and open the copy",
        path.display()
    );
    Error::caused(ErrorKind::ReadOnly, message, error)
}

fn cannot_open(error: &Error) -> bool {
    std::error::Error::source(error)
        .and_then(|source| source.downcast_ref::<rusqlite::Error>())
        .and_then(rusqlite::Error::sqlite_error_code)
        == Some(rusqlite::ErrorCode::CannotOpen)
}

/// Adds the file's path to an error that lacks it.
fn at(error: Error, path: &Path) -> Error {
    Error::caused(error.kind(), format!("{}: {error}", path.display()), error)
}

/// Puts an article before a name: `an idx_turns`, `a jobs`, `a user_memories`.
fn with_article(name: &str) -> String {
    let article = if name.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
    format!("{article} {name}")
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
