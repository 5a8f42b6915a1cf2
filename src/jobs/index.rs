//! Brings the index of one user's units up to date, batch by batch.

use std::sync::Arc;

use crate::{
    error::Result,
    jobs::{Ended, Run},
    store::{
        acts::index::{self, Batch},
        rows::jobs::{self, Lease},
        scope::Scope,
    },
};

/// Words of one slice: it holds the writer about 3 ms.
const SLICE_WORDS: usize = 192;

/// Flushes whole blocks until none is left.
pub(super) async fn index(run: &mut Run<'_>, lease: &Lease) -> Result<Ended> {
    if let Some(scope) = lease.scope {
        let mut may_be_more = run.store.read(|conn| index::is_begun_anew(conn, &scope))?;
        while may_be_more {
            if run.is_stopped() {
                return Ok(Ended::Stopped);
            }
            let held = lease.clone();
            may_be_more = run.slice(move |tx| index::drop_slice(tx, &scope, &held)).await?;
        }
        while let Some(batch) = run.store.read(|conn| index::next_batch(conn, &scope))? {
            if run.is_stopped() {
                return Ok(Ended::Stopped);
            }
            let units = batch.units();
            // An error: something was erased meanwhile, or the job is lost; which one, the next try finds out.
            if !flush(run, scope, lease, batch).await? {
                return Ok(Ended::Stopped);
            }
            run.advance(units);
        }
    }
    let lease = lease.clone();
    run.slice(move |tx| jobs::finish(tx.sql, &lease)).await?;
    Ok(Ended::Done)
}

/// False: the run was told to stop.
async fn flush(run: &Run<'_>, scope: Scope, lease: &Lease, batch: Batch) -> Result<bool> {
    let batch = Arc::new(batch);
    for start in (0..batch.len()).step_by(SLICE_WORDS) {
        let slice = start..batch.len().min(start + SLICE_WORDS);
        let (batch, lease) = (Arc::clone(&batch), lease.clone());
        run.slice(move |tx| index::flush(tx, &scope, &lease, &batch, slice)).await?;
        if run.is_stopped() {
            return Ok(false);
        }
    }
    let (batch, lease) = (Arc::clone(&batch), lease.clone());
    run.slice(move |tx| index::finish(tx, &scope, &lease, &batch)).await?;
    Ok(true)
}
