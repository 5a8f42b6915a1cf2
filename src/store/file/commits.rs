//! Counts the writer's commits and their total duration.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// Counters of commits. The writer adds to them, and health checks read them.
#[derive(Debug, Default)]
pub(crate) struct Commits {
    count: AtomicU64,
    micros: AtomicU64,
}

impl Commits {
    pub(super) fn note(&self, took: Duration) {
        self.count.fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// Returns how many commits there were.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Returns the total duration of all commits, in microseconds.
    pub(crate) fn micros(&self) -> u64 {
        self.micros.load(Ordering::Relaxed)
    }
}
