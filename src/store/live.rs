//! The hot tiers of live sessions, in memory: a cache of the file, never the truth.
//!
//! Any process may write to the file, so a lookup outside a transaction first takes a [`Mark`] (3.5 microseconds), which
//! changes with every commit by any process. If the mark has changed, the session's version is read (one row). If the
//! version has changed too, the hot rows are read. Within a transaction, only the versions are compared.

use std::sync::{Arc, Mutex, MutexGuard};

use lru::LruCache;

use crate::{
    config::Config,
    model::ids::SessionId,
    store::{file::watch::Mark, rows::sessions::Version},
    tier::hot::HotTier,
};

/// The cached state of one session.
#[derive(Clone, Debug)]
struct LiveSession {
    hot: Arc<HotTier>,
    version: Version,
    /// The mark at which `version` was last known to be current. `None` if that is not known for any mark yet.
    seen_at: Option<Mark>,
}

/// The cache of hot tiers. It drops the least recently used session when it holds too many sessions or too many bytes of
/// text.
#[derive(Debug)]
pub(crate) struct Live {
    cache: Mutex<LiveCache>,
}

#[derive(Debug)]
struct LiveCache {
    entries: LruCache<SessionId, LiveSession>,
    text_bytes: usize,
    max_sessions: usize,
    max_bytes: usize,
}

/// The result of a cache lookup.
pub(crate) enum Look {
    /// The session is open, and nobody has committed since the entry was last known to be valid.
    Fresh(Arc<HotTier>),
    /// The entry may be outdated, or there is none (`known` is `None`). The caller must read the session's version and
    /// compare it.
    Unsure { known: Option<(Arc<HotTier>, Version)> },
}

impl Live {
    pub(crate) fn new(config: &Config) -> Self {
        let cache = LiveCache {
            entries: LruCache::unbounded(),
            text_bytes: 0,
            max_sessions: config.live_sessions,
            max_bytes: config.live_bytes,
        };
        Self { cache: Mutex::new(cache) }
    }

    /// Looks up the cached state of a session, and whether it is valid at `now`.
    pub(crate) fn look(&self, session: SessionId, now: Mark) -> Look {
        let entry = self.lock().entries.get(&session).cloned();
        match entry {
            Some(entry) if entry.seen_at == Some(now) && entry.version.is_open => Look::Fresh(entry.hot),
            entry => Look::Unsure { known: entry.map(|entry| (entry.hot, entry.version)) },
        }
    }

    /// Returns the cached state of a session. The caller must compare the version with the one in the file.
    pub(crate) fn known(&self, session: SessionId) -> Option<(Arc<HotTier>, Version)> {
        self.lock().entries.get(&session).map(|entry| (Arc::clone(&entry.hot), entry.version))
    }

    /// Caches the hot tier that belongs to `version`. `seen_at` is the mark at which `version` is known to be current.
    pub(crate) fn put(&self, session: SessionId, hot: Arc<HotTier>, version: Version, seen_at: Option<Mark>) {
        self.lock().put(session, LiveSession { hot, version, seen_at });
    }

    /// Marks the entries that were valid at `before` as valid at `now`. The caller knows that no cached session changed in
    /// between.
    pub(crate) fn renew(&self, before: Mark, now: Mark) {
        for (_, entry) in &mut self.lock().entries {
            if entry.seen_at == Some(before) {
                entry.seen_at = Some(now);
            }
        }
    }

    pub(crate) fn forget(&self, session: SessionId) {
        self.lock().pop(session);
    }

    pub(crate) fn forget_all(&self) {
        let mut cache = self.lock();
        cache.entries.clear();
        cache.text_bytes = 0;
    }

    fn lock(&self) -> MutexGuard<'_, LiveCache> {
        self.cache.lock().expect("no one panics while holding the cache")
    }
}

impl LiveCache {
    fn put(&mut self, session: SessionId, entry: LiveSession) {
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

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::{model::turn::Turn, tier::hot::HotLimits};

    const VERSION: Version = Version { epoch: 0, turn_count: 1, incomplete_turn: None, is_open: true };

    fn live(max_sessions: usize, max_bytes: usize) -> Live {
        let mut config = Config::default();
        (config.live_sessions, config.live_bytes) = (max_sessions, max_bytes);
        Live::new(&config)
    }

    /// Returns a hot tier of one turn with this many bytes of text.
    fn hot(text_bytes: usize) -> Arc<HotTier> {
        let turn = Turn::sample(1, "x".repeat(text_bytes), 1);
        Arc::new(HotTier::from_rows(HotLimits { turns: 5, tokens: 1_500 }, [turn], Vec::new()))
    }

    /// Caches the hot tiers of new sessions, each with this many bytes of text.
    fn put<const N: usize>(live: &Live, text_bytes: [usize; N]) -> [SessionId; N] {
        text_bytes.map(|bytes| {
            let session = SessionId::new(DateTime::UNIX_EPOCH);
            live.put(session, hot(bytes), VERSION, Some(Mark::sample(1)));
            session
        })
    }

    #[track_caller]
    fn check(live: &Live, sessions: &[SessionId], known: &[bool]) {
        // `known` would make the session the most recently used one.
        let found: Vec<bool> =
            sessions.iter().map(|session| live.lock().entries.peek(session).is_some()).collect();
        assert_eq!(found, known);
        let cache = live.lock();
        let held: usize = cache.entries.iter().map(|(_, entry)| entry.hot.text_bytes()).sum();
        assert_eq!(cache.text_bytes, held, "the bytes are counted");
    }

    #[test]
    fn too_many_sessions_push_out_the_one_used_longest_ago() {
        let live = live(2, 1_000);
        let [a, b] = put(&live, [1, 1]);
        assert!(live.known(a).is_some());
        let [c] = put(&live, [1]);
        check(&live, &[a, b, c], &[true, false, true]);
    }

    #[test]
    fn too_many_bytes_push_out_as_many_as_it_takes() {
        let live = live(100, 10);
        let sessions = put(&live, [3, 3, 4]);
        check(&live, &sessions, &[true, true, true]);
        let [huge] = put(&live, [6]);
        check(&live, &[&sessions[..], &[huge]].concat(), &[false, false, true, true]);
        let [larger_than_all] = put(&live, [11]);
        check(&live, &[huge, larger_than_all], &[false, false]);
    }

    #[test]
    fn a_session_counts_once_and_not_after_it_is_forgotten() {
        let live = live(100, 10);
        let [a] = put(&live, [6]);
        live.put(a, hot(6), VERSION, None);
        check(&live, &[a], &[true]);
        live.forget(a);
        let [b, c] = put(&live, [5, 5]);
        check(&live, &[a, b, c], &[false, true, true]);
        live.forget_all();
        check(&live, &[b, c], &[false, false]);
    }

    #[test]
    fn an_entry_is_believed_at_a_moment_up_to_which_nothing_has_changed() {
        let live = live(100, 100);
        let [a, b] = put(&live, [1, 1]);
        live.put(b, hot(1), VERSION, None);
        live.renew(Mark::sample(1), Mark::sample(2));
        assert!(matches!(live.look(a, Mark::sample(2)), Look::Fresh(_)));
        assert!(matches!(live.look(b, Mark::sample(2)), Look::Unsure { .. }), "it was not seen before");
        live.renew(Mark::sample(1), Mark::sample(3));
        assert!(matches!(live.look(a, Mark::sample(3)), Look::Unsure { .. }), "something changed between");
    }

    #[test]
    fn an_entry_is_believed_only_at_the_mark_it_was_seen_at() {
        let live = live(100, 100);
        let [a] = put(&live, [1]);
        assert!(matches!(live.look(a, Mark::sample(1)), Look::Fresh(_)));
        assert!(matches!(live.look(a, Mark::sample(2)), Look::Unsure { known: Some((_, VERSION)) }));
        live.forget(a);
        assert!(matches!(live.look(a, Mark::sample(1)), Look::Unsure { known: None }));
    }
}
