//! What of a user's memory may be recalled.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::model::ids::SessionId;

/// What may be recalled, by where and when it was said. The default lets everything through; what is set narrows it, and
/// all of it must hold. For [`RecallOptions`](crate::RecallOptions) and [`ContextOptions`](crate::ContextOptions):
///
/// ```
/// use thermocline::{Filter, RecallOptions};
/// let options = RecallOptions::default().filter(Filter::default().project("boat"));
/// ```
///
/// It is applied before anything is ranked: of ten results that are asked for, ten come if ten pass. It takes results away
/// and changes no score: a turn that does not pass still lends to those around it, and counts in what is rare.
///
/// It holds for turns and for the summaries in their places. Memories are of no session: named sessions leave them out, of a
/// project those pass that are filed under it or under none, and a time is when they were said; which of them are recalled
/// besides says a [`MemoryFilter`](crate::MemoryFilter). Anchors are of no session and no time: a recall with a filter
/// gives none, a context shows them, unless [without](crate::ContextOptions::without) their section. In a context it holds
/// for what is recalled, also out of the context's own session, and for what is at hand there since it was of use. The
/// recent turns of that session, and the earlier ones that are shown for their place, stay, unless the session is left out
/// by name.
///
/// A session that the user does not have, and a project that no session is filed under, have nothing to be found:
/// `missing` says so, and it is no error. `InvalidInput`: a project with an empty name or one over 256 bytes, a time
/// outside of the years 1 to 9999, a time that ends before it begins.
///
/// What it costs: all that the user said is ranked as without a filter, and then a flag for each unit says what may come. A
/// time reads nothing more; each session that is named is one look-up of its row; a project reads the rows of all of the
/// user's sessions. Of 10,000 short turns in 200 sessions (one run under load, 2026-11) a warm recall of ten takes 1.1 ms
/// without a filter, and as long with a time, a project or ten sessions; a hundred sessions add 0.4 ms.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct Filter {
    /// Only of sessions that are filed under this project now ([`Session::set_project`](crate::Session::set_project)).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Only of these sessions; of an empty list nothing. An id means that session alone, not the one in which its talk went
    /// on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sessions: Option<Vec<SessionId>>,
    /// Not of these sessions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without_sessions: Vec<SessionId>,
    /// Only what was said then or later, to the millisecond.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<DateTime<Utc>>,
    /// Only what was said before then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<DateTime<Utc>>,
}

impl Filter {
    /// Only of sessions that are filed under this project.
    #[must_use]
    pub fn project(mut self, project: impl Into<String>) -> Self {
        self.project = Some(project.into());
        self
    }

    /// Only of these sessions.
    #[must_use]
    pub fn sessions(mut self, sessions: impl IntoIterator<Item = SessionId>) -> Self {
        self.sessions = Some(sessions.into_iter().collect());
        self
    }

    /// Not of this session; may be said of several.
    #[must_use]
    pub fn without_session(mut self, session: SessionId) -> Self {
        self.without_sessions.push(session);
        self
    }

    /// Only what was said then or later.
    #[must_use]
    pub fn since(mut self, at: DateTime<Utc>) -> Self {
        self.since = Some(at);
        self
    }

    /// Only what was said before then.
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
