//! Leaves a provider alone for a while after it failed: whoever asks next would wait as long, for nothing.

use std::{
    sync::{Mutex, MutexGuard},
    time::Duration,
};

use chrono::{DateTime, Utc};

/// An embedder that did not answer a query in time rests this long: every recall would wait for it.
pub(crate) const QUERY_REST: Duration = Duration::from_secs(10);
/// A provider that failed a job rests this long: the jobs of ten thousand users need not each find out. It also bounds
/// how many threads a provider that blocks for good can hold.
pub(crate) const JOB_REST: Duration = Duration::from_mins(1);

/// One provider's rest after a failure.
///
/// It counts the system clock's time, as the waits of jobs do. A clock that is put back ends it.
#[derive(Debug)]
pub(crate) struct Cooldown {
    rest: Duration,
    failed: Mutex<Option<(DateTime<Utc>, String)>>,
}

impl Cooldown {
    fn of(rest: Duration) -> Self {
        Self { rest, failed: Mutex::default() }
    }

    /// Begins the rest: the provider failed now, for this reason.
    pub(crate) fn begin(&self, now: DateTime<Utc>, why: &str) {
        *self.failed() = Some((now, why.to_owned()));
    }

    /// Why the provider is not to be asked now; `None` if it may be.
    pub(crate) fn why(&self, now: DateTime<Utc>) -> Option<String> {
        let failed = self.failed();
        let (since, why) = failed.as_ref()?;
        let rested = (now - *since).to_std().ok()?;
        (rested < self.rest).then(|| why.clone())
    }

    /// Ends the rest before its time.
    fn end(&self) {
        *self.failed() = None;
    }

    fn failed(&self) -> MutexGuard<'_, Option<(DateTime<Utc>, String)>> {
        self.failed.lock().expect("no one panics while holding it")
    }
}

/// The cooldown of every provider of one open file. Queries and jobs have their own: a query gives up within seconds on
/// a model that is still being loaded, and a job does not.
#[derive(Debug)]
pub(crate) struct Cooldowns {
    /// LLM#1.
    pub(crate) summarizer: Cooldown,
    /// The embedders as jobs ask them, in their order.
    pub(crate) embedders: Vec<Cooldown>,
    /// The embedders as queries ask them, in their order.
    pub(crate) queries: Vec<Cooldown>,
}

impl Cooldowns {
    /// For so many embedders.
    pub(crate) fn of(embedders: usize) -> Self {
        let each = |rest| (0..embedders).map(|_| Cooldown::of(rest)).collect();
        Self { summarizer: Cooldown::of(JOB_REST), embedders: each(JOB_REST), queries: each(QUERY_REST) }
    }

    /// Has jobs ask every provider again at once.
    pub(crate) fn end_for_jobs(&self) {
        self.summarizer.end();
        self.embedders.iter().for_each(Cooldown::end);
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    #[test]
    fn a_provider_that_failed_rests_for_its_time_unless_the_clock_is_put_back() {
        let now: DateTime<Utc> = "2026-03-01T12:00:00Z".parse().unwrap();
        let cooldown = Cooldown::of(Duration::from_secs(10));
        assert_eq!(cooldown.why(now), None);
        cooldown.begin(now, "no answer");
        for (seconds, expected) in [(0, Some("no answer")), (9, Some("no answer")), (10, None), (-1, None)] {
            let why = cooldown.why(now + TimeDelta::seconds(seconds));
            assert_eq!(why.as_deref(), expected, "after {seconds} s");
        }
        cooldown.end();
        assert_eq!(cooldown.why(now), None);
    }
}
