//! The error of a slice of a job's work.

use std::fmt;

use crate::error::{Error, ErrorKind};

pub(crate) type SliceResult<T> = std::result::Result<T, SliceError>;

/// The reason why a slice of a job's work wrote nothing.
///
/// It passes through the writer's queue as an [`Error`], and is converted back to the same variant afterwards.
#[derive(Clone, Debug)]
pub(crate) enum SliceError {
    /// Another process holds the job now, or the job is gone.
    Lost,
    /// The rows that the job works on have changed since it read them.
    Changed,
    Failed(Error),
}

impl From<Error> for SliceError {
    fn from(error: Error) -> Self {
        let source = std::error::Error::source(&error);
        match source.and_then(|source| source.downcast_ref::<SliceErrorCause>()) {
            Some(SliceErrorCause::Lost) => Self::Lost,
            Some(SliceErrorCause::Changed) => Self::Changed,
            None => Self::Failed(error),
        }
    }
}

impl From<SliceError> for Error {
    fn from(error: SliceError) -> Self {
        match error {
            SliceError::Lost => Self::caused(
                ErrorKind::Conflict,
                "another worker has taken this job, or it is gone; this attempt wrote nothing more",
                SliceErrorCause::Lost,
            ),
            SliceError::Changed => Self::caused(
                ErrorKind::Conflict,
                "what the job works on changed in the meantime; nothing was written",
                SliceErrorCause::Changed,
            ),
            SliceError::Failed(error) => error,
        }
    }
}

/// The source of an [`Error`] that a slice error was converted into. It identifies the variant.
#[derive(Clone, Copy, Debug)]
enum SliceErrorCause {
    Lost,
    Changed,
}

impl fmt::Display for SliceErrorCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lost => "the job is lost",
            Self::Changed => "the job's work changed",
        })
    }
}

impl std::error::Error for SliceErrorCause {}

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
