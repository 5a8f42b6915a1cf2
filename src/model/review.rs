//! Reviews: questions about memories that wait for a person.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::model::{
    ids::{MemoryId, ReviewId},
    memory::known::Memory,
    word_enum::word_enum,
};

word_enum! {
    /// What a review asks.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum ReviewKind {
        /// Should the memory stay forever?
        Promote = "promote",
        /// The memory helps too rarely: does it still hold?
        Flagged = "flagged",
        /// Two memories contradict each other: which one holds?
        Contradiction = "contradiction",
        /// Are these two memories the same?
        Merge = "merge",
        /// A check failed, or the memory's sensor is a person: does the memory still hold?
        Check = "check",
        /// A file and its memory were both changed, or the file is out of date: which one holds?
        Conflict = "conflict",
    }
    pub fn from_word;
}

word_enum! {
    /// How a review was decided.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum Decision {
        /// A person said yes.
        Approved = "approved",
        /// A person said no.
        Rejected = "rejected",
        /// The question no longer applies: what it was about has changed.
        Withdrawn = "withdrawn",
    }
    pub fn from_word;
}

/// A question that waits for a person. Jobs and LLMs cannot decide it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Review {
    /// The review's id.
    pub id: ReviewId,
    /// What the review asks.
    pub kind: ReviewKind,
    /// The memory that the review is about.
    pub memory_id: MemoryId,
    /// The other memory, if the review is about two.
    pub other_id: Option<MemoryId>,
    /// When the review was opened, by the system clock.
    pub opened_at: DateTime<Utc>,
    /// Why the review was opened: numbers and names of rules, never what was said.
    pub why: String,
    /// How the review was decided; `None` if it is open.
    pub decision: Option<Decision>,
    /// When the review was decided, by the system clock.
    pub decided_at: Option<DateTime<Utc>>,
    /// Who decided the review, as the caller names them.
    pub decided_by: Option<String>,
}

/// A filter for lists of reviews. The default selects open ones of every kind.
///
/// ```
/// use thermocline::{ReviewFilter, ReviewKind};
/// let asked = ReviewFilter::default().kinds([ReviewKind::Contradiction]).decided(true);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct ReviewFilter {
    /// Only reviews of these kinds; empty means any.
    pub kinds: Vec<ReviewKind>,
    /// Whether decided and withdrawn reviews are listed instead of open ones.
    pub decided: bool,
}

impl ReviewFilter {
    /// Restricts the list to these kinds; an empty list means any.
    #[must_use]
    pub fn kinds(mut self, kinds: impl IntoIterator<Item = ReviewKind>) -> Self {
        self.kinds = kinds.into_iter().collect();
        self
    }

    /// Sets whether decided and withdrawn reviews are listed instead of open ones.
    #[must_use]
    pub fn decided(mut self, decided: bool) -> Self {
        self.decided = decided;
        self
    }
}

/// A review that a person decided, and the result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Decided {
    /// The review, as it is now.
    pub review: Review,
    /// The memories that the review was about, as they are now.
    pub memories: Vec<Memory>,
}
