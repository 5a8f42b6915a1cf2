//! How much may run at once: slots by class, rates by key, total bytes of bodies.

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

/// How long a caller waits for a slot. A caller that is refused early can go elsewhere, and running calls stay fast.
const PATIENCE: Duration = Duration::from_millis(300);
/// Slots for operations that read or write everything.
const LONG_PLACES: usize = 2;
/// The maximum total size of all bodies in memory, in bytes.
const BODIES_BYTES: usize = 256 << 20;

/// Slots, rates and bytes.
pub struct Limits {
    /// The number in each of the two fast classes.
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
    /// For a memory with the default number of readers.
    fn default() -> Self {
        Self::new(thermocline::Config::default().readers)
    }
}

impl Limits {
    /// Limits for a memory with this many readers.
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

    /// The number of slots in each of the two fast classes: a few per reader, so that none of them idles.
    fn places_of(readers: u32) -> usize {
        (4 * readers as usize).max(16)
    }

    /// The number of threads that the slots can keep busy together, which the runtime's blocking pool needs: one that runs
    /// the operation, and one for the work that it waits for.
    pub fn threads(readers: u32) -> usize {
        2 * (2 * Self::places_of(readers) + LONG_PLACES) + 4
    }

    /// A slot, held as long as the permit. Errors: `Code::Busy` if none becomes free soon.
    pub async fn place(&self, class: Class) -> Result<OwnedSemaphorePermit, Problem> {
        let places = match class {
            Class::Quick => &self.quick,
            Class::Recall => &self.recall,
            Class::Long => &self.long,
        };
        match time::timeout(PATIENCE, Arc::clone(places).acquire_owned()).await {
            Ok(Ok(place)) => Ok(place),
            _ => Err(Problem::new(Code::Busy, "the server is busy; try again in a second")),
        }
    }

    /// How many operations hold a slot in one of the two fast classes.
    pub fn running(&self) -> usize {
        2 * self.places - self.quick.available_permits() - self.recall.available_permits()
    }

    /// Room for this many bytes of a body, held as long as the permit.
    pub fn body(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Problem> {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.bodies).try_acquire_many_owned(bytes);
        room.map_err(|_| {
            Problem::new(Code::Busy, "the server holds too many request bodies; try again in a second")
        })
    }

    /// Counts one call of a caller whose key has a rate limit.
    pub fn count(&self, caller: &Caller) -> Result<(), Problem> {
        let Some(rate) = caller.rate else { return Ok(()) };
        let Err(not_until) = self.rate(&caller.id, rate).check() else { return Ok(()) };
        let wait = not_until.wait_time_from(DefaultClock::default().now());
        let mut problem = Problem::new(Code::TooFast, format!("this key is limited to {rate}"));
        problem.retry_after_s = Some(wait.as_secs() + 1);
        Err(problem)
    }

    /// The counter for this key; if its rate was changed, counting starts again.
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

fn quota(rate: Rate) -> Quota {
    let quota = match rate.per {
        Per::Second => Quota::per_second,
        Per::Minute => Quota::per_minute,
        Per::Hour => Quota::per_hour,
    };
    let times: NonZeroU32 = rate.times;
    quota(times)
}
