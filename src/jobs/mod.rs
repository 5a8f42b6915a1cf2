//! Running jobs: take one, work on it in slices, give it back or end it.

mod compress;
mod embed;
mod erase;
mod index;
mod mend;
mod worker;

use std::{future::Future, pin::pin, sync::Arc, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;
use tokio::sync::watch;

pub(crate) use self::{erase::erase, worker::Worker};
use crate::{
    clock::Stopwatch,
    error::{Error, ErrorKind, Result},
    model::{instant, job::JobKind},
    store::{
        Store,
        job_tx::{JobTx, SliceResult},
        rows::jobs::{self, Lease, Unfinished},
        scope::Scope,
        write_tx::WriteTx,
    },
};

/// The wait before a second try; doubled for each further one.
const FIRST_WAIT_MS: i64 = 60_000;
/// Sessions that silence has ended, ended together.
const SILENT_AT_ONCE: u32 = 64;
/// While others write, a job writes for one part in so many of the time.
const SHARE_BESIDE_OTHERS: u32 = 20;
/// It does not rest longer than this: a slice may have waited for another process's lock.
const LONGEST_REST: Duration = Duration::from_millis(250);
/// For so long after a summarizer has failed it is not asked again: ten thousand sessions need not find out each.
const SUMMARIZER_REST: Duration = Duration::from_mins(1);

/// How to run jobs: all that are due, unless said otherwise.
#[derive(Default)]
#[must_use]
pub struct RunJobs {
    max_jobs: Option<u64>,
    only: Option<JobKind>,
    on_progress: Option<ProgressFn>,
}

type ProgressFn = Box<dyn FnMut(&JobProgress) + Send>;

impl std::fmt::Debug for RunJobs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunJobs")
            .field("max_jobs", &self.max_jobs)
            .field("only", &self.only)
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

    /// Calls `tell` after every slice of work.
    pub fn on_progress(mut self, tell: impl FnMut(&JobProgress) + Send + 'static) -> Self {
        self.on_progress = Some(Box::new(tell));
        self
    }
}

/// How far a run of jobs is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
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
}

/// How a job's work ended.
#[derive(Debug)]
pub(crate) enum Ended {
    Done,
    /// It is to be tried again, for this reason.
    Later(String),
    /// The run was told to stop.
    Stopped,
}

/// One run of jobs.
pub(crate) struct Run<'a> {
    pub(crate) store: &'a Store,
    /// Becomes true when the run is to stop.
    stop: watch::Receiver<bool>,
    tell: Option<ProgressFn>,
    progress: JobProgress,
    /// Since the summarizer failed last.
    summarizer_failed: Option<Stopwatch>,
}

/// Ends what silence has ended, then runs jobs until none is due.
pub(crate) async fn run(store: &Store, options: RunJobs, stop: watch::Receiver<bool>) -> Result<JobsReport> {
    let mut run = Run::new(store, stop, options.on_progress);
    if !store.config().embedders.is_empty() {
        // What opening the file has queued for a model that is new to it.
        store.write_background(|_| Ok(())).await?;
    }
    let only = options.only;
    let ended_sessions = if only.is_none() { end_silent(&mut run).await? } else { 0 };
    let mut report = JobsReport { ended_sessions, ..JobsReport::default() };
    while options.max_jobs.is_none_or(|max| run.progress.jobs_ended < max) && !run.is_stopped() {
        if !run.has_due(only)? {
            break; // Nothing is written for a look.
        }
        let Some(lease) = store.write_background(move |tx| tx.take_job(only)).await? else { break };
        run.one(lease, &mut report).await;
        run.advance(0);
    }
    report.turns = run.progress.turns;
    Ok(report)
}

impl<'a> Run<'a> {
    fn new(store: &'a Store, stop: watch::Receiver<bool>, tell: Option<ProgressFn>) -> Self {
        Self { store, stop, tell, progress: JobProgress::default(), summarizer_failed: None }
    }

    /// Whether a job is due. Counted anew when as many have ended as were counted: counting 100,000 before each of
    /// them would take longer than the work.
    fn has_due(&mut self, only: Option<JobKind>) -> Result<bool> {
        if self.progress.jobs_ended >= self.progress.jobs_due {
            let (due, _) = self.store.snapshot()?.due_jobs(only)?;
            self.progress.jobs_due = self.progress.jobs_ended + due;
        }
        Ok(self.progress.jobs_ended < self.progress.jobs_due)
    }

    /// Works on one job. What fails is on its row; this process goes on with the next.
    async fn one(&mut self, lease: Lease, report: &mut JobsReport) {
        let lease = Arc::new(lease);
        let ended = self.work(&lease).await;
        let (reason, interrupted) = match ended {
            Ok(Ended::Done) => {
                report.done += 1;
                self.progress.jobs_ended += 1;
                return;
            }
            Ok(Ended::Later(reason)) => (Some(reason), false),
            Ok(Ended::Stopped) => (None, true),
            Err(error) => {
                if let Some(scope) = lease.scope
                    && error.kind() == ErrorKind::Corrupt
                {
                    self.store.mend(&scope); // Perhaps it is the index, and the next try finds it mended.
                }
                (Some(error.to_string()), false)
            }
        };
        let is_last =
            lease.attempts >= jobs::MAX_ATTEMPTS && !interrupted && jobs::may_be_given_up(lease.kind);
        let next_run_at = match (is_last, interrupted) {
            (true, _) => None,
            (_, true) => Some(now(self.store)),
            _ => Some(next_try(&lease, now(self.store))),
        };
        *(if is_last { &mut report.failed } else { &mut report.later }) += 1;
        self.progress.jobs_ended += 1;
        let unfinished = Unfinished { next_run_at, reason, interrupted };
        // If this fails too, the lease runs out and the job is taken up again.
        let _ = self.store.write_background(move |tx| tx.give_back(&lease, &unfinished)).await;
    }

    async fn work(&mut self, lease: &Arc<Lease>) -> Result<Ended> {
        let lease = Arc::clone(lease);
        if lease.kind == JobKind::Scrub {
            return erase::scrub_as_job(self, lease).await;
        }
        let Some(scope) = lease.scope else {
            // Its user is gone, and with it the work.
            self.store.write_slice(lease, |tx| tx.finish()).await?;
            return Ok(Ended::Done);
        };
        let job = &mut Job { run: self, lease, scope };
        match job.lease.kind {
            JobKind::Compress => compress::compress(job).await,
            JobKind::Erase => erase::go_on(job).await.map(|_| Ended::Done),
            JobKind::Index => index::index(job).await,
            JobKind::Embed => embed::embed(job).await,
            JobKind::Mend => mend::mend(job).await,
            JobKind::Scrub => unreachable!("it is no user's"),
        }
    }

    /// Rests after a slice that took so long, if others wrote meanwhile: they find the writer free.
    async fn rest(&self, took: Duration, foreground_before: u64) {
        if self.store.foreground_writes() != foreground_before {
            let rest = (took * (SHARE_BESIDE_OTHERS - 1)).min(LONGEST_REST);
            tokio::select! {
                () = tokio::time::sleep(rest) => {}
                () = self.stopped() => {}
            }
        }
    }

    /// Counts turns that are done, and tells whoever wants to know.
    pub(crate) fn advance(&mut self, turns: usize) {
        self.progress.turns += turns as u64;
        if let Some(tell) = &mut self.tell {
            tell(&self.progress);
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
    pub(crate) run: &'j mut Run<'s>,
    pub(crate) lease: Arc<Lease>,
    pub(crate) scope: Scope,
}

impl<'s> Job<'_, 's> {
    pub(crate) fn store(&self) -> &'s Store {
        self.run.store
    }

    /// Writes a slice. If others write too, waits a while afterwards, so that they find the writer free.
    pub(crate) async fn slice<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut JobTx<'_, '_>) -> SliceResult<T> + Send + 'static,
    ) -> Result<T> {
        let before = self.store().foreground_writes();
        let timed = move |tx: &mut JobTx<'_, '_>| timed(|| work(tx));
        let (done, took) = self.store().write_slice(Arc::clone(&self.lease), timed).await?;
        self.run.rest(took, before).await;
        Ok(done)
    }

    /// Waits for an answer that may take longer than a lease, and holds the job meanwhile. `None`: told to stop. Fails if
    /// the job is lost; a renewal that fails for another reason is no reason to throw an answer away: whoever writes
    /// what it says holds the job again.
    pub(crate) async fn holding<T>(&self, answer: impl Future<Output = T>) -> Result<Option<T>> {
        let mut answer = pin!(answer);
        let renewal = Duration::from_millis(self.store().config().lease_ms / 3);
        loop {
            tokio::select! {
                biased;
                answer = &mut answer => return Ok(Some(answer)),
                () = self.run.stopped() => return Ok(None),
                () = tokio::time::sleep(renewal) => {
                    let held = self.store().write_slice(Arc::clone(&self.lease), |_| Ok(())).await;
                    if let Err(error) = held
                        && is_lost(&error)
                    {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Ends it: its work is done, or there is none.
    pub(crate) async fn finish(&self) -> Result<Ended> {
        self.slice(|tx| tx.finish()).await?;
        Ok(Ended::Done)
    }
}

async fn end_silent(run: &mut Run<'_>) -> Result<u64> {
    let store = run.store;
    let timeout = i64::try_from(store.config().session_timeout_ms).ok().and_then(TimeDelta::try_milliseconds);
    let Some(cutoff) = timeout.and_then(|timeout| now(store).checked_sub_signed(timeout)) else {
        return Ok(0);
    };
    let (mut ended, mut after) = (0, 0);
    while !run.is_stopped() {
        let silent = store.snapshot()?.silent_sessions(instant::clamped(cutoff), after, SILENT_AT_ONCE)?;
        let Some((last, _, _)) = silent.last() else { break };
        after = *last;
        for (_, scope, session) in silent {
            // One that cannot be read keeps neither the others from ending nor jobs from running; doctor finds it.
            let before = store.foreground_writes();
            let end = move |tx: &mut WriteTx<'_>| timed(|| tx.end_if_silent(&scope, session));
            if let Ok((is_ended, took)) = store.write_background(end).await {
                ended += u64::from(is_ended);
                run.rest(took, before).await;
            }
        }
    }
    Ok(ended)
}

/// Does it, and says how long that took.
fn timed<T, E>(work: impl FnOnce() -> std::result::Result<T, E>) -> std::result::Result<(T, Duration), E> {
    let watch = Stopwatch::start();
    let done = work()?;
    Ok((done, watch.elapsed()))
}

/// When to try again: after 1, 2, 4 ... minutes, at most an hour, up to a tenth later for each job another, so that
/// what failed together does not come back together.
fn next_try(lease: &Lease, now: DateTime<Utc>) -> DateTime<Utc> {
    let doublings = lease.attempts.saturating_sub(1).min(16);
    let longest = i64::try_from(jobs::LONGEST_WAIT_MS).unwrap_or(i64::MAX);
    let wait_ms = (FIRST_WAIT_MS << doublings).min(longest);
    let spread_ms = wait_ms / 10 * (lease.job_no % 8) / 8;
    instant::clamped(now + TimeDelta::milliseconds(wait_ms + spread_ms))
}

/// The system clock.
fn now(store: &Store) -> DateTime<Utc> {
    instant::clamped(store.config().clock.now())
}

/// What a job that is not there any more, or whose session is gone, has nothing to do.
fn is_lost(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Conflict | ErrorKind::NotFound)
}
