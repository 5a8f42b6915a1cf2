//! Keys, by which callers prove who they are.
//!
//! Keys are stored only as hashes, and in their own file, so that no backup or export contains them. The file is read
//! again when it changes, so a revoked key stops working within a second.

mod file;
mod key;

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use subtle::ConstantTimeEq;
use thermocline::{Clock, SystemClock};
use tokio::time::Instant;

pub use file::{KeyFile, Unusable};
pub use key::{Key, New};

use crate::{
    caller::Caller,
    keys::file::Stamp,
    ops::problem::{Code, Problem},
};

/// How long the file's contents are trusted before checking for changes.
const BELIEVED: Duration = Duration::from_secs(1);
/// How long the last keys stay in force if the file has changed, and cannot be opened because the process has no file handle
/// left. This bounds how long a revoked key can still be used then.
const KEPT_WITHOUT_HANDLES: Duration = Duration::from_secs(10);

/// The keys of a file, kept up to date.
#[derive(Debug)]
pub struct Keys {
    path: PathBuf,
    seen: Mutex<KeyFileState>,
}

#[derive(Debug)]
struct KeyFileState {
    looked_at: Instant,
    stamp: Option<Stamp>,
    /// Since when the file has changed and cannot be opened for lack of handles.
    unread_since: Option<Instant>,
    /// The keys by their ids; `None` if the file cannot be read or parsed.
    keys: Option<HashMap<String, KnownKey>>,
}

#[derive(Debug)]
struct KnownKey {
    key: Key,
    caller: Arc<Caller>,
}

impl Keys {
    /// Reads the file, which must exist, be accessible to its owner only, and parse.
    pub fn open(path: &Path) -> Result<Self, Unusable> {
        let (stamp, keys) = read(path)?;
        let seen = KeyFileState {
            looked_at: Instant::now(),
            stamp: Some(stamp),
            unread_since: None,
            keys: Some(keys),
        };
        Ok(Self { path: path.to_owned(), seen: Mutex::new(seen) })
    }

    /// Returns the caller with this key. The error is the same for every invalid key, whatever is wrong with it.
    pub fn find(&self, text: &str) -> Result<Arc<Caller>, Problem> {
        let now = SystemClock.now();
        self.look(|keys| {
            let known = key::id_in(text).and_then(|id| keys?.get(id));
            let hash = key::hash(text);
            let expected = known.map_or([0; key::HASH_BYTES], |known| known.key.hash);
            // Compared even if the key is unknown, so that the time taken reveals nothing.
            let is_same = bool::from(hash.ct_eq(&expected));
            let known = known.filter(|known| is_same && !known.key.is_expired(now));
            known.map(|known| Arc::clone(&known.caller))
        })
        .ok_or_else(|| {
            Problem::new(
                Code::NoKey,
                "this key is not accepted: it is unknown, has expired, was revoked, or the key file cannot \
                 be read",
            )
        })
    }

    /// Returns the number of unexpired keys in the file; `None` if the file can no longer be read or parsed, so that no
    /// key works.
    pub fn count(&self) -> Option<usize> {
        let now = SystemClock.now();
        self.look(|keys| Some(keys?.values().filter(|known| !known.key.is_expired(now)).count()))
    }

    /// Reads the file again if it has changed, at most once a second, and passes its keys to `ask`.
    fn look<T>(&self, ask: impl FnOnce(Option<&HashMap<String, KnownKey>>) -> T) -> T {
        // The keys are replaced as a whole, so they stay valid even if another holder of the lock panicked.
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.looked_at.elapsed() >= BELIEVED {
            seen.looked_at = Instant::now();
            let stamp = Stamp::of(&self.path).ok();
            if stamp.is_none() || stamp != seen.stamp {
                seen.take(read(&self.path));
            }
        }
        ask(seen.keys.as_ref())
    }
}

impl KeyFileState {
    /// Whether the last keys stay in force although the file cannot be opened.
    fn are_kept(&mut self) -> bool {
        self.unread_since.get_or_insert_with(Instant::now).elapsed() < KEPT_WITHOUT_HANDLES
    }

    fn take(&mut self, read: Result<(Stamp, HashMap<String, KnownKey>), Unusable>) {
        match read {
            Ok((stamp, keys)) => {
                match keys.len() {
                    0 => tracing::error!("no key is accepted until the key file has one again"),
                    keys => tracing::info!(keys, "the key file has changed"),
                }
                (self.stamp, self.unread_since, self.keys) = (Some(stamp), None, Some(keys));
            }
            Err(error) if error.is_for_lack_of_handles && self.are_kept() => {
                tracing::error!(%error, "the last keys stay in force for a few seconds");
            }
            Err(error) => {
                if self.keys.is_some() {
                    tracing::error!(%error, "no key is accepted until the key file can be read again");
                }
                (self.stamp, self.keys) = (None, None);
            }
        }
    }
}

fn read(path: &Path) -> Result<(Stamp, HashMap<String, KnownKey>), Unusable> {
    // Read before the file: if the file changes in between, the next check sees it.
    let stamp = Stamp::of(path)?;
    let keys = KeyFile::read(path)?.keys.into_iter();
    let known = keys.map(|key| (key.id.clone(), KnownKey { caller: Arc::new(key.caller()), key }));
    Ok((stamp, known.collect()))
}

/// The error for a call without a key.
pub fn no_key() -> Problem {
    Problem::new(
        Code::NoKey,
        "a key is needed, in the header Authorization: Bearer or X-API-Key; `thermocline key add` makes one",
    )
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, io};

    use super::*;

    fn no_handle(path: &Path) -> Unusable {
        let error = io::Error::from_raw_os_error(rustix::io::Errno::MFILE.raw_os_error());
        Unusable::unreadable(path, &error)
    }

    #[tokio::test(start_paused = true)]
    async fn without_handles_the_last_keys_stay_in_force_for_ten_seconds_and_no_longer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.toml");
        KeyFile::default().write(&path).unwrap();
        let keys = Keys::open(&path).unwrap();
        let mut seen = keys.seen.into_inner().unwrap();
        seen.take(Err(no_handle(&path)));
        assert!(seen.keys.is_some());
        tokio::time::advance(Duration::from_millis(9_999)).await;
        seen.take(Err(no_handle(&path)));
        assert!(seen.keys.is_some());
        tokio::time::advance(Duration::from_millis(1)).await;
        seen.take(Err(no_handle(&path)));
        assert!(seen.keys.is_none());
        seen.take(read(&path));
        seen.take(Err(no_handle(&path)));
        assert!(seen.keys.is_some(), "a file that was read begins anew");
        fs::remove_file(&path).unwrap();
        seen.take(read(&path));
        assert!(seen.keys.is_none(), "a missing file is not a lack of handles");
    }
}
