//! Removes one user's promotions from the table of transitions between tiers, where older builds kept them for ever.

use crate::{
    jobs::job::{Job, JobEnd},
    model::place::SessionNo,
    store::slice_error::SliceResult,
};

pub(super) async fn prune(job: &Job<'_, '_>) -> SliceResult<JobEnd> {
    let (scope, mut after) = (job.scope, SessionNo::default());
    while let Some(session) = job.slice(move |tx| tx.prune_moves(&scope, after)).await? {
        after = session;
        if job.run.is_stopped() {
            return Ok(JobEnd::Stopped);
        }
    }
    job.finish().await
}
