//! Rows of `extracted_sessions`, and what else extraction reads: memories that contain given words, and the uses noted in a
//! session.

use crate::{
    error::Result,
    model::{
        ids::{MemoryId, ReceiptId},
        place::{MemoryNo, SessionNo},
        stored_time::StoredTime,
    },
    store::{
        scope::Scope,
        sql::{RowExpectation, Sql, values},
    },
};

/// Whether a session has been extracted.
pub(crate) fn is_extracted(sql: &dyn Sql, scope: &Scope, session_no: SessionNo) -> Result<bool> {
    sql.scalar(
        "SELECT EXISTS (SELECT 1 FROM extracted_sessions WHERE user_no = ?1 AND session_no = ?2)",
        values![scope.user_no, session_no],
    )
}

/// Records that a session has been extracted.
pub(crate) fn insert(
    sql: &dyn Sql,
    scope: &Scope,
    session_no: SessionNo,
    extracted_at: StoredTime,
) -> Result<()> {
    sql.put(
        "INSERT INTO extracted_sessions (user_no, session_no, extracted_at) VALUES (?1, ?2, ?3)
         ON CONFLICT (user_no, session_no) DO NOTHING",
        values![scope.user_no, session_no, extracted_at],
        RowExpectation::Any,
    )
}

/// The texts of the newest 500 active, forgotten and quarantined memories that contain one of these words. The words must be
/// in lower case and consist only of letters and digits.
pub(crate) fn with_words(sql: &dyn Sql, scope: &Scope, words: [&str; 3]) -> Result<Vec<String>> {
    let [one, two, three] = words.map(|word| format!("%{word}%"));
    sql.list(
        "SELECT content || ' ' || coalesce(procedure, '') FROM user_memories
         WHERE user_no = ?1 AND status IN ('active', 'forgotten', 'quarantined') AND session_no IS NULL
           AND (lower(content) LIKE ?2 OR lower(content) LIKE ?3 OR lower(content) LIKE ?4)
         ORDER BY memory_no DESC LIMIT 500",
        values![scope.user_no, one, two, three],
        |row| row.get(0),
    )
}

/// A use of a memory from a context that a turn answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NotedUse {
    pub(crate) memory_no: MemoryNo,
    pub(crate) memory_id: MemoryId,
    pub(crate) receipt_id: ReceiptId,
    pub(crate) turn_number: u32,
    pub(crate) is_rated: bool,
}

/// The uses noted in a session, in the order of its turns.
pub(crate) fn noted_uses(sql: &dyn Sql, scope: &Scope, session_no: SessionNo) -> Result<Vec<NotedUse>> {
    sql.list(
        "SELECT e.memory_no, m.id, e.receipt_id, e.turn_number, e.outcome IS NOT NULL
         FROM memory_episodes AS e JOIN user_memories AS m ON m.user_no = e.user_no AND m.memory_no = e.memory_no
         WHERE e.user_no = ?1 AND e.session_no = ?2 AND e.role = 'use' AND e.turn_number IS NOT NULL
           AND e.receipt_id IS NOT NULL AND m.status IN ('active', 'archived', 'superseded')
         ORDER BY e.turn_number, e.episode_no",
        values![scope.user_no, session_no],
        |row| {
            Ok(NotedUse {
                memory_no: row.get(0)?,
                memory_id: row.get(1)?,
                receipt_id: row.get(2)?,
                turn_number: row.get(3)?,
                is_rated: row.get(4)?,
            })
        },
    )
}

/// Removes at most `limit` unrated uses noted in a session, and returns how many it removed. They stay counted, because they
/// were counted when they were noted.
pub(crate) fn remove_unrated(sql: &dyn Sql, scope: &Scope, session_no: SessionNo, limit: u32) -> Result<u64> {
    sql.change(
        "DELETE FROM memory_episodes WHERE user_no = ?1 AND episode_no IN
           (SELECT episode_no FROM memory_episodes WHERE user_no = ?1 AND session_no = ?2 AND role = 'use'
              AND outcome IS NULL AND turn_number IS NOT NULL LIMIT ?3)",
        values![scope.user_no, session_no, limit],
    )
}
