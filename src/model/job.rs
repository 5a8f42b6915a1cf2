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
        /// Looks through an ended session for what is worth knowing later.
        Extract = "extract",
        /// Erases a session, or all of a user.
        Erase = "erase",
        /// Overwrites what erased rows leave in the file, and empties its write-ahead log, once no reader holds that.
        Scrub = "scrub",
        /// Brings the index of a user's units up to date.
        Index = "index",
        /// Makes the vectors that a user's units lack.
        Embed = "embed",
        /// Finds what is damaged in the index and the vectors of a user's units, and has it made anew.
        Mend = "mend",
        /// Derives anew what older rules derived of a user's turns: words, why turns are kept verbatim, anchors.
        Derive = "derive",
        /// Takes out rows of a user's that older versions kept for ever, and this one does not keep.
        Prune = "prune",
        /// Looks whether memories still hold that are stale and were shown.
        Validate = "validate",
        /// Looks at all of a user's memories, once a day: what settles, falls back, is put away, is asked about.
        Tend = "tend",
    }
    pub(crate) fn from_word;
}

impl JobKind {
    /// What somebody waits for goes first.
    pub(crate) fn priority(self) -> i64 {
        match self {
            Self::Erase | Self::Scrub => 1,
            Self::Compress | Self::Extract => 0,
            Self::Index | Self::Embed | Self::Mend | Self::Validate => -1,
            Self::Derive | Self::Prune | Self::Tend => -2,
        }
    }

    /// What was erased must go from the bytes, however long a reader is in the way; what is not indexed or embedded would
    /// be missing for ever, without a word.
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

/// Some kinds of jobs, of all users or of one, as a statement looks for one among them.
#[derive(Clone, Debug)]
pub(crate) struct JobKinds {
    words: String,
    pub(crate) user: Option<UserId>,
}

impl JobKinds {
    /// These.
    pub(crate) fn of(kinds: impl IntoIterator<Item = JobKind>) -> Self {
        let words = kinds.into_iter().fold(" ".to_owned(), |all, kind| all + kind.as_str() + " ");
        Self { words, user: None }
    }

    /// This one, or all.
    pub(crate) fn only(only: Option<JobKind>) -> Self {
        only.map_or_else(|| Self::of(JobKind::EVERY), |kind| Self::of([kind]))
    }

    /// Of these those on one user's data, if one is named.
    pub(crate) fn of_user(self, user: Option<UserId>) -> Self {
        Self { user, ..self }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.trim().is_empty()
    }

    /// Each word between blanks: ` compress embed `.
    pub(crate) fn as_words(&self) -> &str {
        &self.words
    }
}

word_enum! {
    /// Where a job stands. One that is done is gone from the list.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum JobState {
        /// It waits for its turn, or for the time of its next try.
        Queued = "queued",
        /// Somebody works on it, until the lease ends.
        Running = "running",
        /// It was given up; `jobs retry` queues it again.
        Failed = "failed",
    }
    pub(crate) fn from_word;
}

/// Tries without any progress before a job is given up: with the waits between them about a day.
pub(crate) const MAX_ATTEMPTS: u32 = 30;
/// The wait before a second try; doubled for each further one.
const FIRST_WAIT: Duration = Duration::from_mins(1);
/// The longest wait between tries, but for the spread.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_hours(1);

/// How the reason of a job begins that waits for another configuration of a provider; by this it is known again.
pub(crate) const FOR_CONFIGURATION: &str = "waits for another configuration: ";

/// How long to wait after so many tries: 1, 2, 4 ... minutes, at most an hour, up to a tenth more for each job another,
/// so that what failed together does not come back together.
pub(crate) fn wait_after(attempts: u32, job_no: i64) -> TimeDelta {
    let doublings = attempts.saturating_sub(1).min(16);
    let wait = (FIRST_WAIT * (1 << doublings)).min(LONGEST_WAIT);
    let eighths = u32::try_from(job_no.rem_euclid(8)).expect("it is below 8");
    TimeDelta::from_std(wait + wait / 10 * eighths / 8).expect("it is little more than an hour")
}

/// A job as it stands in the file. Contains nothing of what anybody said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct JobInfo {
    /// Its number, for `jobs retry`.
    pub job_no: i64,
    /// What it does.
    pub kind: JobKind,
    /// Where it stands.
    pub state: JobState,
    /// Whose data it works on; none: the file.
    pub user_id: Option<UserId>,
    /// The session it works on; none: all of the user's.
    pub session_id: Option<SessionId>,
    /// Tries begun.
    pub attempts: u32,
    /// Not before then; while it runs: when the lease ends.
    pub next_run_at: DateTime<Utc>,
    /// Turns worked on.
    pub done_count: u32,
    /// Turns to work on.
    pub total_count: u32,
    /// Why the last try failed.
    pub last_error: Option<String>,
}

impl JobInfo {
    /// Whether it waits for another configuration of LLM#1 or of an embedder. It goes on at once when the file is opened
    /// with a summarizer or an embedder, or when it is retried, and looks by itself every 10 minutes. No try counts.
    pub fn waits_for_configuration(&self) -> bool {
        let is_marked = self.last_error.as_ref().is_some_and(|why| why.starts_with(FOR_CONFIGURATION));
        self.state == JobState::Queued && is_marked
    }
}
