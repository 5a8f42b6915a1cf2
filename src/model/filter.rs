//! A filter on which part of a user's memory may be recalled.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::model::ids::SessionId;

/// Restricts what may be recalled, by where and when it was said. The default lets everything through; all of the
/// conditions that are set must hold.
///
/// ```
/// use thermocline::{Filter, RecallOptions};
/// let options = RecallOptions::default().filter(Filter::default().project("boat"));
/// ```
///
/// The filter is applied before the best results are chosen: a request for ten results returns ten if ten pass. It removes
/// results and changes no score: a turn that does not pass still lends score to the turns around it, and still counts when
/// the rarity of a word is computed.
///
/// - The filter applies to turns and to the summaries that replaced them.
/// - Memories belong to no session. A filter by `sessions` excludes all memories, and a filter by project excludes
///   memories that are filed under another project. The time of a memory is when it was said. A
///   [`MemoryFilter`](crate::MemoryFilter) can restrict memories further.
/// - Anchors belong to no session and no time. A recall with a filter returns none. A context shows them, unless their
///   section is left out ([`without`](crate::ContextOptions::without)).
/// - In a context, the filter applies to what is recalled, including from the context's own session, and to promoted turns,
///   which were of use earlier in that session. The newest turns of that session, from the newest back without a gap, are
///   shown anyway, unless the filter excludes the session itself ([`without_sessions`](Self::without_sessions)).
///
/// A session that the user does not have, or a project under which nothing is filed, is no error: the answer's `missing`
/// says so.
/// Errors: `InvalidInput` for a project with an empty name or one over 256 bytes, a time outside the years 1 to 9999,
/// or a `since` that is not before `until`.
///
/// Cost: everything the user said is ranked as without a filter, and a flag for each unit says whether it passes. A
/// filter by time reads nothing more; each session in the filter costs one look-up of its row; a project reads the rows
/// of all of the user's sessions. With 10,000 short turns in 200 sessions (one run under load, 2026-11), a warm recall
/// of ten takes 1.1 ms without a filter, and as long with a time, a project or ten sessions; a hundred sessions add 0.4
/// ms.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct Filter {
    /// Only sessions filed under this project now ([`Session::set_project`](crate::Session::set_project)).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Only these sessions; an empty list matches nothing. Each id means only that session, not its successor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sessions: Option<Vec<SessionId>>,
    /// Sessions that are excluded.
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
    /// Restricts the recall to sessions filed under this project.
    #[must_use]
    pub fn project(mut self, project: impl Into<String>) -> Self {
        self.project = Some(project.into());
        self
    }

    /// Restricts the recall to these sessions; an empty list matches nothing.
    #[must_use]
    pub fn sessions(mut self, sessions: impl IntoIterator<Item = SessionId>) -> Self {
        self.sessions = Some(sessions.into_iter().collect());
        self
    }

    /// Excludes this session; may be called several times.
    #[must_use]
    pub fn without_session(mut self, session: SessionId) -> Self {
        self.without_sessions.push(session);
        self
    }

    /// Restricts the recall to what was said at this time or later.
    #[must_use]
    pub fn since(mut self, at: DateTime<Utc>) -> Self {
        self.since = Some(at);
        self
    }

    /// Restricts the recall to what was said before this time.
    #[must_use]
    pub fn until(mut self, at: DateTime<Utc>) -> Self {
        self.until = Some(at);
        self
    }

    /// Returns whether the filter lets everything through.
    pub fn is_open(&self) -> bool {
        *self == Self::default()
    }

    /// Describes the filter in words: `only the project "boat"; not 1 session; said before 2026-03-01 00:00 UTC`.
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
