//! Which part of a user's memory may be recalled.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::model::ids::SessionId;

/// What may be recalled, by where and when it was said. The default lets everything through; each setting narrows it, and
/// all of them must hold.
///
/// ```
/// use thermocline::{Filter, RecallOptions};
/// let options = RecallOptions::default().filter(Filter::default().project("boat"));
/// ```
///
/// It is applied before ranking: if ten results are requested, ten are returned if ten pass. It removes results and changes
/// no score: a turn that does not pass still lends to those around it, and still counts in how rare a word is.
///
/// It applies to turns and to the summaries in their places. Memories belong to no session: a filter by sessions leaves them
/// out, a filter by project lets those filed under it or under none pass, and a time is when they were said; a
/// [`MemoryFilter`](crate::MemoryFilter) says in addition which of them are recalled. Anchors belong to no session and no
/// time: a recall with a filter returns none, and a context shows them, unless [without](crate::ContextOptions::without)
/// their section. In a context it applies to what is recalled, including from the context's own session, and to what stays
/// at hand there because it was of use. The recent turns of that session, and the earlier ones shown for their place, stay,
/// unless the session is excluded by name.
///
/// If the user does not have a session, or no session is filed under the project, nothing is found: `missing` says so, and
/// it is not an error. Errors: `InvalidInput` for a project with an empty name or one over 256 bytes, a time outside the
/// years 1 to 9999, or a time that ends before it begins.
///
/// Cost: everything the user said is ranked as without a filter, and then a flag for each unit says whether it passes. A
/// time reads nothing more; each named session costs one look-up of its row; a project reads the rows of all of the user's
/// sessions. With 10,000 short turns in 200 sessions (one run under load, 2026-11) a warm recall of ten takes 1.1 ms without
/// a filter, and as long with a time, a project or ten sessions; a hundred sessions add 0.4 ms.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct Filter {
    /// Only sessions filed under this project now ([`Session::set_project`](crate::Session::set_project)).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Only these sessions; an empty list matches nothing. An id means that session alone, not its successor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sessions: Option<Vec<SessionId>>,
    /// Not these sessions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without_sessions: Vec<SessionId>,
    /// Only what was said at this time or later, to the millisecond.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<DateTime<Utc>>,
    /// Only what was said before this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<DateTime<Utc>>,
}

impl Filter {
    /// Only sessions filed under this project.
    #[must_use]
    pub fn project(mut self, project: impl Into<String>) -> Self {
        self.project = Some(project.into());
        self
    }

    /// Only these sessions.
    #[must_use]
    pub fn sessions(mut self, sessions: impl IntoIterator<Item = SessionId>) -> Self {
        self.sessions = Some(sessions.into_iter().collect());
        self
    }

    /// Not this session; may be called several times.
    #[must_use]
    pub fn without_session(mut self, session: SessionId) -> Self {
        self.without_sessions.push(session);
        self
    }

    /// Only what was said at this time or later.
    #[must_use]
    pub fn since(mut self, at: DateTime<Utc>) -> Self {
        self.since = Some(at);
        self
    }

    /// Only what was said before this time.
    #[must_use]
    pub fn until(mut self, at: DateTime<Utc>) -> Self {
        self.until = Some(at);
        self
    }

    /// Whether it lets everything through.
    pub fn is_open(&self) -> bool {
        *self == Self::default()
    }

    /// In words: `only the project "boat"; not 1 session; said before 2026-03-01 00:00 UTC`.
    pub(crate) fn explain(&self) -> String {
        let count = |sessions: &[SessionId]| match sessions.len() {
            1 => "1 session".to_owned(),
            more => format!("{more} sessions"),
        };
        let minute = |at: &DateTime<Utc>| at.format("%Y-%m-%d %H:%M UTC").to_string();
        let said = [
            self.project.as_ref().map(|project| format!("only the project {project:?}")),
            self.sessions.as_deref().map(|sessions| format!("only {}", count(sessions))),
            (!self.without_sessions.is_empty()).then(|| format!("not {}", count(&self.without_sessions))),
            self.since.as_ref().map(|at| format!("said since {}", minute(at))),
            self.until.as_ref().map(|at| format!("said before {}", minute(at))),
        ];
        said.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }
}
