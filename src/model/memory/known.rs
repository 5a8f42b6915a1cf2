//! The memory: one thing known, as a caller sees it.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::{
    ids::{MemoryId, SessionId},
    memory::{
        procedure::Procedure,
        standing::Standing,
        state::MemoryState,
        trust::Trust,
        words::{Frequency, InformationType, LearningSource, MemoryKind, MemoryStatus, TaskType, Volatility},
    },
    turn::Origin,
};

/// One thing known: a title, a text, a kind. It belongs to one user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Memory {
    /// Its id, shown as `mem_<uuid>`.
    pub id: MemoryId,
    /// Its kind.
    pub kind: MemoryKind,
    /// Whether it holds.
    pub status: MemoryStatus,
    /// The memory that superseded it, if any.
    pub superseded_by: Option<MemoryId>,
    /// How settled it is.
    pub frequency: Frequency,
    /// Since when it has this frequency, by the system clock.
    pub frequency_since: DateTime<Utc>,
    /// How much it matters, from 0 to 1; it does not fade by itself.
    pub importance: f64,
    /// How likely it is true, from 0 to 1; outcomes and checks move it.
    pub confidence: f64,
    /// How good its source is, from 0 to 1; `None` if nobody assessed it.
    pub reliability: Option<f64>,
    /// The confidence it needs to settle one step further, from 0 to 1; `None` means that of its frequency.
    pub consolidation_threshold: Option<f64>,
    /// What sort of information it contains.
    pub information_type: InformationType,
    /// How fast the world outdates it.
    pub volatility: Volatility,
    /// How long a check holds, in whole seconds; `None` means as long as its volatility says. With zero every check expires
    /// at once.
    #[serde(rename = "validity_window_s", with = "seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub validity_window: Option<Duration>,
    /// Whose words it has.
    pub origin: Origin,
    /// How far it is trusted: the least of all its sources.
    pub trust: Trust,
    /// How it was learned.
    pub learning_source: LearningSource,
    /// Who made it: `caller`, `import`, `rules`, or the name of a summarizer.
    pub made_by: String,
    /// Whether it is kept from fading.
    pub pinned: bool,
    /// The session it is bound to; `None` if it stays.
    pub session_id: Option<SessionId>,
    /// What the caller files it under; `None` if it applies to all projects.
    pub project: Option<String>,
    /// Its slot: at most one active memory of a kind and project has it.
    pub goal_signature: Option<String>,
    /// The task type it is for.
    pub task_type: Option<TaskType>,
    /// One more than that of the memory it superseded; from 1.
    pub version: u32,
    /// Raised by every change, not by use; from 1.
    pub revision: u32,
    /// The caller's own id for it.
    pub caller_id: Option<String>,
    /// When it was true, according to its source.
    pub said_at: DateTime<Utc>,
    /// When it was saved, by the system clock.
    pub created_at: DateTime<Utc>,
    /// When it was last changed, by the system clock.
    pub updated_at: DateTime<Utc>,
    /// Its title.
    pub title: String,
    /// One sentence; if empty, the first sentence of the content is used.
    pub summary: String,
    /// The steps, if it is a procedure.
    pub procedure: Option<Procedure>,
    /// What it says.
    pub content: String,
    /// Its tags, in the caller's order, without `#`.
    pub tags: Vec<String>,
    /// Its entities: what it is about, by name.
    pub entities: Vec<String>,
    /// What a file said about it that has no field here.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub extra: serde_json::Map<String, serde_json::Value>,
    /// Its counters and times of use.
    pub state: MemoryState,
    /// Whether another memory contradicts it, and no person has decided yet.
    pub contested: bool,
    /// What follows from all this at the moment of asking.
    pub standing: Standing,
}

impl Memory {
    /// Whether it is removed with its session.
    pub fn is_volatile(&self) -> bool {
        self.session_id.is_some()
    }
}

/// Windows in the form of JSON and the file.
mod seconds {
    use super::{Deserialize, Deserializer, Duration, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
    pub(super) fn serialize<S: Serializer>(
        window: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        window.map(|window| window.as_secs()).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        Ok(Option::deserialize(deserializer)?.map(Duration::from_secs))
    }
}
