//! Maps errors of SQLite and of the operating system to errors for callers.

use std::{io, path::Path};

use rusqlite::{Error as SqlError, ErrorCode, ffi};

use crate::error::{Error, ErrorKind};

/// What to do about a full disk.
const FULL: &str = "the disk is full; make room and try again";

impl From<SqlError> for Error {
    fn from(error: SqlError) -> Self {
        let (kind, message) = match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                (ErrorKind::Busy, "another process keeps the file locked; try again")
            }
            Some(ErrorCode::OperationInterrupted) => {
                (ErrorKind::TimedOut, "the read passed its deadline; try again or raise read_timeout")
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                (ErrorKind::Corrupt, "the file is damaged or is not an SQLite database; restore a backup")
            }
            Some(ErrorCode::ReadOnly) => (ErrorKind::ReadOnly, "the file cannot be written"),
            Some(ErrorCode::DiskFull) => (ErrorKind::DiskFull, FULL),
            Some(ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
                (ErrorKind::Io, "the file, or the -wal and -shm files beside it, cannot be opened")
            }
            // An update checks the types of all columns of a row, and so meets damage in any of them.
            Some(ErrorCode::ConstraintViolation) if is_about_a_type(&error) => (
                ErrorKind::Corrupt,
                "a row of the file is damaged and cannot be written; doctor lists all damage; restore a backup",
            ),
            // Not an error of the caller: acts check for expected conflicts in advance, or allow them with ON CONFLICT.
            Some(ErrorCode::ConstraintViolation) => (
                ErrorKind::Internal,
                "a statement broke a constraint of the file; nothing was written; please report it",
            ),
            Some(ErrorCode::TooBig) => (ErrorKind::InvalidInput, "a text is longer than SQLite allows"),
            // For example, a misspelt column, or one that the file does not have.
            Some(ErrorCode::Unknown | ErrorCode::ApiMisuse | ErrorCode::ParameterOutOfRange) => {
                (ErrorKind::Internal, "a statement does not match the file's schema; please report it")
            }
            Some(_) => (ErrorKind::Io, "SQLite failed"),
            None if is_about_a_row(&error) => (
                ErrorKind::Corrupt,
                "a row of the file cannot be read; doctor lists all damage; restore a backup",
            ),
            None => (ErrorKind::Internal, "a statement does not match the file's schema; please report it"),
        };
        Self::caused(kind, message, error)
    }
}

/// Returns whether a value does not have the type of its column.
fn is_about_a_type(error: &SqlError) -> bool {
    error.sqlite_error().is_some_and(|error| error.extended_code == ffi::SQLITE_CONSTRAINT_DATATYPE)
}

/// Returns whether an error without SQLite's code is about a row that is missing or whose value does not fit its column.
/// Other errors without a code come from a wrong statement.
fn is_about_a_row(error: &SqlError) -> bool {
    matches!(
        error,
        SqlError::FromSqlConversionFailure(..)
            | SqlError::IntegralValueOutOfRange(..)
            | SqlError::InvalidColumnType(..)
            | SqlError::QueryReturnedNoRows
            | SqlError::Utf8Error(..)
    )
}

/// Returns whether a connection must not be used again after this error. SQLite promises little once a disk has failed, and
/// a word index once broke when the same connection was used further. An unreadable row does not count: it fails one
/// command, not the others of its batch.
pub(crate) fn poisons_connection(error: &Error) -> bool {
    let comes_from_sqlite = std::error::Error::source(error)
        .and_then(|source| source.downcast_ref::<SqlError>())
        .is_some_and(|source| source.sqlite_error_code().is_some());
    comes_from_sqlite
        && matches!(
            error.kind(),
            ErrorKind::Io | ErrorKind::DiskFull | ErrorKind::Corrupt | ErrorKind::ReadOnly
        )
}

/// Maps an operating system error to an error for a caller who named `path`.
pub(crate) fn from_io(error: io::Error, path: &Path) -> Error {
    let path = path.display();
    match error.kind() {
        io::ErrorKind::NotFound => Error::caused(
            ErrorKind::NotFound,
            format!("the folder of {path} does not exist; create it first"),
            error,
        ),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Error::caused(
            ErrorKind::ReadOnly,
            format!("{path} is not writable; check the folder's owner and mode"),
            error,
        ),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Error::caused(ErrorKind::DiskFull, format!("{path} cannot be written: {FULL}"), error)
        }
        _ => Error::caused(ErrorKind::Io, format!("{path} cannot be opened or written"), error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_has_a_kind_of_its_own_and_costs_the_connection() {
        let full = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL);
        let error = Error::from(SqlError::SqliteFailure(full, None));
        assert_eq!((error.kind(), poisons_connection(&error)), (ErrorKind::DiskFull, true));
        for kind in [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded] {
            assert_eq!(from_io(kind.into(), Path::new("m.db")).kind(), ErrorKind::DiskFull);
        }
    }

    #[test]
    fn a_constraint_that_no_act_expected_is_a_bug_of_ours_and_costs_no_connection() {
        let conn = rusqlite::Connection::open_in_memory().unwrap();
        conn.execute_batch("CREATE TABLE notes(n UNIQUE); INSERT INTO notes VALUES (1)").unwrap();
        let error = Error::from(conn.execute("INSERT INTO notes VALUES (1)", []).unwrap_err());
        assert_eq!((error.kind(), poisons_connection(&error)), (ErrorKind::Internal, false));
    }

    #[test]
    fn a_column_that_is_not_there_is_a_bug_of_ours_not_damage() {
        let conn = rusqlite::Connection::open_in_memory().unwrap();
        conn.execute_batch("CREATE TABLE notes(n)").unwrap();
        let misspelt = Error::from(conn.prepare("SELECT m FROM notes").unwrap_err());
        let misplaced =
            conn.query_row("SELECT count(*) FROM notes", [], |row| row.get::<_, i64>(1)).unwrap_err();
        assert_eq!(
            (misspelt.kind(), Error::from(misplaced).kind()),
            (ErrorKind::Internal, ErrorKind::Internal)
        );
    }
}
