//! The key file: read and written as a whole, accessible to its owner only.

use std::{
    collections::HashMap,
    fmt,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::Path,
    time::SystemTime,
};

use serde::{Deserialize, Serialize};

use crate::{access::check_secret, handles, keys::Key};

/// The contents of the key file that the configuration names.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyFile {
    /// The keys.
    #[serde(default, rename = "key")]
    pub keys: Vec<Key>,
}

/// Why a key file cannot be used. The message quotes nothing from the file, because somebody may have pasted a key anywhere
/// in it.
#[derive(Debug)]
pub struct Unusable {
    said: String,
    /// Whether the process has no file handle left, which says nothing about the file.
    pub(super) is_for_lack_of_handles: bool,
}

/// The header of a new file, for people who open it.
const HEAD: &str = "# Keys of thermocline, as hashes. Written by `thermocline key`; whoever can write here can make keys.\n\n";

impl KeyFile {
    /// Reads a file. On Unix, fails if anyone except its owner may read or write it.
    pub fn read(path: &Path) -> Result<Self, Unusable> {
        check_mode(path)?;
        let text = fs::read_to_string(path).map_err(|error| Unusable::unreadable(path, &error))?;
        // toml's error messages quote the file.
        let file: Self = toml::from_str(&text).map_err(|error| {
            let line = error.span().map_or(0, |span| text[..span.start].lines().count().max(1));
            Unusable::new(format!("the key file {} cannot be parsed, near line {line}", path.display()))
        })?;
        let mut places = HashMap::new();
        for (key, place) in file.keys.iter().zip(1..) {
            if let Some(first) = places.insert(&key.id, place) {
                return Err(Unusable::new(format!(
                    "the key file {} has two keys with the same id, the entries {first} and {place}; remove one",
                    path.display()
                )));
            }
        }
        Ok(file)
    }

    /// Reads a file like [`read`](Self::read), but treats a missing file as one without keys.
    pub fn read_or_none(path: &Path) -> Result<Self, Unusable> {
        match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            _ => Self::read(path),
        }
    }

    /// Reads, changes and writes the file under a lock.
    pub fn change<T, E: From<Unusable>>(
        path: &Path,
        change: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        let lock = path.with_extension("toml.lock");
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let held = options.open(&lock).and_then(|file| file.lock().map(|()| file));
        let _held =
            held.map_err(|error| Unusable::new(format!("{} cannot be locked: {error}", lock.display())))?;
        let mut file = Self::read_or_none(path)?;
        let changed = change(&mut file)?;
        file.write(path)?;
        Ok(changed)
    }

    /// Replaces the file atomically: a concurrent reader sees either the old or the new contents.
    pub fn write(&self, path: &Path) -> Result<(), Unusable> {
        let text = toml::to_string_pretty(self).map_err(|error| Unusable::new(error.to_string()))?;
        let beside = path.with_extension("toml.new");
        replace(path, &beside, &format!("{HEAD}{text}")).map_err(|error| {
            Unusable::new(format!("the key file {} cannot be written: {error}", path.display()))
        })
    }
}

fn replace(path: &Path, beside: &Path, text: &str) -> io::Result<()> {
    // Exists if an earlier writer was killed.
    let _ = fs::remove_file(beside);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(beside)?;
    let done = file
        .write_all(text.as_bytes())
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(beside, path));
    if done.is_err() {
        // An error of the removal would hide the earlier one.
        let _ = fs::remove_file(beside);
        return done;
    }
    sync_folder(path)
}

fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if cfg!(unix) { File::open(folder.unwrap_or(Path::new(".")))?.sync_all() } else { Ok(()) }
}

/// Refuses what is not a regular file and, on Unix, a file that anyone except its owner may read or write.
fn check_mode(path: &Path) -> Result<(), Unusable> {
    let about = fs::metadata(path).map_err(|error| Unusable::unreadable(path, &error))?;
    check_secret("the key file", path, &about).map_err(Unusable::new)?;
    if !about.is_file() {
        return Err(Unusable::new(format!("the key file {} is not a regular file", path.display())));
    }
    Ok(())
}

/// Metadata whose change shows that a file has changed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    modified: Option<SystemTime>,
    len: u64,
    inode: u64,
    mode: u32,
}

impl Stamp {
    pub(super) fn of(path: &Path) -> Result<Self, Unusable> {
        let about = fs::metadata(path).map_err(|error| Unusable::unreadable(path, &error))?;
        #[cfg(unix)]
        let (inode, mode) = {
            use std::os::unix::fs::MetadataExt;
            (about.ino(), about.mode())
        };
        #[cfg(not(unix))]
        let (inode, mode) = (0, 0);
        Ok(Self { modified: about.modified().ok(), len: about.len(), inode, mode })
    }
}

impl Unusable {
    fn new(said: String) -> Self {
        Self { said, is_for_lack_of_handles: false }
    }

    pub(super) fn unreadable(path: &Path, error: &io::Error) -> Self {
        Self {
            is_for_lack_of_handles: handles::is_short_of(error),
            ..Self::new(format!("the key file {} cannot be read: {error}", path.display()))
        }
    }
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said)
    }
}

impl std::error::Error for Unusable {}

#[cfg(test)]
mod tests {
    use std::thread;

    use thermocline::Origin;

    use super::*;
    use crate::{caller::Users, keys::New, ops::spec::KeyScope};

    fn key(name: &str) -> Key {
        let name = name.to_owned();
        let scopes = vec![KeyScope::Read];
        let new =
            New { name, scopes, users: Users::Any, expires_at: None, rate: None, origin: Origin::Assistant };
        Key::make(new).unwrap().0
    }

    #[test]
    fn who_changes_the_file_at_once_with_others_loses_nothing_of_theirs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.toml");
        // Simulates a writer that was killed.
        fs::write(path.with_extension("toml.new"), "").unwrap();
        let add = |name: &str| {
            KeyFile::change(&path, |file| {
                file.keys.push(key(name));
                Ok::<_, Unusable>(())
            })
        };
        thread::scope(|scope| {
            for n in 0..8 {
                scope.spawn(move || add(&format!("key {n}")).unwrap());
            }
        });
        assert_eq!(KeyFile::read(&path).unwrap().keys.len(), 8);
    }

    #[test]
    fn the_file_keeps_whose_key_it_is_whatever_the_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.toml");
        let names = [
            "any",
            "all",
            " any",
            "acme/*",
            "acme/",
            "a\"b",
            "'''",
            "\"\"\"",
            "a\nb",
            "\u{1b}[2J\u{7f}",
            "\u{202e}x\\",
        ];
        let users = names.map(|name| Users::One(name.to_owned())).into_iter();
        let users: Vec<_> = users.chain([Users::Any, Users::Prefix("acme/".to_owned())]).collect();
        let keys =
            users.iter().map(|users| Key { users: users.clone(), name: users.to_string(), ..key("k") });
        KeyFile { keys: keys.collect() }.write(&path).unwrap();
        let read: Vec<_> = KeyFile::read(&path).unwrap().keys.into_iter().map(|key| key.users).collect();
        assert_eq!(read, users);
    }

    #[test]
    fn what_is_wrong_with_the_file_is_told_without_what_is_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.toml");
        let file = KeyFile { keys: vec![key("laptop")] };
        file.write(&path).unwrap();
        let text = fs::read_to_string(&path).unwrap().replace("\"read\"", "\"thc_abcdefgh_secret\"");
        fs::write(&path, text).unwrap();
        let said = KeyFile::read(&path).unwrap_err().to_string();
        assert!(said.contains("near line ") && !said.contains("secret"), "{said}");
        let mut keys = ["laptop", "desk", "phone"].map(key);
        for of in [0, 2] {
            keys[of].id = "thc_abcdefgh_secret".to_owned();
        }
        KeyFile { keys: keys.into() }.write(&path).unwrap();
        let said = KeyFile::read(&path).unwrap_err().to_string();
        assert!(said.contains("the entries 1 and 3;") && !said.contains("secret"), "{said}");
    }
}
