//! Episodes: a memory was saved, a memory was used, or a note was taken.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::model::{
    ids::{EpisodeId, MemoryId, ReceiptId, SessionId},
    memory::words::{MemoryKind, Outcome},
    word_enum::word_enum,
};

word_enum! {
    /// What an episode is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum EpisodeRole {
        /// A memory was saved.
        Birth = "birth",
        /// A memory was used.
        Use = "use",
        /// A note.
        Note = "note",
    }
    pub fn from_word;
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Episode {
    /// Its id.
    pub id: EpisodeId,
    /// What it is.
    pub role: EpisodeRole,
    /// The memory that it is about; `None` for a note about none.
    pub memory_id: Option<MemoryId>,
    /// The session in which it happened.
    pub session_id: Option<SessionId>,
    /// For a use: the turn that answered the context, by its number in that session, from 1.
    pub turn_number: Option<u32>,
    /// For a use: the context that showed the memory.
    pub receipt_id: Option<ReceiptId>,
    /// When it happened.
    pub happened_at: DateTime<Utc>,
    /// How it ended; `None` if nobody said.
    pub outcome: Option<Outcome>,
    /// The kind of the memory, or of the note.
    pub kind: Option<MemoryKind>,
    /// What it is filed under.
    pub project: Option<String>,
    /// The task, by the caller's id.
    pub task_id: Option<String>,
    /// The same task, for people.
    pub task_name: Option<String>,
    /// What prompted it.
    pub trigger: Option<String>,
    /// The caller's own id for it.
    pub caller_id: Option<String>,
    /// The title of the note or the memory.
    pub title: String,
    /// The tags of the note, or of the memory.
    pub tags: Vec<String>,
    /// What the note says, or the memory in one sentence.
    pub summary: String,
}

/// Which episodes are listed. The default is everything except uses, which would flood the list.
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
    /// Only of these roles. Default: births and notes.
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
    /// Only of these roles; an empty list means any.
    #[must_use]
    pub fn roles(mut self, roles: impl IntoIterator<Item = EpisodeRole>) -> Self {
        self.roles = roles.into_iter().collect();
        self
    }

    /// Only what happened at this time or later.
    #[must_use]
    pub fn since(mut self, at: DateTime<Utc>) -> Self {
        self.since = Some(at);
        self
    }

    /// Only what happened before this time.
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
    /// A note with this title, of 1 to 200 bytes.
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

    /// What it says, at most 1,024 bytes.
    #[must_use]
    pub fn summary(mut self, summary: impl Into<String>) -> Self {
        self.summary = summary.into();
        self
    }

    /// What kind of note it is.
    #[must_use]
    pub fn kind(mut self, kind: MemoryKind) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Its tags, with or without `#`.
    #[must_use]
    pub fn tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.tags = tags.into_iter().map(Into::into).collect();
        self
    }

    /// The memory that it is about. Default: none.
    #[must_use]
    pub fn memory(mut self, id: MemoryId) -> Self {
        self.memory_id = Some(id);
        self
    }

    /// The session in which it happened.
    #[must_use]
    pub fn session(mut self, id: SessionId) -> Self {
        self.session_id = Some(id);
        self
    }

    /// How it ended.
    #[must_use]
    pub fn outcome(mut self, outcome: Outcome) -> Self {
        self.outcome = Some(outcome);
        self
    }

    /// What it is filed under, at most 256 bytes.
    #[must_use]
    pub fn project(mut self, project: impl Into<String>) -> Self {
        self.project = Some(project.into());
        self
    }

    /// The task, by the caller's id, at most 256 bytes.
    #[must_use]
    pub fn task_id(mut self, id: impl Into<String>) -> Self {
        self.task_id = Some(id.into());
        self
    }

    /// The same task, for people, at most 256 bytes.
    #[must_use]
    pub fn task_name(mut self, name: impl Into<String>) -> Self {
        self.task_name = Some(name.into());
        self
    }

    /// What prompted it, at most 1,024 bytes.
    #[must_use]
    pub fn trigger(mut self, trigger: impl Into<String>) -> Self {
        self.trigger = Some(trigger.into());
        self
    }

    /// The caller's own id for it, unique per user, at most 256 bytes: a repeated note is recognized.
    #[must_use]
    pub fn caller_id(mut self, id: impl Into<String>) -> Self {
        self.caller_id = Some(id.into());
        self
    }

    /// When it happened. Default: now, by the clock. Limits: the years 1 to 9999.
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
    /// A use that ended like this. The default is a use with an unknown outcome: an access.
    pub fn of(outcome: Outcome) -> Self {
        Self { outcome: Some(outcome), ..Self::default() }
    }

    /// The session in which it was used. Default: that of the receipt, if there is one.
    #[must_use]
    pub fn session(mut self, id: SessionId) -> Self {
        self.session_id = Some(id);
        self
    }

    /// The project for which it was used, at most 256 bytes. Default: that of its session.
    #[must_use]
    pub fn project(mut self, project: impl Into<String>) -> Self {
        self.project = Some(project.into());
        self
    }

    /// The context that showed it. One context rates a memory once.
    #[must_use]
    pub fn receipt(mut self, id: ReceiptId) -> Self {
        self.receipt_id = Some(id);
        self
    }

    /// The task in which it was used, by the caller's id, at most 256 bytes.
    #[must_use]
    pub fn task_id(mut self, id: impl Into<String>) -> Self {
        self.task_id = Some(id.into());
        self
    }

    /// The same task, for people, at most 256 bytes.
    #[must_use]
    pub fn task_name(mut self, name: impl Into<String>) -> Self {
        self.task_name = Some(name.into());
        self
    }

    /// What prompted it, at most 1,024 bytes.
    #[must_use]
    pub fn trigger(mut self, trigger: impl Into<String>) -> Self {
        self.trigger = Some(trigger.into());
        self
    }

    /// The caller's own id for this report, unique per user, at most 256 bytes: a repeated report counts once.
    #[must_use]
    pub fn caller_id(mut self, id: impl Into<String>) -> Self {
        self.caller_id = Some(id.into());
        self
    }
}
