//! Lanes: jobs that wait for different things do not wait for each other.
//!
//! Each lane works on one job at a time, concurrently with the other lanes of the run. A provider that hangs delays only the
//! jobs of its own lane, and a job waits for each answer no longer than the configured timeout.

use std::time::Duration;

use tokio::sync::watch;

use crate::{
    clock::Stopwatch,
    config::{Config, Extract},
    error::Result,
    jobs::{
        attempt::attempt,
        job::{Run, now},
    },
    model::job::{JobKind, JobKinds},
    store::{Store, rows::jobs::Lease},
};

/// The minimum time between two searches for a job, so that a due job that cannot be taken does not make a lane spin.
const SHORTEST_REST: Duration = Duration::from_millis(50);

/// A lane, by what its jobs wait for in addition to the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// Nothing else.
    File,
    /// LLM#1.
    Summarizer,
    /// The caller's embedders.
    Embedders,
    /// Sensors.
    Sensors,
}

impl Lane {
    fn of(kind: JobKind, config: &Config) -> Self {
        match kind {
            JobKind::Compress | JobKind::Extract if config.summarizer.is_some() => Self::Summarizer,
            JobKind::Embed if !config.embedders.is_empty() => Self::Embedders,
            JobKind::Validate if !config.sensors.is_empty() => Self::Sensors,
            _ => Self::File,
        }
    }

    /// Returns the kinds of the lane's jobs. If `only` is given, returns at most this kind.
    fn kinds(self, config: &Config, only: Option<JobKind>) -> JobKinds {
        let is_asked_for = |kind: &JobKind| only.is_none_or(|only| only == *kind);
        // A process that does not extract leaves `extract` jobs to one that does.
        let is_done_here = |kind: &JobKind| *kind != JobKind::Extract || config.extract != Extract::Off;
        let every = JobKind::EVERY.into_iter().filter(is_asked_for).filter(is_done_here);
        JobKinds::of(every.filter(|kind| Self::of(*kind, config) == self))
    }
}

/// When a lane that finds no due job ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    /// When all other lanes are idle too, because a job that ends may queue work for another lane.
    AllAreIdle,
    /// When the run is told to stop.
    Stopped,
}

/// Works on the jobs of all lanes concurrently.
pub(super) async fn work(run: &Run<'_>, until: Until) -> Result<()> {
    let busy = &watch::Sender::new(4);
    let lane = |lane: Lane| {
        let config = run.store.config();
        let (kinds, queued) = (lane.kinds(config, run.only).of_user(run.user), run.store.work_queued());
        LaneRun { run, kinds, queued, busy, until }.work()
    };
    let (file, summarizer, embedders, sensors) =
        tokio::join!(lane(Lane::File), lane(Lane::Summarizer), lane(Lane::Embedders), lane(Lane::Sensors));
    file.and(summarizer).and(embedders).and(sensors)
}

/// One lane of a run.
struct LaneRun<'r, 's> {
    run: &'r Run<'s>,
    kinds: JobKinds,
    /// Signalled when a job is queued.
    queued: watch::Receiver<()>,
    /// The number of lanes that are not idle.
    busy: &'r watch::Sender<u32>,
    until: Until,
}

impl LaneRun<'_, '_> {
    async fn work(mut self) -> Result<()> {
        let worked = self.work_off().await;
        self.busy.send_modify(|busy| *busy -= 1);
        worked
    }

    async fn work_off(&mut self) -> Result<()> {
        let mut has_worked = false;
        while !self.run.is_stopped() && !self.kinds.is_empty() {
            match self.take().await {
                Ok(Some(lease)) => {
                    attempt(self.run, lease).await;
                    self.run.advance(0);
                    has_worked = true;
                    continue;
                }
                Ok(None) if std::mem::take(&mut has_worked) => self.shrink().await,
                Err(error) if self.until == Until::AllAreIdle => return Err(error),
                Ok(None) | Err(_) => {} // Ignored, because the error occurs again in calls of the library.
            }
            if !self.idle().await {
                break;
            }
        }
        Ok(())
    }

    /// Takes the next due job, if the run may begin another one.
    async fn take(&self) -> Result<Option<Lease>> {
        if !self.run.begin_job()? {
            return Ok(None);
        }
        let taken = self.run.store.take_job(&self.kinds).await;
        if !matches!(taken, Ok(Some(_))) {
            self.run.leave_job();
        }
        taken
    }

    /// Shrinks the file, a few pages at a time, and rests in between as jobs do between slices.
    ///
    /// Called only when no job is left, because moved pages are read more slowly from a disk. A failure ends it until the
    /// lane has worked on another job.
    async fn shrink(&self) {
        while !self.run.is_stopped() {
            let (before, watch) = (self.run.store.foreground_writes(), Stopwatch::start());
            if !matches!(self.run.store.shrink().await, Ok(true)) {
                return;
            }
            self.run.rest(watch.elapsed(), before).await;
        }
    }

    /// Waits until there may be a job. Returns `false` if the lane should end.
    async fn idle(&mut self) -> bool {
        self.busy.send_modify(|busy| *busy -= 1);
        let mut busy = self.busy.subscribe();
        let (store, until) = (self.run.store, self.until);
        let goes_on = tokio::select! {
            biased;
            () = self.run.stopped() => false,
            Ok(()) = self.queued.changed() => true,
            _ = busy.wait_for(|busy| *busy == 0), if until == Until::AllAreIdle => false,
            () = async { tokio::time::sleep(until_due(store, &self.kinds)).await } => true,
        };
        self.busy.send_modify(|busy| *busy += 1);
        goes_on
    }
}

/// Returns the time until the next job of these kinds is due, at most the interval at which to check for jobs that other
/// processes have queued.
fn until_due(store: &Store, kinds: &JobKinds) -> Duration {
    let interval = store.config().worker_interval;
    let due = store.snapshot().and_then(|snapshot| snapshot.due_jobs(kinds));
    let later = due.ok().and_then(|(_, later)| later);
    let wait = later.and_then(|later| (later - now(store)).to_std().ok()).unwrap_or(interval);
    wait.min(interval).max(SHORTEST_REST)
}
