//! Caches what was computed for short strings: people repeat themselves.
//!
//! Memory is bounded: a memo has one slot for each value of a hash, and a new entry replaces the one in its slot. The
//! process keeps a fixed number of memos, however many threads count words and tokens.

use std::sync::{Mutex, MutexGuard, OnceLock, TryLockError};

/// FNV-1a, 64 bits (draft-eastlake-fnv, sections 2 and 3).
pub(crate) fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// FNV-1a's offset basis.
pub(crate) const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

/// More than the different words of long conversations (49,000 in those that were counted). A memo of counts takes 1.3 MB;
/// with a quarter of that, which would fit a core's cache, long turns take nearly twice as long to count.
const SLOTS: usize = 65_536;
/// The longest string that is cached, in bytes: a slot contains the string, so that one access reads it.
const MAX_KEY: usize = 15;
/// A string of at most 15 bytes, padded with zeros, and its length + 1, so that an empty slot matches no string.
type MemoKey = [u8; MAX_KEY + 1];

/// A cache of values for short strings, with at most as many entries as there are slots.
pub(crate) struct Memo<V> {
    slots: Box<[(MemoKey, V)]>,
}

impl<V: Copy + Default> Memo<V> {
    pub(crate) fn new() -> Self {
        Self { slots: vec![(MemoKey::default(), V::default()); SLOTS].into_boxed_slice() }
    }

    /// Returns the cached value of `text`. If there is none, makes it, and caches it unless `text` is long.
    pub(crate) fn get(&mut self, text: &str, make: impl FnOnce() -> V) -> V {
        let Some(key) = key_of(text) else { return make() };
        let slot = &mut self.slots[slot_of(key)];
        if slot.0 != key {
            *slot = (key, make());
        }
        slot.1
    }
}

fn key_of(text: &str) -> Option<MemoKey> {
    let mut key = MemoKey::default();
    key.get_mut(..MAX_KEY)?.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
    key[MAX_KEY] = u8::try_from(text.len()).ok()? + 1;
    Some(key)
}

/// Hashes both halves by multiplication (Knuth, The Art of Computer Programming, volume 3, section 6.4).
fn slot_of(key: MemoKey) -> usize {
    let bits = u128::from_le_bytes(key);
    let halves = [bits & u128::from(u64::MAX), bits >> 64];
    let [low, high] = halves.map(|half| u64::try_from(half).expect("half of 128 bits"));
    let mixed = (low.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ high).wrapping_mul(0xd6e8_feb8_6659_fd93);
    usize::try_from(mixed >> (64 - SLOTS.ilog2())).expect("it is less than the slots")
}

/// How many instances a pool keeps: enough for the cores of a small machine.
const PLACES: usize = 4;

/// A few instances of something costly, shared by all threads.
pub(crate) struct Pool<T> {
    places: [OnceLock<Mutex<T>>; PLACES],
    make: fn() -> T,
}

impl<T> Pool<T> {
    pub(crate) const fn new(make: fn() -> T) -> Self {
        Self { places: [const { OnceLock::new() }; PLACES], make }
    }

    /// Lends one instance to `work`. Never waits for other threads, which may take a second over a large text: if all
    /// instances are in use, creates a temporary one.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        match self.free_place() {
            Some(mut place) => work(&mut place),
            None => work(&mut (self.make)()),
        }
    }

    fn free_place(&self) -> Option<MutexGuard<'_, T>> {
        self.places.iter().find_map(|place| {
            match place.get_or_init(|| Mutex::new((self.make)())).try_lock() {
                Ok(guard) => Some(guard),
                // Cached values are correct even after a panic.
                Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => None,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds `depth` instances at the same time, and records how often each was used.
    fn nest(pool: &Pool<u32>, depth: usize, uses_seen: &mut Vec<u32>) {
        pool.with(|uses| {
            *uses += 1;
            uses_seen.push(*uses);
            if depth > 1 {
                nest(pool, depth - 1, uses_seen);
            }
        });
    }

    #[test]
    fn who_finds_all_places_in_use_does_not_wait() {
        let pool = Pool::new(|| 0);
        let mut uses = Vec::new();
        nest(&pool, PLACES + 2, &mut uses);
        nest(&pool, PLACES + 2, &mut uses);
        assert_eq!(
            uses,
            [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 1, 1],
            "the places stay; what was made beside them goes"
        );
    }
}
