//! Sweeps one user's index: removes the texts that memories no longer have, if there are many.

use crate::{jobs::job::Job, store::slice_error::SliceResult};

/// Removes all such texts if a sweep is due, otherwise none. A few do no harm, because they are never shown.
pub(super) async fn sweep_if_due(job: &Job<'_, '_>) -> SliceResult<()> {
    let scope = job.scope;
    if !job.store().snapshot()?.is_sweep_due(&scope)? {
        return Ok(());
    }
    while !job.run.is_stopped() && job.slice(move |tx| tx.sweep_memory_units(&scope)).await? {}
    Ok(())
}
