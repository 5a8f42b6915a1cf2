//! What a memory says, as a request has it.

use std::time::Duration;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Deserialize;
use thermocline::{
    Frequency, InformationType, LearningSource, MemoryKind, NewMemory, Origin, Outcome, Procedure, TaskType,
    TurnId, Volatility, blocking::User,
};

use crate::ops::{
    Result,
    call::{self, Call, set},
};

/// Seconds of a window at most.
pub const MAX_WINDOW_S: u64 = NewMemory::MAX_WINDOW.as_secs();

/// A memory to save: what it says, and what the caller knows about it. What is not said follows from the rest.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Content {
    /// What sort of memory it is. Default: general; a procedure if it has steps.
    pub kind: Option<MemoryKind>,
    /// What it is called, in 1 to 200 bytes.
    #[schemars(length(min = 1, max = 200))]
    pub title: String,
    /// What it says, at most 64 KiB.
    #[schemars(length(min = 1))]
    pub content: String,
    /// The same in one sentence, at most 1,024 bytes. Default: the first sentence of the content.
    pub summary: Option<String>,
    /// The steps; only of the kind procedure.
    pub procedure: Option<Procedure>,
    /// Its tags, with or without `#`.
    #[serde(default)]
    pub tags: Vec<String>,
    /// What it is about, by name. Default: what its text names.
    pub entities: Option<Vec<String>>,
    /// How settled it is. Default: mid.
    pub frequency: Option<Frequency>,
    /// How much it matters. Default: by frequency and outcome.
    #[schemars(range(min = 0, max = 1))]
    pub importance: Option<f64>,
    /// How likely it is true. Default: 0.8.
    #[schemars(range(min = 0, max = 1))]
    pub confidence: Option<f64>,
    /// How good its source is. Default: nobody has assessed it.
    #[schemars(range(min = 0, max = 1))]
    pub reliability: Option<f64>,
    /// The confidence that it needs to settle one step further. Default: that of its frequency.
    #[schemars(range(min = 0, max = 1))]
    pub consolidation_threshold: Option<f64>,
    /// What sort of information it has. Default: static.
    pub information_type: Option<InformationType>,
    /// How fast the world outdates it. Default: as its information type says.
    pub volatility: Option<Volatility>,
    /// How long a check holds, in seconds. Default: as its volatility says.
    #[schemars(range(max = MAX_WINDOW_S))]
    pub validity_window_s: Option<u64>,
    /// Whose words it has: the caller's own, unless they are of somebody who is trusted less, a tool's or a document's.
    pub origin: Option<Origin>,
    /// How it was learned. Default: manual.
    pub learning_source: Option<LearningSource>,
    /// Whether it is kept from fading. Default: no.
    #[serde(default)]
    pub pinned: bool,
    /// What the caller files it under, at most 256 bytes. Default: it is for all projects.
    pub project: Option<String>,
    /// Its slot, at most 256 bytes: of one kind and project at most one active memory has it.
    pub goal_signature: Option<String>,
    /// For what sort of task it is.
    pub task_type: Option<TaskType>,
    /// The caller's own id for it, unique per user, at most 256 bytes: saved again, it is known.
    pub caller_id: Option<String>,
    /// When it was so (RFC 3339). Default: now.
    pub said_at: Option<DateTime<Utc>>,
    /// The turns that it comes of.
    #[serde(default)]
    pub sources: Vec<Source>,
    /// How what it came of ended.
    pub outcome: Option<Outcome>,
    /// The session in which it came about: the caller's key, or `id:` and its id.
    pub session: Option<String>,
    /// The task in which it came about, by the caller's id, at most 256 bytes.
    pub task_id: Option<String>,
    /// The same task, for people, at most 256 bytes.
    pub task_name: Option<String>,
    /// What prompted it, at most 1,024 bytes.
    pub trigger: Option<String>,
}

/// A turn that a memory comes of.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The turn's id.
    pub turn: TurnId,
    /// The words in it that prove the memory, to the letter. Default: none do.
    #[serde(default)]
    pub quote: String,
}

impl Content {
    /// The memory of this user's that it says; of this kind, unless it says another.
    pub fn into_new(self, call: &Call, user: &User, kind: MemoryKind) -> Result<NewMemory> {
        let origin = call.origin(self.origin)?;
        let session = call::session_id(user, self.session.as_deref())?;
        let has_steps = self.procedure.as_ref().is_some_and(|procedure| !procedure.is_empty());
        let kind = self.kind.unwrap_or(if has_steps { MemoryKind::Procedure } else { kind });
        let new = NewMemory::new(kind, self.title, self.content).origin(origin).tags(self.tags);
        let new = set(new, self.summary, NewMemory::summary);
        let new = set(new, self.procedure, NewMemory::procedure);
        let new = set(new, self.entities, NewMemory::entities);
        let new = set(new, self.frequency, NewMemory::frequency);
        let new = set(new, self.importance, NewMemory::importance);
        let new = set(new, self.confidence, NewMemory::confidence);
        let new = set(new, self.reliability, NewMemory::reliability);
        let new = set(new, self.consolidation_threshold, NewMemory::consolidation_threshold);
        let new = set(new, self.information_type, NewMemory::information_type);
        let new = set(new, self.volatility, NewMemory::volatility);
        let new = set(new, self.validity_window_s.map(Duration::from_secs), NewMemory::validity_window);
        let new = set(new, self.learning_source, NewMemory::learning_source);
        let new = if self.pinned { new.pinned() } else { new };
        let new = set(new, self.project, NewMemory::project);
        let new = set(new, self.goal_signature, NewMemory::goal_signature);
        let new = set(new, self.task_type, NewMemory::task_type);
        let new = set(new, self.caller_id, NewMemory::caller_id);
        let new = set(new, self.said_at, NewMemory::said_at);
        let new = set(new, self.outcome, NewMemory::outcome);
        let new = set(new, session, NewMemory::session);
        let new = set(new, self.task_id, NewMemory::task_id);
        let new = set(new, self.task_name, NewMemory::task_name);
        let new = set(new, self.trigger, NewMemory::trigger);
        Ok(self.sources.into_iter().fold(new, |new, source| new.source(source.turn, source.quote)))
    }
}
