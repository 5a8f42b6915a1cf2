//! A run of jobs, with its options, progress and report, and the jobs that it holds.

use std::{
    cell::Cell,
    fmt,
    future::Future,
    ops::AddAssign,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use serde::Serialize;
use tokio::sync::watch;

use crate::{
    clock::Stopwatch,
    error::{Error, Result},
    model::{
        ids::UserId,
        job::{JobKind, JobKinds},
        stored_time::StoredTime,
        summary::{BUILT_IN, FALLBACK},
    },
    store::{
        Store,
        job_tx::JobTx,
        rows::jobs::Lease,
        scope::Scope,
        slice_error::{SliceError, SliceResult},
    },
};

/// While others write, a job writes for one part in this many of the time.
const SHARE_BESIDE_OTHERS: u32 = 20;
/// The maximum duration of a rest. A slice may have taken long only because it waited for another process's lock.
const LONGEST_REST: Duration = Duration::from_millis(250);

type ProgressFn = Box<dyn FnMut(&JobProgress) + Send>;

/// Options for running jobs.
///
/// By default, a run records the end of sessions that have been silent for too long, and works on all due jobs, of every
/// kind and every user. If [`Config::extract`](crate::Config::extract) is off, it leaves `extract` jobs to other processes.
#[derive(Default)]
#[must_use]
pub struct RunJobs {
    max_jobs: Option<u64>,
    only: Option<JobKind>,
    user: Option<UserId>,
    on_progress: Option<ProgressFn>,
}

impl fmt::Debug for RunJobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunJobs")
            .field("max_jobs", &self.max_jobs)
            .field("only", &self.only)
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

impl RunJobs {
    /// Begins at most this many jobs. By default, there is no limit.
    pub fn max_jobs(mut self, jobs: u64) -> Self {
        self.max_jobs = Some(jobs);
        self
    }

    /// Runs only jobs of this kind and ends no sessions. Other jobs stay queued.
    pub fn only(mut self, kind: JobKind) -> Self {
        self.only = Some(kind);
        self
    }

    /// Runs only jobs on this user's data and ends no sessions. Other jobs stay queued.
    pub fn of_user(mut self, user: UserId) -> Self {
        self.user = Some(user);
        self
    }

    /// Calls `tell` with the progress whenever a job has finished some turns, and after every try at a job.
    pub fn on_progress(mut self, tell: impl FnMut(&JobProgress) + Send + 'static) -> Self {
        self.on_progress = Some(Box::new(tell));
        self
    }
}

/// The progress of a run of jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct JobProgress {
    /// The jobs that the run had begun when it last counted, plus those that were due then. It counts at its start, and
    /// again whenever it has begun as many jobs as it had counted.
    pub jobs_due: u64,
    /// Tries at jobs that have ended, with any result: done, given up, or left for later.
    pub jobs_ended: u64,
    /// Turns and other recall units that were compressed, erased, indexed, embedded, searched for memories or derived anew.
    /// A unit with several jobs counts once for each, and once for each model that embeds it.
    pub turns: u64,
}

/// The results of a run of jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct JobsReport {
    /// Sessions that had ended by silence and that this run recorded as ended.
    pub ended_sessions: u64,
    /// Jobs done.
    pub done: u64,
    /// Tries at jobs after which the job waits for another try.
    pub later: u64,
    /// Jobs that were given up. Their rows say why.
    pub failed: u64,
    /// Turns and other recall units that were compressed, erased, indexed, embedded, searched for memories or derived anew.
    /// A unit with several jobs counts once for each, and once for each model that embeds it.
    pub turns: u64,
    /// Summaries by the configured summarizer.
    pub summaries: u64,
    /// Summaries by the built-in summarizer.
    pub built_in_summaries: u64,
    /// How many of `built_in_summaries` were written because the configured summarizer failed or gave no usable answer.
    /// [`Session::compress_again`](crate::Session::compress_again) asks the configured one again.
    pub fallbacks: u64,
    /// New memories extracted from ended sessions.
    pub memories: u64,
    /// Uses of memories that were rated from the user's own words, even if the extraction that did so waits for another try.
    pub rated_uses: u64,
}

/// The counts of what one try at a job has done.
#[derive(Debug, Default)]
pub(crate) struct Worked {
    turns: Cell<u64>,
    /// Summaries by the configured summarizer.
    summaries: Cell<u64>,
    built_in_summaries: Cell<u64>,
    fallbacks: Cell<u64>,
    memories: Cell<u64>,
    rated_uses: Cell<u64>,
}

impl Worked {
    pub(super) fn turns(&self) -> u64 {
        self.turns.get()
    }

    pub(super) fn fallbacks(&self) -> u64 {
        self.fallbacks.get()
    }

    /// Counts memories that were extracted.
    pub(super) fn count_memories(&self, memories: u64) {
        self.memories.set(self.memories.get() + memories);
    }

    /// Counts a use that was rated.
    pub(super) fn count_rated_use(&self) {
        self.rated_uses.set(self.rated_uses.get() + 1);
    }

    /// Counts a summary by its author.
    pub(super) fn count_summary(&self, by: &str) {
        let count = |cell: &Cell<u64>| cell.set(cell.get() + 1);
        match by {
            BUILT_IN => count(&self.built_in_summaries),
            FALLBACK => [&self.built_in_summaries, &self.fallbacks].into_iter().for_each(count),
            _ => count(&self.summaries),
        }
    }
}

/// Adds the report of another run.
impl AddAssign for JobsReport {
    fn add_assign(&mut self, other: Self) {
        let Self { ended_sessions, done, later, failed, turns, .. } = other;
        self.summaries += other.summaries;
        self.built_in_summaries += other.built_in_summaries;
        self.fallbacks += other.fallbacks;
        self.memories += other.memories;
        self.rated_uses += other.rated_uses;
        self.ended_sessions += ended_sessions;
        self.done += done;
        self.later += later;
        self.failed += failed;
        self.turns += turns;
    }
}

/// How the work on a job ended.
#[derive(Debug)]
pub(crate) enum JobEnd {
    Done,
    /// The job should be tried again, for this reason.
    Later(Error),
    /// The job must wait until this time, for this reason. This does not count as a try.
    Waits(StoredTime, Error),
    /// Another try would not help, for this reason.
    GivenUp(Error),
    /// The run was told to stop.
    Stopped,
}

/// One run of jobs, shared by the lanes that work at the same time.
pub(crate) struct Run<'a> {
    pub(crate) store: &'a Store,
    /// Becomes true when the run should stop.
    stop: watch::Receiver<bool>,
    max_jobs: Option<u64>,
    pub(super) only: Option<JobKind>,
    pub(super) user: Option<UserId>,
    tally: Mutex<JobTally>,
}

/// The counts of what a run has done, and the callback that is told of them.
#[derive(Default)]
struct JobTally {
    tell: Option<ProgressFn>,
    progress: JobProgress,
    /// How many jobs the run has begun, including those it still works on.
    begun: u64,
    report: JobsReport,
}

impl<'a> Run<'a> {
    pub(super) fn new(store: &'a Store, stop: watch::Receiver<bool>) -> Self {
        Self::with(store, stop, RunJobs::default())
    }

    pub(super) fn with(store: &'a Store, stop: watch::Receiver<bool>, options: RunJobs) -> Self {
        let RunJobs { max_jobs, only, user, on_progress: tell } = options;
        Self {
            store,
            stop,
            max_jobs,
            only,
            user,
            tally: Mutex::new(JobTally { tell, ..JobTally::default() }),
        }
    }

    fn tally(&self) -> MutexGuard<'_, JobTally> {
        self.tally.lock().expect("a panic while it is held ends the run")
    }

    /// Counts a job that is about to be taken. Returns `false` if the run must not begin another job.
    ///
    /// Due jobs are counted only if there is a callback, and again only once as many jobs have begun as were counted.
    /// Counting 100,000 jobs before each of them would take longer than the work.
    pub(super) fn begin_job(&self) -> Result<bool> {
        let mut tally = self.tally();
        if self.max_jobs.is_some_and(|max| tally.begun >= max) {
            return Ok(false);
        }
        if tally.tell.is_some() && tally.begun >= tally.progress.jobs_due {
            tally.progress.jobs_due = tally.begun
                + self.store.snapshot()?.due_jobs(&JobKinds::only(self.only).of_user(self.user))?.0;
        }
        tally.begun += 1;
        Ok(true)
    }

    /// Takes back the count of a job that could not be taken.
    pub(super) fn leave_job(&self) {
        self.tally().begun -= 1;
    }

    /// Returns how many jobs the run has begun.
    pub(super) fn begun(&self) -> u64 {
        self.tally().begun
    }

    /// Counts a try that has ended, and adds what it has done to the report.
    pub(super) fn end_job(&self, worked: &Worked, count: impl FnOnce(&mut JobsReport)) {
        let mut tally = self.tally();
        tally.progress.jobs_ended += 1;
        let report = &mut tally.report;
        report.summaries += worked.summaries.get();
        report.built_in_summaries += worked.built_in_summaries.get();
        report.fallbacks += worked.fallbacks.get();
        report.memories += worked.memories.get();
        report.rated_uses += worked.rated_uses.get();
        count(report);
    }

    pub(super) fn report(&self) -> JobsReport {
        let tally = self.tally();
        JobsReport { turns: tally.progress.turns, ..tally.report }
    }

    /// Rests after a slice that took this long, if callers wrote in the meantime, so that the writer is free for them.
    pub(super) async fn rest(&self, took: Duration, foreground_before: u64) {
        if self.store.foreground_writes() != foreground_before {
            let rest = (took * (SHARE_BESIDE_OTHERS - 1)).min(LONGEST_REST);
            tokio::select! {
                () = tokio::time::sleep(rest) => {}
                () = self.stopped() => {}
            }
        }
    }

    /// Counts finished turns, and reports the progress.
    pub(crate) fn advance(&self, turns: usize) {
        let JobTally { tell, progress, .. } = &mut *self.tally();
        progress.turns += turns as u64;
        if let Some(tell) = tell {
            tell(progress);
        }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        *self.stop.borrow()
    }

    /// Completes when the run is told to stop, otherwise never.
    pub(crate) async fn stopped(&self) {
        let mut stop = self.stop.clone();
        if stop.wait_for(|stop| *stop).await.is_err() {
            std::future::pending::<()>().await; // The sender is gone, so the run cannot be told to stop.
        }
    }
}

/// A user's job, held by this run. Every write first renews the job's lease, in the same transaction.
pub(crate) struct Job<'j, 's> {
    pub(crate) run: &'j Run<'s>,
    pub(crate) lease: Arc<Lease>,
    pub(crate) scope: Scope,
    pub(crate) worked: &'j Worked,
}

impl<'s> Job<'_, 's> {
    pub(crate) fn store(&self) -> &'s Store {
        self.run.store
    }

    /// Counts finished turns, and reports the progress.
    pub(crate) fn advance(&self, turns: usize) {
        self.worked.turns.set(self.worked.turns.get() + turns as u64);
        self.run.advance(turns);
    }

    /// Writes a slice. If callers write too, rests afterwards, so that the writer is free for them.
    pub(crate) async fn slice<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut JobTx<'_, '_>) -> SliceResult<T> + Send + 'static,
    ) -> SliceResult<T> {
        let before = self.store().foreground_writes();
        let timed = move |tx: &mut JobTx<'_, '_>| timed(|| work(tx));
        let (done, took) = self.store().write_slice(Arc::clone(&self.lease), timed).await?;
        self.run.rest(took, before).await;
        Ok(done)
    }

    /// Waits for an answer that may take longer than a lease, and renews the lease meanwhile. `None` if the run is told to
    /// stop.
    ///
    /// Fails only if the job is lost. Other failures to renew the lease do not discard the answer, because writing the
    /// answer renews the lease again.
    pub(crate) async fn holding<T>(&self, answer: impl Future<Output = T>) -> SliceResult<Option<T>> {
        let mut answer = pin!(answer);
        let renewal = self.store().config().lease / 3;
        loop {
            tokio::select! {
                biased;
                answer = &mut answer => return Ok(Some(answer)),
                () = self.run.stopped() => return Ok(None),
                () = tokio::time::sleep(renewal) => {
                    let held = self.store().write_slice(Arc::clone(&self.lease), |_| Ok(())).await;
                    if let Err(SliceError::Lost) = held {
                        return Err(SliceError::Lost);
                    }
                }
            }
        }
    }

    /// Ends the job, because its work is done or there is none.
    pub(crate) async fn finish(&self) -> SliceResult<JobEnd> {
        self.slice(|tx| tx.finish()).await?;
        Ok(JobEnd::Done)
    }
}

/// Runs `work` and returns how long it took.
pub(super) fn timed<T, E>(
    work: impl FnOnce() -> std::result::Result<T, E>,
) -> std::result::Result<(T, Duration), E> {
    let watch = Stopwatch::start();
    let done = work()?;
    Ok((done, watch.elapsed()))
}

/// Returns the current time of the configured clock.
pub(super) fn now(store: &Store) -> StoredTime {
    StoredTime::clamped(store.config().clock.now())
}
