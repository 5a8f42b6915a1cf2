//! A sensor for files below folders that the configuration names.
//!
//! Each check opens the named folder, and then one path component after the other through the handle of the folder above,
//! without following links. If a folder below is swapped for a link in the meantime, this is noticed, and nothing outside
//! is opened.

use std::{
    collections::BTreeMap,
    io::{self, Read},
    path::{Component, Path, PathBuf},
    time::{Duration, Instant},
};

use cap_fs_ext::{DirExt, FollowSymlinks, MetadataExt, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::{
    ambient_authority,
    fs::{Dir, File, OpenOptions},
};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::{
    clock::Deadline,
    error::{Error, Result},
    model::{
        hex::hex,
        sensor::{CheckVerdict, Expect, UnknownReason},
    },
    sensors::{Sensor, SensorTraits, checked_subject, read, set_traits},
};

/// The maximum size of a file that is read: 10 MiB.
const MAX_BYTES: u64 = 10 << 20;
/// How many bytes are read between two checks of the deadline.
const CHUNK_BYTES: u64 = 1 << 20;
/// The maximum depth of a path.
const MAX_DEPTH: usize = 64;

/// Checks files below folders that the configuration names. By default its name is `fs` and its reliability 0.80. Feature
/// `files`.
///
/// A subject is `root:path`: a root's name, and a relative path below the root, whose parts are separated by `/`:
/// `ops:nginx/api.conf`. The expectation has `exists` (true or false), `sha256` (64 hexadecimal digits) and `contains` (an
/// exact text); all that are given must hold, and an empty expectation expects that the file exists. If there is no file,
/// `exists: false` holds, and any other expectation fails.
///
/// Only regular files of up to 10 MiB are read: no links, symbolic or hard, no devices, no fifos (which it does not wait
/// for), and nothing outside the root by `..` or an absolute path. For these the sensor cannot tell. Of folders and of
/// larger files that it can open, it can tell only that they exist; of a file that it cannot open, it cannot tell
/// anything.
#[derive(Clone, Debug)]
pub struct FsSensor {
    traits: SensorTraits,
    roots: BTreeMap<String, PathBuf>,
}

set_traits!(FsSensor);

impl FsSensor {
    /// Creates a sensor that may not look anywhere yet.
    pub fn new() -> Self {
        Self { traits: SensorTraits::new("fs", 0.80), roots: BTreeMap::new() }
    }

    /// Lets the sensor check files below this folder. Memories refer to the folder by this name. It is opened again for
    /// each check. While it does not exist, the sensor cannot tell anything about what is below it.
    ///
    /// Errors: `InvalidInput` for a name that is empty, longer than 256 bytes, or contains a colon or control characters,
    /// and for a folder that is not an absolute path.
    pub fn root(mut self, name: impl Into<String>, folder: impl Into<PathBuf>) -> Result<Self> {
        let (name, folder) = (checked_subject("name of a root", name)?, folder.into());
        if !folder.is_absolute() {
            return Err(Error::invalid(format!("the folder of the root {name} is not an absolute path")));
        }
        self.roots.insert(name, folder);
        Ok(self)
    }

    /// Splits a subject into the root and the path below it; `None` if it is not valid, or its root is unknown.
    fn place<'s>(&self, subject: &'s str) -> Option<(&Path, Vec<&'s str>)> {
        let (root, path) = subject.split_once(':')?;
        let root = self.roots.get(root)?;
        let is_name = |name: &&str| {
            let mut components = Path::new(name).components();
            let is_one = matches!(components.next(), Some(Component::Normal(only)) if only == *name);
            // Backslashes, colons and device names have a special meaning on some systems; here they are refused.
            is_one && components.next().is_none() && !name.contains(['\\', ':', '\0'])
        };
        let names: Vec<&str> = path.split('/').collect();
        let is_path = names.len() <= MAX_DEPTH && names.iter().all(is_name);
        is_path.then_some((root.as_path(), names))
    }
}

impl Default for FsSensor {
    fn default() -> Self {
        Self::new()
    }
}

/// The deserialized expectation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileExpectation {
    exists: Option<bool>,
    sha256: Option<String>,
    contains: Option<String>,
}

impl FileExpectation {
    fn read(expect: &Expect) -> Option<Self> {
        let expected: Self = read(expect)?;
        let is_digest = |text: &String| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_understood = expected.sha256.as_ref().is_none_or(is_digest)
            && expected.contains.as_ref().is_none_or(|text| !text.is_empty())
            && !(expected.exists == Some(false) && expected.is_of_content());
        is_understood.then_some(expected)
    }

    fn is_of_content(&self) -> bool {
        self.sha256.is_some() || self.contains.is_some()
    }

    /// Returns the verdict if there is nothing at the path.
    fn of_nothing(&self) -> CheckVerdict {
        CheckVerdict::of(self.exists == Some(false), "there is nothing")
    }

    fn of_content(&self, content: &[u8]) -> CheckVerdict {
        let is_digest = |expected: &String| hex(&Sha256::digest(content)).eq_ignore_ascii_case(expected);
        // Invalid UTF-8 matches no text; the search is linear for any input.
        let contains = |text: &String| String::from_utf8_lossy(content).contains(text.as_str());
        let holds = self.exists != Some(false)
            && self.sha256.as_ref().is_none_or(is_digest)
            && self.contains.as_ref().is_none_or(contains);
        CheckVerdict::of(holds, content)
    }
}

/// Why nothing was read.
enum Unseen {
    /// The path does not exist.
    Nothing,
    Unknown(UnknownReason),
}

impl From<io::Error> for Unseen {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Nothing,
            // A component of the path is not a folder.
            io::ErrorKind::NotADirectory => Self::Unknown(UnknownReason::Refused),
            _ => Self::Unknown(UnknownReason::Unreachable),
        }
    }
}

/// What is at a path.
enum PathContent {
    Folder,
    /// A regular file, opened, and its length.
    File(File, u64),
}

fn find(root: &Path, names: &[&str]) -> std::result::Result<PathContent, Unseen> {
    let refused = Unseen::Unknown(UnknownReason::Refused);
    let unreachable = |_| Unseen::Unknown(UnknownReason::Unreachable);
    let mut folder = Dir::open_ambient_dir(root, ambient_authority()).map_err(unreachable)?;
    let Some((last, above)) = names.split_last() else { return Err(refused) };
    for name in above {
        // Checked before it is opened, because opening a link only reports that it is not a folder; then opened without
        // following links.
        if folder.symlink_metadata(name)?.is_symlink() {
            return Err(refused);
        }
        folder = folder.open_dir_nofollow(name)?;
    }
    let kind = folder.symlink_metadata(last)?;
    if kind.is_dir() {
        return Ok(PathContent::Folder);
    }
    if !kind.is_file() {
        return Err(refused);
    }
    // Opened without blocking: a fifo may have taken the file's place in the meantime.
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No).nonblock(true);
    let file = folder.open_with(last, &options)?;
    let metadata = file.metadata()?;
    // A file with several hard links may also belong elsewhere.
    if !metadata.is_file() || metadata.nlink() > 1 {
        return Err(refused);
    }
    Ok(PathContent::File(file, metadata.len()))
}

/// Reads the whole file, if the size and the deadline allow.
fn read_all(mut file: File, len: u64, deadline: Deadline) -> std::result::Result<Vec<u8>, Unseen> {
    if len > MAX_BYTES {
        return Err(Unseen::Unknown(UnknownReason::TooLarge));
    }
    let mut content = Vec::new();
    loop {
        let read = (&mut file).take(CHUNK_BYTES).read_to_end(&mut content);
        let read = read.map_err(|_| Unseen::Unknown(UnknownReason::Unreachable))?;
        if content.len() as u64 > MAX_BYTES {
            return Err(Unseen::Unknown(UnknownReason::TooLarge)); // It has grown.
        }
        if read == 0 {
            return Ok(content);
        }
        if deadline.has_passed() {
            return Err(Unseen::Unknown(UnknownReason::Late));
        }
    }
}

impl Sensor for FsSensor {
    fn name(&self) -> &str {
        &self.traits.name
    }

    fn reliability(&self) -> f64 {
        self.traits.reliability
    }

    fn window(&self) -> Option<Duration> {
        self.traits.window
    }

    fn understands(&self, subject: &str, expect: &Expect) -> bool {
        self.place(subject).is_some() && FileExpectation::read(expect).is_some()
    }

    fn check(&self, subject: &str, expect: &Expect, deadline: Instant) -> CheckVerdict {
        let (Some((root, names)), Some(expected)) = (self.place(subject), FileExpectation::read(expect))
        else {
            return CheckVerdict::Unknown(UnknownReason::NotUnderstood);
        };
        let seen = match find(root, &names) {
            Ok(PathContent::Folder) if expected.is_of_content() => {
                Err(Unseen::Unknown(UnknownReason::Refused))
            }
            Ok(PathContent::Folder) => Ok(CheckVerdict::of(expected.exists != Some(false), "a folder")),
            Ok(PathContent::File(file, len)) if expected.is_of_content() => {
                read_all(file, len, deadline.into()).map(|content| expected.of_content(&content))
            }
            Ok(PathContent::File(..)) => Ok(CheckVerdict::of(expected.exists != Some(false), "a file")),
            Err(unseen) => Err(unseen),
        };
        match seen {
            Ok(verdict) => verdict,
            Err(Unseen::Nothing) => expected.of_nothing(),
            Err(Unseen::Unknown(why)) => CheckVerdict::Unknown(why),
        }
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
