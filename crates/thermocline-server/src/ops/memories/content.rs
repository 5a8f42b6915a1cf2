//! The content of a memory in a request.

use std::time::Duration;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Deserialize;
use thermocline::{
    Frequency, InformationType, LearningSource, MemoryKind, NewMemory, Origin, Outcome, Procedure, TaskType,
    TurnId, Volatility,
};

use crate::ops::{
    Result,
    call::{Call, set},
};

/// The maximum length of a window, in seconds.
pub const MAX_WINDOW_S: u64 = NewMemory::MAX_WINDOW.as_secs();

/// A memory to save: its text, and what the caller knows about it. Only title and content are required.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Content {
    /// The kind of memory. Default: procedure if it has steps; otherwise general, or the kind of the memory that it
    /// supersedes.
    pub kind: Option<MemoryKind>,
    /// The title, 1 to 200 bytes.
    #[schemars(length(min = 1, max = 200))]
    pub title: String,
    /// The text, at most 64 KiB.
    #[schemars(length(min = 1))]
    pub content: String,
    /// The text in one sentence, at most 1,024 bytes. Default: the first sentence of the content.
    pub summary: Option<String>,
    /// The steps of a procedure; only for that kind.
    pub procedure: Option<Procedure>,
    /// The tags, with or without `#`.
    #[serde(default)]
    pub tags: Vec<String>,
    /// What the memory is about, by name. Default: the names in its text.
    pub entities: Option<Vec<String>>,
    /// How settled the memory is. Default: mid if its learning source is manual, high otherwise, and always high for an
    /// ephemeral memory. A merge may lower it.
    pub frequency: Option<Frequency>,
    /// How much the memory matters. Default: by frequency and outcome, or that of the memory whose place it takes.
    #[schemars(range(min = 0, max = 1))]
    pub importance: Option<f64>,
    /// How likely the memory is true. Default: 0.8.
    #[schemars(range(min = 0, max = 1))]
    pub confidence: Option<f64>,
    /// How good the memory's source is. Default: not assessed.
    #[schemars(range(min = 0, max = 1))]
    pub reliability: Option<f64>,
    /// The confidence that the memory needs to settle one step further. Default: by its frequency.
    #[schemars(range(min = 0, max = 1))]
    pub consolidation_threshold: Option<f64>,
    /// The type of information. Default: static.
    pub information_type: Option<InformationType>,
    /// How fast the world outdates the memory. Default: by its information type.
    pub volatility: Option<Volatility>,
    /// How long a check holds, in seconds. Default: by the volatility.
    #[schemars(range(max = MAX_WINDOW_S))]
    pub validity_window_s: Option<u64>,
    /// The origin of the memory. Default: the caller's own. Only that origin, tool, document, or a less trusted origin is
    /// accepted.
    pub origin: Option<Origin>,
    /// How the memory was learned. Default: manual. A merge always stores consolidation.
    pub learning_source: Option<LearningSource>,
    /// Whether the memory is kept from fading. Default: no.
    #[serde(default)]
    pub pinned: bool,
    /// The caller's project for the memory, at most 256 bytes. Default: none, so that it applies to all projects.
    pub project: Option<String>,
    /// The memory's slot, at most 256 bytes. Per kind and project, a slot has at most one active memory.
    pub goal_signature: Option<String>,
    /// The type of task for which the memory is useful.
    pub task_type: Option<TaskType>,
    /// The caller's own id for the memory, unique per user, at most 256 bytes. A repeated save is recognized by it; a save
    /// of another text with the same id is refused.
    pub caller_id: Option<String>,
    /// When the memory was true (RFC 3339). Default: now.
    pub said_at: Option<DateTime<Utc>>,
    /// The turns from which the memory comes.
    #[serde(default)]
    pub sources: Vec<Source>,
    /// The outcome of the task from which the memory comes.
    pub outcome: Option<Outcome>,
    /// The session from which the memory comes: the caller's key, or `id:` and its id.
    pub session: Option<String>,
    /// The task from which the memory comes, by the caller's id, at most 256 bytes.
    pub task_id: Option<String>,
    /// The task's name for people, at most 256 bytes.
    pub task_name: Option<String>,
    /// What prompted the memory, at most 1,024 bytes.
    pub trigger: Option<String>,
}

/// A turn from which a memory comes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The turn's id.
    pub turn: TurnId,
    /// The words of the turn that support the memory, verbatim. Default: none.
    #[serde(default)]
    pub quote: String,
}

impl Content {
    /// Returns the memory to save for the call's user. Its kind is `kind`, unless the request names one or has steps. Errors:
    /// [`Call::origin`] refuses the origin, or the user has no such session.
    pub fn into_new(self, call: &Call, kind: MemoryKind) -> Result<NewMemory> {
        let origin = call.origin(self.origin)?;
        let session = call.session_id(self.session.as_deref())?;
        if !self.sources.is_empty() {
            call.user()?; // Only a user who exists has turns.
        }
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
