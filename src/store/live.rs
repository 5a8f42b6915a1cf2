//! The hot tiers of live sessions, in memory: a cache of the file, never the truth.
//!
//! Any process may write to the file, so an entry is only believed after a look: `PRAGMA data_version` on a
//! connection that never writes changes with every commit of anybody (3.5 microseconds). If it changed, the
//! session's version is read (one row); if that changed too, the hot rows are read.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard},
};

use lru::LruCache;
use rusqlite::Connection;

use crate::{
    config::Config,
    error::Result,
    model::ids::SessionId,
    store::{
        connect,
        errors::poisons_connection,
        sessions::{self, Version},
        users::Scope,
    },
    tier::hot::HotTier,
};

/// What is known of one session.
#[derive(Clone, Debug)]
struct Entry {
    hot: Arc<HotTier>,
    version: Version,
    /// The file's data version at which `version` was last seen to hold; `None`: not seen yet.
    seen_at: Option<i64>,
}

/// The least recently used session leaves when there are too many, or when they hold too many bytes of text.
#[derive(Debug)]
pub(crate) struct Live {
    cache: Mutex<Cache>,
}

/// A connection that only looks whether anybody has committed, and what became of a session.
#[derive(Debug)]
pub(crate) struct Watch {
    path: PathBuf,
    conn: Mutex<Option<Connection>>,
}

#[derive(Debug)]
struct Cache {
    entries: LruCache<SessionId, Entry>,
    text_bytes: usize,
    max_sessions: usize,
    max_bytes: usize,
}

/// What a look into the cache found.
pub(crate) enum Look {
    /// The session is open, and the file has not changed since the entry was last seen to hold.
    Fresh(Arc<HotTier>),
    /// The file has changed; whoever reads the session's version says whether this still holds.
    Unsure { known: Option<(Arc<HotTier>, Version)> },
}

impl Live {
    pub(crate) fn new(config: &Config) -> Self {
        let cache = Cache {
            entries: LruCache::unbounded(),
            text_bytes: 0,
            max_sessions: config.live_sessions,
            max_bytes: config.live_bytes,
        };
        Self { cache: Mutex::new(cache) }
    }

    /// What is known of a session, and whether it can be believed now that the file is at `data_version`.
    pub(crate) fn look(&self, session: SessionId, data_version: i64) -> Look {
        let entry = self.lock().entries.get(&session).cloned();
        match entry {
            Some(entry) if entry.seen_at == Some(data_version) && entry.version.is_open => {
                Look::Fresh(entry.hot)
            }
            entry => Look::Unsure { known: entry.map(|entry| (entry.hot, entry.version)) },
        }
    }

    /// What is known of a session, to be compared by the caller with the version it read.
    pub(crate) fn known(&self, session: SessionId) -> Option<(Arc<HotTier>, Version)> {
        self.lock().entries.get(&session).map(|entry| (Arc::clone(&entry.hot), entry.version))
    }

    /// Remembers a hot tier that was the file's at `version`.
    pub(crate) fn put(&self, session: SessionId, hot: Arc<HotTier>, version: Version, seen_at: Option<i64>) {
        self.lock().put(session, Entry { hot, version, seen_at });
    }

    pub(crate) fn forget(&self, session: SessionId) {
        self.lock().pop(session);
    }

    pub(crate) fn forget_all(&self) {
        let mut cache = self.lock();
        cache.entries.clear();
        cache.text_bytes = 0;
    }

    fn lock(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().expect("no one panics while holding the cache")
    }
}

impl Watch {
    pub(crate) fn new(path: &Path) -> Result<Self> {
        Ok(Self { path: path.to_owned(), conn: Mutex::new(Some(connect::reader(path)?)) })
    }

    /// A number that changes whenever anybody, in any process, has committed.
    pub(crate) fn data_version(&self) -> Result<i64> {
        self.ask(|conn| {
            let mut stmt = conn.prepare_cached("PRAGMA data_version")?;
            Ok(stmt.query_row([], |row| row.get(0))?)
        })
    }

    /// The session's version, as one row says it.
    pub(crate) fn version(&self, scope: &Scope, session: SessionId) -> Result<Option<Version>> {
        self.ask(|conn| sessions::version(conn, scope, session))
    }

    /// After a failure of the disk the connection is opened anew for the next question.
    fn ask<T>(&self, ask: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let mut conn = self.conn.lock().expect("no one panics while holding the watch");
        let answer = match conn.as_ref() {
            Some(conn) => ask(conn),
            None => ask(conn.insert(connect::reader(&self.path)?)),
        };
        if answer.as_ref().is_err_and(poisons_connection) {
            *conn = None;
        }
        answer
    }
}

impl Cache {
    fn put(&mut self, session: SessionId, entry: Entry) {
        self.pop(session);
        self.text_bytes += entry.hot.text_bytes();
        self.entries.push(session, entry);
        while self.entries.len() > self.max_sessions || self.text_bytes > self.max_bytes {
            match self.entries.pop_lru() {
                Some((_, gone)) => self.text_bytes -= gone.hot.text_bytes(),
                None => break,
            }
        }
    }

    fn pop(&mut self, session: SessionId) {
        if let Some(gone) = self.entries.pop(&session) {
            self.text_bytes -= gone.hot.text_bytes();
        }
    }
}
