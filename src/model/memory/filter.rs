//! The filter on memories, and the choice whether turns, memories or both are recalled.

use serde::{Deserialize, Serialize};

use crate::model::memory::words::{Frequency, MemoryKind, MemoryStatus, TaskType};

/// Whether turns, memories or both are recalled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Of {
    /// Turns (or the summaries in their places), memories, and anchors.
    #[default]
    All,
    /// Only memories.
    Memories,
    /// Only turns, or the summaries in their places.
    Turns,
}

impl Of {
    /// Returns the name: `all`, `memories` or `turns`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Memories => "memories",
            Self::Turns => "turns",
        }
    }

    /// Returns whether nothing is excluded.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference to the field")]
    pub(crate) fn is_all(&self) -> bool {
        *self == Self::All
    }
}

/// A filter for listing, recalling or forgetting memories. All conditions must hold; an empty list sets no condition. The
/// default selects all active memories. Memories that hold a session's state never pass.
///
/// ```
/// use thermocline::{MemoryFilter, MemoryKind};
/// let filter = MemoryFilter::default().kinds([MemoryKind::Decision]).tag("auth").min_confidence(0.75);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct MemoryFilter {
    /// Only memories of these kinds.
    pub kinds: Vec<MemoryKind>,
    /// Only memories of these frequencies.
    pub frequencies: Vec<Frequency>,
    /// Only memories with these statuses. Default: active.
    pub statuses: Vec<MemoryStatus>,
    /// Only memories for this task type.
    pub task_type: Option<TaskType>,
    /// Only memories with at least this confidence, from 0 to 1.
    pub min_confidence: Option<f64>,
    /// Only memories filed under this project, and those filed under none, which apply to all projects.
    /// `project_alone` excludes the latter.
    pub project: Option<String>,
    /// Whether memories filed under no project are excluded too, if a project is given.
    pub project_alone: bool,
    /// Only memories that have all of these tags. Case, accents and a leading `#` make no difference.
    pub tags: Vec<String>,
}

impl Default for MemoryFilter {
    fn default() -> Self {
        Self {
            kinds: Vec::new(),
            frequencies: Vec::new(),
            statuses: vec![MemoryStatus::Active],
            task_type: None,
            min_confidence: None,
            project: None,
            project_alone: false,
            tags: Vec::new(),
        }
    }
}

impl MemoryFilter {
    /// Restricts the filter to these kinds.
    #[must_use]
    pub fn kinds(mut self, kinds: impl IntoIterator<Item = MemoryKind>) -> Self {
        self.kinds = kinds.into_iter().collect();
        self
    }

    /// Restricts the filter to these frequencies.
    #[must_use]
    pub fn frequencies(mut self, frequencies: impl IntoIterator<Item = Frequency>) -> Self {
        self.frequencies = frequencies.into_iter().collect();
        self
    }

    /// Restricts the filter to these statuses; an empty list means any.
    #[must_use]
    pub fn statuses(mut self, statuses: impl IntoIterator<Item = MemoryStatus>) -> Self {
        self.statuses = statuses.into_iter().collect();
        self
    }

    /// Excludes memories filed under no project, if a project is given.
    #[must_use]
    pub fn project_alone(mut self) -> Self {
        self.project_alone = true;
        self
    }

    /// Restricts the filter to memories for this task type.
    #[must_use]
    pub fn task_type(mut self, task_type: TaskType) -> Self {
        self.task_type = Some(task_type);
        self
    }

    /// Restricts the filter to memories with at least this confidence, from 0 to 1.
    #[must_use]
    pub fn min_confidence(mut self, confidence: f64) -> Self {
        self.min_confidence = Some(confidence);
        self
    }

    /// Restricts the filter to memories filed under this project or under none.
    #[must_use]
    pub fn project(mut self, project: impl Into<String>) -> Self {
        self.project = Some(project.into());
        self
    }

    /// Restricts the filter to memories with this tag; may be called several times.
    #[must_use]
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.push(tag.into());
        self
    }

    /// Describes the filter in words: `of the kind decision; of at least 0.75 confidence`.
    pub(crate) fn explain(&self) -> String {
        let one_of = |what: &str, words: Vec<&str>| {
            (!words.is_empty()).then(|| format!("of the {what} {}", words.join(" or ")))
        };
        let said = [
            one_of("kind", self.kinds.iter().map(|kind| kind.as_str()).collect()),
            one_of("frequency", self.frequencies.iter().map(|frequency| frequency.as_str()).collect()),
            one_of("status", self.statuses.iter().map(|status| status.as_str()).collect()),
            self.task_type.map(|task_type| format!("for {}", task_type.as_str())),
            self.min_confidence.map(|least| format!("of at least {least} confidence")),
            self.project.as_ref().map(|project| format!("of the project {project:?} or of none")),
            (!self.tags.is_empty()).then(|| format!("with the tags {}", self.tags.join(", "))),
        ];
        said.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }
}
