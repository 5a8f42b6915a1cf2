//! Running jobs: take one, work on it in slices, give it back or end it.

mod compress;
mod derive;
mod embed;
mod erase;
mod index;
mod job;
mod lanes;
mod mend;
mod provider;
mod silence;
mod worker;

use std::sync::Arc;

use tokio::sync::watch;

pub use self::job::{JobProgress, JobsReport, RunJobs};
pub(crate) use self::{erase::erase, worker::Worker};
use crate::{
    error::{Error, ErrorKind, Result},
    jobs::{
        job::{Ended, Job, Run, now},
        lanes::Until,
    },
    model::{
        instant,
        job::{JobKind, MAX_ATTEMPTS, wait_after},
    },
    store::{
        Store,
        rows::jobs::{Lease, Unfinished},
        slice_error::SliceResult,
    },
};

/// Ends what silence has ended, then runs jobs until none is due.
pub(crate) async fn run(store: &Store, options: RunJobs, stop: watch::Receiver<bool>) -> Result<JobsReport> {
    let run = Run::with(store, stop, options);
    if !store.config().embedders.is_empty() || store.snapshot()?.has_stale_rules()? {
        // What opening the file has queued for a model, or for rules, that are new to it.
        store.write_background(|_| Ok(())).await?;
    }
    let ended_sessions = if run.only.is_none() { silence::end_silent(&run).await? } else { 0 };
    loop {
        let before = run.begun();
        lanes::work(&run, Until::AllAreIdle).await?;
        if run.begun() == before {
            return Ok(JobsReport { ended_sessions, ..run.report() });
        }
        // The last job of a lane may have queued one for a lane that had ended.
    }
}

/// Runs jobs as they become due, and ends what silence has ended, until it is told to stop.
async fn serve(store: &Store, stop: watch::Receiver<bool>) {
    let run = Run::new(store, stop);
    // What fails is on the job's row, or will fail again where somebody looks: nobody listens here.
    let _ = tokio::join!(lanes::work(&run, Until::Stopped), silence::watch(&run));
}

/// Works on one job. What fails is on its row; this process goes on with the next.
async fn one(run: &Run<'_>, lease: Lease) {
    let lease = Arc::new(lease);
    let ended = work(run, &lease).await;
    let is_given_up = matches!(ended, Ok(Ended::GivenUp(_)));
    let (reason, interrupted) = match ended {
        Ok(Ended::Done) => return run.end_job(|report| report.done += 1),
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
    run.end_job(|report| *(if is_last { &mut report.failed } else { &mut report.later }) += 1);
    let unfinished = Unfinished { next_run_at, reason, interrupted };
    // If this fails too, the lease runs out and the job is taken up again.
    let _ = run.store.write_background(move |tx| tx.give_back(&lease, &unfinished)).await;
}

async fn work(run: &Run<'_>, lease: &Arc<Lease>) -> SliceResult<Ended> {
    let lease = Arc::clone(lease);
    if lease.kind == JobKind::Scrub {
        return erase::scrub_as_job(run, lease).await;
    }
    let Some(scope) = lease.scope else {
        // Its user is gone, and with it the work.
        run.store.write_slice(lease, |tx| tx.finish()).await?;
        return Ok(Ended::Done);
    };
    let job = &Job { run, lease, scope };
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
