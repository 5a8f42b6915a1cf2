//! A memory to save.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::model::{
    ids::{SessionId, TurnId},
    memory::{
        procedure::Procedure,
        words::{Frequency, InformationType, LearningSource, MemoryKind, Outcome, TaskType, Volatility},
    },
    turn::Origin,
};

/// A memory to save: what it says, and what the caller knows about it. What is not set is derived from the rest.
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
    /// Uninterpreted fields of a file.
    pub(crate) extra: serde_json::Map<String, serde_json::Value>,
}

/// A turn that a memory comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewSource {
    pub(crate) turn_id: TurnId,
    /// The words in the turn that prove it; empty if there are none.
    pub(crate) quote: String,
}

/// How a memory came about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Birth {
    pub(crate) outcome: Option<Outcome>,
    pub(crate) session_id: Option<SessionId>,
    pub(crate) task_id: Option<String>,
    pub(crate) task_name: Option<String>,
    pub(crate) trigger: Option<String>,
}

impl NewMemory {
    /// A memory of this kind. The title has 1 to 200 bytes and a visible character; the content has at most 64 KiB and is
    /// not blank.
    pub fn new(kind: MemoryKind, title: impl Into<String>, content: impl Into<String>) -> Self {
        Self {
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

    /// One sentence, at most 1,024 bytes. Default: the first sentence of the content is used.
    #[must_use]
    pub fn summary(mut self, summary: impl Into<String>) -> Self {
        self.summary = summary.into();
        self
    }

    /// The steps; only for the kind [`MemoryKind::Procedure`].
    #[must_use]
    pub fn procedure(mut self, procedure: Procedure) -> Self {
        self.procedure = Some(procedure);
        self
    }

    /// Its tags, with or without `#`. `#Redis` and `redis` are the same.
    #[must_use]
    pub fn tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.tags = tags.into_iter().map(Into::into).collect();
        self
    }

    /// Its entities: what it is about, by name. Default: those named in its text.
    #[must_use]
    pub fn entities<T: Into<String>>(mut self, entities: impl IntoIterator<Item = T>) -> Self {
        self.entities = Some(entities.into_iter().map(Into::into).collect());
        self
    }

    /// How settled it is. Default: [`Frequency::Mid`].
    #[must_use]
    pub fn frequency(mut self, frequency: Frequency) -> Self {
        self.frequency = Some(frequency);
        self
    }

    /// How much it matters, from 0 to 1. Default: by frequency and outcome.
    #[must_use]
    pub fn importance(mut self, importance: f64) -> Self {
        self.importance = Some(importance);
        self
    }

    /// How likely it is true, from 0 to 1. Default: 0.8.
    #[must_use]
    pub fn confidence(mut self, confidence: f64) -> Self {
        self.confidence = Some(confidence);
        self
    }

    /// How good its source is, from 0 to 1. Default: nobody has assessed it.
    #[must_use]
    pub fn reliability(mut self, reliability: f64) -> Self {
        self.reliability = Some(reliability);
        self
    }

    /// The confidence it needs to settle one step further, from 0 to 1. Default: that of its frequency.
    #[must_use]
    pub fn consolidation_threshold(mut self, confidence: f64) -> Self {
        self.consolidation_threshold = Some(confidence);
        self
    }

    /// What sort of information it contains. Default: [`InformationType::Static`].
    #[must_use]
    pub fn information_type(mut self, information_type: InformationType) -> Self {
        self.information_type = information_type;
        self
    }

    /// How fast the world outdates it. Default: as its information type says.
    #[must_use]
    pub fn volatility(mut self, volatility: Volatility) -> Self {
        self.volatility = Some(volatility);
        self
    }

    /// How long a check holds, cut to whole seconds. Default: as its volatility says.
    #[must_use]
    pub fn validity_window(mut self, window: Duration) -> Self {
        self.validity_window = Some(window);
        self
    }

    /// Whose words it has. Default: [`Origin::Assistant`].
    #[must_use]
    pub fn origin(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    /// How it was learned. Default: [`LearningSource::Manual`].
    #[must_use]
    pub fn learning_source(mut self, source: LearningSource) -> Self {
        self.learning_source = source;
        self
    }

    /// Keeps it from fading.
    #[must_use]
    pub fn pinned(mut self) -> Self {
        self.pinned = true;
        self
    }

    /// What the caller files it under, at most 256 bytes. Default: it applies to all projects.
    #[must_use]
    pub fn project(mut self, project: impl Into<String>) -> Self {
        self.project = Some(project.into());
        self
    }

    /// Its slot, at most 256 bytes: at most one active memory of a kind and project has it.
    #[must_use]
    pub fn goal_signature(mut self, slot: impl Into<String>) -> Self {
        self.goal_signature = Some(slot.into());
        self
    }

    /// The task type it is for.
    #[must_use]
    pub fn task_type(mut self, task_type: TaskType) -> Self {
        self.task_type = Some(task_type);
        self
    }

    /// The caller's own id for it, unique per user, at most 256 bytes: a repeated save is recognized.
    #[must_use]
    pub fn caller_id(mut self, id: impl Into<String>) -> Self {
        self.caller_id = Some(id.into());
        self
    }

    /// When it was true. Default: now, by the clock. Limits: the years 1 to 9999.
    #[must_use]
    pub fn said_at(mut self, at: DateTime<Utc>) -> Self {
        self.said_at = Some(at);
        self
    }

    /// A turn that it comes from, with the words there that prove it; may be called several times. Empty words: no proof.
    #[must_use]
    pub fn source(mut self, turn: TurnId, quote: impl Into<String>) -> Self {
        self.sources.push(NewSource { turn_id: turn, quote: quote.into() });
        self
    }

    /// How what it came from ended.
    #[must_use]
    pub fn outcome(mut self, outcome: Outcome) -> Self {
        self.birth.outcome = Some(outcome);
        self
    }

    /// The session in which it was learned. The memory is not bound to it.
    #[must_use]
    pub fn session(mut self, session: SessionId) -> Self {
        self.birth.session_id = Some(session);
        self
    }

    /// The task in which it was learned, by the caller's id, at most 256 bytes.
    #[must_use]
    pub fn task_id(mut self, id: impl Into<String>) -> Self {
        self.birth.task_id = Some(id.into());
        self
    }

    /// The same task, for people, at most 256 bytes.
    #[must_use]
    pub fn task_name(mut self, name: impl Into<String>) -> Self {
        self.birth.task_name = Some(name.into());
        self
    }

    /// What prompted it, at most 1,024 bytes.
    #[must_use]
    pub fn trigger(mut self, trigger: impl Into<String>) -> Self {
        self.birth.trigger = Some(trigger.into());
        self
    }
}
