//! Brings the index of one user's units up to date, batch by batch.

use std::{ops::Range, sync::Arc};

use crate::{
    error::Result,
    jobs::{Ended, Run, is_lost},
    store::{
        index::{self, Batch},
        jobs::{self, Lease},
        users::Scope,
    },
};

/// Words of one slice: it holds the writer about 3 ms.
const SLICE_WORDS: usize = 192;

/// Flushes whole blocks until none is left.
pub(super) async fn index(run: &mut Run<'_>, lease: &Lease) -> Result<Ended> {
    if let Some(scope) = lease.scope {
        while let Some(batch) = run.store.read(|conn| index::next_batch(conn, &scope))? {
            if run.is_stopped() {
                return Ok(Ended::Stopped);
            }
            let units = batch.units();
            match flush(run, scope, lease, batch).await {
                Ok(true) => run.advance(units),
                Ok(false) => return Ok(Ended::Stopped),
                // Something was erased meanwhile, or the job is lost; which one, the next try finds out.
                Err(error) if is_lost(&error) => return Ok(Ended::Later(error.to_string())),
                Err(error) => return Err(error),
            }
        }
    }
    let lease = lease.clone();
    run.slice(move |desk| jobs::finish(desk.tx, &lease)).await?;
    Ok(Ended::Done)
}

/// False: the run was told to stop.
async fn flush(run: &Run<'_>, scope: Scope, lease: &Lease, batch: Batch) -> Result<bool> {
    let (batch, words) = (Arc::new(batch), 0..);
    for start in words.step_by(SLICE_WORDS).take_while(|&start| start < batch.len()) {
        let slice: Range<usize> = start..batch.len().min(start + SLICE_WORDS);
        let (batch, lease) = (Arc::clone(&batch), lease.clone());
        run.slice(move |desk| index::flush(desk, &scope, &lease, &batch, slice)).await?;
        if run.is_stopped() {
            return Ok(false);
        }
    }
    let (batch, lease) = (Arc::clone(&batch), lease.clone());
    run.slice(move |desk| index::finish(desk, &scope, &lease, &batch)).await?;
    Ok(true)
}
