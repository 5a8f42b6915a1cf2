//! The bytes of the request bodies that are in memory, bounded in all and by key, and how many bodies of a key are awaited. A
//! body takes several times its bytes once it is parsed, so this bounds what a burst of large requests leaves of the
//! machine's memory to others, and what bodies that never come leave of the connections.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The bytes of all bodies.
#[derive(Debug)]
pub(crate) struct Bodies {
    most: usize,
    most_of_key: usize,
    held: Mutex<HeldBytes>,
}

#[derive(Debug, Default)]
struct HeldBytes {
    all: usize,
    by_key: HashMap<String, usize>,
    /// How many bodies of each key are awaited.
    awaited: HashMap<String, usize>,
}

/// The bytes of one body, until it is dropped.
#[derive(Debug)]
pub struct BodyRoom {
    of: Arc<Bodies>,
    key: String,
    bytes: usize,
}

/// A body that is awaited, until this is dropped.
#[derive(Debug)]
pub(crate) struct AwaitedBody {
    of: Arc<Bodies>,
    key: String,
}

impl Bodies {
    /// Allows `most` bytes, and half of them for one key.
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, most_of_key: most / 2, held: Mutex::default() })
    }

    /// Begins a body of this key, which has no bytes yet.
    pub(crate) fn begin(self: &Arc<Self>, key: &str) -> BodyRoom {
        BodyRoom { of: Arc::clone(self), key: key.to_owned(), bytes: 0 }
    }

    /// Awaits a body of this key; `None` if `most` of them are awaited already.
    pub(crate) fn await_one(self: &Arc<Self>, key: &str, most: usize) -> Option<AwaitedBody> {
        let mut held = self.held();
        let awaited = held.awaited.get(key).copied().unwrap_or_default();
        if awaited >= most {
            return None;
        }
        held.awaited.insert(key.to_owned(), awaited + 1);
        Some(AwaitedBody { of: Arc::clone(self), key: key.to_owned() })
    }

    fn held(&self) -> MutexGuard<'_, HeldBytes> {
        // No panic can leave the sums half changed.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BodyRoom {
    /// Adds bytes to the body, and returns whether there is room for them. A body that is alone is never too large here:
    /// its size has a limit of its own.
    pub(crate) fn grow(&mut self, bytes: usize) -> bool {
        let mut held = self.of.held();
        let of_key = held.by_key.get(&self.key).copied().unwrap_or_default();
        let is_room_of_key = of_key + bytes <= self.of.most_of_key || of_key == self.bytes;
        let is_room = held.all + bytes <= self.of.most || held.all == self.bytes;
        if !is_room || !is_room_of_key {
            return false;
        }
        held.all += bytes;
        held.by_key.insert(self.key.clone(), of_key + bytes);
        self.bytes += bytes;
        true
    }

    /// The size of the body so far.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for BodyRoom {
    fn drop(&mut self) {
        let mut held = self.of.held();
        held.all -= self.bytes;
        let left = held.by_key.get(&self.key).copied().unwrap_or_default() - self.bytes;
        if left == 0 {
            held.by_key.remove(&self.key);
        } else {
            held.by_key.insert(self.key.clone(), left);
        }
    }
}

impl Drop for AwaitedBody {
    fn drop(&mut self) {
        let mut held = self.of.held();
        match held.awaited.get_mut(&self.key) {
            Some(awaited) if *awaited > 1 => *awaited -= 1,
            _ => _ = held.awaited.remove(&self.key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_half_of_the_room_and_a_body_that_is_alone_has_all_that_it_needs() {
        let bodies = Bodies::new(100);
        let mut alone = bodies.begin("a");
        assert!(alone.grow(70) && alone.grow(70));
        drop(alone);
        let (mut first, mut second, mut other) = (bodies.begin("a"), bodies.begin("a"), bodies.begin("b"));
        assert!(first.grow(30) && second.grow(20) && !second.grow(1));
        assert!(other.grow(50) && !bodies.begin("c").grow(1));
        drop(first);
        assert!(second.grow(30) && !other.grow(1));
        drop((second, other));
        assert!(bodies.held().by_key.is_empty());
        assert_eq!(bodies.held().all, 0);
    }

    #[test]
    fn a_key_awaits_so_many_bodies_and_another_one_as_many() {
        let bodies = Bodies::new(100);
        let awaited: Vec<_> = ["a", "a", "b"].map(|key| bodies.await_one(key, 2).unwrap()).into();
        assert!(bodies.await_one("a", 2).is_none() && bodies.await_one("b", 2).is_some());
        drop(awaited);
        assert!(bodies.await_one("a", 2).is_some());
        assert!(bodies.held().awaited.is_empty());
    }
}
