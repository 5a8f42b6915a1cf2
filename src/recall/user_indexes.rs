//! The indexes of users in memory: the least recently used one leaves when they hold too many bytes together.

use std::sync::{Arc, Mutex, MutexGuard};

use lru::LruCache;
use rusqlite::Connection;

use crate::{error::Result, recall::user_index::UserIndex, store::users::Scope};

/// Indexes of users, by their numbers in the file.
#[derive(Debug)]
pub(crate) struct UserIndexes {
    cache: Mutex<LruCache<i64, Slot>>,
    max_bytes: usize,
}

/// Its bytes as they were when it was last used: to ask the index itself one would have to wait for whoever uses it.
#[derive(Clone, Debug)]
struct Slot {
    index: Arc<Mutex<Option<UserIndex>>>,
    bytes: usize,
}

impl UserIndexes {
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { cache: Mutex::new(LruCache::unbounded()), max_bytes }
    }

    /// Hands out the user's index, as the snapshot that `conn` reads has it. Recalls of one user wait for each other.
    pub(crate) fn with<T>(
        &self,
        conn: &Connection,
        scope: &Scope,
        work: impl FnOnce(&mut UserIndex) -> T,
    ) -> Result<T> {
        let slot = self.slot(scope.user_no);
        // Who panicked here has left the index half done.
        let mut held = slot.lock().unwrap_or_else(|poisoned| {
            let mut held = poisoned.into_inner();
            *held = None;
            slot.clear_poison();
            held
        });
        // What failed half-way holds some units twice; what is not known any more is of no use either.
        let known = held.as_mut().map_or(Ok(false), |index| index.refresh(conn, scope));
        if !matches!(known, Ok(true)) {
            *held = None;
            known?;
            *held = Some(UserIndex::load(conn, scope)?);
        }
        let index = held.as_mut().expect("it was just put there");
        let done = work(index);
        let bytes = index.bytes();
        drop(held);
        self.make_room(scope.user_no, bytes);
        Ok(done)
    }

    /// Forgets what is known of a user.
    pub(crate) fn forget(&self, scope: &Scope) {
        self.lock().pop(&scope.user_no);
    }

    fn slot(&self, user_no: i64) -> Arc<Mutex<Option<UserIndex>>> {
        let mut cache = self.lock();
        let slot = cache.get_or_insert(user_no, || Slot { index: Arc::default(), bytes: 0 });
        Arc::clone(&slot.index)
    }

    fn make_room(&self, user_no: i64, bytes: usize) {
        let mut cache = self.lock();
        if let Some(slot) = cache.peek_mut(&user_no) {
            slot.bytes = bytes;
        }
        let mut held: usize = cache.iter().map(|(_, slot)| slot.bytes).sum();
        while held > self.max_bytes
            && let Some((_, gone)) = cache.pop_lru()
        {
            held -= gone.bytes;
        }
    }

    fn lock(&self) -> MutexGuard<'_, LruCache<i64, Slot>> {
        self.cache.lock().expect("no one panics while holding the cache")
    }
}
