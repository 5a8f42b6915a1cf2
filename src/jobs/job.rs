//! A run of jobs, and a job that it works on.

use std::{
    cell::Cell,
    fmt,
    future::Future,
    ops::AddAssign,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use chrono::{DateTime, Utc};
use serde::Serialize;
use tokio::sync::watch;

use crate::{
    clock::Stopwatch,
    error::{Error, Result},
    model::{
        ids::UserId,
        instant,
        job::{JobKind, JobKinds},
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

/// While others write, a job writes for one part in so many of the time.
const SHARE_BESIDE_OTHERS: u32 = 20;
/// It does not rest longer than this: a slice may have waited for another process's lock.
const LONGEST_REST: Duration = Duration::from_millis(250);

type ProgressFn = Box<dyn FnMut(&JobProgress) + Send>;

/// How to run jobs: all that are due, unless said otherwise.
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
    /// Stops after so many jobs.
    pub fn max_jobs(mut self, jobs: u64) -> Self {
        self.max_jobs = Some(jobs);
        self
    }

    /// Runs jobs of this kind, and leaves the others to wait; ends no session.
    pub fn only(mut self, kind: JobKind) -> Self {
        self.only = Some(kind);
        self
    }

    /// Runs jobs on this user's data, and leaves the others to wait; ends no session.
    pub fn of_user(mut self, user: UserId) -> Self {
        self.user = Some(user);
        self
    }

    /// Calls `tell` after every slice of work.
    pub fn on_progress(mut self, tell: impl FnMut(&JobProgress) + Send + 'static) -> Self {
        self.on_progress = Some(Box::new(tell));
        self
    }
}

/// How far a run of jobs is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct JobProgress {
    /// Jobs that were due when the run began or came since.
    pub jobs_due: u64,
    /// Jobs ended, one way or the other.
    pub jobs_ended: u64,
    /// Turns compressed, erased, indexed or embedded; one that has several jobs counts for each.
    pub turns: u64,
}

/// What a run of jobs did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct JobsReport {
    /// Sessions that silence had ended, and this run noticed.
    pub ended_sessions: u64,
    /// Jobs done.
    pub done: u64,
    /// Jobs to be tried again later.
    pub later: u64,
    /// Jobs given up; their rows say why.
    pub failed: u64,
    /// Turns compressed or erased.
    pub turns: u64,
    /// Summaries by the configured summarizer.
    pub summaries: u64,
    /// Summaries by the built-in summarizer.
    pub built_in_summaries: u64,
    /// Of these, summaries that the configured summarizer was to write and did not:
    /// [`Session::compress_again`](crate::Session::compress_again) has it asked again.
    pub fallbacks: u64,
    /// Memories that ended sessions gave.
    pub memories: u64,
    /// Uses of memories that the user's own words rated.
    pub rated_uses: u64,
}

/// What one try at a job has done.
#[derive(Debug, Default)]
pub(crate) struct Worked {
    turns: Cell<u64>,
    /// By the configured summarizer.
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

    /// Counts memories that were made, and uses that were rated.
    pub(super) fn count_extracted(&self, memories: u64, rated_uses: u64) {
        self.memories.set(self.memories.get() + memories);
        self.rated_uses.set(self.rated_uses.get() + rated_uses);
    }

    /// Counts a summary, by who stands in it.
    pub(super) fn count_summary(&self, by: &str) {
        let count = |cell: &Cell<u64>| cell.set(cell.get() + 1);
        match by {
            BUILT_IN => count(&self.built_in_summaries),
            FALLBACK => [&self.built_in_summaries, &self.fallbacks].into_iter().for_each(count),
            _ => count(&self.summaries),
        }
    }
}

/// What two runs did, one after the other.
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

/// How a job's work ended.
#[derive(Debug)]
pub(crate) enum JobEnd {
    Done,
    /// It is to be tried again, for this reason.
    Later(Error),
    /// It has to wait for a provider until then, for this reason, and has had no try.
    Waits(DateTime<Utc>, Error),
    /// Another try would do no more, for this reason.
    GivenUp(Error),
    /// The run was told to stop.
    Stopped,
}

/// One run of jobs, shared by those that it works on at the same time.
pub(crate) struct Run<'a> {
    pub(crate) store: &'a Store,
    /// Becomes true when the run is to stop.
    stop: watch::Receiver<bool>,
    max_jobs: Option<u64>,
    pub(super) only: Option<JobKind>,
    pub(super) user: Option<UserId>,
    tally: Mutex<JobTally>,
}

/// What a run has done, and whom it tells.
#[derive(Default)]
struct JobTally {
    tell: Option<ProgressFn>,
    progress: JobProgress,
    /// Jobs that it works on, or has.
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

    /// Counts a job that is about to be taken. False: the run may begin no more.
    ///
    /// Those that are due are counted when as many have begun as were counted: counting 100,000 before each of them would
    /// take longer than the work. They are counted for whoever is told alone.
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

    /// Takes back that a job was begun: it could not be taken.
    pub(super) fn leave_job(&self) {
        self.tally().begun -= 1;
    }

    /// How many jobs it has begun.
    pub(super) fn begun(&self) -> u64 {
        self.tally().begun
    }

    /// Counts a job that has ended, and what this try has done.
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

    /// Rests after a slice that took so long, if others wrote meanwhile: they find the writer free.
    pub(super) async fn rest(&self, took: Duration, foreground_before: u64) {
        if self.store.foreground_writes() != foreground_before {
            let rest = (took * (SHARE_BESIDE_OTHERS - 1)).min(LONGEST_REST);
            tokio::select! {
                () = tokio::time::sleep(rest) => {}
                () = self.stopped() => {}
            }
        }
    }

    /// Counts turns that are done, and tells whoever wants to know.
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

    /// Returns when the run is told to stop, else never.
    pub(crate) async fn stopped(&self) {
        let mut stop = self.stop.clone();
        if stop.wait_for(|stop| *stop).await.is_err() {
            std::future::pending::<()>().await; // Nobody can tell it any more.
        }
    }
}

/// A job of a user's, held by this run. Whatever it writes holds the job's lease first, in the same transaction.
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

    /// Counts turns that are done, and tells whoever wants to know.
    pub(crate) fn advance(&self, turns: usize) {
        self.worked.turns.set(self.worked.turns.get() + turns as u64);
        self.run.advance(turns);
    }

    /// Writes a slice. If others write too, waits a while afterwards, so that they find the writer free.
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

    /// Waits for an answer that may take longer than a lease, and holds the job meanwhile. `None`: told to stop. Fails if
    /// the job is lost; a renewal that fails for another reason is no reason to throw an answer away: whoever writes
    /// what it says holds the job again.
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

    /// Ends it: its work is done, or there is none.
    pub(crate) async fn finish(&self) -> SliceResult<JobEnd> {
        self.slice(|tx| tx.finish()).await?;
        Ok(JobEnd::Done)
    }
}

/// Does it, and says how long that took.
pub(super) fn timed<T, E>(
    work: impl FnOnce() -> std::result::Result<T, E>,
) -> std::result::Result<(T, Duration), E> {
    let watch = Stopwatch::start();
    let done = work()?;
    Ok((done, watch.elapsed()))
}

/// The system clock.
pub(super) fn now(store: &Store) -> DateTime<Utc> {
    instant::clamped(store.config().clock.now())
}
