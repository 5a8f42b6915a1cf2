//! What may happen behind the calls of the API, and how a line of a log says it.

use std::fmt;

use chrono::{DateTime, Utc};

use crate::{
    error::ErrorKind,
    model::{
        ids::{SessionId, UserId},
        job::JobKind,
    },
};

/// Something that happened behind the calls of the API. Its `Display` is one line for a log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A try at a job begins. It ends as done, waiting or failed, unless the process does.
    #[non_exhaustive]
    JobStarted {
        /// The job.
        job: JobRef,
    },
    /// A job is done, and gone from the list.
    #[non_exhaustive]
    JobDone {
        /// The job.
        job: JobRef,
        /// Turns that this try worked on.
        turns: u64,
    },
    /// In a try at a compression, which may go on, the built-in summarizer did what the configured one did not.
    /// [`Session::compress_again`](crate::Session::compress_again) has it done again.
    #[non_exhaustive]
    JobFellBack {
        /// The job.
        job: JobRef,
        /// Turns that the built-in summarizer summarized.
        summaries: u64,
    },
    /// A job was given back, to be tried again.
    #[non_exhaustive]
    JobWaiting {
        /// The job.
        job: JobRef,
        /// When it is due again, by the system clock.
        until: DateTime<Utc>,
        /// Why: `ProviderMisconfigured` waits for another configuration and costs no try; `Closed` says that the run
        /// was told to stop. [`JobInfo::last_error`](crate::JobInfo::last_error) has the words.
        why: ErrorKind,
    },
    /// A job was given up, and stays in the list until it is retried.
    #[non_exhaustive]
    JobFailed {
        /// The job.
        job: JobRef,
        /// Why; the words are as for `JobWaiting`.
        why: ErrorKind,
    },
    /// A call to a provider brought nothing: it failed, refused, panicked or was silent for too long.
    #[non_exhaustive]
    ProviderFailed {
        /// What it is asked for.
        provider: ProviderRole,
        /// The summarizer's, the reranker's or the planner's name, or the embedder's model.
        name: String,
        /// What can be done: see [`ErrorKind::Provider`], [`ErrorKind::ProviderRefused`],
        /// [`ErrorKind::ProviderMisconfigured`].
        why: ErrorKind,
    },
    /// After a failure under which its connection could not be trusted any more, the writer has opened the file anew.
    /// What was acknowledged is safe; who waited then was told.
    #[non_exhaustive]
    WriterReopened {
        /// What had failed: mostly `Io`.
        why: ErrorKind,
    },
    /// What was erased is gone from the rows, but bytes of it may be left in the file or its log, since some reader,
    /// perhaps of another process, holds the log. A job tries again until they are overwritten.
    ScrubPending,
}

/// A job, as events name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobRef {
    /// Its number, as in [`JobInfo`](crate::JobInfo).
    pub job_no: i64,
    /// What it does.
    pub kind: JobKind,
    /// Whose data it works on; none: the file.
    pub user_id: Option<UserId>,
    /// The session it works on; none: all of the user's.
    pub session_id: Option<SessionId>,
    /// This try, from 1.
    pub attempt: u32,
}

/// What a provider is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProviderRole {
    /// Summaries: LLM#1.
    Summarizer,
    /// Vectors.
    Embedder,
    /// The order of what was found.
    Reranker,
    /// What a message needs, before anything is searched for: LLM#1.
    Planner,
}

impl ProviderRole {
    /// Its word: `summarizer`, `embedder`, `reranker`, `planner`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Summarizer => "summarizer",
            Self::Embedder => "embedder",
            Self::Reranker => "reranker",
            Self::Planner => "planner",
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::JobStarted { job } => write!(f, "{job}: try {} begins", job.attempt),
            Self::JobDone { job, turns } => write!(f, "{job}: done, {turns} turns"),
            Self::JobFellBack { job, summaries } => {
                write!(
                    f,
                    "{job}: the built-in summarizer did {summaries} turns that the configured one did not"
                )
            }
            Self::JobWaiting { job, until, why } => {
                write!(f, "{job}: waits until {} ({why:?})", until.format("%Y-%m-%dT%H:%M:%SZ"))
            }
            Self::JobFailed { job, why } => write!(f, "{job}: given up ({why:?})"),
            Self::ProviderFailed { provider, name, why } => {
                write!(f, "{} {}: no answer ({why:?})", provider.as_str(), name.escape_debug())
            }
            Self::WriterReopened { why } => {
                write!(f, "the writer has opened the file anew after a failure ({why:?})")
            }
            Self::ScrubPending => {
                f.write_str("bytes of what was erased are left: a reader holds the write-ahead log")
            }
        }
    }
}

impl fmt::Display for JobRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} job {}", self.kind.as_str(), self.job_no)?;
        if let Some(id) = self.session_id {
            write!(f, " of session {id}")?;
        }
        self.user_id.map_or(Ok(()), |id| write!(f, " of user {id}"))
    }
}
