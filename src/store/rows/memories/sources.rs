//! Rows of `memory_sources`: what memories were made from.

use uuid::Uuid;

use crate::{
    error::Result,
    model::{
        ids::{MemoryId, TurnId},
        place::{MemoryNo, Seq, SessionNo},
        stored_time::StoredTime,
        turn::Origin,
    },
    store::{
        scope::Scope,
        sql::{RowExpectation, Sql, values},
    },
};

/// A source of a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourceRow {
    pub(crate) from: SourceFrom,
    /// Whose words the source has.
    pub(crate) origin: Origin,
    /// Who found the source: `caller`, `import`, `rules`, or the name of LLM#1.
    pub(crate) made_by: String,
    pub(crate) said_at: StoredTime,
    /// The words in the turn that prove what the memory says. Empty if there are none.
    pub(crate) quote: String,
}

/// Where a source comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourceFrom {
    Turn(TurnId, Seq),
    Memory(MemoryId),
    /// A call, by an id that was made for it.
    Caller(Uuid),
}

impl SourceFrom {
    fn columns(&self) -> (&'static str, &Uuid, Option<Seq>) {
        match self {
            Self::Turn(turn, seq) => ("turn", turn.as_uuid(), Some(*seq)),
            Self::Memory(memory) => ("memory", memory.as_uuid(), None),
            Self::Caller(id) => ("caller", id, None),
        }
    }
}

/// Records a source of a memory. If the memory already has this source, it stays unchanged.
pub(crate) fn insert(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo, source: &SourceRow) -> Result<()> {
    let (kind, id, seq) = source.from.columns();
    sql.put(
        "INSERT INTO memory_sources
           (user_no, memory_no, source_kind, source_id, origin, made_by, seq, said_at, quote)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
         ON CONFLICT (user_no, memory_no, source_kind, source_id) DO NOTHING",
        values![
            scope.user_no,
            memory_no,
            kind,
            id.as_bytes(),
            source.origin,
            source.made_by,
            seq,
            source.said_at,
            source.quote,
        ],
        RowExpectation::Any,
    )
}

/// The memories that were made from a turn or a memory.
pub(crate) fn made_of(sql: &dyn Sql, scope: &Scope, source: &Uuid) -> Result<Vec<MemoryNo>> {
    sql.list(
        "SELECT memory_no FROM memory_sources WHERE user_no = ?1 AND source_id = ?2 ORDER BY memory_no",
        values![scope.user_no, source.as_bytes()],
        |row| row.get(0),
    )
}

/// The turns of a session that memories rest on.
pub(crate) fn turns_of_session(sql: &dyn Sql, scope: &Scope, session_no: SessionNo) -> Result<Vec<TurnId>> {
    sql.list(
        "SELECT DISTINCT s.source_id FROM memory_sources AS s
         JOIN recall_units AS r ON r.user_no = s.user_no AND r.seq = s.seq
         WHERE s.user_no = ?1 AND s.source_kind = 'turn' AND r.session_no = ?2",
        values![scope.user_no, session_no],
        |row| row.get(0),
    )
}

/// Whether a memory counts as made by a job or a merge: its learning source is not `manual`, and no caller has become a
/// source since, by changing its text or by saving it again.
pub(crate) fn is_of_a_job(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<bool> {
    sql.scalar(
        "SELECT EXISTS (SELECT 1 FROM user_memories AS m
                        WHERE m.user_no = ?1 AND m.memory_no = ?2 AND m.learning_source <> 'manual'
                          AND NOT EXISTS (SELECT 1 FROM memory_sources AS s
                                          WHERE s.user_no = m.user_no AND s.memory_no = m.memory_no
                                            AND s.source_kind = 'caller'))",
        values![scope.user_no, memory_no],
    )
}

/// Removes a turn or a memory from the sources of all memories.
pub(crate) fn remove(sql: &dyn Sql, scope: &Scope, source: &Uuid) -> Result<()> {
    sql.put(
        "DELETE FROM memory_sources WHERE user_no = ?1 AND source_id = ?2",
        values![scope.user_no, source.as_bytes()],
        RowExpectation::Any,
    )
}
