//! A slice of a job's work: a transaction that holds the job's lease.

use crate::{
    error::Result,
    store::{
        rows::jobs::{self, Lease},
        write_tx::WriteTx,
    },
};

/// What a job writes by. To have one is to hold the job: who has lost it gets none.
pub(crate) struct JobTx<'t, 'a> {
    pub(crate) tx: &'t mut WriteTx<'a>,
    pub(crate) lease: &'t Lease,
}

impl<'t, 'a> JobTx<'t, 'a> {
    /// Holds the job for another lease, or says that it is lost.
    pub(crate) fn hold(tx: &'t mut WriteTx<'a>, lease: &'t Lease) -> Result<Self> {
        jobs::hold(tx, lease)?;
        Ok(Self { tx, lease })
    }
}
