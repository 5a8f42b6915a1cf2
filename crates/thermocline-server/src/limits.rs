//! Limits on connections, on running operations (places by class and key), on calls (rates by key), and on the bytes of
//! request bodies.

use std::{sync::Arc, time::Duration};

use serde_json::Value;

use crate::{
    bodies::{AwaitedBody, Bodies, BodyRoom},
    caller::Caller,
    handles,
    ops::{
        problem::{Code, Problem},
        spec::Class,
    },
    places::{Place, Places},
    rates::Rates,
};

/// How long a caller waits for a place. An early refusal lets the caller go elsewhere, and keeps running calls fast.
const PATIENCE: Duration = Duration::from_millis(300);
/// The number of places for operations of the class [`Class::Long`], and of the class [`Class::Erase`]; one for a key.
const LONG_PLACES: usize = 2;
/// The maximum total size of all bodies in memory, in bytes; half of it for one key. Parsed, a body takes several times as
/// much.
const BODIES_BYTES: usize = 64 << 20;
/// How many bytes of a body count as one call.
const BYTES_OF_A_CALL: u64 = 64 << 10;

/// The places, the rates of keys, and the bytes for request bodies.
#[derive(Debug)]
pub struct Limits {
    /// The maximum number of open connections, besides a few that are kept for health.
    pub connections: usize,
    /// The number of places that a key has in each of the two fast classes: half of them.
    share: usize,
    quick: Arc<Places>,
    recall: Arc<Places>,
    long: Arc<Places>,
    erase: Arc<Places>,
    bodies: Arc<Bodies>,
    rates: Rates,
}

impl Default for Limits {
    /// Limits for a memory with the default number of readers.
    fn default() -> Self {
        Self::new(thermocline::Config::default().readers)
    }
}

impl Limits {
    /// Creates limits for a memory with this many readers.
    pub fn new(readers: u32) -> Self {
        let share = Self::share_of(readers);
        Self {
            connections: handles::connections(),
            share,
            quick: Places::new(2 * share),
            recall: Places::new(2 * share),
            long: Places::new(LONG_PLACES),
            erase: Places::new(LONG_PLACES),
            bodies: Bodies::new(BODIES_BYTES),
            rates: Rates::default(),
        }
    }

    /// The number of places of one key in each of the two fast classes: a few per reader, so that no reader idles even if
    /// only one key calls.
    fn share_of(readers: u32) -> usize {
        (4 * readers as usize).max(16)
    }

    /// Returns the number of threads that the runtime's blocking pool needs, so that every place can be in use: for each
    /// operation, one thread that runs it and one for the work that it waits for, and a few more.
    pub fn threads(readers: u32) -> usize {
        2 * (4 * Self::share_of(readers) + 2 * LONG_PLACES) + 4
    }

    /// Waits for a place, which is held until it is dropped. Errors: `Code::Busy` if none becomes free within 300 ms.
    pub async fn place(&self, class: Class, caller: &Caller) -> Result<Place, Problem> {
        // Callers without keys cannot be told apart, so all the long places are theirs.
        let of_long = if caller.has_key() { 1 } else { LONG_PLACES };
        let (places, share) = match class {
            Class::Quick => (&self.quick, self.share),
            Class::Recall => (&self.recall, self.share),
            Class::Long => (&self.long, of_long),
            Class::Erase => (&self.erase, of_long),
        };
        places.take(&caller.id, share, PATIENCE).await.ok_or_else(busy)
    }

    /// The number of operations that hold a place in one of the two fast classes.
    pub fn running(&self) -> usize {
        self.quick.held() + self.recall.held()
    }

    /// Begins a body of this caller.
    pub fn body(&self, caller: &Caller) -> BodyRoom {
        self.bodies.begin(&caller.id)
    }

    /// Awaits the rest of a request of this caller, whose key has at most half of the connections for that: a connection whose
    /// request has begun cannot be closed for another one. Errors: `Code::Busy`.
    pub(crate) fn await_body(&self, caller: &Caller) -> Result<AwaitedBody, Problem> {
        // Callers without keys cannot be told apart, so all the connections are theirs.
        let most = if caller.has_key() { self.connections / 2 } else { self.connections };
        self.bodies.await_one(&caller.id, most).ok_or_else(busy)
    }

    /// Counts a call of a caller whose key has a rate. Errors: `Code::TooFast` if the key has no call left.
    pub fn count(&self, caller: &Caller) -> Result<(), Problem> {
        let Some(rate) = caller.rate else { return Ok(()) };
        self.rates.count(&caller.id, rate).map_err(|wait| {
            let mut problem = Problem::new(Code::TooFast, format!("this key is limited to {rate}"));
            problem.retry_after_s = Some(wait.as_secs() + 1);
            problem
        })
    }

    /// Counts a body's bytes as further calls: one for each 64 KiB beyond the first.
    pub fn count_bytes(&self, caller: &Caller, bytes: u64) {
        self.count_more(caller, bytes.div_ceil(BYTES_OF_A_CALL));
    }

    /// Counts the items of a request as further calls: the turns, files or other objects in one of its lists, beyond the
    /// first.
    pub fn count_items(&self, caller: &Caller, request: &Value) {
        let lists = request.as_object().into_iter().flatten().filter_map(|(_, value)| value.as_array());
        let items = lists.map(|list| list.iter().filter(|item| item.is_object()).count()).max();
        self.count_more(caller, items.unwrap_or_default() as u64);
    }

    fn count_more(&self, caller: &Caller, units: u64) {
        if let Some(rate) = caller.rate
            && units > 1
        {
            self.rates.charge(&caller.id, rate, u32::try_from(units - 1).unwrap_or(u32::MAX));
        }
    }
}

/// The error for a request that finds no room in time.
pub(crate) fn busy() -> Problem {
    Problem::new(Code::Busy, "the server is busy; try again in a second")
}

/// Adds bytes to a body. Errors: `Code::Busy` if there is no room for them.
pub(crate) fn grow(room: &mut BodyRoom, bytes: usize) -> Result<(), Problem> {
    if room.grow(bytes) {
        return Ok(());
    }
    Err(Problem::new(Code::Busy, "the server holds too many request bodies; try again in a second"))
}
