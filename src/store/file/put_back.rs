//! Puts a backup in the place of a file, so that a kill at any point leaves either the old file with all that its log had, or
//! the backup without a log, and never one of them beside the other's log.
//!
//! While it is done, nobody else can have the file open. First the log is copied into the file that it belongs to, if that
//! file is sound enough. Then the copy of the backup takes the file's name, in one step where the system has one.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use rusqlite::Connection;

use crate::{
    config::Config,
    error::{Error, ErrorKind, Result},
    store::file::{
        backup::{self, Partial},
        connect,
        db_file::{self, FileKey, beside},
        errors::from_io,
        held::{self, Access},
        image::{Image, ImagePaths},
        log, log_number,
        open::{self, DatabaseKind},
        place, schema,
    },
};

/// How many bytes are copied between two reports of progress.
const PIECE_BYTES: usize = 1 << 20;

/// A backup that has been checked: it is one of Thermocline's files, complete and sound.
#[derive(Debug)]
pub struct BackupFile {
    path: PathBuf,
    key: FileKey,
    bytes: u64,
    image: Option<Image>,
    /// Keeps others from writing to the backup.
    _reading: Connection,
}

/// What becomes of the file that a backup replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third way")]
pub enum ReplacedFile {
    /// It stays beside the backup, under its name with `.replaced-` and a number.
    Keep,
    /// It is deleted.
    Delete,
}

/// The result of [`BackupFile::restore`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RestoredFile {
    /// The size of the file in bytes.
    pub bytes: u64,
    /// Where the replaced file is now. `None` if there was none, or if it was deleted.
    pub replaced: Option<PathBuf>,
}

impl BackupFile {
    /// Opens a backup, and checks all of its pages. Writes nothing. It may be of an older schema version: then it is upgraded
    /// once it is opened in its place.
    ///
    /// Errors: `NotFound` if there is no memory in it, `Corrupt` if it is damaged, `ForeignFile` if it is another program's
    /// or has something in its schema that is not Thermocline's, `Conflict` if it has a log, so that it is a file in use and
    /// not a backup.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = fs::canonicalize(path.as_ref()).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                Error::not_found(format!("there is no backup {}", path.as_ref().display()))
            }
            _ => from_io(error, path.as_ref()),
        })?;
        let shown = path.display();
        let is_file = fs::metadata(&path).map_err(|error| from_io(error, &path))?.is_file();
        if !is_file {
            return Err(Error::invalid(format!("{shown} is not a regular file, so it is no backup")));
        }
        if log_number::log_bytes(&path)? > 0 {
            let message = format!(
                "{shown} has a log beside it, so it is a file in use and not a backup; make a backup of it, and restore that"
            );
            return Err(Error::new(ErrorKind::Conflict, message));
        }
        let key = db_file::file_key(&path).map_err(|error| from_io(error, &path))?;
        let file = held::open(&path, &key, Access::Read)?;
        let place = ImagePaths { file: path.clone(), log: beside(&path, "-wal"), shm: beside(&path, "-shm") };
        let image = Image::of(place, || Ok(file))?;
        let reading = connect::reader_of(image.as_ref().map_or((&*path, connect::READ_ONLY), Image::source))?;
        reading.execute_batch("BEGIN")?;
        match open::of_schema(&reading, &path, &Config::default())? {
            DatabaseKind::Current | DatabaseKind::Older => {}
            DatabaseKind::Empty | DatabaseKind::Backend => {
                return Err(Error::not_found(format!("there is no memory in {shown}")));
            }
        }
        schema::check(&reading, &path)?;
        if !log_number::is_sound(&reading) {
            return Err(Error::new(ErrorKind::Corrupt, format!("{shown} is damaged; use another backup")));
        }
        let bytes = file.metadata().map_err(|error| from_io(error, &path))?.len();
        Ok(Self { path, key, bytes, image, _reading: reading })
    }

    /// Returns the size of the backup in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Puts a copy of the backup in the place of the file at this path, or makes that file if there is none. Calls `progress`
    /// with the number of bytes copied so far.
    ///
    /// If it is interrupted, the file is the old or the new one; do it again. A copy that it could not finish stays beside
    /// the file as `.partial-` with a number, and may be deleted.
    ///
    /// Errors: `Busy` if another process, or another handle, has the file open: close it first. `InvalidInput` if the file is
    /// the backup itself.
    pub fn restore(
        &self,
        to: impl AsRef<Path>,
        replaced: ReplacedFile,
        mut progress: impl FnMut(u64),
    ) -> Result<RestoredFile> {
        let to = open::place_of(to.as_ref())?;
        let old = match db_file::file_key(&to) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            key => Some(key.map_err(|error| from_io(error, &to))?),
        };
        if old.as_ref() == Some(&self.key) {
            return Err(Error::invalid(format!("{} is the backup itself", to.display())));
        }
        let alone = old.as_ref().map(|_| only_user(&to)).transpose()?;
        let copy = self.copy(&to, &mut progress)?;
        let log = beside(&to, "-wal");
        if let (Some(conn), Some(key)) = (&alone, &old) {
            finish_log(conn, &to, key);
        }
        let (mut kept, mut kept_log) = (None, None);
        if replaced == ReplacedFile::Keep && old.is_some() {
            let name = free_name(&to)?;
            kept_log = Some(beside(&name, "-wal"));
            kept = Some(name);
        }
        // What is left in the log is of no use to the file that is there: it is another's, or that file is damaged.
        if log_number::log_bytes(&to)? > 0 {
            match &kept_log {
                Some(kept) => fs::rename(&log, kept),
                None => fs::remove_file(&log),
            }
            .map_err(|error| from_io(error, &log))?;
            backup::sync_folder(&to)?;
        }
        replace(&copy.0, &to, kept.as_deref())?;
        for beside in [log, beside(&to, "-shm")] {
            match fs::remove_file(&beside) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(from_io(error, &beside)),
                _ => {}
            }
        }
        backup::sync_folder(&to)?;
        Ok(RestoredFile { bytes: self.bytes, replaced: kept })
    }

    /// Copies the backup to a new file beside `to`, with numbers of its own, and syncs it.
    fn copy(&self, to: &Path, progress: &mut dyn FnMut(u64)) -> Result<Partial> {
        let partial = Partial::create(backup::partial_name(to))?;
        let failed = |error| from_io(error, &partial.0);
        // Not the handle that is never closed, because others may read through it.
        let mut from = self.reader()?;
        let mut file = File::options().write(true).read(true).open(&partial.0).map_err(failed)?;
        let (mut piece, mut copied) = (vec![0; PIECE_BYTES], 0);
        loop {
            let read = from.read(&mut piece).map_err(|error| from_io(error, &self.path))?;
            if read == 0 {
                break;
            }
            file.write_all(&piece[..read]).map_err(failed)?;
            copied += read as u64;
            progress(copied);
        }
        log_number::renumber(&file).and_then(|()| file.sync_all()).map_err(failed)?;
        if let Some(image) = &self.image {
            image.check()?;
        }
        if copied == self.bytes {
            return Ok(partial);
        }
        let message = format!("{} was written while it was copied; try again", self.path.display());
        Err(Error::new(ErrorKind::Busy, message))
    }

    fn reader(&self) -> Result<impl Read> {
        Ok(HeldReader { file: held::open(&self.path, &self.key, Access::Read)?, at: 0 })
    }
}

/// Reads a handle that others may read too.
struct HeldReader {
    file: &'static File,
    at: u64,
}

impl Read for HeldReader {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = place::read_some_at(self.file, bytes, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Opens the only connection to a file. It keeps others out until it is dropped.
fn only_user(path: &Path) -> Result<Connection> {
    db_file::check_one_name(path)?;
    connect::check_writable(path).or_else(|error| match error.kind() {
        ErrorKind::ReadOnly => Err(error),
        _ => Ok(()), // A damaged file can be replaced.
    })?;
    log_number::alone(path)?.ok_or_else(|| {
        let message = format!(
            "{} is open in another process; end every process that uses it, and try again",
            path.display()
        );
        Error::new(ErrorKind::Busy, message)
    })
}

/// Copies the log into its file and empties it, if it is the file's. What cannot be copied is left in the log.
fn finish_log(conn: &Connection, path: &Path, key: &FileKey) {
    if log_number::is_of(conn, path, key).is_ok_and(|is_ours| is_ours) {
        let _ = log::empty(conn); // A damaged file keeps its log.
    }
}

/// Returns the first free name for the file that is replaced.
fn free_name(path: &Path) -> Result<PathBuf> {
    const MOST: u32 = 10_000;
    let names = (1..=MOST).map(|number| beside(path, &format!(".replaced-{number}")));
    let is_free = |name: &PathBuf| {
        [name.clone(), beside(name, "-wal")].iter().all(|name| fs::symlink_metadata(name).is_err())
    };
    names.into_iter().find(is_free).ok_or_else(|| {
        Error::new(
            ErrorKind::Conflict,
            format!("there are too many replaced files beside {}; delete some", path.display()),
        )
    })
}

/// Gives the copy the file's name, and the file the name `kept`, if it is to be kept.
fn replace(copy: &Path, to: &Path, kept: Option<&Path>) -> Result<()> {
    let failed = |error| from_io(error, to);
    let Some(kept) = kept else {
        return fs::rename(copy, to).map_err(failed);
    };
    if exchange(copy, to) {
        backup::sync_folder(to)?;
        return fs::rename(copy, kept).map_err(failed); // It is the old file now.
    }
    fs::rename(to, kept).map_err(failed)?;
    fs::rename(copy, to).map_err(failed)
}

/// Exchanges the names of two files in one step. Returns `false` if the system or the file system cannot.
#[cfg(all(target_os = "linux", feature = "files"))]
fn exchange(one: &Path, other: &Path) -> bool {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).is_ok()
}

#[cfg(not(all(target_os = "linux", feature = "files")))]
fn exchange(_: &Path, _: &Path) -> bool {
    false
}
