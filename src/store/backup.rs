//! A copy of the file as of one moment, while others read and write it.

use std::{
    ffi::OsStr,
    fs::{self, File},
    path::{Path, PathBuf},
};

use crate::{
    error::{Error, ErrorKind, Result},
    store::{connect, errors::from_io},
};

/// Writes a whole, compacted copy and gives back its size in bytes. Never `cp`: copying a live file was seen to
/// corrupt 4 of 27 copies, `VACUUM INTO` none.
///
/// The copy appears under its name only once it is on the disk.
pub(crate) fn backup(path: &Path, to: &Path) -> Result<u64> {
    let (partial, to) = names(to)?;
    let copied = copy(path, &partial).map_err(|error| at(error, &to)).and_then(|()| publish(&partial, &to));
    let _ = fs::remove_file(&partial); // Missing if the copy never began.
    copied?;
    Ok(fs::metadata(&to).map_err(|error| from_io(error, &to))?.len())
}

/// Where the copy grows, and where it is to appear, both absolute.
fn names(to: &Path) -> Result<(PathBuf, PathBuf)> {
    // SQLite takes a name as text.
    let Some(name) = to.file_name().and_then(OsStr::to_str).filter(|_| to.to_str().is_some()) else {
        return Err(Error::invalid("a backup needs a path to a file, in UTF-8"));
    };
    if to.exists() {
        let message = format!("{} exists already; a backup never replaces a file", to.display());
        return Err(Error::new(ErrorKind::Conflict, message));
    }
    let to = std::path::absolute(to).map_err(|error| from_io(error, to))?;
    Ok((to.with_file_name(format!("{name}.partial-{}", std::process::id())), to))
}

fn copy(path: &Path, partial: &Path) -> Result<()> {
    // SQLite would give the copy the mode of any new file; it is the owner's alone, as the original.
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(partial).map_err(|error| from_io(error, partial))?;
    let conn = connect::reader(path)?;
    conn.execute_batch("PRAGMA query_only = OFF")?;
    conn.execute("VACUUM INTO ?1", [partial.to_str()])?;
    Ok(())
}

/// Gives the finished copy its name.
fn publish(partial: &Path, to: &Path) -> Result<()> {
    let io = |error| from_io(error, to);
    File::open(partial).and_then(|file| file.sync_all()).map_err(io)?;
    // A hard link, since a rename would replace what has come to that name meanwhile.
    fs::hard_link(partial, to).map_err(io)?;
    let folder = to.parent().unwrap_or(to);
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(io)
}

/// Names the copy that the caller asked for, not the one that grows beside it.
fn at(error: Error, to: &Path) -> Error {
    let why = match error.kind() {
        ErrorKind::NotFound => "its folder does not exist; make it first",
        ErrorKind::ReadOnly => "its folder may not be written; check owner and mode",
        _ => {
            let message = format!("the backup to {} was not made", to.display());
            return Error::caused(error.kind(), message, error);
        }
    };
    Error::new(error.kind(), format!("the backup to {} was not made: {why}", to.display()))
}
