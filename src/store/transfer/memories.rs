//! The lines of an export about memories: memories with all their details, episodes, extracted sessions, erased memories.
//! They refer to each other by id.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    error::Result,
    model::{
        change::{Change, ChangeOp},
        episode::EpisodeRole,
        ids::{EpisodeId, GroupId, MemoryId, ReceiptId, SessionId, TurnId},
        memory::{
            procedure::Procedure,
            source::{MemorySource, SourceName},
            state::MemoryState,
            trust::Trust,
            words::{
                Frequency, InformationType, LearningSource, MemoryKind, MemoryStatus, Outcome, TaskType,
                Volatility,
            },
        },
        place::MemoryNo,
        turn::Origin,
    },
    store::rows::memories::{
        row::MemoryRow,
        terms::TermNames,
        transfer::{ReviewRow, SensorRow},
    },
    text::memory::MemoryText,
};

/// A memory, with its state, terms, sources, changes, sensors and reviews.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::store) struct KnowledgeLine {
    pub(in crate::store) id: MemoryId,
    pub(in crate::store) kind: MemoryKind,
    pub(in crate::store) status: MemoryStatus,
    pub(in crate::store) superseded_by: Option<MemoryId>,
    pub(in crate::store) frequency: Frequency,
    pub(in crate::store) frequency_since: DateTime<Utc>,
    pub(in crate::store) importance: f64,
    pub(in crate::store) confidence: f64,
    pub(in crate::store) reliability: Option<f64>,
    pub(in crate::store) consolidation_threshold: Option<f64>,
    pub(in crate::store) information_type: InformationType,
    pub(in crate::store) volatility: Volatility,
    pub(in crate::store) validity_window_s: Option<u64>,
    pub(in crate::store) origin: Origin,
    pub(in crate::store) trust: Trust,
    pub(in crate::store) learning_source: LearningSource,
    pub(in crate::store) made_by: String,
    pub(in crate::store) pinned: bool,
    pub(in crate::store) project: Option<String>,
    pub(in crate::store) goal_signature: Option<String>,
    pub(in crate::store) task_type: Option<TaskType>,
    pub(in crate::store) version: u32,
    pub(in crate::store) revision: u32,
    pub(in crate::store) caller_id: Option<String>,
    pub(in crate::store) said_at: DateTime<Utc>,
    pub(in crate::store) created_at: DateTime<Utc>,
    pub(in crate::store) updated_at: DateTime<Utc>,
    pub(in crate::store) title: String,
    pub(in crate::store) summary: String,
    pub(in crate::store) procedure: Option<Procedure>,
    pub(in crate::store) extra: Map<String, Value>,
    pub(in crate::store) content: String,
    pub(in crate::store) tags: Vec<String>,
    pub(in crate::store) entities: Vec<String>,
    pub(in crate::store) state: MemoryState,
    pub(in crate::store) sources: Vec<MemorySource>,
    pub(in crate::store) changes: Vec<ChangeLine>,
    pub(in crate::store) sensors: Vec<SensorRow>,
    pub(in crate::store) reviews: Vec<ReviewRow>,
}

impl KnowledgeLine {
    /// Returns the turns from which the memory was made.
    pub(in crate::store) fn turns(&self) -> impl Iterator<Item = TurnId> {
        self.sources.iter().filter_map(|source| match source.from {
            SourceName::Turn(turn) => Some(turn),
            _ => None,
        })
    }

    /// Returns the memory's text.
    pub(in crate::store) fn text(&self) -> MemoryText<'_> {
        let Self { kind, title, content, procedure, .. } = self;
        MemoryText { kind: *kind, title, content, procedure: procedure.as_ref() }
    }
}

/// The data of a memory's line that is not in the memory's own row, and the id of the memory's successor.
pub(in crate::store) struct MemoryDetails {
    pub(in crate::store) superseded_by: Option<MemoryId>,
    pub(in crate::store) names: TermNames,
    pub(in crate::store) state: MemoryState,
    pub(in crate::store) sources: Vec<MemorySource>,
    pub(in crate::store) changes: Vec<ChangeLine>,
    pub(in crate::store) sensors: Vec<SensorRow>,
    pub(in crate::store) reviews: Vec<ReviewRow>,
}

impl KnowledgeLine {
    pub(in crate::store) fn of(row: MemoryRow, beside: MemoryDetails) -> Self {
        Self {
            id: row.id,
            kind: row.kind,
            status: row.status,
            superseded_by: beside.superseded_by,
            frequency: row.frequency,
            frequency_since: *row.frequency_since,
            importance: row.importance,
            confidence: row.confidence,
            reliability: row.reliability,
            consolidation_threshold: row.consolidation_threshold,
            information_type: row.information_type,
            volatility: row.volatility,
            validity_window_s: row.validity_window.map(|window| window.as_secs()),
            origin: row.origin,
            trust: row.trust,
            learning_source: row.learning_source,
            made_by: row.made_by,
            pinned: row.pinned,
            project: row.project,
            goal_signature: row.goal_signature,
            task_type: row.task_type,
            version: row.version,
            revision: row.revision,
            caller_id: row.caller_id,
            said_at: *row.said_at,
            created_at: *row.created_at,
            updated_at: *row.updated_at,
            title: row.title,
            summary: row.summary,
            procedure: row.procedure,
            extra: row.extra,
            content: row.content,
            tags: beside.names.tags,
            entities: beside.names.entities,
            state: beside.state,
            sources: beside.sources,
            changes: beside.changes,
            sensors: beside.sensors,
            reviews: beside.reviews,
        }
    }

    /// Splits the line into the memory's row, without its number, unit and successor, and the other data.
    pub(in crate::store) fn into_row(self) -> Result<(MemoryRow, MemoryDetails)> {
        let mut row = MemoryRow {
            memory_no: MemoryNo::default(),
            id: self.id,
            seq: None,
            session_no: None,
            kind: self.kind,
            status: self.status,
            superseded_by: None,
            frequency: self.frequency,
            frequency_since: self.frequency_since.try_into()?,
            importance: self.importance,
            confidence: self.confidence,
            reliability: self.reliability,
            consolidation_threshold: self.consolidation_threshold,
            information_type: self.information_type,
            volatility: self.volatility,
            validity_window: self.validity_window_s.map(Duration::from_secs),
            origin: self.origin,
            trust: self.trust,
            learning_source: self.learning_source,
            made_by: self.made_by,
            pinned: self.pinned,
            project: self.project,
            goal_signature: self.goal_signature,
            task_type: self.task_type,
            version: self.version,
            revision: self.revision,
            caller_id: self.caller_id,
            content_hash: [0; 16],
            said_at: self.said_at.try_into()?,
            created_at: self.created_at.try_into()?,
            updated_at: self.updated_at.try_into()?,
            title: self.title,
            summary: self.summary,
            procedure: self.procedure,
            extra: self.extra,
            content: self.content,
        };
        row.content_hash = row.text().content_hash();
        let beside = MemoryDetails {
            superseded_by: self.superseded_by,
            names: TermNames { tags: self.tags, entities: self.entities },
            state: self.state,
            sources: self.sources,
            changes: self.changes,
            sensors: self.sensors,
            reviews: self.reviews,
        };
        Ok((row, beside))
    }
}

impl MemoryDetails {
    /// Returns details with tags and entities only.
    pub(in crate::store) fn of_names(names: TermNames) -> Self {
        Self {
            superseded_by: None,
            names,
            state: MemoryState::default(),
            sources: Vec::new(),
            changes: Vec::new(),
            sensors: Vec::new(),
            reviews: Vec::new(),
        }
    }
}

/// A change in the history of a memory, as part of the memory's line. The changes of a line are in order.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::store) struct ChangeLine {
    pub(in crate::store) op: ChangeOp,
    pub(in crate::store) group_id: GroupId,
    pub(in crate::store) made_by: String,
    pub(in crate::store) made_at: DateTime<Utc>,
    pub(in crate::store) old_value: Option<String>,
    pub(in crate::store) new_value: Option<String>,
    pub(in crate::store) reason: String,
    pub(in crate::store) before: Option<Map<String, Value>>,
    pub(in crate::store) undone_by: Option<GroupId>,
}

impl ChangeLine {
    pub(in crate::store) fn of(change: Change) -> Self {
        let before = match change.before {
            Some(Value::Object(columns)) => Some(columns),
            _ => None,
        };
        Self {
            op: change.op,
            group_id: change.group_id,
            made_by: change.made_by,
            made_at: change.made_at,
            old_value: change.old_value,
            new_value: change.new_value,
            reason: change.reason,
            before,
            undone_by: change.undone_by,
        }
    }

    pub(in crate::store) fn into_change(self, memory_id: MemoryId, change_no: u32) -> Change {
        Change {
            memory_id,
            change_no,
            op: self.op,
            group_id: self.group_id,
            made_by: self.made_by,
            made_at: self.made_at,
            old_value: self.old_value,
            new_value: self.new_value,
            reason: self.reason,
            before: self.before.map(Value::Object),
            undone_by: self.undone_by,
        }
    }
}

/// An episode.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::store) struct EpisodeLine {
    pub(in crate::store) id: EpisodeId,
    pub(in crate::store) role: EpisodeRole,
    pub(in crate::store) memory_id: Option<MemoryId>,
    pub(in crate::store) session_id: Option<SessionId>,
    pub(in crate::store) turn_number: Option<u32>,
    /// The receipt that this use comes from. Receipts are not exported. The id keeps the use from being counted again.
    pub(in crate::store) receipt_id: Option<ReceiptId>,
    pub(in crate::store) happened_at: DateTime<Utc>,
    pub(in crate::store) outcome: Option<Outcome>,
    pub(in crate::store) kind: Option<MemoryKind>,
    pub(in crate::store) project: Option<String>,
    pub(in crate::store) task_id: Option<String>,
    pub(in crate::store) caller_id: Option<String>,
    pub(in crate::store) task_name: Option<String>,
    pub(in crate::store) trigger: Option<String>,
    pub(in crate::store) title: String,
    pub(in crate::store) tags: Vec<String>,
    pub(in crate::store) summary: String,
}

/// A session from which memories have been extracted.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::store) struct ExtractedLine {
    pub(in crate::store) session_id: SessionId,
    pub(in crate::store) extracted_at: DateTime<Utc>,
}

/// An erased memory, whose id must not be used again.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::store) struct ErasedLine {
    /// The hash of the memory's id: 16 bytes in hexadecimal.
    pub(in crate::store) id_hash: String,
}
