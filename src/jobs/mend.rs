//! Finds the damage in one user's index and vectors, and queues the jobs that rebuild the damaged parts.

use crate::{
    jobs::job::{Job, JobEnd},
    store::slice_error::SliceResult,
};

pub(super) async fn mend(job: &Job<'_, '_>) -> SliceResult<JobEnd> {
    let scope = job.scope;
    let damage = job.store().snapshot_at_leisure()?.index_damage(&scope)?;
    job.slice(move |tx| tx.mend(&scope, &damage)).await?;
    Ok(JobEnd::Done)
}
