//! The only code that reads the time.
//!
//! There are two kinds of time, which are never mixed. The time when something was said comes from the caller, or else from
//! the configured clock; it is used for ages and rendering. Silence, ids, moves and jobs always use the configured clock,
//! which other docs call the system clock. Deadlines use neither: they use monotonic time.

use std::{
    fmt,
    sync::Mutex,
    time::{Duration, Instant},
};

use chrono::{DateTime, TimeDelta, Utc};

/// A source of the current time. The default is [`SystemClock`].
pub trait Clock: Send + Sync + fmt::Debug {
    /// Returns the current instant, UTC. It may jump, even backwards: the order of turns does not depend on it.
    fn now(&self) -> DateTime<Utc>;
}

/// The operating system's clock.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "a value without fields stays one")]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> DateTime<Utc> {
        #[expect(clippy::disallowed_methods, reason = "this is the one door to the clock")]
        Utc::now()
    }
}

/// A clock that stands still until it is set: for tests and reproducible replays.
#[derive(Debug)]
pub struct ManualClock(Mutex<DateTime<Utc>>);

impl ManualClock {
    /// Creates a clock that shows `now`.
    pub fn new(now: DateTime<Utc>) -> Self {
        Self(Mutex::new(now))
    }

    /// Moves the clock to `now`, forwards or backwards.
    pub fn set(&self, now: DateTime<Utc>) {
        *self.0.lock().expect("no one panics while holding the time") = now;
    }

    /// Moves the clock by `delta`, which may be negative. A result outside the range of [`DateTime`] leaves it
    /// unchanged.
    pub fn advance(&self, delta: TimeDelta) {
        let mut now = self.0.lock().expect("no one panics while holding the time");
        *now = now.checked_add_signed(delta).unwrap_or(*now);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> DateTime<Utc> {
        *self.0.lock().expect("no one panics while holding the time")
    }
}

/// Measures elapsed monotonic time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    pub(crate) fn start() -> Self {
        #[expect(clippy::disallowed_methods, reason = "durations are monotonic, and start here only")]
        Self(Instant::now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// A point in monotonic time after which an operation is abandoned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(Instant);

impl Deadline {
    /// Returns the deadline `span` from now. A span too long for the clock counts as a year.
    pub(crate) fn after(span: Duration) -> Self {
        #[expect(clippy::disallowed_methods, reason = "deadlines are monotonic, and start here only")]
        let now = Instant::now();
        Self(now.checked_add(span).unwrap_or(now + Duration::from_hours(24 * 365)))
    }

    /// Returns the deadline as a standard [`Instant`], for external code.
    pub(crate) fn instant(self) -> Instant {
        self.0
    }

    pub(crate) fn has_passed(self) -> bool {
        self.remaining().is_zero()
    }

    pub(crate) fn remaining(self) -> Duration {
        #[expect(clippy::disallowed_methods, reason = "deadlines are monotonic, and end here only")]
        let now = Instant::now();
        self.0.saturating_duration_since(now)
    }
}

impl From<Instant> for Deadline {
    fn from(instant: Instant) -> Self {
        Self(instant)
    }
}
