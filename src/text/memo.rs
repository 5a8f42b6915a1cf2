//! Remembers what was worked out for a short string: people repeat themselves.
//!
//! Memory is bounded: one slot for each value of a hash, in which the last comer stays, and a fixed number of
//! memos in the process, however many threads count words and tokens.

use std::sync::{Mutex, MutexGuard, OnceLock, TryLockError};

/// FNV-1a, 64 bits (draft-eastlake-fnv, sections 2 and 3).
pub(crate) fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Where FNV-1a begins.
pub(crate) const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

/// About as many as the different words of a long chat; a memo of counts has 0.4 MB and stays in a core's cache.
const SLOTS: usize = 16_384;
/// The longest string that is remembered, in bytes: a slot holds it in place, and is read in one go.
const MAX_KEY: usize = 15;
/// A string of at most 15 bytes, zeros, and its length + 1: an empty slot is no string's.
type Key = [u8; MAX_KEY + 1];

/// Values of short strings, as many as there are slots at most.
pub(crate) struct Memo<V> {
    slots: Box<[(Key, V)]>,
}

impl<V: Copy + Default> Memo<V> {
    pub(crate) fn new() -> Self {
        Self { slots: vec![(Key::default(), V::default()); SLOTS].into_boxed_slice() }
    }

    /// The value of `text`: as remembered, else made, and remembered unless `text` is long.
    pub(crate) fn get(&mut self, text: &str, make: impl FnOnce() -> V) -> V {
        let Some(key) = key_of(text) else { return make() };
        let slot = &mut self.slots[slot_of(key)];
        if slot.0 != key {
            *slot = (key, make());
        }
        slot.1
    }
}

fn key_of(text: &str) -> Option<Key> {
    let mut key = Key::default();
    key.get_mut(..MAX_KEY)?.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
    key[MAX_KEY] = u8::try_from(text.len()).ok()? + 1;
    Some(key)
}

/// Multiplicative hashing (Knuth, The Art of Computer Programming, volume 3, section 6.4) of both halves.
fn slot_of(key: Key) -> usize {
    let bits = u128::from_le_bytes(key);
    let halves = [bits & u128::from(u64::MAX), bits >> 64];
    let [low, high] = halves.map(|half| u64::try_from(half).expect("half of 128 bits"));
    let mixed = (low.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ high).wrapping_mul(0xd6e8_feb8_6659_fd93);
    usize::try_from(mixed >> (64 - SLOTS.ilog2())).expect("it is less than the slots")
}

/// Enough for the cores of a small machine; who finds all in use waits for the first, some microseconds.
const PLACES: usize = 4;

/// A few of a costly thing, shared by all threads.
pub(crate) struct Pool<T> {
    places: [OnceLock<Mutex<T>>; PLACES],
    make: fn() -> T,
}

impl<T> Pool<T> {
    pub(crate) const fn new(make: fn() -> T) -> Self {
        Self { places: [const { OnceLock::new() }; PLACES], make }
    }

    /// Lends one to `work`, which must not ask for another from the same pool.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        work(&mut self.free_place())
    }

    fn free_place(&self) -> MutexGuard<'_, T> {
        for place in &self.places {
            match self.place(place).try_lock() {
                Ok(guard) => return guard,
                // What is remembered is true even if a panic passed by.
                Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => {}
            }
        }
        self.place(&self.places[0]).lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn place<'a>(&self, place: &'a OnceLock<Mutex<T>>) -> &'a Mutex<T> {
        place.get_or_init(|| Mutex::new((self.make)()))
    }
}
