//! A memory as a caller sees it.

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

/// A memory: one thing known, with a title, a text and a kind. It belongs to one user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Memory {
    /// The memory's id, shown as `mem_<uuid>`.
    pub id: MemoryId,
    /// The memory's kind.
    pub kind: MemoryKind,
    /// Whether the memory holds and, if not, why.
    pub status: MemoryStatus,
    /// The memory that superseded this one, if any.
    pub superseded_by: Option<MemoryId>,
    /// How settled the memory is.
    pub frequency: Frequency,
    /// Since when the memory counts as having this frequency, by the system clock. The time starts anew when a use or a
    /// save makes the memory active again.
    pub frequency_since: DateTime<Utc>,
    /// How much the memory matters, from 0 to 1. It does not fade by itself.
    pub importance: f64,
    /// How likely the memory is true, from 0 to 1. Outcomes of uses and results of checks change it.
    pub confidence: f64,
    /// How good the memory's source is, from 0 to 1; `None` if nobody assessed it.
    pub reliability: Option<f64>,
    /// The confidence that the memory needs to settle one step further, from 0 to 1; `None` means the default of its
    /// frequency.
    pub consolidation_threshold: Option<f64>,
    /// What sort of information the memory contains.
    pub information_type: InformationType,
    /// How fast the world outdates the memory.
    pub volatility: Volatility,
    /// How long a check holds, in whole seconds; `None` means as long as the volatility says. With zero, every check
    /// expires at once.
    #[serde(rename = "validity_window_s", with = "seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub validity_window: Option<Duration>,
    /// Whose words the memory contains.
    pub origin: Origin,
    /// How far the memory is trusted: at first as far as the least trusted of its origin and its sources.
    pub trust: Trust,
    /// How the memory was learned.
    pub learning_source: LearningSource,
    /// Who made the memory: `caller`, `import`, `rules`, or the name of a summarizer.
    pub made_by: String,
    /// Whether the memory is kept from fading.
    pub pinned: bool,
    /// The session that the memory is bound to and removed with; `None` if the memory outlives its session.
    pub session_id: Option<SessionId>,
    /// The project that the memory is filed under; `None` if it applies to all projects.
    pub project: Option<String>,
    /// The memory's slot: at most one active memory of a kind and project has it.
    pub goal_signature: Option<String>,
    /// The task type that the memory is for.
    pub task_type: Option<TaskType>,
    /// The version, from 1. A memory that takes the place of others has a higher version than each of them.
    pub version: u32,
    /// The revision, from 1. Each operation that changes the memory raises the revision; a use raises it only by making
    /// an archived memory active again.
    pub revision: u32,
    /// The caller's own id for the memory.
    pub caller_id: Option<String>,
    /// When the memory was true, according to its source.
    pub said_at: DateTime<Utc>,
    /// When the memory was saved, by the system clock.
    pub created_at: DateTime<Utc>,
    /// When the memory was last changed, by the system clock; uses that do not raise the revision do not count.
    pub updated_at: DateTime<Utc>,
    /// The memory's title.
    pub title: String,
    /// The memory in one sentence; if empty, the first sentence of the content is used.
    pub summary: String,
    /// The steps, if the memory is a procedure.
    pub procedure: Option<Procedure>,
    /// The memory's text.
    pub content: String,
    /// The memory's tags, in the caller's order, without `#`.
    pub tags: Vec<String>,
    /// The memory's entities: what it is about, by name.
    pub entities: Vec<String>,
    /// Fields that an imported file or a file of a vault gave the memory and that this type does not have.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub extra: serde_json::Map<String, serde_json::Value>,
    /// The memory's counters and times of use.
    pub state: MemoryState,
    /// Whether another memory contradicts this one, and no person has decided yet. As long as a memory with the words of a
    /// tool or a document waits for the decision, it does not contest one that is trusted more.
    pub contested: bool,
    /// The memory's standing at the moment of the call: how much it still matters, and its warnings.
    pub standing: Standing,
}

impl Memory {
    /// Returns whether the memory is removed with its session.
    pub fn is_volatile(&self) -> bool {
        self.session_id.is_some()
    }
}

/// Serializes validity windows as whole seconds.
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
