//! What the writer's commits cost: their number and their total duration.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// Counted by the writer, read by health checks.
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

    /// How many commits there were.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Their total duration, in microseconds.
    pub(crate) fn micros(&self) -> u64 {
        self.micros.load(Ordering::Relaxed)
    }
}
