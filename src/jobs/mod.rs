//! Running jobs: take one, work on it in slices, give it back or end it.

mod compress;
mod derive;
mod embed;
mod erase;
mod index;
mod job;
mod mend;
mod provider;
mod worker;

use std::sync::Arc;

use chrono::TimeDelta;
use serde::Serialize;
use tokio::sync::watch;

pub use self::job::JobProgress;
pub(crate) use self::{erase::erase, worker::Worker};
use crate::{
    error::{Error, ErrorKind, Result},
    jobs::job::{Ended, Job, ProgressFn, Run, now, timed},
    model::{
        instant,
        job::{JobKind, MAX_ATTEMPTS, wait_after},
        place::SessionNo,
    },
    store::{
        Store,
        rows::jobs::{Lease, Unfinished},
        slice_error::SliceResult,
        write_tx::WriteTx,
    },
};

/// Sessions that silence has ended, ended together.
const SILENT_AT_ONCE: u32 = 64;

/// How to run jobs: all that are due, unless said otherwise.
#[derive(Default)]
#[must_use]
pub struct RunJobs {
    max_jobs: Option<u64>,
    only: Option<JobKind>,
    on_progress: Option<ProgressFn>,
}

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

/// Ends what silence has ended, then runs jobs until none is due.
pub(crate) async fn run(store: &Store, options: RunJobs, stop: watch::Receiver<bool>) -> Result<JobsReport> {
    let mut run = Run::new(store, stop, options.on_progress);
    if !store.config().embedders.is_empty() || store.snapshot()?.has_stale_rules()? {
        // What opening the file has queued for a model, or for rules, that are new to it.
        store.write_background(|_| Ok(())).await?;
    }
    let only = options.only;
    let ended_sessions = if only.is_none() { end_silent(&mut run).await? } else { 0 };
    let mut report = JobsReport { ended_sessions, ..JobsReport::default() };
    while options.max_jobs.is_none_or(|max| run.progress.jobs_ended < max) && !run.is_stopped() {
        if !has_due(&mut run, only)? {
            break; // Nothing is written for a look.
        }
        let Some(lease) = store.write_background(move |tx| tx.take_job(only)).await? else { break };
        one(&mut run, lease, &mut report).await;
        run.advance(0);
    }
    report.turns = run.progress.turns;
    Ok(report)
}

/// Whether a job is due. Counted anew when as many have ended as were counted: counting 100,000 before each of
/// them would take longer than the work.
fn has_due(run: &mut Run<'_>, only: Option<JobKind>) -> Result<bool> {
    if run.progress.jobs_ended >= run.progress.jobs_due {
        let (due, _) = run.store.snapshot()?.due_jobs(only)?;
        run.progress.jobs_due = run.progress.jobs_ended + due;
    }
    Ok(run.progress.jobs_ended < run.progress.jobs_due)
}

/// Works on one job. What fails is on its row; this process goes on with the next.
async fn one(run: &mut Run<'_>, lease: Lease, report: &mut JobsReport) {
    let lease = Arc::new(lease);
    let ended = work(run, &lease).await;
    let is_given_up = matches!(ended, Ok(Ended::GivenUp(_)));
    let (reason, interrupted) = match ended {
        Ok(Ended::Done) => {
            report.done += 1;
            run.progress.jobs_ended += 1;
            return;
        }
        Ok(Ended::Later(reason) | Ended::GivenUp(reason)) => (Some(reason), false),
        Ok(Ended::Stopped) => (None, true),
        Err(error) => {
            let error = Error::from(error);
            if let Some(scope) = lease.scope
                && error.kind() == ErrorKind::Corrupt
            {
                run.store.mend(&scope); // Perhaps it is the index, and the next try finds it mended.
            }
            (Some(error.to_string()), false)
        }
    };
    let is_last =
        is_given_up || lease.attempts >= MAX_ATTEMPTS && !interrupted && lease.kind.may_be_given_up();
    let next_run_at = match (is_last, interrupted) {
        (true, _) => None,
        (_, true) => Some(now(run.store)),
        _ => Some(instant::clamped(now(run.store) + wait_after(lease.attempts, lease.job_no))),
    };
    *(if is_last { &mut report.failed } else { &mut report.later }) += 1;
    run.progress.jobs_ended += 1;
    let unfinished = Unfinished { next_run_at, reason, interrupted };
    // If this fails too, the lease runs out and the job is taken up again.
    let _ = run.store.write_background(move |tx| tx.give_back(&lease, &unfinished)).await;
}

async fn work(run: &mut Run<'_>, lease: &Arc<Lease>) -> SliceResult<Ended> {
    let lease = Arc::clone(lease);
    if lease.kind == JobKind::Scrub {
        return erase::scrub_as_job(run, lease).await;
    }
    let Some(scope) = lease.scope else {
        // Its user is gone, and with it the work.
        run.store.write_slice(lease, |tx| tx.finish()).await?;
        return Ok(Ended::Done);
    };
    let job = &mut Job { run, lease, scope };
    match job.lease.kind {
        JobKind::Compress => compress::compress(job).await,
        JobKind::Erase => erase::go_on(job).await.map(|_| Ended::Done),
        JobKind::Index => index::index(job).await,
        JobKind::Embed => embed::embed(job).await,
        JobKind::Mend => mend::mend(job).await,
        JobKind::Derive => derive::derive(job).await,
        JobKind::Scrub => unreachable!("it is no user's"),
    }
}

async fn end_silent(run: &mut Run<'_>) -> Result<u64> {
    let store = run.store;
    let timeout = i64::try_from(store.config().session_timeout_ms).ok().and_then(TimeDelta::try_milliseconds);
    let Some(cutoff) = timeout.and_then(|timeout| now(store).checked_sub_signed(timeout)) else {
        return Ok(0);
    };
    let (mut ended, mut after) = (0, SessionNo::default());
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
