//! Facts about the file as a whole: sizes, versions, settings, and damage to pages, references and rows.

use std::{fs, io, path::Path};

use rusqlite::Connection;

use crate::{
    error::{ErrorKind, Result},
    store::file::{
        db_file::{DbFile, beside},
        errors::from_io,
        migrate,
        row_check::{self, RowDamage},
        schema,
    },
};

/// The sizes and versions of a file.
#[derive(Clone, Debug)]
pub(crate) struct FileFacts {
    pub(crate) file_bytes: u64,
    pub(crate) wal_bytes: u64,
    /// Free space on the file's disk. `None` if the system does not report it.
    pub(crate) free_bytes: Option<u64>,
    pub(crate) schema_version: i64,
    pub(crate) sqlite_version: String,
}

impl FileFacts {
    pub(crate) fn read(file: &DbFile, conn: &Connection) -> Result<Self> {
        Ok(Self {
            file_bytes: size_of(file.path())?,
            wal_bytes: size_of(&beside(file.path(), "-wal"))?,
            free_bytes: free_bytes(file.path()),
            schema_version: migrate::version(conn)?.unwrap_or(0),
            sqlite_version: rusqlite::version().to_owned(),
        })
    }
}

fn size_of(path: &Path) -> Result<u64> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        file => Ok(file.map_err(|error| from_io(error, path))?.len()),
    }
}

/// Returns the bytes available to this process on the file's disk.
#[cfg(all(unix, feature = "files"))]
fn free_bytes(path: &Path) -> Option<u64> {
    rustix::fs::statvfs(path).ok().map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(not(all(unix, feature = "files")))]
fn free_bytes(_: &Path) -> Option<u64> {
    None
}

/// How many problems the pages, the references and the rows have. A check that fails because of damage counts as one
/// problem.
#[derive(Debug)]
pub(crate) struct Soundness {
    pub(crate) page_problems: u64,
    /// References between tables that point to nothing.
    pub(crate) reference_problems: u64,
    pub(crate) damage: RowDamage,
    /// How the schema differs from ours, one sentence each.
    pub(crate) schema: Vec<String>,
    /// The settings as a new connection sees them, without those that cannot be read.
    pub(crate) settings: Vec<(String, String)>,
}

impl Soundness {
    /// Reads the whole file.
    pub(crate) fn read(conn: &Connection) -> Result<Self> {
        begin_snapshot(conn)?;
        Ok(Self {
            page_problems: page_problems(conn).unwrap_or(1),
            reference_problems: reference_problems(conn).unwrap_or(1),
            damage: row_check::damage(conn).unwrap_or_else(|_| RowDamage { rows: 1, ..RowDamage::default() }),
            schema: schema_problems(conn),
            settings: settings(conn),
        })
    }
}

/// Begins the read transaction with a first read. Fails only with `Busy`: a lock says nothing about the file, and can delay
/// only the first read. Other errors are left to the checks that follow.
fn begin_snapshot(conn: &Connection) -> Result<()> {
    match migrate::version(conn) {
        Err(error) if error.kind() == ErrorKind::Busy => Err(error),
        _ => Ok(()),
    }
}

/// Returns the number of problems that `PRAGMA integrity_check` reports.
fn page_problems(conn: &Connection) -> Result<u64> {
    let mut stmt =
        conn.prepare("SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'")?;
    let mut rows = stmt.query([])?;
    let mut problems = 0;
    while rows.next()?.is_some() {
        problems += 1;
    }
    Ok(problems)
}

fn reference_problems(conn: &Connection) -> Result<u64> {
    Ok(conn.query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get(0))?)
}

fn schema_problems(conn: &Connection) -> Vec<String> {
    match schema::differences(conn) {
        Ok(found) => found.iter().map(ToString::to_string).collect(),
        Err(_) => vec!["the schema cannot be read".to_owned()],
    }
}

fn settings(conn: &Connection) -> Vec<(String, String)> {
    const PRAGMAS: [&str; 7] = [
        "application_id",
        "journal_mode",
        "page_size",
        "page_count",
        "freelist_count",
        "encoding",
        "auto_vacuum",
    ];
    let mut settings = vec![("sqlite".to_owned(), rusqlite::version().to_owned())];
    if let Ok(version) = migrate::version(conn) {
        settings.push(("schema_version".to_owned(), version.unwrap_or(0).to_string()));
    }
    for name in PRAGMAS {
        let sql = format!("SELECT CAST({name} AS TEXT) FROM pragma_{name}");
        if let Ok(value) = conn.query_row(&sql, [], |row| row.get(0)) {
            settings.push((name.to_owned(), value));
        }
    }
    settings
}
