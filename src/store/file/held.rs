//! Our own handles of database files, in addition to SQLite's. Each is opened once and never closed.
//!
//! Closing any handle of a file would drop every lock that SQLite holds on the file in this process (POSIX), and another
//! process could then remove the log while our connections use it.

use std::{
    collections::HashMap,
    fs::File,
    io,
    path::Path,
    sync::{Mutex, OnceLock},
};

use crate::{
    error::{Error, ErrorKind, Result},
    store::file::{
        db_file::{FileKey, file_key},
        errors::from_io,
    },
};

/// The access with which a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Access {
    Read,
    Write,
}

/// Returns the handle of the file at `path`, and opens the file if there is none yet. Fails if the file does not have this
/// key.
pub(super) fn open(path: &Path, key: &FileKey, access: Access) -> Result<&'static File> {
    static FILES: OnceLock<Mutex<HashMap<(FileKey, Access), &'static File>>> = OnceLock::new();
    let files = FILES.get_or_init(Mutex::default).lock();
    let mut files =
        files.map_err(|_| Error::new(ErrorKind::Poisoned, "opening a file panicked; open the file again"))?;
    if let Some(file) = files.get(&(key.clone(), access)) {
        return Ok(file);
    }
    let opened = File::options().read(true).write(access == Access::Write).open(path);
    let opened = opened.map_err(|error| match (error.kind(), access) {
        (io::ErrorKind::PermissionDenied, Access::Read) => {
            let message = format!("{} cannot be read; check its owner and mode", path.display());
            Error::caused(ErrorKind::Io, message, error)
        }
        _ => from_io(error, path),
    });
    let file: &'static File = Box::leak(Box::new(opened?));
    if file_key(path).map_err(|error| from_io(error, path))? != *key {
        // Another file may have taken the name before `open`.
        return Err(Error::new(ErrorKind::Io, format!("{} was replaced; open it again", path.display())));
    }
    Ok(files.entry((key.clone(), access)).or_insert(file))
}
