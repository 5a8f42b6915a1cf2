//! Cooldowns: a provider that failed is not asked for a while, because the next caller would probably wait in vain too.

use std::{
    sync::{Mutex, MutexGuard},
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};

use crate::error::Error;

/// The cooldown of an embedder, a reranker or a planner that did not answer a query: without it, every recall would wait
/// for that provider.
pub(crate) const QUERY_REST: Duration = Duration::from_secs(10);
/// The cooldown of a provider that failed a job: the jobs of ten thousand users need not each find out. It also limits
/// how many threads a provider that blocks forever can hold.
pub(crate) const JOB_REST: Duration = Duration::from_mins(1);

/// One provider's cooldown.
///
/// It uses the system clock, as the waiting times of jobs do. If that clock is set back, the cooldown ends.
#[derive(Debug)]
pub(crate) struct Cooldown {
    rest: Duration,
    failed: Mutex<Option<Failed>>,
}

#[derive(Clone, Debug)]
struct Failed {
    /// When the current series of failures, without an answer in between, began.
    since: DateTime<Utc>,
    last: DateTime<Utc>,
    why: Error,
}

/// A provider whose failures have lasted this long is out of order: work that waited for it continues without it.
const OUTAGE: TimeDelta = TimeDelta::minutes(10);
/// How long work waits for a change of a provider's configuration before it asks again: an account may have been paid
/// in the meantime. Longer than the cooldown, so that ten thousand waiting jobs are not taken and given back every
/// minute.
const FOR_CONFIGURATION: TimeDelta = TimeDelta::minutes(10);

impl Cooldown {
    fn of(rest: Duration) -> Self {
        Self { rest, failed: Mutex::default() }
    }

    /// Starts the cooldown: the provider failed at `now`, for this reason.
    pub(crate) fn begin(&self, now: DateTime<Utc>, why: &Error) {
        let mut failed = self.failed();
        // Time under a wrong configuration does not count as an outage, because the provider may have been working.
        let before = failed.as_ref().filter(|failed| !failed.why.is_misconfiguration());
        let since = before.map_or(now, |failed| failed.since);
        *failed = Some(Failed { since, last: now, why: why.clone() });
    }

    /// Returns until when work should wait for the provider, and why. Waiting does not count as a try, because the
    /// cause may be one job's texts or the provider's configuration. Returns `None` if the provider may be asked, or if
    /// its failures have lasted for [`OUTAGE`].
    pub(crate) fn waits_until(&self, now: DateTime<Utc>) -> Option<(DateTime<Utc>, Error)> {
        let why = self.why(now)?;
        if why.is_misconfiguration() {
            return Some((until_configured(now), why));
        }
        let failed = self.failed().clone()?;
        let until = failed.last + TimeDelta::from_std(self.rest).ok()?;
        (failed.last - failed.since < OUTAGE).then_some((until, why))
    }

    /// Returns why the provider should not be asked now, or `None` if it may be asked.
    pub(crate) fn why(&self, now: DateTime<Utc>) -> Option<Error> {
        let failed = self.failed();
        let failed = failed.as_ref()?;
        let rested = (now - failed.last).to_std().ok()?;
        (rested < self.rest).then(|| failed.why.clone())
    }

    /// Ends the cooldown, because the provider has answered or should be asked early.
    pub(crate) fn end(&self) {
        *self.failed() = None;
    }

    fn failed(&self) -> MutexGuard<'_, Option<Failed>> {
        self.failed.lock().expect("no one panics while holding it")
    }
}

/// The cooldowns of every provider of one open file. Queries and jobs have separate ones, because a query gives up
/// within seconds on a model that is still loading, and a job does not.
#[derive(Debug)]
pub(crate) struct Cooldowns {
    /// The summarizer (LLM#1), which is asked only by jobs.
    pub(crate) summarizer: Cooldown,
    /// The embedders for jobs, in the order of the configuration.
    pub(crate) embedders: Vec<Cooldown>,
    /// The embedders for queries, in the order of the configuration.
    pub(crate) queries: Vec<Cooldown>,
    /// The reranker, which is asked only by queries.
    pub(crate) reranker: Cooldown,
    /// The planner (LLM#1), which may be another model than the summarizer.
    pub(crate) planner: Cooldown,
}

impl Cooldowns {
    /// Creates the cooldowns for this many embedders.
    pub(crate) fn of(embedders: usize) -> Self {
        let each = |rest| (0..embedders).map(|_| Cooldown::of(rest)).collect();
        Self {
            summarizer: Cooldown::of(JOB_REST),
            embedders: each(JOB_REST),
            queries: each(QUERY_REST),
            reranker: Cooldown::of(QUERY_REST),
            planner: Cooldown::of(QUERY_REST),
        }
    }

    /// Ends the cooldowns for jobs, so that they can ask every provider again at once.
    pub(crate) fn end_for_jobs(&self) {
        self.summarizer.end();
        self.embedders.iter().for_each(Cooldown::end);
    }
}

/// Returns until when work waits for a change of a provider's configuration.
pub(crate) fn until_configured(now: DateTime<Utc>) -> DateTime<Utc> {
    now + FOR_CONFIGURATION
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_answer() -> Error {
        Error::provider("no answer")
    }

    #[test]
    fn a_provider_that_failed_rests_for_its_time_unless_the_clock_is_put_back() {
        let now: DateTime<Utc> = "2026-03-01T12:00:00Z".parse().unwrap();
        let cooldown = Cooldown::of(Duration::from_secs(10));
        assert!(cooldown.why(now).is_none());
        cooldown.begin(now, &no_answer());
        for (seconds, expected) in [(0, Some("no answer")), (9, Some("no answer")), (10, None), (-1, None)] {
            let why = cooldown.why(now + TimeDelta::seconds(seconds));
            assert_eq!(why.map(|why| why.to_string()).as_deref(), expected, "after {seconds} s");
        }
        cooldown.end();
        assert!(cooldown.why(now).is_none());
    }

    #[test]
    fn waiting_for_a_provider_that_has_failed_for_long_is_over() {
        let now: DateTime<Utc> = "2026-03-01T12:00:00Z".parse().unwrap();
        let cooldown = Cooldown::of(JOB_REST);
        for minute in 0..12 {
            let now = now + TimeDelta::minutes(minute);
            cooldown.begin(now, &no_answer());
            let until = cooldown.waits_until(now + TimeDelta::seconds(1)).map(|(until, _)| until);
            assert_eq!(until, (minute < 10).then_some(now + TimeDelta::minutes(1)), "minute {minute}");
        }
        cooldown.end();
        cooldown.begin(now, &no_answer());
        assert!(cooldown.waits_until(now).is_some(), "it had answered in between");
    }

    #[test]
    fn waiting_for_another_configuration_is_never_over_and_is_no_outage() {
        let now: DateTime<Utc> = "2026-03-01T12:00:00Z".parse().unwrap();
        let cooldown = Cooldown::of(JOB_REST);
        for hour in 0..48 {
            let now = now + TimeDelta::hours(hour);
            cooldown.begin(now, &Error::provider_misconfigured("wrong key"));
            let until = cooldown.waits_until(now).map(|(until, _)| until);
            assert_eq!(until, Some(now + FOR_CONFIGURATION), "hour {hour}");
        }
        let now = now + TimeDelta::hours(48);
        cooldown.begin(now, &no_answer());
        assert!(cooldown.waits_until(now).is_some(), "an outage begins now");
    }
}
