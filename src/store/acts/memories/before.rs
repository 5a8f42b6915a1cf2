//! What operations change about a memory, by column name: the history keeps the previous values, and undo writes them back.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    error::{Error, ErrorKind, Result},
    memory::bounds::{check_settled, check_together},
    model::{
        ids::MemoryId,
        memory::{
            procedure::Procedure,
            trust::Trust,
            words::{
                Frequency, InformationType, LearningSource, MemoryKind, MemoryStatus, Resurfacing, TaskType,
                Volatility,
            },
        },
        stored_time::StoredTime,
        turn::Origin,
    },
    store::rows::memories::{row::MemoryRow, terms::TermNames},
};

/// A memory with everything that operations change about it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MemoryBefore {
    pub(super) row: MemoryRow,
    /// The id of the memory's successor.
    pub(super) superseded_by: Option<MemoryId>,
    pub(super) names: TermNames,
    pub(super) resurfacing: Resurfacing,
}

impl MemoryBefore {
    /// Whether the two show the same text to a reader and therefore share a unit.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        let (a, b) = (&self.row, &other.row);
        (a.kind, &a.title, &a.content, &a.summary, &a.procedure)
            == (b.kind, &b.title, &b.content, &b.summary, &b.procedure)
            && self.names == other.names
    }

    /// The columns that differ from those of `after`, with the values they have here.
    pub(super) fn columns_before(&self, after: &Self) -> Result<Map<String, Value>> {
        let (before, after) = (MemoryColumns::of(self).to_map()?, MemoryColumns::of(after).to_map()?);
        Ok(before.into_iter().filter(|(name, value)| after.get(name) != Some(value)).collect())
    }

    /// Fails if this is not a valid memory, whatever its history says: if it is more settled than its volatility and trust
    /// allow, has steps but is no procedure, is superseded by nothing or by itself, or is trusted more than its origin.
    pub(super) fn check(&self) -> Result<()> {
        let row = &self.row;
        check_together(row.kind, row.procedure.as_ref())?;
        check_settled(row.frequency, row.volatility, row.trust)?;
        let is_superseded = row.status == MemoryStatus::Superseded;
        if is_superseded != self.superseded_by.is_some() || self.superseded_by == Some(row.id) {
            return Err(Error::invalid("a superseded memory needs a successor, and no other memory has one"));
        }
        if row.trust < Trust::Approved && row.trust > Trust::of(row.origin) {
            return Err(Error::invalid("it is trusted more than its origin"));
        }
        Ok(())
    }

    /// The memory with the previous values of the columns in `before`. Its successor is set by id only; the caller looks up
    /// the number.
    pub(super) fn restored(&self, before: &Value) -> Result<Self> {
        let damaged = |error| Error::caused(ErrorKind::Corrupt, "a change of a memory cannot be read", error);
        let mut columns = MemoryColumns::of(self).to_map()?;
        columns.extend(before.as_object().cloned().unwrap_or_default());
        let columns: MemoryColumns = serde_json::from_value(Value::Object(columns)).map_err(damaged)?;
        Ok(columns.put_into(self.clone()))
    }
}

#[derive(Serialize, Deserialize)]
struct MemoryColumns {
    kind: MemoryKind,
    status: MemoryStatus,
    superseded_by: Option<MemoryId>,
    frequency: Frequency,
    frequency_since: StoredTime,
    importance: f64,
    confidence: f64,
    reliability: Option<f64>,
    consolidation_threshold: Option<f64>,
    information_type: InformationType,
    volatility: Volatility,
    validity_window_s: Option<u64>,
    origin: Origin,
    trust: Trust,
    learning_source: LearningSource,
    pinned: bool,
    project: Option<String>,
    goal_signature: Option<String>,
    task_type: Option<TaskType>,
    version: u32,
    title: String,
    summary: String,
    procedure: Option<Procedure>,
    content: String,
    tags: Vec<String>,
    entities: Vec<String>,
    resurfacing: Resurfacing,
    extra: Map<String, Value>,
}

impl MemoryColumns {
    fn of(held: &MemoryBefore) -> Self {
        let row = held.row.clone();
        Self {
            kind: row.kind,
            status: row.status,
            superseded_by: held.superseded_by,
            frequency: row.frequency,
            frequency_since: row.frequency_since,
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
            pinned: row.pinned,
            project: row.project,
            goal_signature: row.goal_signature,
            task_type: row.task_type,
            version: row.version,
            title: row.title,
            summary: row.summary,
            procedure: row.procedure,
            content: row.content,
            tags: held.names.tags.clone(),
            entities: held.names.entities.clone(),
            resurfacing: held.resurfacing,
            extra: row.extra,
        }
    }

    fn to_map(&self) -> Result<Map<String, Value>> {
        match serde_json::to_value(self) {
            Ok(Value::Object(map)) => Ok(map),
            Ok(_) => unreachable!("a struct is an object"),
            Err(error) => Err(Error::caused(ErrorKind::Corrupt, "a memory cannot be written as JSON", error)),
        }
    }

    fn put_into(self, held: MemoryBefore) -> MemoryBefore {
        let row = MemoryRow {
            kind: self.kind,
            status: self.status,
            frequency: self.frequency,
            frequency_since: self.frequency_since,
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
            pinned: self.pinned,
            project: self.project,
            goal_signature: self.goal_signature,
            task_type: self.task_type,
            version: self.version,
            title: self.title,
            summary: self.summary,
            procedure: self.procedure,
            content: self.content,
            extra: self.extra,
            ..held.row
        };
        let names = TermNames { tags: self.tags, entities: self.entities };
        MemoryBefore { row, superseded_by: self.superseded_by, names, resurfacing: self.resurfacing }
    }
}
