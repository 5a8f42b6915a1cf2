//! Reads rows of `user_memories` and verifies their checksums; writes rows (triggers write the checksums). Only this file
//! lists all columns of the table.

use std::time::Duration;

use crate::{
    error::{Error, Result},
    model::{
        ids::MemoryId,
        memory::{
            procedure::Procedure,
            trust::Trust,
            words::{
                Frequency, InformationType, LearningSource, MemoryKind, MemoryStatus, TaskType, Volatility,
            },
        },
        place::{MemoryNo, Seq, SessionNo},
        stored_time::StoredTime,
        turn::Origin,
    },
    store::{
        rows::row_check,
        scope::Scope,
        sql::{self, FromColumn, RowExpectation, Sql, SqlRow, SqlValue, missing, values},
    },
    text::{measure::ContentHash, memory::MemoryText},
};

/// The columns of `user_memories AS m` for [`read`]: those covered by the row's checksum, in the table's order, then the
/// checksum.
macro_rules! memory_columns {
    () => {
        "m.memory_no, m.id, m.user_no, m.seq, m.session_no, m.kind, m.status, m.superseded_by, m.frequency, \
         m.frequency_since, m.importance, m.confidence, m.reliability, m.consolidation_threshold, m.information_type, \
         m.volatility, m.validity_window_s, m.origin, m.trust, m.learning_source, m.made_by, m.pinned, m.project, \
         m.goal_signature, m.task_type, m.version, m.revision, m.caller_id, m.content_hash, m.said_at, m.created_at, \
         m.updated_at, m.title, m.summary, m.procedure, m.extra, m.content, m.row_check"
    };
}
pub(crate) use memory_columns;

/// How many of these columns the checksum covers.
const CHECKED_COLUMNS: usize = 37;
pub(crate) const COLUMNS: usize = CHECKED_COLUMNS + 1;

/// The row of a memory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MemoryRow {
    /// 0 until the row is inserted.
    pub(crate) memory_no: MemoryNo,
    pub(crate) id: MemoryId,
    /// The unit with its current text. `None` if the memory cannot be recalled.
    pub(crate) seq: Option<Seq>,
    /// The session with which the memory is deleted, if it is volatile.
    pub(crate) session_no: Option<SessionNo>,
    pub(crate) kind: MemoryKind,
    pub(crate) status: MemoryStatus,
    pub(crate) superseded_by: Option<MemoryNo>,
    pub(crate) frequency: Frequency,
    pub(crate) frequency_since: StoredTime,
    pub(crate) importance: f64,
    pub(crate) confidence: f64,
    pub(crate) reliability: Option<f64>,
    pub(crate) consolidation_threshold: Option<f64>,
    pub(crate) information_type: InformationType,
    pub(crate) volatility: Volatility,
    pub(crate) validity_window: Option<Duration>,
    pub(crate) origin: Origin,
    pub(crate) trust: Trust,
    pub(crate) learning_source: LearningSource,
    pub(crate) made_by: String,
    pub(crate) pinned: bool,
    pub(crate) project: Option<String>,
    pub(crate) goal_signature: Option<String>,
    pub(crate) task_type: Option<TaskType>,
    pub(crate) version: u32,
    pub(crate) revision: u32,
    pub(crate) caller_id: Option<String>,
    pub(crate) content_hash: ContentHash,
    pub(crate) said_at: StoredTime,
    pub(crate) created_at: StoredTime,
    pub(crate) updated_at: StoredTime,
    pub(crate) title: String,
    pub(crate) summary: String,
    pub(crate) procedure: Option<Procedure>,
    pub(crate) extra: serde_json::Map<String, serde_json::Value>,
    pub(crate) content: String,
}

impl MemoryRow {
    /// The memory's texts.
    pub(crate) fn text(&self) -> MemoryText<'_> {
        let Self { kind, title, content, procedure, .. } = self;
        MemoryText { kind: *kind, title, content, procedure: procedure.as_ref() }
    }

    /// The hash by which the text is recognized while the memory is in quarantine; `None` if it is not.
    fn hidden_hash(&self) -> Option<ContentHash> {
        (self.status == MemoryStatus::Quarantined).then(|| self.text().hidden_hash())
    }

    /// Whether it may have a unit: it is active or archived, and not volatile.
    pub(crate) fn is_recalled(&self) -> bool {
        matches!(self.status, MemoryStatus::Active | MemoryStatus::Archived) && self.session_no.is_none()
    }
}

/// Reads the memory from a row that was selected by [`memory_columns`]. Every value is fetched once, for both the checksum
/// and the memory.
pub(crate) fn read(row: &SqlRow<'_>) -> Result<MemoryRow> {
    let values: [_; COLUMNS] = row.values()?;
    if !row_check::is_whole(&values) {
        return Err(damaged(row.get(0)?));
    }
    let procedure: Option<String> = get(&values, 34)?;
    Ok(MemoryRow {
        memory_no: get(&values, 0)?,
        id: get(&values, 1)?,
        seq: get(&values, 3)?,
        session_no: get(&values, 4)?,
        kind: get(&values, 5)?,
        status: get(&values, 6)?,
        superseded_by: get(&values, 7)?,
        frequency: get(&values, 8)?,
        frequency_since: get(&values, 9)?,
        importance: get(&values, 10)?,
        confidence: get(&values, 11)?,
        reliability: get(&values, 12)?,
        consolidation_threshold: get(&values, 13)?,
        information_type: get(&values, 14)?,
        volatility: get(&values, 15)?,
        validity_window: get::<Option<u64>>(&values, 16)?.map(Duration::from_secs),
        origin: get(&values, 17)?,
        trust: get(&values, 18)?,
        learning_source: get(&values, 19)?,
        made_by: get(&values, 20)?,
        pinned: get(&values, 21)?,
        project: get(&values, 22)?,
        goal_signature: get(&values, 23)?,
        task_type: get(&values, 24)?,
        version: get(&values, 25)?,
        revision: get(&values, 26)?,
        caller_id: get(&values, 27)?,
        content_hash: get(&values, 28)?,
        said_at: get(&values, 29)?,
        created_at: get(&values, 30)?,
        updated_at: get(&values, 31)?,
        title: get(&values, 32)?,
        summary: get(&values, 33)?,
        procedure: procedure.map_or(Ok(None), |_| row.json(34).map(Some))?,
        extra: row.json(35)?,
        content: get(&values, 36)?,
    })
}

#[inline]
fn get<T: FromColumn>(values: &[SqlValue<'_>; COLUMNS], at: usize) -> Result<T> {
    sql::read(values[at])
}

/// The error for a memory that is not what was saved.
pub(crate) fn damaged(memory_no: MemoryNo) -> Error {
    row_check::damaged(format_args!("memory number {}", memory_no.0))
}

/// The parameters that write a memory: the user's number, `$name` (the id in an insert, the number in an update), and the
/// other columns.
macro_rules! row_values {
    ($user_no:expr, $name:expr, $memory:ident) => {
        values![
            $user_no,
            $name,
            $memory.seq,
            $memory.session_no,
            $memory.kind,
            $memory.status,
            $memory.superseded_by,
            $memory.frequency,
            $memory.frequency_since,
            $memory.importance,
            $memory.confidence,
            $memory.reliability,
            $memory.consolidation_threshold,
            $memory.information_type,
            $memory.volatility,
            $memory.validity_window.map(|window| window.as_secs()),
            $memory.origin,
            $memory.trust,
            $memory.learning_source,
            $memory.made_by,
            $memory.pinned,
            $memory.project,
            $memory.goal_signature,
            $memory.task_type,
            $memory.version,
            $memory.revision,
            $memory.caller_id,
            $memory.content_hash,
            $memory.said_at,
            $memory.created_at,
            $memory.updated_at,
            $memory.title,
            $memory.summary,
            $memory.procedure.as_ref().map(|procedure| serde_json::json!(procedure).to_string()),
            serde_json::json!($memory.extra).to_string(),
            $memory.content,
            $memory.hidden_hash(),
        ]
    };
}

/// Writes a new memory, and returns its number.
pub(crate) fn insert(sql: &dyn Sql, scope: &Scope, memory: &MemoryRow) -> Result<MemoryNo> {
    sql.scalar(
        "INSERT INTO user_memories
           (user_no, id, seq, session_no, kind, status, superseded_by, frequency, frequency_since, importance, confidence,
            reliability, consolidation_threshold, information_type, volatility, validity_window_s, origin, trust,
            learning_source, made_by, pinned, project, goal_signature, task_type, version, revision, caller_id,
            content_hash, said_at, created_at, updated_at, title, summary, procedure, extra, content, hidden_hash)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23,
                 ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35, ?36, ?37)
         RETURNING memory_no",
        row_values!(scope.user_no, memory.id, memory),
    )
}

/// Writes all columns of a changed memory.
pub(crate) fn update(sql: &dyn Sql, scope: &Scope, memory: &MemoryRow) -> Result<()> {
    sql.put(
        "UPDATE user_memories
         SET seq = ?3, session_no = ?4, kind = ?5, status = ?6, superseded_by = ?7, frequency = ?8, frequency_since = ?9,
             importance = ?10, confidence = ?11, reliability = ?12, consolidation_threshold = ?13, information_type = ?14,
             volatility = ?15, validity_window_s = ?16, origin = ?17, trust = ?18, learning_source = ?19, made_by = ?20,
             pinned = ?21, project = ?22, goal_signature = ?23, task_type = ?24, version = ?25, revision = ?26,
             caller_id = ?27, content_hash = ?28, said_at = ?29, created_at = ?30, updated_at = ?31, title = ?32,
             summary = ?33, procedure = ?34, extra = ?35, content = ?36, hidden_hash = ?37
         WHERE user_no = ?1 AND memory_no = ?2",
        row_values!(scope.user_no, memory.memory_no, memory),
        RowExpectation::One(missing),
    )
}

/// Sets the number of a superseded memory's successor, once the successor is inserted and has one.
pub(crate) fn set_superseded_by(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    by: MemoryNo,
) -> Result<()> {
    sql.put(
        "UPDATE user_memories SET superseded_by = ?3 WHERE user_no = ?1 AND memory_no = ?2 AND superseded_by IS NOT NULL",
        values![scope.user_no, memory_no, by],
        RowExpectation::One(missing),
    )
}

/// Writes a memory's confidence after a use. Does not raise the memory's revision, because a use is not a change.
pub(crate) fn set_confidence(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    confidence: f64,
) -> Result<()> {
    sql.put(
        "UPDATE user_memories SET confidence = ?3 WHERE user_no = ?1 AND memory_no = ?2",
        values![scope.user_no, memory_no, confidence],
        RowExpectation::One(missing),
    )
}

/// Removes a memory and, through foreign keys, its rows in other tables. Its units must already be out of the index.
pub(crate) fn remove(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<()> {
    sql.put(
        "DELETE FROM user_memories WHERE user_no = ?1 AND memory_no = ?2",
        values![scope.user_no, memory_no],
        RowExpectation::One(missing),
    )
}

/// Archives a memory that cannot be read and whose successor is gone, if its row can be written.
pub(crate) fn release(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<()> {
    sql.change_unless_damaged(
        "UPDATE user_memories SET status = 'archived', superseded_by = NULL WHERE user_no = ?1 AND memory_no = ?2",
        values![scope.user_no, memory_no],
    )
}

/// Removes the volatile memories of a session that has ended.
pub(crate) fn remove_volatile(sql: &dyn Sql, scope: &Scope, session_no: SessionNo) -> Result<()> {
    sql.put(
        "DELETE FROM user_memories WHERE user_no = ?1 AND session_no = ?2",
        values![scope.user_no, session_no],
        RowExpectation::Any,
    )
}
