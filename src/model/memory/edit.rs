//! Changes of a memory by hand.

use std::time::Duration;

use crate::model::{
    memory::{
        procedure::Procedure,
        words::{Frequency, InformationType, MemoryKind, Resurfacing, TaskType, Volatility},
    },
    turn::Origin,
};

/// What to change in a memory; what is not set stays. The bounds are those of [`NewMemory`](crate::NewMemory).
///
/// ```
/// use thermocline::Edit;
/// let edit = Edit::default().title("Redis timeouts, again").project(None).expected_revision(3);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Edit {
    /// The revision that the editor has read. If the memory has another one, the edit is refused with `Conflict`.
    pub expected_revision: Option<u32>,
    /// Whose words they are; `None` means the assistant's.
    pub origin: Option<Origin>,
    /// A new kind.
    pub kind: Option<MemoryKind>,
    /// A new title.
    pub title: Option<String>,
    /// A new text. Its entities are derived again, unless somebody set them.
    pub content: Option<String>,
    /// A new summary; an empty one removes it.
    pub summary: Option<String>,
    /// New steps; `Some(None)` removes them.
    pub procedure: Option<Option<Procedure>>,
    /// Tags that replace the existing ones.
    pub tags: Option<Vec<String>>,
    /// Entities that replace the existing ones.
    pub entities: Option<Vec<String>>,
    /// A new frequency, whatever the rules say. `Conflict` if its trust or its volatility does not allow it.
    pub frequency: Option<Frequency>,
    /// A new importance, from 0 to 1.
    pub importance: Option<f64>,
    /// A new confidence, from 0 to 1.
    pub confidence: Option<f64>,
    /// A new reliability, from 0 to 1; `Some(None)`: not assessed.
    pub reliability: Option<Option<f64>>,
    /// A new threshold, from 0 to 1; `Some(None)`: that of its frequency.
    pub consolidation_threshold: Option<Option<f64>>,
    /// A new information type. A volatility that is not set changes with it, if it was the old type's default.
    pub information_type: Option<InformationType>,
    /// A new volatility. A memory too volatile for its frequency falls back to what the volatility allows.
    pub volatility: Option<Volatility>,
    /// A new window, in whole seconds; `Some(None)`: that of its volatility.
    pub validity_window: Option<Option<Duration>>,
    /// Whether it is kept from fading.
    pub pinned: Option<bool>,
    /// A new project; `Some(None)`: it applies to all projects.
    pub project: Option<Option<String>>,
    /// A new slot; `Some(None)`: none.
    pub goal_signature: Option<Option<String>>,
    /// A new task type; `Some(None)`: none.
    pub task_type: Option<Option<TaskType>>,
    /// Whether it is shown to a person again after a time.
    pub resurfacing: Option<Resurfacing>,
    /// Uninterpreted fields that replace the existing ones.
    pub extra: Option<serde_json::Map<String, serde_json::Value>>,
}

/// A setter for each field, which takes the field's inner type.
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
        /// Only if the memory has this revision.
        expected_revision: u32,
        /// Whose words they are. Default: [`Origin::Assistant`].
        origin: Origin,
        /// A new kind.
        kind: MemoryKind,
        /// New steps; `None` removes them.
        procedure: Option<Procedure>,
        /// A new frequency, whatever the rules say.
        frequency: Frequency,
        /// A new importance, from 0 to 1.
        importance: f64,
        /// A new confidence, from 0 to 1.
        confidence: f64,
        /// A new reliability, from 0 to 1; `None`: not assessed.
        reliability: Option<f64>,
        /// A new threshold, from 0 to 1; `None`: that of its frequency.
        consolidation_threshold: Option<f64>,
        /// A new information type.
        information_type: InformationType,
        /// A new volatility. A memory too volatile for its frequency falls back to what the volatility allows.
        volatility: Volatility,
        /// A new window, cut to whole seconds; `None`: that of its volatility.
        validity_window: Option<Duration>,
        /// Whether it is kept from fading.
        pinned: bool,
        /// A new task type; `None`: none.
        task_type: Option<TaskType>,
        /// Whether it is shown to a person again after a time.
        resurfacing: Resurfacing,
        /// Uninterpreted fields that replace the existing ones.
        extra: serde_json::Map<String, serde_json::Value>,
    }

    /// A new title.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// A new text.
    #[must_use]
    pub fn content(mut self, content: impl Into<String>) -> Self {
        self.content = Some(content.into());
        self
    }

    /// A new summary; an empty one removes it.
    #[must_use]
    pub fn summary(mut self, summary: impl Into<String>) -> Self {
        self.summary = Some(summary.into());
        self
    }

    /// Tags that replace the existing ones.
    #[must_use]
    pub fn tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.tags = Some(tags.into_iter().map(Into::into).collect());
        self
    }

    /// Entities that replace the existing ones.
    #[must_use]
    pub fn entities<T: Into<String>>(mut self, entities: impl IntoIterator<Item = T>) -> Self {
        self.entities = Some(entities.into_iter().map(Into::into).collect());
        self
    }

    /// A new project; `None`: it applies to all projects.
    #[must_use]
    pub fn project(mut self, project: Option<&str>) -> Self {
        self.project = Some(project.map(str::to_owned));
        self
    }

    /// A new slot; `None`: none.
    #[must_use]
    pub fn goal_signature(mut self, slot: Option<&str>) -> Self {
        self.goal_signature = Some(slot.map(str::to_owned));
        self
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        let Self { expected_revision, origin, .. } = *self;
        *self == Self { expected_revision, origin, ..Self::default() }
    }
}
