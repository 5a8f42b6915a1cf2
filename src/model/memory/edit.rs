//! Edits: changes to a memory by hand.

use std::time::Duration;

use crate::model::{
    memory::{
        procedure::Procedure,
        words::{Frequency, InformationType, MemoryKind, Resurfacing, TaskType, Volatility},
    },
    turn::Origin,
};

/// Changes to make to a memory. A field that is not set stays as it is, except that some fields change others too; their
/// descriptions say so. The bounds are those of [`NewMemory`](crate::NewMemory).
///
/// ```
/// use thermocline::Edit;
/// let edit = Edit::default().title("Redis timeouts, again").project(None).expected_revision(3);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Edit {
    /// The revision that the editor read. If the memory has another revision, the edit fails with `Conflict`.
    pub expected_revision: Option<u32>,
    /// The editor's origin; `None` means the origin that the [handle](crate::Memories::by) acts for. It becomes the memory's
    /// origin if the edit replaces most of the text, or changes any of it and the editor is trusted less than the memory.
    pub origin: Option<Origin>,
    /// A new kind.
    pub kind: Option<MemoryKind>,
    /// A new title. The memory's entities are derived again, unless somebody set them.
    pub title: Option<String>,
    /// A new text. The memory's entities are derived again, unless somebody set them. The summary is removed, unless a new
    /// one is set here.
    pub content: Option<String>,
    /// A new summary; an empty one removes it.
    pub summary: Option<String>,
    /// New steps; `Some(None)` removes them.
    pub procedure: Option<Option<Procedure>>,
    /// Tags that replace the existing ones.
    pub tags: Option<Vec<String>>,
    /// Entities that replace the existing ones.
    pub entities: Option<Vec<String>>,
    /// A new frequency, without waiting for the rules. If the memory's trust or volatility does not allow it, the edit
    /// fails with `Conflict`.
    pub frequency: Option<Frequency>,
    /// A new importance, from 0 to 1.
    pub importance: Option<f64>,
    /// A new confidence, from 0 to 1.
    pub confidence: Option<f64>,
    /// A new reliability, from 0 to 1; `Some(None)` means not assessed.
    pub reliability: Option<Option<f64>>,
    /// A new consolidation threshold, from 0 to 1; `Some(None)` means the default of the memory's frequency.
    pub consolidation_threshold: Option<Option<f64>>,
    /// A new information type. If the volatility was the old type's default and is not set here, it becomes the new
    /// type's default.
    pub information_type: Option<InformationType>,
    /// A new volatility. A memory too volatile for its frequency falls back to the frequency that the volatility
    /// allows.
    pub volatility: Option<Volatility>,
    /// A new validity window, in whole seconds; `Some(None)` means the default of the memory's volatility.
    pub validity_window: Option<Option<Duration>>,
    /// Whether the memory is kept from fading.
    pub pinned: Option<bool>,
    /// A new project; `Some(None)` means that the memory applies to all projects.
    pub project: Option<Option<String>>,
    /// A new slot; `Some(None)` removes it.
    pub goal_signature: Option<Option<String>>,
    /// A new task type; `Some(None)` removes it.
    pub task_type: Option<Option<TaskType>>,
    /// Whether the memory is shown to a person again after a time.
    pub resurfacing: Option<Resurfacing>,
    /// Uninterpreted fields that replace the existing ones.
    pub extra: Option<serde_json::Map<String, serde_json::Value>>,
}

/// Declares a setter for each field, which takes the field's inner type.
macro_rules! setters {
    ($($(#[$doc:meta])* $field:ident: $type:ty,)*) => { $(
        $(#[$doc])*
        #[must_use]
        pub fn $field(mut self, $field: $type) -> Self {
            self.$field = Some($field);
            self
        }
    )* };
}

impl Edit {
    setters! {
        /// Makes the edit fail with `Conflict` unless the memory has this revision.
        expected_revision: u32,
        /// Sets the editor's origin. Default: the origin that the [handle](crate::Memories::by) acts for.
        origin: Origin,
        /// Sets a new kind.
        kind: MemoryKind,
        /// Sets new steps; `None` removes them.
        procedure: Option<Procedure>,
        /// Sets a new frequency, without waiting for the rules.
        frequency: Frequency,
        /// Sets a new importance, from 0 to 1.
        importance: f64,
        /// Sets a new confidence, from 0 to 1.
        confidence: f64,
        /// Sets a new reliability, from 0 to 1; `None` means not assessed.
        reliability: Option<f64>,
        /// Sets a new consolidation threshold, from 0 to 1; `None` means the default of the memory's frequency.
        consolidation_threshold: Option<f64>,
        /// Sets a new information type.
        information_type: InformationType,
        /// Sets a new volatility. A memory too volatile for its frequency falls back to the frequency that the
        /// volatility allows.
        volatility: Volatility,
        /// Sets a new validity window, cut to whole seconds; `None` means the default of the memory's volatility.
        validity_window: Option<Duration>,
        /// Sets whether the memory is kept from fading.
        pinned: bool,
        /// Sets a new task type; `None` removes it.
        task_type: Option<TaskType>,
        /// Sets whether the memory is shown to a person again after a time.
        resurfacing: Resurfacing,
        /// Replaces the uninterpreted fields.
        extra: serde_json::Map<String, serde_json::Value>,
    }

    /// Sets a new title.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets a new text. The summary is removed, unless a new one is set too.
    #[must_use]
    pub fn content(mut self, content: impl Into<String>) -> Self {
        self.content = Some(content.into());
        self
    }

    /// Sets a new summary; an empty one removes it.
    #[must_use]
    pub fn summary(mut self, summary: impl Into<String>) -> Self {
        self.summary = Some(summary.into());
        self
    }

    /// Replaces the tags.
    #[must_use]
    pub fn tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.tags = Some(tags.into_iter().map(Into::into).collect());
        self
    }

    /// Replaces the entities.
    #[must_use]
    pub fn entities<T: Into<String>>(mut self, entities: impl IntoIterator<Item = T>) -> Self {
        self.entities = Some(entities.into_iter().map(Into::into).collect());
        self
    }

    /// Sets a new project; `None` means that the memory applies to all projects.
    #[must_use]
    pub fn project(mut self, project: Option<&str>) -> Self {
        self.project = Some(project.map(str::to_owned));
        self
    }

    /// Sets a new slot; `None` removes it.
    #[must_use]
    pub fn goal_signature(mut self, slot: Option<&str>) -> Self {
        self.goal_signature = Some(slot.map(str::to_owned));
        self
    }

    /// Returns whether the edit sets no field besides `expected_revision` and `origin`.
    pub fn is_empty(&self) -> bool {
        let Self { expected_revision, origin, .. } = *self;
        *self == Self { expected_revision, origin, ..Self::default() }
    }
}
