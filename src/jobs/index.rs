//! First removes what is left of an index that is to be rebuilt, then adds whole blocks of one user's units to the index,
//! batch by batch, and finally sweeps the index if that is due.

use std::sync::Arc;

use crate::{
    error::Result,
    jobs::{
        embed,
        job::{Job, JobEnd},
        sweep,
    },
    store::{
        Store,
        acts::index::FlushBatch,
        scope::Scope,
        slice_error::{SliceError, SliceResult},
    },
};

/// The number of words per slice. A slice occupies the writer for about 3 ms.
const SLICE_WORDS: usize = 192;

/// Writes whole blocks of units into the index until none are left, then sweeps the index if that is due. Computes missing
/// vectors if the configuration has embedders.
pub(super) async fn index(job: &Job<'_, '_>) -> SliceResult<JobEnd> {
    let (store, scope) = (job.store(), job.scope);
    let mut may_be_more = store.snapshot()?.is_index_begun_anew(&scope)?;
    while may_be_more {
        if job.run.is_stopped() {
            return Ok(JobEnd::Stopped);
        }
        may_be_more = job.slice(move |tx| tx.drop_index_slice(&scope)).await?;
    }
    loop {
        let Some(batch) = next_batch(store, &scope)? else { break };
        if job.run.is_stopped() {
            return Ok(JobEnd::Stopped);
        }
        let units = batch.units();
        match flush(job, batch).await {
            Ok(true) => job.advance(units),
            Ok(false) => return Ok(JobEnd::Stopped),
            // One of the user's sessions was compressed or erased in the meantime, so the batch is read again.
            Err(SliceError::Changed) => {}
            Err(error) => return Err(error),
        }
    }
    sweep::sweep_if_due(job).await?;
    // The job `embed` computes the built-in embedder's vectors too, but may have to wait for the caller's embedders.
    if !store.config().embedders.is_empty()
        && let Err(SliceError::Lost) = embed::catch_up(job).await
    {
        return Err(SliceError::Lost);
    }
    job.finish().await
}

/// Reads the next batch. `None` if there is none. Each block has a snapshot of its own, so that long texts do not keep the
/// log from being emptied for long, and none is held while a slice is written.
fn next_batch(store: &Store, scope: &Scope) -> Result<Option<FlushBatch>> {
    let Some(mut batch) = store.snapshot()?.begin_index_batch(scope)? else { return Ok(None) };
    while store.snapshot()?.read_index_block(scope, &mut batch)? {}
    Ok(Some(batch.whole()))
}

/// Writes a batch, slice by slice. Returns `false` if the run is told to stop.
async fn flush(job: &Job<'_, '_>, batch: FlushBatch) -> SliceResult<bool> {
    let (batch, scope) = (Arc::new(batch), job.scope);
    for start in (0..batch.len()).step_by(SLICE_WORDS) {
        let slice = start..batch.len().min(start + SLICE_WORDS);
        let batch = Arc::clone(&batch);
        job.slice(move |tx| tx.flush_postings(&scope, &batch, slice)).await?;
        if job.run.is_stopped() {
            return Ok(false);
        }
    }
    job.slice(move |tx| tx.finish_batch(&scope, &batch)).await?;
    Ok(true)
}
