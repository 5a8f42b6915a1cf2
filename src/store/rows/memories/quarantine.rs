//! Finds the memories that came from a source: a session, a call, or an origin.

use uuid::Uuid;

use crate::{
    error::Result,
    model::{
        ids::{GroupId, SessionId},
        memory::words::MemoryStatus,
        place::{MemoryNo, Seq, SessionNo},
        turn::Origin,
    },
    store::{
        scope::Scope,
        sql::{Sql, values},
    },
};

/// The memories that were made from turns of a session.
pub(crate) fn made_of_session(sql: &dyn Sql, scope: &Scope, session_no: SessionNo) -> Result<Vec<MemoryNo>> {
    sql.list(
        "SELECT DISTINCT q.memory_no FROM memory_sources AS q
         JOIN recall_units AS r ON r.user_no = q.user_no AND r.seq = q.seq
         WHERE q.user_no = ?1 AND q.source_kind = 'turn' AND r.session_no = ?2 ORDER BY q.memory_no",
        values![scope.user_no, session_no],
        |row| row.get(0),
    )
}

/// The memories that were saved from a session.
pub(crate) fn born_in(sql: &dyn Sql, scope: &Scope, session_no: SessionNo) -> Result<Vec<MemoryNo>> {
    sql.list(
        "SELECT memory_no FROM memory_episodes
         WHERE user_no = ?1 AND session_no = ?2 AND role = 'birth' AND memory_no IS NOT NULL ORDER BY memory_no",
        values![scope.user_no, session_no],
        |row| row.get(0),
    )
}

/// Whether a memory has the words of a tool, a document or the assistant, and no person approved it.
pub(crate) fn is_of_others(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<bool> {
    sql.scalar(
        "SELECT EXISTS (SELECT 1 FROM user_memories
                        WHERE user_no = ?1 AND memory_no = ?2 AND trust < 4
                          AND origin IN ('assistant', 'tool', 'document'))",
        values![scope.user_no, memory_no],
    )
}

/// The session of a turn's unit.
pub(crate) fn session_of(sql: &dyn Sql, scope: &Scope, seq: Seq) -> Result<Option<SessionId>> {
    sql.one(
        "SELECT s.id FROM recall_units AS r
         JOIN conversation_sessions AS s ON s.session_no = r.session_no AND s.user_id = ?3
         WHERE r.user_no = ?1 AND r.seq = ?2",
        values![scope.user_no, seq, scope.user_id],
        |row| row.get(0),
    )
}

/// The newest quarantine with this reason that is not lifted, whatever is said after the reason about why. `None` if nothing
/// that it hid is hidden.
pub(crate) fn of_source(sql: &dyn Sql, scope: &Scope, reason: &str) -> Result<Option<GroupId>> {
    sql.one(
        "SELECT c.group_id FROM user_memories AS m
         JOIN memory_changes AS c ON c.user_no = m.user_no AND c.memory_no = m.memory_no
         WHERE m.user_no = ?1 AND m.status = 'quarantined' AND c.op = 'status' AND c.new_value = 'quarantined'
           AND c.undone_by IS NULL AND (c.reason = ?2 OR c.reason LIKE ?3)
         ORDER BY c.made_at DESC, c.change_no DESC LIMIT 1",
        values![scope.user_no, reason, format!("{reason}:%")],
        |row| row.get(0),
    )
}

/// The memories that one call saved, confirmed or imported.
pub(crate) fn of_call(sql: &dyn Sql, scope: &Scope, call: &Uuid) -> Result<Vec<MemoryNo>> {
    sql.list(
        "SELECT memory_no FROM memory_sources
         WHERE user_no = ?1 AND source_id = ?2 AND source_kind IN ('caller', 'import') ORDER BY memory_no",
        values![scope.user_no, call.as_bytes()],
        |row| row.get(0),
    )
}

/// The memories with words of an origin that are not in quarantine yet.
pub(crate) fn of_origin(sql: &dyn Sql, scope: &Scope, origin: Origin) -> Result<Vec<MemoryNo>> {
    sql.list(
        "SELECT memory_no FROM user_memories WHERE user_no = ?1 AND origin = ?2 AND status <> ?3 ORDER BY memory_no",
        values![scope.user_no, origin, MemoryStatus::Quarantined],
        |row| row.get(0),
    )
}
