//! The in-memory indexes of users: the least recently used one is dropped when they exceed the byte limit together.

use std::sync::{Arc, Mutex, MutexGuard};

use lru::LruCache;

use crate::{
    error::Result,
    model::place::UserNo,
    recall::user_index::UserIndex,
    store::{scope::Scope, snapshot::Snapshot},
};

/// Indexes of users, by the users' numbers in the file.
#[derive(Debug)]
pub(crate) struct UserIndexes {
    cache: Mutex<IndexCache>,
    max_bytes: usize,
}

#[derive(Debug)]
struct IndexCache {
    slots: LruCache<UserNo, Slot>,
    /// The bytes of all slots together.
    bytes: usize,
}

/// A user's index. `bytes` is its size after its last use: measuring it now would mean waiting until it is free.
#[derive(Clone, Debug)]
struct Slot {
    index: Arc<Mutex<Option<UserIndex>>>,
    bytes: usize,
}

impl UserIndexes {
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { cache: Mutex::new(IndexCache { slots: LruCache::unbounded(), bytes: 0 }), max_bytes }
    }

    /// Returns the user's index, which the caller must wait for.
    pub(crate) fn of(&self, scope: &Scope) -> IndexWaiter<'_> {
        let empty = || Slot { index: Arc::default(), bytes: 0 };
        let slot = self.lock().slots.get_or_insert(scope.user_no, empty).clone();
        IndexWaiter { indexes: self, user_no: scope.user_no, index: slot.index }
    }

    /// Drops the index of a user.
    pub(crate) fn forget(&self, scope: &Scope) {
        let mut cache = self.lock();
        let gone = cache.slots.pop(&scope.user_no);
        cache.bytes -= gone.map_or(0, |slot| slot.bytes);
    }

    fn make_room(&self, user_no: UserNo, bytes: usize) {
        let mut cache = self.lock();
        // A user who was forgotten or evicted while the index was in use has no slot here.
        if let Some(slot) = cache.slots.peek_mut(&user_no) {
            let before = std::mem::replace(&mut slot.bytes, bytes);
            cache.bytes = cache.bytes - before + bytes;
        }
        while cache.bytes > self.max_bytes
            && let Some((_, gone)) = cache.slots.pop_lru()
        {
            cache.bytes -= gone.bytes;
        }
    }

    fn lock(&self) -> MutexGuard<'_, IndexCache> {
        self.cache.lock().expect("no one panics while holding the cache")
    }
}

/// A pending use of a user's index.
pub(crate) struct IndexWaiter<'i> {
    indexes: &'i UserIndexes,
    user_no: UserNo,
    index: Arc<Mutex<Option<UserIndex>>>,
}

/// A user's index, and the exclusive right to use it.
pub(crate) struct IndexLease<'w> {
    waiting: &'w IndexWaiter<'w>,
    held: MutexGuard<'w, Option<UserIndex>>,
}

impl IndexWaiter<'_> {
    /// Waits for the exclusive use of the index. Recalls of one user wait here for each other, before they take a
    /// connection: a large index takes a second to load, and otherwise other users would find all connections in use.
    pub(crate) fn wait(&self) -> IndexLease<'_> {
        // A panic under this lock leaves the index half built.
        let held = self.index.lock().unwrap_or_else(|poisoned| {
            let mut held = poisoned.into_inner();
            *held = None;
            self.index.clear_poison();
            held
        });
        IndexLease { waiting: self, held }
    }
}

impl IndexLease<'_> {
    /// Refreshes the index to a snapshot of the file, passes it to `find`, and gives it back.
    pub(crate) fn with<T>(
        mut self,
        snapshot: &Snapshot<'_>,
        scope: &Scope,
        find: impl FnOnce(&mut UserIndex) -> T,
    ) -> Result<T> {
        // A refresh that failed half-way leaves some units in the index twice, and an outdated index is useless too.
        let known = self.held.as_mut().map_or(Ok(false), |index| index.refresh(snapshot, scope));
        if !matches!(known, Ok(true)) {
            *self.held = None;
            known?;
            *self.held = Some(UserIndex::load(snapshot, scope)?);
        }
        let index = self.held.as_mut().expect("it was just put there");
        let found = find(index);
        let bytes = index.bytes();
        let Self { waiting, held } = self;
        drop(held);
        waiting.indexes.make_room(waiting.user_no, bytes);
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Barrier, thread};

    use chrono::DateTime;

    use super::*;
    use crate::{
        config::Config,
        model::ids::UserId,
        store::{Store, scope::UserKey},
    };

    #[test]
    fn the_bytes_are_those_of_the_users_who_are_there() {
        let indexes = UserIndexes::new(10);
        let user = |n| Scope { user_no: UserNo(n), user_id: UserId::new(DateTime::UNIX_EPOCH) };
        let [a, b, c] = [1, 2, 3].map(user);
        let check = |users: &[&Scope], bytes: usize| {
            let cache = indexes.lock();
            assert!(users.iter().all(|user| cache.slots.contains(&user.user_no)));
            let held: usize = cache.slots.iter().map(|(_, slot)| slot.bytes).sum();
            assert_eq!((cache.slots.len(), cache.bytes, held), (users.len(), bytes, bytes));
        };
        let put = |user: &Scope, bytes| indexes.make_room(user.user_no, bytes);
        indexes.of(&a);
        indexes.of(&b);
        check(&[&a, &b], 0);
        put(&a, 4);
        put(&b, 5);
        put(&a, 3);
        check(&[&a, &b], 8);
        indexes.of(&c);
        indexes.of(&a);
        put(&c, 6);
        check(&[&a, &c], 9);
        indexes.forget(&a);
        put(&a, 4);
        put(&b, 9);
        check(&[&c], 6);
        put(&c, 11);
        check(&[], 0);
    }

    #[tokio::test]
    async fn who_waits_for_an_index_keeps_no_connection_from_others() {
        let folder = tempfile::tempdir().unwrap();
        let config =
            Config { readers: 2, read_timeout: std::time::Duration::from_secs(3), ..Config::default() };
        let store = Store::open(&folder.path().join("memory.db"), config).unwrap();
        let key = UserKey::Name("alex".to_owned());
        let scope = store.write(move |tx| tx.add_user(&key)).await.unwrap();
        let indexes = UserIndexes::new(1 << 20);

        let use_index = |find: &dyn Fn()| {
            let waiting = indexes.of(&scope);
            let lent = waiting.wait();
            lent.with(&store.snapshot().unwrap(), &scope, |_| find()).unwrap();
        };
        let [is_lent, comes, is_given_back] = [(); 3].map(|()| Barrier::new(2));
        thread::scope(|threads| {
            threads.spawn(|| {
                use_index(&|| {
                    is_lent.wait();
                    is_given_back.wait();
                });
            });
            is_lent.wait();
            threads.spawn(|| {
                comes.wait();
                use_index(&|| ());
            });
            comes.wait();
            let others_read = (0..100).try_for_each(|_| {
                thread::yield_now();
                store.snapshot()?.jobs(0, 1_000).map(drop)
            });
            is_given_back.wait();
            others_read.unwrap();
        });
    }
}
