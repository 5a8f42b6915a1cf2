//! A slice of a job's work: a transaction that holds the job's lease.

use crate::store::{
    rows::jobs::{self, Lease},
    scope::Scope,
    slice_error::{SliceError, SliceResult},
    sql::UserRow,
    write_tx::WriteTx,
};

/// What a job writes through. Only the holder of the job can get one.
pub(crate) struct JobTx<'t, 'a> {
    pub(crate) tx: &'t mut WriteTx<'a>,
    pub(crate) lease: &'t Lease,
}

impl<'t, 'a> JobTx<'t, 'a> {
    /// Extends the job's lease, or reports that the job is lost. Locks the user's row first, as every act on a user does.
    pub(crate) fn hold(tx: &'t mut WriteTx<'a>, lease: &'t Lease) -> SliceResult<Self> {
        if let Some(scope) = lease.scope {
            tx.sql.lock_user(scope.user_no)?;
        }
        jobs::hold(tx.sql, lease, (tx.sql.lease_clock()?, tx.config.lease))?;
        Ok(Self { tx, lease })
    }

    /// Locks the user's row. If the user is gone, the job is lost.
    pub(crate) fn lock(&self, scope: &Scope) -> SliceResult<UserRow> {
        self.tx.try_lock(scope)?.ok_or(SliceError::Lost)
    }
}
