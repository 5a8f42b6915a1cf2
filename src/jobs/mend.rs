//! Finds what is damaged in one user's index, and queues what makes it anew.

use crate::{
    error::Result,
    jobs::{Ended, Run},
    store::{
        jobs::{self, Lease},
        mend,
    },
};

pub(super) async fn mend(run: &Run<'_>, lease: &Lease) -> Result<Ended> {
    let held = lease.clone();
    match lease.scope {
        Some(scope) => {
            let damage = run.store.read_at_leisure(|conn| mend::damage(conn, &scope))?;
            run.slice(move |desk| mend::mend(desk, &scope, &held, &damage)).await?;
        }
        None => run.slice(move |desk| jobs::finish(desk.tx, &held)).await?,
    }
    Ok(Ended::Done)
}
