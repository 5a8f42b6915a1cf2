//! Episodes: a memory was saved, a memory was used, or a note was taken.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::model::{
    ids::{EpisodeId, MemoryId, ReceiptId, SessionId},
    memory::words::{MemoryKind, Outcome},
    word_enum::word_enum,
};

word_enum! {
    /// The role of an [`Episode`].
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum EpisodeRole {
        /// A memory was saved.
        Birth = "birth",
        /// A memory was used.
        Use = "use",
        /// A note was taken.
        Note = "note",
        /// A use was reported that counts nothing: by somebody who is trusted less than the memory, or the report was
        /// undone.
        Report = "report",
    }
    pub fn from_word;
}

/// The result of recording a note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Noted {
    /// The note.
    pub episode: Episode,
    /// Whether this call added the note; false if the note was there already, with the same `caller_id`.
    pub is_new: bool,
}

/// Something that happened: a memory was saved, a memory was used or is reported to have been, or a note was taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Episode {
    /// The episode's id.
    pub id: EpisodeId,
    /// Whether the episode is a birth, a use, a note or a report.
    pub role: EpisodeRole,
    /// The memory that the episode is about; `None` for a note about no memory, and if the memory is damaged.
    pub memory_id: Option<MemoryId>,
    /// The session in which the episode happened; `None` if it happened in none, or if that session was erased.
    pub session_id: Option<SessionId>,
    /// For a use in a context for which a turn was recorded: the turn's number in its session, from 1.
    pub turn_number: Option<u32>,
    /// For a use: the receipt of the context that showed the memory, if one was named.
    pub receipt_id: Option<ReceiptId>,
    /// When the episode happened.
    pub happened_at: DateTime<Utc>,
    /// How the use, or the task of the episode, ended; `None` if that is not known.
    pub outcome: Option<Outcome>,
    /// The kind of the memory, or of the note.
    pub kind: Option<MemoryKind>,
    /// The project that the episode is filed under.
    pub project: Option<String>,
    /// The caller's id of the task in which the episode happened.
    pub task_id: Option<String>,
    /// The task's name, for people.
    pub task_name: Option<String>,
    /// What prompted the use, the note, or the saving of the memory.
    pub trigger: Option<String>,
    /// The caller's own id for the episode.
    pub caller_id: Option<String>,
    /// The title of the note or the memory.
    pub title: String,
    /// The tags of the note, or of the memory.
    pub tags: Vec<String>,
    /// The note's text; for other roles, the memory in one sentence.
    pub summary: String,
}

/// A filter for lists of episodes. The default selects everything except uses and reports, which would flood the list.
///
/// ```
/// use thermocline::{EpisodeFilter, EpisodeRole};
/// let march = EpisodeFilter::default()
///     .roles([EpisodeRole::Note])
///     .since("2026-03-01T00:00:00Z".parse().unwrap())
///     .until("2026-04-01T00:00:00Z".parse().unwrap());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct EpisodeFilter {
    /// Only episodes with these roles; empty means any. Default: births and notes.
    pub roles: Vec<EpisodeRole>,
    /// Only what happened at this time or later.
    pub since: Option<DateTime<Utc>>,
    /// Only what happened before this time.
    pub until: Option<DateTime<Utc>>,
}

impl Default for EpisodeFilter {
    fn default() -> Self {
        Self { roles: vec![EpisodeRole::Birth, EpisodeRole::Note], since: None, until: None }
    }
}

impl EpisodeFilter {
    /// Restricts the list to these roles; an empty list means any.
    #[must_use]
    pub fn roles(mut self, roles: impl IntoIterator<Item = EpisodeRole>) -> Self {
        self.roles = roles.into_iter().collect();
        self
    }

    /// Restricts the list to what happened at this time or later.
    #[must_use]
    pub fn since(mut self, at: DateTime<Utc>) -> Self {
        self.since = Some(at);
        self
    }

    /// Restricts the list to what happened before this time.
    #[must_use]
    pub fn until(mut self, at: DateTime<Utc>) -> Self {
        self.until = Some(at);
        self
    }
}

/// A note about something that happened.
///
/// ```
/// use thermocline::{MemoryKind, NewNote};
/// let note = NewNote::new("Moved the bot to websockets").kind(MemoryKind::Decision).tags(["major-domo"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewNote {
    pub(crate) title: String,
    pub(crate) summary: String,
    pub(crate) kind: Option<MemoryKind>,
    pub(crate) tags: Vec<String>,
    pub(crate) memory_id: Option<MemoryId>,
    pub(crate) session_id: Option<SessionId>,
    pub(crate) outcome: Option<Outcome>,
    pub(crate) project: Option<String>,
    pub(crate) task_id: Option<String>,
    pub(crate) task_name: Option<String>,
    pub(crate) trigger: Option<String>,
    pub(crate) caller_id: Option<String>,
    pub(crate) happened_at: Option<DateTime<Utc>>,
}

impl NewNote {
    /// Creates a note with this title, of 1 to 200 bytes.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            summary: String::new(),
            kind: None,
            tags: Vec::new(),
            memory_id: None,
            session_id: None,
            outcome: None,
            project: None,
            task_id: None,
            task_name: None,
            trigger: None,
            caller_id: None,
            happened_at: None,
        }
    }

    /// Sets what the note says, at most 1,024 bytes.
    #[must_use]
    pub fn summary(mut self, summary: impl Into<String>) -> Self {
        self.summary = summary.into();
        self
    }

    /// Sets what kind of note it is.
    #[must_use]
    pub fn kind(mut self, kind: MemoryKind) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Sets the note's tags, with or without `#`.
    #[must_use]
    pub fn tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.tags = tags.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the memory that the note is about. Default: none.
    #[must_use]
    pub fn memory(mut self, id: MemoryId) -> Self {
        self.memory_id = Some(id);
        self
    }

    /// Sets the session in which the noted event happened.
    #[must_use]
    pub fn session(mut self, id: SessionId) -> Self {
        self.session_id = Some(id);
        self
    }

    /// Sets how the noted event ended.
    #[must_use]
    pub fn outcome(mut self, outcome: Outcome) -> Self {
        self.outcome = Some(outcome);
        self
    }

    /// Sets the project that the note is filed under, at most 256 bytes.
    #[must_use]
    pub fn project(mut self, project: impl Into<String>) -> Self {
        self.project = Some(project.into());
        self
    }

    /// Sets the caller's id of the task in which the noted event happened, at most 256 bytes.
    #[must_use]
    pub fn task_id(mut self, id: impl Into<String>) -> Self {
        self.task_id = Some(id.into());
        self
    }

    /// Sets the task's name, for people, at most 256 bytes.
    #[must_use]
    pub fn task_name(mut self, name: impl Into<String>) -> Self {
        self.task_name = Some(name.into());
        self
    }

    /// Sets what prompted the noted event, at most 1,024 bytes.
    #[must_use]
    pub fn trigger(mut self, trigger: impl Into<String>) -> Self {
        self.trigger = Some(trigger.into());
        self
    }

    /// Sets the caller's own id for the note, unique per user, at most 256 bytes: a repeated note is recognized by it.
    #[must_use]
    pub fn caller_id(mut self, id: impl Into<String>) -> Self {
        self.caller_id = Some(id.into());
        self
    }

    /// Sets when the noted event happened. Default: now, by the clock. Limits: the years 1 to 9999.
    #[must_use]
    pub fn happened_at(mut self, at: DateTime<Utc>) -> Self {
        self.happened_at = Some(at);
        self
    }
}

/// A report that a memory was used.
///
/// ```
/// use thermocline::{Outcome, Use};
/// let worked = Use::of(Outcome::Success).project("homelab").caller_id("run-17");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Use {
    pub(crate) outcome: Option<Outcome>,
    pub(crate) session_id: Option<SessionId>,
    pub(crate) project: Option<String>,
    pub(crate) receipt_id: Option<ReceiptId>,
    pub(crate) task_id: Option<String>,
    pub(crate) task_name: Option<String>,
    pub(crate) trigger: Option<String>,
    pub(crate) caller_id: Option<String>,
}

impl Use {
    /// Creates a report of a use with this outcome. `Use::default()` has no outcome: it counts as an access and rates
    /// nothing.
    pub fn of(outcome: Outcome) -> Self {
        Self { outcome: Some(outcome), ..Self::default() }
    }

    /// Sets the session in which the memory was used. Default: that of the receipt, if there is one.
    #[must_use]
    pub fn session(mut self, id: SessionId) -> Self {
        self.session_id = Some(id);
        self
    }

    /// Sets the project for which the memory was used, at most 256 bytes. Default: that of the session.
    #[must_use]
    pub fn project(mut self, project: impl Into<String>) -> Self {
        self.project = Some(project.into());
        self
    }

    /// Sets the receipt of the context that showed the memory. Reports about the same memory and receipt are one use,
    /// which is rated once.
    #[must_use]
    pub fn receipt(mut self, id: ReceiptId) -> Self {
        self.receipt_id = Some(id);
        self
    }

    /// Sets the caller's id of the task in which the memory was used, at most 256 bytes.
    #[must_use]
    pub fn task_id(mut self, id: impl Into<String>) -> Self {
        self.task_id = Some(id.into());
        self
    }

    /// Sets the task's name, for people, at most 256 bytes.
    #[must_use]
    pub fn task_name(mut self, name: impl Into<String>) -> Self {
        self.task_name = Some(name.into());
        self
    }

    /// Sets what prompted the use, at most 1,024 bytes.
    #[must_use]
    pub fn trigger(mut self, trigger: impl Into<String>) -> Self {
        self.trigger = Some(trigger.into());
        self
    }

    /// Sets the caller's own id for this report, unique per user, at most 256 bytes: a repeated report counts once.
    #[must_use]
    pub fn caller_id(mut self, id: impl Into<String>) -> Self {
        self.caller_id = Some(id.into());
        self
    }
}
