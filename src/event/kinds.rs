//! What can happen in the background of API calls, and how a log line describes it.

use std::fmt;

use chrono::{DateTime, Utc};

use crate::{
    error::ErrorKind,
    model::{
        ids::{SessionId, UserId},
        job::JobKind,
    },
};

/// Something that happened in the background of API calls. The `Display` form is one line for a log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// An attempt at a job begins. [`JobDone`](Self::JobDone), [`JobWaiting`](Self::JobWaiting) or
    /// [`JobFailed`](Self::JobFailed) follows, unless the process ends, or the job is erased or lost to another process.
    #[non_exhaustive]
    JobStarted {
        /// The job.
        job: JobRef,
    },
    /// A job is done and removed from the list.
    #[non_exhaustive]
    JobDone {
        /// The job.
        job: JobRef,
        /// How many turns this attempt worked on; recall units for `index`, `embed` and `derive`; 0 for kinds that count
        /// neither.
        turns: u64,
    },
    /// In an attempt at a compression, the built-in summarizer summarized turns that the configured one did not. Sent after
    /// the attempt, just before the event that says how it ended.
    /// [`Session::compress_again`](crate::Session::compress_again) asks the configured summarizer again.
    #[non_exhaustive]
    JobFellBack {
        /// The job.
        job: JobRef,
        /// Turns that the built-in summarizer summarized.
        summaries: u64,
    },
    /// A job was given back and will be retried.
    #[non_exhaustive]
    JobWaiting {
        /// The job.
        job: JobRef,
        /// When the job is due again, by the system clock.
        until: DateTime<Utc>,
        /// Why. With `ProviderMisconfigured` the job waits for a change of the configuration, and no try is counted;
        /// with `Closed` the run was told to stop. Otherwise [`JobInfo::last_error`](crate::JobInfo::last_error) has the
        /// message.
        why: ErrorKind,
    },
    /// A job was given up. It stays in the list, and is not tried again until it is retried or queued anew.
    #[non_exhaustive]
    JobFailed {
        /// The job.
        job: JobRef,
        /// Why. [`JobInfo::last_error`](crate::JobInfo::last_error) has the message.
        why: ErrorKind,
    },
    /// A call to a provider yielded nothing: it failed, refused, panicked or timed out.
    #[non_exhaustive]
    ProviderFailed {
        /// The provider's role.
        provider: ProviderRole,
        /// The name of the summarizer, the reranker or the planner, or the embedder's model.
        name: String,
        /// Why, and so what can be done: see [`ErrorKind::Provider`], [`ErrorKind::ProviderRefused`],
        /// [`ErrorKind::ProviderMisconfigured`].
        why: ErrorKind,
    },
    /// The writer reopened the file after a failure that made its connection untrustworthy. Everything acknowledged is
    /// safe; callers that were waiting got an error.
    #[non_exhaustive]
    WriterReopened {
        /// What failed: usually `Io`.
        why: ErrorKind,
    },
    /// Erased data is gone from the rows, but bytes of it may remain in the file or its log, because a reader, perhaps
    /// in another process, keeps the log from being emptied. A job tries again until these bytes are overwritten.
    ScrubPending,
    /// The write-ahead log has grown large, although it has been copied into the file meanwhile: a reader, perhaps in another
    /// process, keeps it from beginning anew. Sent once, until it has begun anew.
    #[non_exhaustive]
    LogGrows {
        /// The size of the log in bytes.
        log_bytes: u64,
    },
}

/// A job, as events identify it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobRef {
    /// The job's number, as in [`JobInfo`](crate::JobInfo).
    pub job_no: i64,
    /// What the job does.
    pub kind: JobKind,
    /// The user whose data the job works on; `None` if it works on the whole file.
    pub user_id: Option<UserId>,
    /// The session that the job works on; `None` if it works on all of the user's data, or on the whole file.
    pub session_id: Option<SessionId>,
    /// The number of this attempt, from 1. After an attempt that does not count
    /// ([`JobInfo::attempts`](crate::JobInfo::attempts)), the next one has the same number.
    pub attempt: u32,
}

/// What a provider is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProviderRole {
    /// Summarizes turns: LLM#1.
    Summarizer,
    /// Turns texts into vectors.
    Embedder,
    /// Orders what was found.
    Reranker,
    /// Plans what a message needs before the search: LLM#1.
    Planner,
}

impl ProviderRole {
    /// Returns the role as a word: `summarizer`, `embedder`, `reranker` or `planner`.
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
            Self::JobStarted { job } => write!(f, "{job}: attempt {} begins", job.attempt),
            Self::JobDone { job, turns } => write!(f, "{job}: done, {turns} turns"),
            Self::JobFellBack { job, summaries } => {
                write!(
                    f,
                    "{job}: the built-in summarizer summarized {summaries} turns that the configured one \
                     did not"
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
                write!(f, "the writer reopened the file after a failure ({why:?})")
            }
            Self::ScrubPending => f.write_str("erased bytes remain: a reader holds the write-ahead log"),
            Self::LogGrows { log_bytes } => {
                write!(f, "the write-ahead log has grown to {log_bytes} bytes: a reader holds it")
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
