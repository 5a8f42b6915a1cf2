//! Finds what is damaged in one user's index, and queues what makes it anew.

use crate::{
    error::Result,
    jobs::{Ended, Run},
    store::{
        acts::mend,
        rows::jobs::{self, Lease},
    },
};

pub(super) async fn mend(run: &Run<'_>, lease: &Lease) -> Result<Ended> {
    let held = lease.clone();
    match lease.scope {
        Some(scope) => {
            let damage = run.store.read_at_leisure(|conn| mend::damage(conn, &scope))?;
            run.slice(move |tx| mend::mend(tx, &scope, &held, &damage)).await?;
        }
        None => run.slice(move |tx| jobs::finish(tx.sql, &held)).await?,
    }
    Ok(Ended::Done)
}
