//! The indexes of users in memory: the least recently used one leaves when they hold too many bytes together.

use std::sync::{Arc, Mutex, MutexGuard};

use lru::LruCache;

use crate::{
    error::Result,
    recall::user_index::UserIndex,
    store::{Store, scope::Scope, sql::Sql},
};

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

    /// Lends the user's index to `find`, brought up to a snapshot of the file, which `read` then reads on without it.
    ///
    /// Recalls of one user wait for each other's `find`. They wait before they take a connection: a large index takes a
    /// second to load, and other users would find all connections in use meanwhile.
    pub(crate) fn with<F, T>(
        &self,
        store: &Store,
        scope: &Scope,
        find: impl FnOnce(&dyn Sql, &mut UserIndex) -> F,
        read: impl FnOnce(&dyn Sql, F) -> Result<T>,
    ) -> Result<T> {
        let slot = self.slot(scope.user_no);
        // Who panicked here has left the index half done.
        let mut held = slot.lock().unwrap_or_else(|poisoned| {
            let mut held = poisoned.into_inner();
            *held = None;
            slot.clear_poison();
            held
        });
        store.read(|conn| {
            // What failed half-way holds some units twice; what is not known any more is of no use either.
            let known = held.as_mut().map_or(Ok(false), |index| index.refresh(conn, scope));
            if !matches!(known, Ok(true)) {
                *held = None;
                known?;
                *held = Some(UserIndex::load(conn, scope)?);
            }
            let index = held.as_mut().expect("it was just put there");
            let found = find(conn, index);
            let bytes = index.bytes();
            drop(held);
            self.make_room(scope.user_no, bytes);
            read(conn, found)
        })
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

#[cfg(test)]
mod tests {
    use std::{sync::Barrier, thread};

    use super::*;
    use crate::{config::Config, store::scope::UserKey};

    #[tokio::test]
    async fn who_waits_for_an_index_keeps_no_connection_from_others() {
        let folder = tempfile::tempdir().unwrap();
        let config = Config { readers: 2, read_timeout_ms: 3_000, ..Config::default() };
        let store = Store::open(&folder.path().join("memory.db"), config).unwrap();
        let key = UserKey::Name("alex".to_owned());
        let scope = store.write(move |tx| tx.add_user(&key)).await.unwrap();
        let indexes = UserIndexes::new(1 << 20);

        let [is_lent, comes, is_given_back] = [(); 3].map(|()| Barrier::new(2));
        thread::scope(|threads| {
            threads.spawn(|| {
                let keep = |_: &dyn Sql, _: &mut UserIndex| {
                    is_lent.wait();
                    is_given_back.wait();
                };
                indexes.with(&store, &scope, keep, |_, ()| Ok(())).unwrap();
            });
            is_lent.wait();
            threads.spawn(|| {
                comes.wait();
                indexes.with(&store, &scope, |_, _| (), |_, ()| Ok(())).unwrap();
            });
            comes.wait();
            let others_read = (0..100).try_for_each(|_| {
                thread::yield_now();
                store.read(|conn| Ok(conn.execute_batch("SELECT 1")?))
            });
            is_given_back.wait();
            others_read.unwrap();
        });
    }
}
