//! Places for running operations of one class, shared by callers' keys: no key has more than its share of them, and who
//! waits is served in a ring over the keys. So a key that sends many calls waits for its own, and not others for it.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{sync::oneshot, time};

/// The places of one class.
#[derive(Debug)]
pub(crate) struct Places {
    /// How many there are.
    count: usize,
    state: Mutex<PlacesState>,
}

#[derive(Debug, Default)]
struct PlacesState {
    held: usize,
    keys: HashMap<String, KeyPlaces>,
    /// The keys that have callers waiting, the next one first.
    ring: VecDeque<String>,
}

/// The places of one key, and its waiting callers, the first one first. A caller that no longer waits is still among them.
#[derive(Debug, Default)]
struct KeyPlaces {
    /// How many it may hold.
    share: usize,
    held: usize,
    waiting: VecDeque<oneshot::Sender<Place>>,
}

/// A place, until it is dropped.
#[derive(Debug)]
pub struct Place {
    /// The places that it is one of, and the key that holds it; `None` if it was never handed out.
    of: Option<(Arc<Places>, String)>,
}

impl Places {
    pub(crate) fn new(count: usize) -> Arc<Self> {
        Arc::new(Self { count, state: Mutex::default() })
    }

    /// Waits for a place of a key that may hold `share` of them, for at most `patience`.
    pub(crate) async fn take(self: &Arc<Self>, key: &str, share: usize, patience: Duration) -> Option<Place> {
        let waiting = {
            let mut state = self.state();
            if state.held < self.count && state.held_by(key) < share {
                return Some(state.hand_out(self, key));
            }
            state.enqueue(key, share)
        };
        time::timeout(patience, waiting).await.ok()?.ok()
    }

    /// How many are held.
    pub(crate) fn held(&self) -> usize {
        self.state().held
    }

    fn give_back(self: &Arc<Self>, key: &str) {
        // Places whose callers no longer wait are dropped after the lock: dropping them needs it.
        let mut state = self.state();
        state.held -= 1;
        if let Some(of_key) = state.keys.get_mut(key) {
            of_key.held -= 1;
        }
        state.forget_if_idle(key);
        // One place is free. It goes to the first key of the ring that may have one more.
        for _ in 0..state.ring.len() {
            let Some(next) = state.ring.pop_front() else { return };
            if state.serve(self, &next) {
                return;
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, PlacesState> {
        // No panic can leave the counts half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PlacesState {
    fn held_by(&self, key: &str) -> usize {
        self.keys.get(key).map_or(0, |of_key| of_key.held)
    }

    fn hand_out(&mut self, places: &Arc<Places>, key: &str) -> Place {
        self.held += 1;
        match self.keys.get_mut(key) {
            Some(of_key) => of_key.held += 1,
            None => {
                self.keys.insert(key.to_owned(), KeyPlaces { held: 1, ..KeyPlaces::default() });
            }
        }
        Place { of: Some((Arc::clone(places), key.to_owned())) }
    }

    fn enqueue(&mut self, key: &str, share: usize) -> oneshot::Receiver<Place> {
        let (sender, receiver) = oneshot::channel();
        let of_key = self.keys.entry(key.to_owned()).or_default();
        of_key.share = share;
        // All callers wait equally long, so those that no longer wait are the first.
        while of_key.waiting.front().is_some_and(oneshot::Sender::is_closed) {
            of_key.waiting.pop_front();
        }
        of_key.waiting.push_back(sender);
        if !self.ring.iter().any(|waiting| waiting == key) {
            self.ring.push_back(key.to_owned());
        }
        receiver
    }

    /// Hands the free place to the first caller of this key that still waits, if the key may have one more, and puts the key at
    /// the end of the ring if others of its callers wait. Returns whether the place is taken.
    fn serve(&mut self, places: &Arc<Places>, key: &str) -> bool {
        let mut is_taken = false;
        while !is_taken {
            let may_have_one = self.keys.get_mut(key).filter(|of_key| of_key.held < of_key.share);
            let Some(caller) = may_have_one.and_then(|of_key| of_key.waiting.pop_front()) else { break };
            if caller.is_closed() {
                continue;
            }
            let place = self.hand_out(places, key);
            match caller.send(place) {
                Ok(()) => is_taken = true,
                Err(mut unwanted) => {
                    // Undone here, because dropping it would take the lock again.
                    unwanted.of = None;
                    self.held -= 1;
                    if let Some(of_key) = self.keys.get_mut(key) {
                        of_key.held -= 1;
                    }
                }
            }
        }
        if self.keys.get(key).is_some_and(|of_key| !of_key.waiting.is_empty()) {
            self.ring.push_back(key.to_owned());
        }
        self.forget_if_idle(key);
        is_taken
    }

    fn forget_if_idle(&mut self, key: &str) {
        if self.keys.get(key).is_some_and(|of_key| of_key.held == 0 && of_key.waiting.is_empty()) {
            self.keys.remove(key);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some((places, key)) = self.of.take() {
            places.give_back(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use tokio::task::yield_now;

    use super::*;

    const PATIENCE: Duration = Duration::from_millis(300);

    #[tokio::test(start_paused = true)]
    async fn no_key_has_more_than_its_share() {
        let places = Places::new(4);
        let first =
            [places.take("a", 2, PATIENCE).await.unwrap(), places.take("a", 2, PATIENCE).await.unwrap()];
        assert!(places.take("a", 2, PATIENCE).await.is_none());
        let _other = places.take("b", 2, PATIENCE).await.unwrap();
        drop(first);
        assert!(places.take("a", 2, PATIENCE).await.is_some());
        assert_eq!(places.held(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_is_served_in_a_ring_over_keys_and_not_first_come() {
        let places = Places::new(2);
        let mut held =
            vec![places.take("a", 2, PATIENCE).await.unwrap(), places.take("a", 2, PATIENCE).await.unwrap()];
        let (sender, mut served) = tokio::sync::mpsc::unbounded_channel();
        for key in ["a", "a", "a", "b", "c"] {
            let (places, sender) = (Arc::clone(&places), sender.clone());
            tokio::spawn(async move {
                let place = places.take(key, 2, PATIENCE).await.unwrap();
                sender.send((key, place)).unwrap();
            });
            yield_now().await;
        }
        let mut order = Vec::new();
        while order.len() < 5 {
            held.pop();
            let (key, place) = served.recv().await.unwrap();
            order.push(key);
            held.push(place);
        }
        assert_eq!(order, ["a", "b", "c", "a", "a"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_place_for_somebody_who_no_longer_waits_is_not_lost() {
        let places = Places::new(1);
        let held = places.take("a", 2, PATIENCE).await.unwrap();
        assert!(places.take("b", 2, PATIENCE).await.is_none());
        {
            // Gone after the place was sent to it.
            let mut waiting = pin!(places.take("c", 2, PATIENCE));
            assert!(polled_once(waiting.as_mut()).await.is_none());
            drop(held);
        }
        assert!(places.take("d", 2, PATIENCE).await.is_some());
        assert_eq!(places.held(), 0);
        assert!(places.state().keys.is_empty() && places.state().ring.is_empty(), "nothing is kept of them");
    }

    /// Polls a future once.
    async fn polled_once<F: Future + Unpin>(future: F) -> Option<F::Output> {
        tokio::select! {
            biased;
            output = future => Some(output),
            () = yield_now() => None,
        }
    }
}
