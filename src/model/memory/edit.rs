//! A change of a memory by hand.

use std::time::Duration;

use crate::model::{
    memory::{
        procedure::Procedure,
        words::{Frequency, InformationType, MemoryKind, Resurfacing, TaskType, Volatility},
    },
    turn::Origin,
};

/// What to change of a memory; what is not said stays. The bounds are those of [`NewMemory`](crate::NewMemory).
///
/// ```
/// use thermocline::Edit;
/// let edit = Edit::default().title("Redis timeouts, again").project(None).expected_revision(3);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Edit {
    /// The revision that the editor has read. If the memory has another one by now, the edit is refused with `Conflict`.
    pub expected_revision: Option<u32>,
    /// Whose words they are; none: the assistant's.
    pub origin: Option<Origin>,
    /// Another kind.
    pub kind: Option<MemoryKind>,
    /// Another title.
    pub title: Option<String>,
    /// Another text. What it is about is worked out anew, unless somebody said that.
    pub content: Option<String>,
    /// Another summary; an empty one takes it away.
    pub summary: Option<String>,
    /// Other steps; `Some(None)` takes them away.
    pub procedure: Option<Option<Procedure>>,
    /// These tags in the place of those that are there.
    pub tags: Option<Vec<String>>,
    /// These entities in the place of those that are there.
    pub entities: Option<Vec<String>>,
    /// Another frequency, whatever the rules say. `Conflict` if its trust or its volatility does not allow it.
    pub frequency: Option<Frequency>,
    /// Another importance, from 0 to 1.
    pub importance: Option<f64>,
    /// Another confidence, from 0 to 1.
    pub confidence: Option<f64>,
    /// Another reliability, from 0 to 1; `Some(None)`: nobody assessed it.
    pub reliability: Option<Option<f64>>,
    /// Another threshold, from 0 to 1; `Some(None)`: that of its frequency.
    pub consolidation_threshold: Option<Option<f64>>,
    /// Another sort of information. A volatility that is not stated follows, if it was that of the old sort.
    pub information_type: Option<InformationType>,
    /// Another volatility. What is too volatile for its frequency falls back to what that allows.
    pub volatility: Option<Volatility>,
    /// Another window, in whole seconds; `Some(None)`: as its volatility says.
    pub validity_window: Option<Option<Duration>>,
    /// Whether it is kept from fading.
    pub pinned: Option<bool>,
    /// Another project; `Some(None)`: it is for all of them.
    pub project: Option<Option<String>>,
    /// Another slot; `Some(None)`: it has none.
    pub goal_signature: Option<Option<String>>,
    /// Another sort of task; `Some(None)`: none.
    pub task_type: Option<Option<TaskType>>,
    /// Whether it is shown again to a person after a time.
    pub resurfacing: Option<Resurfacing>,
    /// These names, which nothing reads, in the place of those that are there.
    pub extra: Option<serde_json::Map<String, serde_json::Value>>,
}

/// A method for each field that takes what the field holds.
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
        /// Another kind.
        kind: MemoryKind,
        /// Other steps; `None` takes them away.
        procedure: Option<Procedure>,
        /// Another frequency, whatever the rules say.
        frequency: Frequency,
        /// Another importance, from 0 to 1.
        importance: f64,
        /// Another confidence, from 0 to 1.
        confidence: f64,
        /// Another reliability, from 0 to 1; `None`: nobody assessed it.
        reliability: Option<f64>,
        /// Another threshold, from 0 to 1; `None`: that of its frequency.
        consolidation_threshold: Option<f64>,
        /// Another sort of information.
        information_type: InformationType,
        /// Another volatility. What is too volatile for its frequency falls back to what that allows.
        volatility: Volatility,
        /// Another window, cut to whole seconds; `None`: as its volatility says.
        validity_window: Option<Duration>,
        /// Whether it is kept from fading.
        pinned: bool,
        /// Another sort of task; `None`: none.
        task_type: Option<TaskType>,
        /// Whether it is shown again to a person after a time.
        resurfacing: Resurfacing,
        /// These names, which nothing reads, in the place of those that are there.
        extra: serde_json::Map<String, serde_json::Value>,
    }

    /// Another title.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Another text.
    #[must_use]
    pub fn content(mut self, content: impl Into<String>) -> Self {
        self.content = Some(content.into());
        self
    }

    /// Another summary; an empty one takes it away.
    #[must_use]
    pub fn summary(mut self, summary: impl Into<String>) -> Self {
        self.summary = Some(summary.into());
        self
    }

    /// These tags in the place of those that are there.
    #[must_use]
    pub fn tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.tags = Some(tags.into_iter().map(Into::into).collect());
        self
    }

    /// These entities in the place of those that are there.
    #[must_use]
    pub fn entities<T: Into<String>>(mut self, entities: impl IntoIterator<Item = T>) -> Self {
        self.entities = Some(entities.into_iter().map(Into::into).collect());
        self
    }

    /// Another project; `None`: it is for all of them.
    #[must_use]
    pub fn project(mut self, project: Option<&str>) -> Self {
        self.project = Some(project.map(str::to_owned));
        self
    }

    /// Another slot; `None`: it has none.
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
