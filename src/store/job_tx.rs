//! A slice of a job's work: a transaction that holds the job's lease.

use crate::{
    error::sound,
    store::{
        rows::jobs::{self, Lease},
        scope::Scope,
        slice_error::{SliceError, SliceResult},
        sql::UserRow,
        write_tx::WriteTx,
    },
};

/// The transaction through which a job writes. Only the holder of the job can get one.
pub(crate) struct JobTx<'t, 'a> {
    pub(crate) tx: &'t mut WriteTx<'a>,
    pub(crate) lease: &'t Lease,
}

impl<'t, 'a> JobTx<'t, 'a> {
    /// Renews the job's lease. Returns [`SliceError::Lost`] if another process holds the job or the job is gone. Locks the
    /// user's row first, as every act on a user does.
    pub(crate) fn hold(tx: &'t mut WriteTx<'a>, lease: &'t Lease) -> SliceResult<Self> {
        if let Some(scope) = lease.scope {
            // What the row holds is read by the act itself, which may be an erase of the user whose row is damaged.
            sound(tx.sql.lock_user(scope.user_no))?;
        }
        jobs::hold(tx.sql, lease, (tx.sql.lease_clock()?, tx.config.lease))?;
        Ok(Self { tx, lease })
    }

    /// Locks the user's row. Returns [`SliceError::Lost`] if the user is gone.
    pub(crate) fn lock(&self, scope: &Scope) -> SliceResult<UserRow> {
        self.tx.try_lock(scope)?.ok_or(SliceError::Lost)
    }
}
