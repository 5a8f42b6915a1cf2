//! Jobs: work that outlives a process.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::model::{
    ids::{SessionId, UserId},
    word_enum::word_enum,
};

word_enum! {
    /// What a job does.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum JobKind {
        /// Compresses an ended session.
        Compress = "compress",
        /// Extracts memories from an ended session, and rates the memories that the session used.
        Extract = "extract",
        /// Erases a session, or all data of a user.
        Erase = "erase",
        /// Overwrites what erased rows leave in the file, and empties the write-ahead log once no reader holds it.
        Scrub = "scrub",
        /// Brings the index of a user's units up to date.
        Index = "index",
        /// Computes the vectors that a user's units lack.
        Embed = "embed",
        /// Finds damage in the index and the vectors of a user's units, and queues the jobs that rebuild the damaged
        /// parts.
        Mend = "mend",
        /// Recomputes what older rules derived from a user's units (turns, summaries, memories): words, anchors, and
        /// which rule keeps a turn verbatim.
        Derive = "derive",
        /// Removes rows of a user that older versions kept forever and this version does not keep.
        Prune = "prune",
        /// Checks a user's stale memories; queued when a recall or a context shows one that a sensor may check.
        Validate = "validate",
        /// Looks at all of a user's active memories once a day, and decides which settle, fall back, are archived, or
        /// need a person. Volatile memories are left out.
        Tend = "tend",
    }
    pub(crate) fn from_word;
}

impl JobKind {
    /// Returns the priority: jobs that somebody waits for run first.
    pub(crate) fn priority(self) -> i64 {
        match self {
            Self::Erase | Self::Scrub => 1,
            Self::Compress | Self::Extract => 0,
            Self::Index | Self::Embed | Self::Mend | Self::Validate => -1,
            Self::Derive | Self::Prune | Self::Tend => -2,
        }
    }

    /// Returns whether a job may be given up. Erased data must be removed from the bytes, however long a reader delays
    /// it; what is not indexed or embedded would silently be missing forever.
    pub(crate) fn may_be_given_up(self) -> bool {
        match self {
            Self::Compress | Self::Extract | Self::Validate => true,
            Self::Erase
            | Self::Scrub
            | Self::Index
            | Self::Embed
            | Self::Mend
            | Self::Derive
            | Self::Prune
            | Self::Tend => false,
        }
    }
}

/// A selection of kinds of jobs, of all users or of one, as a statement takes it.
#[derive(Clone, Debug)]
pub(crate) struct JobKinds {
    words: String,
    pub(crate) user: Option<UserId>,
}

impl JobKinds {
    /// Selects jobs of these kinds.
    pub(crate) fn of(kinds: impl IntoIterator<Item = JobKind>) -> Self {
        let words = kinds.into_iter().fold(" ".to_owned(), |all, kind| all + kind.as_str() + " ");
        Self { words, user: None }
    }

    /// Selects jobs of this kind, or of all kinds if `None`.
    pub(crate) fn only(only: Option<JobKind>) -> Self {
        only.map_or_else(|| Self::of(JobKind::EVERY), |kind| Self::of([kind]))
    }

    /// Restricts the selection to jobs on this user's data, if a user is given.
    pub(crate) fn of_user(self, user: Option<UserId>) -> Self {
        Self { user, ..self }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.trim().is_empty()
    }

    /// Returns the words, each between spaces: ` compress embed `.
    pub(crate) fn as_words(&self) -> &str {
        &self.words
    }
}

word_enum! {
    /// The state of a job. A finished job is removed from the list.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum JobState {
        /// The job waits to be run, or for the time of its retry.
        Queued = "queued",
        /// A process works on the job and holds its lease; once the lease ends, another process may take the job.
        Running = "running",
        /// The job was given up; `jobs retry` queues it again, and so does new work of its kind.
        Failed = "failed",
    }
    pub(crate) fn from_word;
}

/// The maximum number of tries without any progress before a job is given up: about a day, with the waits between them.
pub(crate) const MAX_ATTEMPTS: u32 = 30;
/// The wait before a second try; doubled for each further one.
const FIRST_WAIT: Duration = Duration::from_mins(1);
/// The longest wait between tries, before the spread is added.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_hours(1);

/// The beginning of the error of a job that waits for a change of a provider's configuration. Such jobs are recognized
/// by it.
pub(crate) const FOR_CONFIGURATION: &str = "waits for another configuration: ";

/// Returns how long to wait after this many tries: 1, 2, 4 ... minutes, at most an hour, plus up to a tenth that
/// differs between jobs, so that jobs that failed together do not retry together.
pub(crate) fn wait_after(attempts: u32, job_no: i64) -> TimeDelta {
    let doublings = attempts.saturating_sub(1).min(16);
    let wait = (FIRST_WAIT * (1 << doublings)).min(LONGEST_WAIT);
    let eighths = u32::try_from(job_no.rem_euclid(8)).expect("it is below 8");
    TimeDelta::from_std(wait + wait / 10 * eighths / 8).expect("it is little more than an hour")
}

/// A job as the file stores it. It contains nothing that anybody said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct JobInfo {
    /// The job's number, for `jobs retry`.
    pub job_no: i64,
    /// What the job does.
    pub kind: JobKind,
    /// The job's state.
    pub state: JobState,
    /// The user whose data the job works on; `None` if it works on the whole file.
    pub user_id: Option<UserId>,
    /// The session that the job works on; `None` if it works on all of the user's data, or on the whole file.
    pub session_id: Option<SessionId>,
    /// The number of tries that count towards giving the job up, including the current one. A try that ends because the run
    /// is told to stop does not count, nor does a wait for a provider; a try whose process dies counts. Progress lowers it
    /// to 1 if it is higher (for `compress`, to the number of tries that the summarizer has), and `jobs retry` sets it to 0.
    pub attempts: u32,
    /// The earliest time of the next try; while the job runs, the end of its lease. Meaningless once the job was given up.
    pub next_run_at: DateTime<Utc>,
    /// How much is done so far: turns for `compress` and `erase`; recall units for `index`, `embed` and `derive`; pages of
    /// the file for `scrub`. Other kinds do not count.
    pub done_count: u32,
    /// How much there is to do in total, in the same unit; 0 if that is not known.
    pub total_count: u32,
    /// Why a try last failed or had to wait; `None` if none did.
    pub last_error: Option<String>,
}

impl JobInfo {
    /// Returns whether the job waits for a change of the configuration of LLM#1 or of an embedder. The job is tried
    /// again every 10 minutes, and at once when the file is opened with a summarizer or an embedder, or on `jobs retry`.
    /// The wait does not count as a try.
    pub fn waits_for_configuration(&self) -> bool {
        let is_marked = self.last_error.as_ref().is_some_and(|why| why.starts_with(FOR_CONFIGURATION));
        self.state == JobState::Queued && is_marked
    }
}
