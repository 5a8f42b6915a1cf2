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
    /// What sort of memory it is.
    pub kind: MemoryKind,
    /// Whether it holds.
    pub status: MemoryStatus,
    /// What took its place, if it is superseded.
    pub superseded_by: Option<MemoryId>,
    /// How settled it is.
    pub frequency: Frequency,
    /// Since when, by the system clock.
    pub frequency_since: DateTime<Utc>,
    /// How much it matters, from 0 to 1; it does not fade by itself.
    pub importance: f64,
    /// How likely it is true, from 0 to 1; outcomes and checks move it.
    pub confidence: f64,
    /// How good its source is, from 0 to 1; none: nobody assessed it.
    pub reliability: Option<f64>,
    /// The confidence that it needs to settle one step further, from 0 to 1; none: that of its frequency.
    pub consolidation_threshold: Option<f64>,
    /// What sort of information it has.
    pub information_type: InformationType,
    /// How fast the world outdates it.
    pub volatility: Volatility,
    /// How long a check holds, in whole seconds; none: as long as its volatility says. Zero: every check is over at once.
    #[serde(rename = "validity_window_s", with = "seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub validity_window: Option<Duration>,
    /// Whose words it has.
    pub origin: Origin,
    /// How far it is trusted: the least of all that it came of.
    pub trust: Trust,
    /// How it was learned.
    pub learning_source: LearningSource,
    /// Who made it: `caller`, `import`, `rules`, or the name of a summarizer.
    pub made_by: String,
    /// Whether it is kept from fading.
    pub pinned: bool,
    /// The session that it goes with; none: it stays.
    pub session_id: Option<SessionId>,
    /// What the caller files it under; none: it is for all projects.
    pub project: Option<String>,
    /// Its slot: of one kind and project at most one active memory has it.
    pub goal_signature: Option<String>,
    /// For what sort of task it is.
    pub task_type: Option<TaskType>,
    /// One more than that of what it superseded; from 1.
    pub version: u32,
    /// Raised by every change, not by use; from 1.
    pub revision: u32,
    /// The caller's own id for it.
    pub caller_id: Option<String>,
    /// When it was so, as whoever said it says.
    pub said_at: DateTime<Utc>,
    /// When it was saved, by the system clock.
    pub created_at: DateTime<Utc>,
    /// When it was changed last, by the system clock.
    pub updated_at: DateTime<Utc>,
    /// What it is called.
    pub title: String,
    /// One sentence; empty: the first of the content stands for it.
    pub summary: String,
    /// The steps, if it is a procedure.
    pub procedure: Option<Procedure>,
    /// What it says.
    pub content: String,
    /// Its tags, in the caller's order, without `#`.
    pub tags: Vec<String>,
    /// What it is about, by name.
    pub entities: Vec<String>,
    /// What a file said of it that has no field here.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub extra: serde_json::Map<String, serde_json::Value>,
    /// What use did to it.
    pub state: MemoryState,
    /// Whether another memory says otherwise, and a person has not decided yet.
    pub contested: bool,
    /// What follows of all this at the moment of asking.
    pub standing: Standing,
}

impl Memory {
    /// Whether it goes with its session.
    pub fn is_volatile(&self) -> bool {
        self.session_id.is_some()
    }
}

/// Windows as JSON and the file have them.
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
