//! One try at a job, whatever its kind.

use std::sync::Arc;

use crate::{
    error::{Error, ErrorKind},
    jobs::{
        compress, derive, embed, erase, index,
        job::{Ended, Job, Run, now},
        mend, prune,
    },
    model::{
        instant,
        job::{JobKind, MAX_ATTEMPTS, wait_after},
    },
    store::{
        rows::jobs::{Lease, Unfinished},
        slice_error::SliceResult,
    },
};

/// Works on one job. What fails is on its row; this process goes on with the next.
pub(super) async fn attempt(run: &Run<'_>, lease: Lease) {
    let lease = Arc::new(lease);
    let ended = work(run, &lease).await;
    let is_given_up = matches!(ended, Ok(Ended::GivenUp(_)));
    let waits_until = if let Ok(Ended::Waits(until, _)) = &ended { Some(*until) } else { None };
    let (reason, interrupted) = match ended {
        Ok(Ended::Done) => return run.end_job(|report| report.done += 1),
        Ok(Ended::Later(reason) | Ended::GivenUp(reason)) => (Some(reason), false),
        Ok(Ended::Waits(_, reason)) => (Some(reason), true),
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
        (_, true) => Some(waits_until.map_or_else(|| now(run.store), instant::clamped)),
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
        JobKind::Prune => prune::prune(job).await,
        JobKind::Derive => derive::derive(job).await,
        JobKind::Scrub => unreachable!("it is no user's"),
    }
}
