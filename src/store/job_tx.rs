//! A slice of a job's work: a transaction that holds the job's lease; and why a slice wrote nothing.

use std::fmt;

use crate::{
    error::{Error, ErrorKind},
    store::{acts::jobs, rows::jobs::Lease, scope::Scope, sql::UserRow, write_tx::WriteTx},
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
        jobs::hold(tx, lease)?;
        Ok(Self { tx, lease })
    }

    /// The user's row; whose user is gone has lost the job.
    pub(crate) fn lock(&self, scope: &Scope) -> SliceResult<UserRow> {
        let found = self.tx.sql.lock_user(scope.user_no)?;
        found.filter(|row| row.user_id == scope.user_id).ok_or(SliceError::Lost)
    }
}

pub(crate) type SliceResult<T> = std::result::Result<T, SliceError>;

/// Why a slice of a job's work wrote nothing.
///
/// As an [`Error`] it passes through the writer's queue, and out of that it is the same again.
#[derive(Clone, Debug)]
pub(crate) enum SliceError {
    /// Somebody else works on the job now, or it is gone.
    Lost,
    /// What the job works on is not any more what it was when it was read.
    Changed,
    Failed(Error),
}

impl From<Error> for SliceError {
    fn from(error: Error) -> Self {
        let source = std::error::Error::source(&error);
        match source.and_then(|source| source.downcast_ref::<Cause>()) {
            Some(Cause::Lost) => Self::Lost,
            Some(Cause::Changed) => Self::Changed,
            None => Self::Failed(error),
        }
    }
}

impl From<SliceError> for Error {
    fn from(error: SliceError) -> Self {
        match error {
            SliceError::Lost => Self::caused(
                ErrorKind::Conflict,
                "somebody else works on this job now, or it is gone; this try wrote nothing more",
                Cause::Lost,
            ),
            SliceError::Changed => Self::caused(
                ErrorKind::Conflict,
                "what the job works on changed meanwhile; nothing was written",
                Cause::Changed,
            ),
            SliceError::Failed(error) => error,
        }
    }
}

/// By this cause an error is known again.
#[derive(Clone, Copy, Debug)]
enum Cause {
    Lost,
    Changed,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lost => "the job is lost",
            Self::Changed => "the job's work changed",
        })
    }
}

impl std::error::Error for Cause {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_slice_answers_is_the_same_behind_the_writers_queue() {
        let behind = |error: SliceError| SliceError::from(Error::from(error));
        assert!(matches!(behind(SliceError::Lost), SliceError::Lost));
        assert!(matches!(behind(SliceError::Changed), SliceError::Changed));
        let conflict = Error::new(ErrorKind::Conflict, "another one");
        assert!(matches!(behind(conflict.into()), SliceError::Failed(_)));
    }
}
