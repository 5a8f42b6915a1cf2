//! One try at a job of any kind, and what becomes of the job afterwards.

use std::sync::Arc;

use crate::{
    error::{Error, ErrorKind},
    event::{Event, in_job_span},
    jobs::{
        compress, derive, embed, erase, extract, index,
        job::{Job, JobEnd, Run, Worked, now},
        mend, prune, tend, validate,
    },
    model::job::{FOR_CONFIGURATION, JobKind, MAX_ATTEMPTS, wait_after},
    store::{
        rows::jobs::{Lease, Unfinished},
        slice_error::SliceResult,
    },
};

/// Works on one job. Records a failure in the job's row instead of returning it, so that the run continues with other jobs.
pub(super) async fn attempt(run: &Run<'_>, lease: Lease) {
    let (lease, worked) = (Arc::new(lease), &Worked::default());
    let job = lease.job();
    let emit = |event| run.store.config().on_event.emit(&event);
    emit(Event::JobStarted { job });
    let ended = in_job_span(&job, Box::pin(work(run, &lease, worked))).await;
    if worked.fallbacks() > 0 {
        emit(Event::JobFellBack { job, summaries: worked.fallbacks() });
    }
    // If the job is not done: the reason, whether it is given up, and until when it waits if this try does not count.
    let (why, is_given_up, waits_until) = match ended {
        Ok(JobEnd::Done) => {
            run.end_job(worked, |report| report.done += 1);
            return emit(Event::JobDone { job, turns: worked.turns() });
        }
        Ok(JobEnd::Later(why)) => (Some(why), false, None),
        Ok(JobEnd::GivenUp(why)) => (Some(why), true, None),
        Ok(JobEnd::Waits(until, why)) => (Some(why), false, Some(until)),
        Ok(JobEnd::Stopped) => (None, false, Some(now(run.store))),
        Err(error) => {
            let error = Error::from(error);
            if let Some(scope) = lease.scope
                && error.kind() == ErrorKind::Corrupt
            {
                run.store.mend(&scope); // The index may be damaged. The next try may find it repaired.
            }
            (Some(error), false, None)
        }
    };
    let interrupted = waits_until.is_some();
    let is_last =
        is_given_up || lease.attempts >= MAX_ATTEMPTS && !interrupted && lease.kind.may_be_given_up();
    let until = waits_until.unwrap_or_else(|| now(run.store) + wait_after(lease.attempts, lease.job_no));
    let (next_run_at, reason) = ((!is_last).then_some(until), why.as_ref().map(reason));
    let unfinished = Unfinished { next_run_at, reason, interrupted };
    // If this write fails too, the lease expires and another run takes the job.
    let given = run.store.write_background(move |tx| tx.give_back(&lease, &unfinished)).await;
    if matches!(given, Ok(false)) {
        return run.end_job(worked, |_| ()); // The job is gone, or another process holds it and will report on it.
    }
    run.end_job(worked, |report| *(if is_last { &mut report.failed } else { &mut report.later }) += 1);
    let why = why.map_or(ErrorKind::Closed, |why| why.kind());
    emit(if is_last { Event::JobFailed { job, why } } else { Event::JobWaiting { job, until: *until, why } });
}

/// Returns the reason as the job's row stores it. A prefix identifies a misconfigured provider.
fn reason(why: &Error) -> String {
    if why.is_misconfiguration() { format!("{FOR_CONFIGURATION}{why}") } else { why.to_string() }
}

async fn work(run: &Run<'_>, lease: &Arc<Lease>, worked: &Worked) -> SliceResult<JobEnd> {
    let lease = Arc::clone(lease);
    if lease.kind == JobKind::Scrub {
        return erase::scrub_as_job(run, lease).await;
    }
    let Some(scope) = lease.scope else {
        // The user is gone, and so is the work.
        run.store.write_slice(lease, |tx| tx.finish()).await?;
        return Ok(JobEnd::Done);
    };
    let job = &Job { run, lease, scope, worked };
    match job.lease.kind {
        JobKind::Compress => compress::compress(job).await,
        JobKind::Extract => extract::extract(job).await,
        JobKind::Erase => erase::go_on(job).await.map(|_| JobEnd::Done),
        JobKind::Index => index::index(job).await,
        JobKind::Embed => embed::embed(job).await,
        JobKind::Mend => mend::mend(job).await,
        JobKind::Prune => prune::prune(job).await,
        JobKind::Validate => validate::validate_due(job).await,
        JobKind::Derive => derive::derive(job).await,
        JobKind::Tend => tend::tend(job).await,
        JobKind::Scrub => unreachable!("it is no user's"),
    }
}
