//! A slice of a job's work: a transaction that holds the job's lease.

use crate::store::{
    rows::jobs::{self, Lease},
    scope::Scope,
    slice_error::{SliceError, SliceResult},
    sql::UserRow,
    write_tx::WriteTx,
};

/// What a job writes by. To have one is to hold the job: who has lost it gets none.
pub(crate) struct JobTx<'t, 'a> {
    pub(crate) tx: &'t mut WriteTx<'a>,
    pub(crate) lease: &'t Lease,
}

impl<'t, 'a> JobTx<'t, 'a> {
    /// Holds the job for another lease, or says that it is lost. The user's row comes first, as in every act on a user.
    pub(crate) fn hold(tx: &'t mut WriteTx<'a>, lease: &'t Lease) -> SliceResult<Self> {
        if let Some(scope) = lease.scope {
            tx.sql.lock_user(scope.user_no)?;
        }
        jobs::hold(tx.sql, lease, (tx.sql.lease_clock()?, tx.config.lease))?;
        Ok(Self { tx, lease })
    }

    /// The user's row; whose user is gone has lost the job.
    pub(crate) fn lock(&self, scope: &Scope) -> SliceResult<UserRow> {
        self.tx.try_lock(scope)?.ok_or(SliceError::Lost)
    }
}
