//! Limits on running operations (places by class), on calls (rates by key), and on the total bytes of request bodies.

use std::{
    collections::HashMap,
    fmt,
    num::NonZeroU32,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use governor::{
    DefaultDirectRateLimiter, Quota, RateLimiter,
    clock::{Clock, DefaultClock},
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time,
};

use crate::{
    caller::{Caller, Per, Rate},
    handles,
    ops::{
        problem::{Code, Problem},
        spec::Class,
    },
};

/// How long a caller waits for a place. An early refusal lets the caller go elsewhere, and keeps running calls fast.
const PATIENCE: Duration = Duration::from_millis(300);
/// The number of places for operations of the class [`Class::Long`].
const LONG_PLACES: usize = 2;
/// The maximum total size of all bodies in memory, in bytes.
const BODIES_BYTES: usize = 256 << 20;

/// The places, the rates of keys, and the bytes for request bodies.
pub struct Limits {
    /// The maximum number of open connections, besides a few that are kept for health.
    pub connections: usize,
    /// The number of places in each of the two fast classes.
    places: usize,
    quick: Arc<Semaphore>,
    recall: Arc<Semaphore>,
    long: Arc<Semaphore>,
    bodies: Arc<Semaphore>,
    rates: Mutex<HashMap<String, (Rate, Arc<DefaultDirectRateLimiter>)>>,
}

impl fmt::Debug for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limits").finish_non_exhaustive()
    }
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
        let places = Self::places_of(readers);
        let semaphore = |places| Arc::new(Semaphore::new(places));
        Self {
            connections: handles::connections(),
            places,
            quick: semaphore(places),
            recall: semaphore(places),
            long: semaphore(LONG_PLACES),
            bodies: semaphore(BODIES_BYTES),
            rates: Mutex::default(),
        }
    }

    /// The number of places in each of the two fast classes: a few per reader, so that no reader idles.
    fn places_of(readers: u32) -> usize {
        (4 * readers as usize).max(16)
    }

    /// Returns the number of threads that the runtime's blocking pool needs, so that every place can be in use: for each
    /// operation, one thread that runs it and one for the work that it waits for, and a few more.
    pub fn threads(readers: u32) -> usize {
        2 * (2 * Self::places_of(readers) + LONG_PLACES) + 4
    }

    /// Waits for a place, which is held as long as the permit. Errors: `Code::Busy` if none becomes free within 300 ms.
    pub async fn place(&self, class: Class) -> Result<OwnedSemaphorePermit, Problem> {
        let places = match class {
            Class::Quick => &self.quick,
            Class::Recall => &self.recall,
            Class::Long => &self.long,
        };
        match time::timeout(PATIENCE, Arc::clone(places).acquire_owned()).await {
            Ok(Ok(place)) => Ok(place),
            _ => Err(busy()),
        }
    }

    /// The number of operations that hold a place in one of the two fast classes.
    pub fn running(&self) -> usize {
        2 * self.places - self.quick.available_permits() - self.recall.available_permits()
    }

    /// Reserves this many bytes for a body, as long as the permit is held. Errors: `Code::Busy` if too few are free.
    pub fn body(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Problem> {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.bodies).try_acquire_many_owned(bytes);
        room.map_err(|_| {
            Problem::new(Code::Busy, "the server holds too many request bodies; try again in a second")
        })
    }

    /// Counts a call of a caller whose key has a rate limit. Errors: `Code::TooFast` if the limit is reached.
    pub fn count(&self, caller: &Caller) -> Result<(), Problem> {
        let Some(rate) = caller.rate else { return Ok(()) };
        let Err(not_until) = self.rate(&caller.id, rate).check() else { return Ok(()) };
        let wait = not_until.wait_time_from(DefaultClock::default().now());
        let mut problem = Problem::new(Code::TooFast, format!("this key is limited to {rate}"));
        problem.retry_after_s = Some(wait.as_secs() + 1);
        Err(problem)
    }

    /// Returns the counter for this key; a changed rate starts a new one.
    fn rate(&self, key: &str, rate: Rate) -> Arc<DefaultDirectRateLimiter> {
        // Counts stay valid even if another holder of the lock panicked.
        let mut rates = self.rates.lock().unwrap_or_else(PoisonError::into_inner);
        match rates.get(key) {
            Some((known, limiter)) if *known == rate => Arc::clone(limiter),
            _ => {
                let limiter = Arc::new(RateLimiter::direct(quota(rate)));
                rates.insert(key.to_owned(), (rate, Arc::clone(&limiter)));
                limiter
            }
        }
    }
}

/// The error for a request that finds no room in time.
pub(crate) fn busy() -> Problem {
    Problem::new(Code::Busy, "the server is busy; try again in a second")
}

fn quota(rate: Rate) -> Quota {
    let quota = match rate.per {
        Per::Second => Quota::per_second,
        Per::Minute => Quota::per_minute,
        Per::Hour => Quota::per_hour,
    };
    let times: NonZeroU32 = rate.times;
    quota(times)
}
