//! How much may be asked at once: places by class, rates by key, bytes of bodies together.

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
    ops::{
        problem::{Code, Problem},
        spec::Class,
    },
};

/// How long a caller waits for a place. Who is refused early can ask elsewhere, and those inside stay fast.
const PATIENCE: Duration = Duration::from_millis(300);
/// Places for what reads or writes everything.
const LONG_PLACES: usize = 2;
/// Bytes that all bodies in memory may have together.
const BODIES_BYTES: usize = 256 << 20;

/// Places, rates and bytes.
pub struct Limits {
    /// Of each of the two fast classes.
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
    /// For a memory with as many readers as one has by default.
    fn default() -> Self {
        Self::new(thermocline::Config::default().readers)
    }
}

impl Limits {
    /// Limits for a memory with so many readers.
    pub fn new(readers: u32) -> Self {
        let places = Self::places_of(readers);
        let semaphore = |places| Arc::new(Semaphore::new(places));
        Self {
            places,
            quick: semaphore(places),
            recall: semaphore(places),
            long: semaphore(LONG_PLACES),
            bodies: semaphore(BODIES_BYTES),
            rates: Mutex::default(),
        }
    }

    /// Places of each of the two fast classes: a few for each reader, so that none of them idles.
    fn places_of(readers: u32) -> usize {
        (4 * readers as usize).max(16)
    }

    /// Threads that the places can keep busy together, as many as the runtime's blocking pool needs: one that runs the
    /// operation, and one that does for it what it waits for.
    pub fn threads(readers: u32) -> usize {
        2 * (2 * Self::places_of(readers) + LONG_PLACES) + 4
    }

    /// A place, held as long as what it gives; refused if none comes free soon.
    pub async fn place(&self, class: Class) -> Result<OwnedSemaphorePermit, Problem> {
        let places = match class {
            Class::Quick => &self.quick,
            Class::Recall => &self.recall,
            Class::Long => &self.long,
        };
        match time::timeout(PATIENCE, Arc::clone(places).acquire_owned()).await {
            Ok(Ok(place)) => Ok(place),
            _ => Err(Problem::new(Code::Busy, "all places are taken; ask again in a second")),
        }
    }

    /// How many have a place in one of the two fast classes.
    pub fn running(&self) -> usize {
        2 * self.places - self.quick.available_permits() - self.recall.available_permits()
    }

    /// Room for so many bytes of a body, held as long as what it gives.
    pub fn body(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Problem> {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.bodies).try_acquire_many_owned(bytes);
        room.map_err(|_| Problem::new(Code::Busy, "bodies of others fill the memory; ask again in a second"))
    }

    /// Counts one call of a caller whose key has a rate.
    pub fn count(&self, caller: &Caller) -> Result<(), Problem> {
        let Some(rate) = caller.rate else { return Ok(()) };
        let Err(not_until) = self.rate(&caller.id, rate).check() else { return Ok(()) };
        let wait = not_until.wait_time_from(DefaultClock::default().now());
        let mut problem = Problem::new(Code::TooFast, format!("this key may ask {rate}"));
        problem.retry_after_s = Some(wait.as_secs() + 1);
        Err(problem)
    }

    /// What counts for this key; a key whose rate was changed is counted anew.
    fn rate(&self, key: &str, rate: Rate) -> Arc<DefaultDirectRateLimiter> {
        // A count is whole whoever panicked.
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

fn quota(rate: Rate) -> Quota {
    let quota = match rate.per {
        Per::Second => Quota::per_second,
        Per::Minute => Quota::per_minute,
        Per::Hour => Quota::per_hour,
    };
    let times: NonZeroU32 = rate.times;
    quota(times)
}
