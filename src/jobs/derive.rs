//! Derives anew what older rules derived of one user's turns, in the order of recording.

use crate::{
    jobs::job::{Ended, Job},
    store::slice_error::{SliceError, SliceResult},
};

pub(super) async fn derive(job: &mut Job<'_, '_>) -> SliceResult<Ended> {
    let (store, scope) = (job.store(), job.scope);
    let mut damaged = Vec::new();
    let rules = loop {
        let mut begun = job.slice(move |tx| tx.begin_deriving(&scope)).await?;
        while let Some(next) = store.snapshot()?.next_rederived(&scope, begun)? {
            if job.run.is_stopped() {
                return Ok(Ended::Stopped);
            }
            let (until, count) = (next.until, next.until - begun.after);
            let found = next.damaged.clone();
            match job.slice(move |tx| tx.rederive(&scope, &next)).await {
                Ok(()) => {}
                Err(SliceError::Changed) => continue, // It is read again.
                Err(error) => return Err(error),
            }
            begun = begun.up_to(until);
            damaged.extend(found);
            job.run.advance(count as usize);
        }
        if let Some(ended) = job.slice(move |tx| tx.end_deriving(&scope, begun)).await? {
            break ended;
        }
    };
    // All is of these rules now, but for what cannot be read.
    if let Some(first) = damaged.first() {
        return Ok(Ended::GivenUp(format!(
            "{first} is damaged and stays as older rules left it, one of {} turns; doctor lists all damage",
            damaged.len()
        )));
    }
    if rules.awaits_newer() {
        return Ok(Ended::Later("a newer version has begun this and will go on with it".into()));
    }
    job.finish().await
}
