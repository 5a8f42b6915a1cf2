//! Takes texts that memories do not have any more out of one user's index, if they are many.

use crate::{jobs::job::Job, store::slice_error::SliceResult};

/// Takes all of them out, or none: a few hurt nobody, for nobody is shown them.
pub(super) async fn sweep_if_due(job: &Job<'_, '_>) -> SliceResult<()> {
    let scope = job.scope;
    if !job.store().snapshot()?.is_sweep_due(&scope)? {
        return Ok(());
    }
    while !job.run.is_stopped() && job.slice(move |tx| tx.sweep_memory_units(&scope)).await? {}
    Ok(())
}
