//! Finds the memories that came from a source: a session, a call, or an origin.

use uuid::Uuid;

use crate::{
    error::Result,
    model::{
        memory::{trust::Trust, words::MemoryStatus},
        place::{MemoryNo, SessionNo},
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

/// The memories that were saved from a session and are trusted less than this.
pub(crate) fn born_in(
    sql: &dyn Sql,
    scope: &Scope,
    session_no: SessionNo,
    below: Trust,
) -> Result<Vec<MemoryNo>> {
    sql.list(
        "SELECT m.memory_no FROM memory_episodes AS e
         JOIN user_memories AS m ON m.user_no = e.user_no AND m.memory_no = e.memory_no
         WHERE e.user_no = ?1 AND e.session_no = ?2 AND e.role = 'birth' AND m.trust < ?3 ORDER BY m.memory_no",
        values![scope.user_no, session_no, below.number()],
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
