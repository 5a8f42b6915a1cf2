//! A memory to save.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::model::{
    ids::{MemoryId, SessionId, TurnId},
    memory::{
        procedure::Procedure,
        words::{Frequency, InformationType, LearningSource, MemoryKind, Outcome, TaskType, Volatility},
    },
    turn::Origin,
};

/// A memory to save: its text, and what the caller knows about it. Everything else has a default or is derived. A memory
/// that [supersedes](crate::Memories::supersede) or [merges](crate::Memories::merge) others inherits some of what is not
/// stated for it.
///
/// ```
/// use thermocline::{MemoryKind, NewMemory, Origin, Outcome};
/// let memory = NewMemory::new(MemoryKind::Fix, "Redis timeouts", "socket_keepalive=True fixes the drops.")
///     .tags(["redis", "production"])
///     .origin(Origin::User)
///     .outcome(Outcome::Success);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NewMemory {
    /// The id that the memory has in a file of a vault. If any user of the database already has it, the memory gets
    /// another one.
    pub(crate) id: Option<MemoryId>,
    pub(crate) kind: MemoryKind,
    pub(crate) title: String,
    pub(crate) content: String,
    pub(crate) summary: String,
    pub(crate) procedure: Option<Procedure>,
    pub(crate) tags: Vec<String>,
    pub(crate) entities: Option<Vec<String>>,
    pub(crate) frequency: Option<Frequency>,
    pub(crate) importance: Option<f64>,
    pub(crate) confidence: Option<f64>,
    pub(crate) reliability: Option<f64>,
    pub(crate) consolidation_threshold: Option<f64>,
    pub(crate) information_type: InformationType,
    pub(crate) volatility: Option<Volatility>,
    pub(crate) validity_window: Option<Duration>,
    pub(crate) origin: Origin,
    pub(crate) learning_source: LearningSource,
    pub(crate) pinned: bool,
    pub(crate) project: Option<String>,
    pub(crate) goal_signature: Option<String>,
    pub(crate) task_type: Option<TaskType>,
    pub(crate) caller_id: Option<String>,
    pub(crate) said_at: Option<DateTime<Utc>>,
    pub(crate) sources: Vec<NewSource>,
    pub(crate) birth: Birth,
    /// Uninterpreted fields from a file.
    pub(crate) extra: serde_json::Map<String, serde_json::Value>,
}

/// A turn that a memory was derived from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewSource {
    pub(crate) turn_id: TurnId,
    /// The words in the turn that prove the memory; empty if there are none.
    pub(crate) quote: String,
}

/// The circumstances in which a memory was learned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Birth {
    pub(crate) outcome: Option<Outcome>,
    pub(crate) session_id: Option<SessionId>,
    pub(crate) task_id: Option<String>,
    pub(crate) task_name: Option<String>,
    pub(crate) trigger: Option<String>,
}

impl NewMemory {
    /// Creates a memory of this kind. The title has at most 200 bytes and the content at most 64 KiB. Each needs at least
    /// one visible character.
    pub fn new(kind: MemoryKind, title: impl Into<String>, content: impl Into<String>) -> Self {
        Self {
            id: None,
            kind,
            title: title.into(),
            content: content.into(),
            summary: String::new(),
            procedure: None,
            tags: Vec::new(),
            entities: None,
            frequency: None,
            importance: None,
            confidence: None,
            reliability: None,
            consolidation_threshold: None,
            information_type: InformationType::default(),
            volatility: None,
            validity_window: None,
            origin: Origin::Assistant,
            learning_source: LearningSource::Manual,
            pinned: false,
            project: None,
            goal_signature: None,
            task_type: None,
            caller_id: None,
            said_at: None,
            sources: Vec::new(),
            birth: Birth::default(),
            extra: serde_json::Map::new(),
        }
    }

    /// Sets the summary: one sentence, at most 1,024 bytes. Default: the first sentence of the content is used.
    #[must_use]
    pub fn summary(mut self, summary: impl Into<String>) -> Self {
        self.summary = summary.into();
        self
    }

    /// Sets the steps; only for the kind [`MemoryKind::Procedure`].
    #[must_use]
    pub fn procedure(mut self, procedure: Procedure) -> Self {
        self.procedure = Some(procedure);
        self
    }

    /// Sets the tags, with or without `#`. `#Redis` and `redis` are the same.
    #[must_use]
    pub fn tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.tags = tags.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the entities: what the memory is about, by name. Default: those that its title and content name.
    #[must_use]
    pub fn entities<T: Into<String>>(mut self, entities: impl IntoIterator<Item = T>) -> Self {
        self.entities = Some(entities.into_iter().map(Into::into).collect());
        self
    }

    /// Sets how settled the memory is. Default: [`Frequency::Mid`]; [`Frequency::High`] if its volatility is
    /// [`Volatility::Ephemeral`], or its learning source is not [`LearningSource::Manual`].
    #[must_use]
    pub fn frequency(mut self, frequency: Frequency) -> Self {
        self.frequency = Some(frequency);
        self
    }

    /// Sets how much the memory matters, from 0 to 1. Default: depends on frequency and outcome.
    #[must_use]
    pub fn importance(mut self, importance: f64) -> Self {
        self.importance = Some(importance);
        self
    }

    /// Sets how likely the memory is true, from 0 to 1. Default: 0.8.
    #[must_use]
    pub fn confidence(mut self, confidence: f64) -> Self {
        self.confidence = Some(confidence);
        self
    }

    /// Sets how good the memory's source is, from 0 to 1. Default: nobody has assessed it.
    #[must_use]
    pub fn reliability(mut self, reliability: f64) -> Self {
        self.reliability = Some(reliability);
        self
    }

    /// Sets the confidence that the memory needs to settle one step further, from 0 to 1. Default: depends on its
    /// frequency.
    #[must_use]
    pub fn consolidation_threshold(mut self, confidence: f64) -> Self {
        self.consolidation_threshold = Some(confidence);
        self
    }

    /// Sets what sort of information the memory contains. Default: [`InformationType::Static`].
    #[must_use]
    pub fn information_type(mut self, information_type: InformationType) -> Self {
        self.information_type = information_type;
        self
    }

    /// Sets how fast the world outdates the memory. Default: as its information type says.
    #[must_use]
    pub fn volatility(mut self, volatility: Volatility) -> Self {
        self.volatility = Some(volatility);
        self
    }

    /// Sets how long a check holds, cut to whole seconds. Default: as the volatility says.
    #[must_use]
    pub fn validity_window(mut self, window: Duration) -> Self {
        self.validity_window = Some(window);
        self
    }

    /// Sets whose words the memory contains. Default: [`Origin::Assistant`].
    #[must_use]
    pub fn origin(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    /// Sets how the memory was learned. Default: [`LearningSource::Manual`].
    #[must_use]
    pub fn learning_source(mut self, source: LearningSource) -> Self {
        self.learning_source = source;
        self
    }

    /// Keeps the memory from fading.
    #[must_use]
    pub fn pinned(mut self) -> Self {
        self.pinned = true;
        self
    }

    /// Sets the project that the memory is filed under, at most 256 bytes. Default: the memory applies to all projects.
    #[must_use]
    pub fn project(mut self, project: impl Into<String>) -> Self {
        self.project = Some(project.into());
        self
    }

    /// Sets the slot, at most 256 bytes: at most one active memory of a kind and project has it. Slots are stored and
    /// compared in lower case and without accents.
    #[must_use]
    pub fn goal_signature(mut self, slot: impl Into<String>) -> Self {
        self.goal_signature = Some(slot.into());
        self
    }

    /// Sets the task type that the memory is for.
    #[must_use]
    pub fn task_type(mut self, task_type: TaskType) -> Self {
        self.task_type = Some(task_type);
        self
    }

    /// Sets the caller's own id for the memory, unique per user, at most 256 bytes: a repeated save is recognized by
    /// it.
    #[must_use]
    pub fn caller_id(mut self, id: impl Into<String>) -> Self {
        self.caller_id = Some(id.into());
        self
    }

    /// Sets when the memory was true. Default: now, by the system clock. Limits: from the year 1 to one day ahead of the
    /// system clock.
    #[must_use]
    pub fn said_at(mut self, at: DateTime<Utc>) -> Self {
        self.said_at = Some(at);
        self
    }

    /// Adds a turn that the memory comes from, with a quote: the words in the turn that prove the memory. An empty quote
    /// means that no words prove it. May be called several times.
    #[must_use]
    pub fn source(mut self, turn: TurnId, quote: impl Into<String>) -> Self {
        self.sources.push(NewSource { turn_id: turn, quote: quote.into() });
        self
    }

    /// Sets the outcome of the task that the memory comes from.
    #[must_use]
    pub fn outcome(mut self, outcome: Outcome) -> Self {
        self.birth.outcome = Some(outcome);
        self
    }

    /// Sets the session in which the memory was learned. The memory is not bound to that session.
    #[must_use]
    pub fn session(mut self, session: SessionId) -> Self {
        self.birth.session_id = Some(session);
        self
    }

    /// Sets the caller's id of the task in which the memory was learned, at most 256 bytes.
    #[must_use]
    pub fn task_id(mut self, id: impl Into<String>) -> Self {
        self.birth.task_id = Some(id.into());
        self
    }

    /// Sets the task's name, for people, at most 256 bytes.
    #[must_use]
    pub fn task_name(mut self, name: impl Into<String>) -> Self {
        self.birth.task_name = Some(name.into());
        self
    }

    /// Sets what prompted the memory, at most 1,024 bytes.
    #[must_use]
    pub fn trigger(mut self, trigger: impl Into<String>) -> Self {
        self.birth.trigger = Some(trigger.into());
        self
    }
}
