//! A memory as recall returns it, with its warnings and the turns that it rests on.

use serde::{Deserialize, Serialize};

use crate::model::{
    ids::TurnId,
    memory::{
        known::Memory,
        standing::StaleReason,
        words::{MemoryStatus, Volatility},
    },
};

/// A memory that was recalled.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RecalledMemory {
    /// The memory.
    pub memory: Memory,
    /// The place of the memory's current text in the user's order of recording.
    pub seq: i64,
    /// The memory's warnings, at the moment of the recall.
    pub flags: MemoryFlags,
    /// The turns that the memory rests on, in the order of recording. Empty once an edit has given the memory another
    /// text.
    pub sources: Vec<SourceTurn>,
}

/// Warnings about a memory, at the moment of the call. In JSON, warnings that do not apply are left out. In the profiles
/// `recency` and `continuum`, warnings do not change the score.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each may hold by itself")]
pub struct MemoryFlags {
    /// Why the memory is stale: its last passed check is too old, or its source is too weak. Empty if it is fresh. Being
    /// stale halves the score.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<StaleReason>,
    /// Whether the memory's source was assessed below 0.7, which multiplies the score by 0.8.
    #[serde(skip_serializing_if = "is_not")]
    pub unverified: bool,
    /// Whether what the memory says should be looked up rather than believed, because its volatility is high or
    /// ephemeral.
    #[serde(skip_serializing_if = "is_not")]
    pub look_up: bool,
    /// The names of the sensors that watch the memory and so can look up what it says; empty unless `look_up` is true.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sensors: Vec<String>,
    /// Whether the memory is archived, which halves the score.
    #[serde(skip_serializing_if = "is_not")]
    pub archived: bool,
    /// Whether another memory contradicts this one, and no person has decided yet.
    #[serde(skip_serializing_if = "is_not")]
    pub contested: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference to the field")]
fn is_not(flag: &bool) -> bool {
    !*flag
}

impl MemoryFlags {
    /// Collects the warnings about a memory; `sensors` are those that can check it.
    pub(crate) fn of(memory: &Memory, sensors: Vec<String>) -> Self {
        let look_up = matches!(memory.volatility, Volatility::High | Volatility::Ephemeral);
        Self {
            stale: memory.standing.stale.clone(),
            unverified: memory.standing.unverified,
            look_up,
            sensors: if look_up { sensors } else { Vec::new() },
            archived: memory.status == MemoryStatus::Archived,
            contested: memory.contested,
        }
    }

    /// Returns whether there are no warnings.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the warnings in words, for the LLM or person that answers: `stale, window over, check before use`,
    /// `unverified`, `look up by fs`, `archived`, `contested`.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if !self.stale.is_empty() {
            let is_weak = self.stale.contains(&StaleReason::Weak);
            let is_over = self.stale.iter().any(|reason| *reason != StaleReason::Weak);
            words.push("stale".to_owned());
            words.extend(is_over.then(|| "window over".to_owned()));
            words.extend(is_weak.then(|| "weak source".to_owned()));
            words.push("check before use".to_owned());
        }
        if self.unverified {
            words.push("unverified".to_owned());
        }
        if self.look_up {
            let by = if self.sensors.is_empty() {
                String::new()
            } else {
                format!(" by {}", self.sensors.join(" "))
            };
            words.push(format!("look up{by}"));
        }
        words.extend(self.archived.then(|| "archived".to_owned()));
        words.extend(self.contested.then(|| "contested".to_owned()));
        words
    }
}

/// Writes the warnings in words: `stale, window over, check before use, unverified, look up by fs`; empty if there are
/// none.
impl std::fmt::Display for MemoryFlags {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.words().join(", "))
    }
}

/// A turn that a memory rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SourceTurn {
    /// The turn.
    pub turn_id: TurnId,
    /// The caller's own id for the turn.
    pub caller_id: Option<String>,
    /// The turn's place in the user's order of recording.
    pub seq: i64,
}

#[cfg(test)]
mod sample {
    use super::*;
    use crate::{
        memory::facts::sample::start,
        model::{
            ids::MemoryId,
            memory::{
                standing::Standing,
                state::MemoryState,
                trust::Trust,
                words::{Frequency, InformationType, LearningSource, MemoryKind},
            },
            turn::Origin,
        },
    };

    impl RecalledMemory {
        /// Creates a decision of the first day of 2026.
        pub(crate) fn sample(seq: i64, title: &str, content: &str) -> Self {
            let memory = Memory {
                id: MemoryId::new(start()),
                kind: MemoryKind::Decision,
                status: MemoryStatus::Active,
                superseded_by: None,
                frequency: Frequency::Mid,
                frequency_since: start(),
                importance: 0.6,
                confidence: 0.8,
                reliability: None,
                consolidation_threshold: None,
                information_type: InformationType::Static,
                volatility: Volatility::Low,
                validity_window: None,
                origin: Origin::User,
                trust: Trust::User,
                learning_source: LearningSource::Manual,
                made_by: "caller".to_owned(),
                pinned: false,
                session_id: None,
                project: None,
                goal_signature: None,
                task_type: None,
                version: 1,
                revision: 1,
                caller_id: None,
                said_at: start(),
                created_at: start(),
                updated_at: start(),
                title: title.to_owned(),
                summary: String::new(),
                procedure: None,
                content: content.to_owned(),
                tags: Vec::new(),
                entities: Vec::new(),
                extra: serde_json::Map::new(),
                state: MemoryState::default(),
                contested: false,
                standing: Standing::default(),
            };
            Self { memory, seq, flags: MemoryFlags::default(), sources: Vec::new() }
        }
    }
}
