//! Rows of memories for export and import. Volatile memories and everything about them are not exported, because they are
//! deleted with their sessions.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use chrono::{DateTime, Utc};

use crate::{
    error::Result,
    model::{
        change::Change,
        ids::{MemoryId, ReviewId, SessionId, TurnId},
        memory::{
            source::{MemorySource, SourceName},
            state::MemoryState,
        },
        place::{MemoryNo, Seq, SessionNo},
        review::{Decision, ReviewKind},
        stored_time::StoredTime,
    },
    store::{
        rows::memories::{
            episodes::EpisodeRow,
            row::{self, MemoryRow, memory_columns},
        },
        scope::Scope,
        sql::{RowExpectation, Sql, SqlRow, missing, values},
    },
};

/// How many memories are read at once.
const PAGE: u32 = 100;

/// Whether the user has a non-volatile memory, a note about no memory, or a record of an erased memory.
pub(crate) fn has_any(sql: &dyn Sql, scope: &Scope) -> Result<bool> {
    sql.scalar(
        "SELECT EXISTS (SELECT 1 FROM user_memories WHERE user_no = ?1 AND session_no IS NULL)
             OR EXISTS (SELECT 1 FROM memory_episodes WHERE user_no = ?1 AND memory_no IS NULL)
             OR EXISTS (SELECT 1 FROM erased_memories WHERE user_no = ?1)",
        values![scope.user_no],
    )
}

/// The next 100 non-volatile memories after the given one, in the order of saving. Empty if there are no more.
pub(crate) fn memories_after(sql: &dyn Sql, scope: &Scope, after: MemoryNo) -> Result<Vec<MemoryRow>> {
    sql.list(
        concat!(
            "SELECT ",
            memory_columns!(),
            " FROM user_memories AS m WHERE m.user_no = ?1 AND m.memory_no > ?2 AND m.session_no IS NULL
              ORDER BY m.memory_no LIMIT ?3"
        ),
        values![scope.user_no, after, PAGE],
        row::read,
    )
}

fn name_of(kind: &str, id: Uuid) -> Result<SourceName> {
    match kind {
        "turn" => Ok(SourceName::Turn(id.into())),
        "memory" => Ok(SourceName::Memory(id.into())),
        "caller" => Ok(SourceName::Caller(id)),
        "import" => Ok(SourceName::Import(id)),
        _ => Err(missing()),
    }
}

fn columns(name: &SourceName) -> (&'static str, &Uuid) {
    match name {
        SourceName::Turn(id) => ("turn", id.as_uuid()),
        SourceName::Memory(id) => ("memory", id.as_uuid()),
        SourceName::Caller(id) => ("caller", id),
        SourceName::Import(id) => ("import", id),
    }
}

/// All sources of a memory, by kind.
pub(crate) fn sources(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<Vec<MemorySource>> {
    sql.list(
        "SELECT source_kind, source_id, origin, made_by, said_at, quote FROM memory_sources
         WHERE user_no = ?1 AND memory_no = ?2 ORDER BY source_kind, source_id",
        values![scope.user_no, memory_no],
        |row| {
            let (kind, id): (String, TurnId) = (row.get(0)?, row.get(1)?);
            Ok(MemorySource {
                from: name_of(&kind, *id.as_uuid())?,
                origin: row.get(2)?,
                made_by: row.get(3)?,
                said_at: row.get(4)?,
                quote: row.get(5)?,
            })
        },
    )
}

/// Writes a source. `seq` is the unit in this file if the source is a turn.
pub(crate) fn insert_source(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    (source, seq): (&MemorySource, Option<Seq>),
) -> Result<()> {
    let (kind, id) = columns(&source.from);
    sql.put(
        "INSERT INTO memory_sources
           (user_no, memory_no, source_kind, source_id, origin, made_by, seq, said_at, quote)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        values![
            scope.user_no,
            memory_no,
            kind,
            id.as_bytes(),
            source.origin,
            source.made_by,
            seq,
            StoredTime::try_from(source.said_at)?,
            source.quote,
        ],
        RowExpectation::Any,
    )
}

/// Writes the state of an imported memory.
pub(crate) fn insert_state(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    state: &MemoryState,
) -> Result<()> {
    sql.put(
        "INSERT INTO memory_state
           (user_no, memory_no, access_count, last_used_at, usage_count, success_rate, context_count, project_count,
            validated_at, validated_by, validation_count, resurfacing, resurfaced_count, resurfaced_on, dismiss_count)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
        values![
            scope.user_no,
            memory_no,
            state.access_count,
            StoredTime::stated("last_used_at", state.last_used_at)?,
            state.usage_count,
            state.success_rate,
            state.context_count,
            state.project_count,
            StoredTime::stated("validated_at", state.validated_at)?,
            state.validated_by,
            state.validation_count,
            state.resurfacing,
            state.resurfaced_count,
            state.resurfaced_on.map(|day| day.to_string()),
            state.dismiss_count,
        ],
        RowExpectation::Any,
    )
}

/// Writes a change at its position in the history.
pub(crate) fn insert_change(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    change: &Change,
) -> Result<()> {
    sql.put(
        "INSERT INTO memory_changes
           (user_no, memory_no, change_no, op, group_id, made_by, made_at, old_value, new_value, reason, before,
            undone_by)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        values![
            scope.user_no,
            memory_no,
            change.change_no,
            change.op,
            change.group_id,
            change.made_by,
            StoredTime::try_from(change.made_at)?,
            change.old_value,
            change.new_value,
            change.reason,
            change.before.as_ref().map(ToString::to_string),
            change.undone_by,
        ],
        RowExpectation::Any,
    )
}

/// A sensor of a memory, and what it expects. An export leaves out the hash of what was seen: whoever reads the export could
/// find a short text by hashing guesses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SensorRow {
    pub(crate) sensor: String,
    pub(crate) subject: String,
    pub(crate) expect: serde_json::Map<String, serde_json::Value>,
}

pub(crate) fn sensors(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<Vec<SensorRow>> {
    let mut found = sql.list(
        "SELECT sensor, subject, expect FROM memory_sensors WHERE user_no = ?1 AND memory_no = ?2",
        values![scope.user_no, memory_no],
        |row| Ok(SensorRow { sensor: row.get(0)?, subject: row.get(1)?, expect: row.json(2)? }),
    )?;
    found.sort_by(|a, b| (&a.sensor, &a.subject).cmp(&(&b.sensor, &b.subject)));
    Ok(found)
}

pub(crate) fn insert_sensor(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    sensor: &SensorRow,
) -> Result<()> {
    sql.put(
        "INSERT INTO memory_sensors (user_no, memory_no, sensor, subject, expect) VALUES (?1, ?2, ?3, ?4, ?5)",
        values![
            scope.user_no,
            memory_no,
            sensor.sensor,
            sensor.subject,
            serde_json::json!(sensor.expect).to_string(),
        ],
        RowExpectation::Any,
    )
}

/// A review that waits for a person or was decided by one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReviewRow {
    pub(crate) id: ReviewId,
    pub(crate) kind: ReviewKind,
    /// The other memory, if there are two.
    pub(crate) other_id: Option<MemoryId>,
    pub(crate) opened_at: DateTime<Utc>,
    pub(crate) why: String,
    pub(crate) decision: Option<Decision>,
    pub(crate) decided_at: Option<DateTime<Utc>>,
    pub(crate) decided_by: Option<String>,
}

/// The reviews of a memory, except those whose other memory is volatile.
pub(crate) fn reviews(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<Vec<ReviewRow>> {
    sql.list(
        "SELECT r.id, r.kind, o.id, r.opened_at, r.why, r.decision, r.decided_at, r.decided_by
         FROM memory_reviews AS r LEFT JOIN user_memories AS o ON o.user_no = r.user_no AND o.memory_no = r.other_no
         WHERE r.user_no = ?1 AND r.memory_no = ?2 AND o.session_no IS NULL ORDER BY r.review_no",
        values![scope.user_no, memory_no],
        |row| {
            Ok(ReviewRow {
                id: row.get(0)?,
                kind: row.get(1)?,
                other_id: row.get(2)?,
                opened_at: row.get(3)?,
                why: row.get(4)?,
                decision: row.get(5)?,
                decided_at: row.get(6)?,
                decided_by: row.get(7)?,
            })
        },
    )
}

pub(crate) fn insert_review(
    sql: &dyn Sql,
    scope: &Scope,
    (memory_no, other_no): (MemoryNo, Option<MemoryNo>),
    review: &ReviewRow,
) -> Result<()> {
    sql.put(
        "INSERT INTO memory_reviews
           (id, user_no, kind, memory_no, other_no, opened_at, why, decision, decided_at, decided_by)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        values![
            review.id,
            scope.user_no,
            review.kind,
            memory_no,
            other_no,
            StoredTime::try_from(review.opened_at)?,
            review.why,
            review.decision,
            StoredTime::stated("decided_at", review.decided_at)?,
            review.decided_by,
        ],
        RowExpectation::Any,
    )
}

/// Writes an episode in the session with this number, or in none.
pub(crate) fn insert_episode(
    sql: &dyn Sql,
    scope: &Scope,
    session_no: Option<SessionNo>,
    episode: &EpisodeRow,
) -> Result<()> {
    sql.put(
        "INSERT INTO memory_episodes
           (id, user_no, role, memory_no, session_no, turn_number, receipt_id, happened_at, outcome, kind, project,
            task_id, caller_id, task_name, trigger, title, tags, summary)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
        values![
            episode.id,
            scope.user_no,
            episode.role,
            episode.memory_no,
            session_no,
            episode.turn_number,
            episode.receipt_id,
            episode.happened_at,
            episode.outcome,
            episode.kind,
            episode.project,
            episode.task_id,
            episode.caller_id,
            episode.task_name,
            episode.trigger,
            episode.title,
            serde_json::json!(episode.tags).to_string(),
            episode.summary,
        ],
        RowExpectation::Any,
    )
}

/// The sessions that have been extracted, in order, and when.
pub(crate) fn extracted(sql: &dyn Sql, scope: &Scope) -> Result<Vec<(SessionId, StoredTime)>> {
    let read = |row: &SqlRow<'_>| Ok((row.get(0)?, row.get(1)?));
    sql.list(
        "SELECT s.id, x.extracted_at FROM extracted_sessions AS x
         JOIN conversation_sessions AS s ON s.session_no = x.session_no
         WHERE x.user_no = ?1 AND s.user_id = ?2 ORDER BY x.session_no",
        values![scope.user_no, scope.user_id],
        read,
    )
}

pub(crate) fn insert_extracted(
    sql: &dyn Sql,
    scope: &Scope,
    session_no: SessionNo,
    extracted_at: StoredTime,
) -> Result<()> {
    sql.put(
        "INSERT INTO extracted_sessions (user_no, session_no, extracted_at) VALUES (?1, ?2, ?3)",
        values![scope.user_no, session_no, extracted_at],
        RowExpectation::Any,
    )
}

/// Queries for the user who owns an id, one for each table. Ids are unique in a file, across all users.
pub(crate) const OWNER_OF_MEMORY: &str = "SELECT user_no FROM user_memories WHERE id = ?1";
pub(crate) const OWNER_OF_EDGE: &str = "SELECT user_no FROM memory_edges WHERE id = ?1";
pub(crate) const OWNER_OF_EPISODE: &str = "SELECT user_no FROM memory_episodes WHERE id = ?1";
pub(crate) const OWNER_OF_REVIEW: &str = "SELECT user_no FROM memory_reviews WHERE id = ?1";
