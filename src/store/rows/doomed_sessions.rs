//! Sessions that are erased, or of which something is erased: only the columns that an erase needs are read, so that it works
//! whatever the others hold.

use crate::{
    error::Result,
    model::{ids::SessionId, memory::trust::Trust, place::SessionNo, stored_time::StoredTime},
    store::{
        rows::sessions,
        scope::Scope,
        sql::{RowExpectation, Sql, SqlRow, values},
    },
};

/// What an erase reads of a session.
pub(crate) struct DoomedSession {
    pub(crate) session_no: SessionNo,
    pub(crate) id: SessionId,
    /// 0 if the row does not say it.
    pub(crate) turn_count: u32,
    /// The user's if the row does not say it.
    pub(crate) trust: Trust,
    successor_id: Option<SessionId>,
}

macro_rules! select {
    ($which:literal) => {
        concat!(
            "SELECT session_no, id, turn_count, trust, successor_id FROM conversation_sessions
             WHERE user_id = ?1 AND ",
            $which
        )
    };
}

fn read(row: &SqlRow<'_>) -> Result<DoomedSession> {
    Ok(DoomedSession {
        session_no: row.get(0)?,
        id: row.get(1)?,
        turn_count: row.get(2).unwrap_or(0),
        trust: Trust::of_stored(row.get(3).unwrap_or(None)),
        successor_id: row.get(4).unwrap_or(None),
    })
}

/// A session to erase, or of which something is erased.
pub(crate) fn by_id(sql: &dyn Sql, scope: &Scope, id: SessionId) -> Result<Option<DoomedSession>> {
    sql.one(select!("id = ?2"), values![scope.user_id, id], read)
}

/// Like [`by_id`], by the session's number.
pub(crate) fn by_no(sql: &dyn Sql, scope: &Scope, no: SessionNo) -> Result<Option<DoomedSession>> {
    sql.one(select!("session_no = ?2"), values![scope.user_id, no], read)
}

/// Fails if the user has no such session. Its row need not be readable.
pub(crate) fn check_exists(sql: &dyn Sql, scope: &Scope, id: SessionId) -> Result<()> {
    by_id(sql, scope, id)?.map(drop).ok_or_else(sessions::no_session)
}

/// Ends one or all of a user's open sessions by call. Their turns do not move, because they will be erased. A session whose
/// damaged row cannot be written stays open, and for the same reason nothing can be recorded in it.
pub(crate) fn close(sql: &dyn Sql, scope: &Scope, session: Option<SessionId>, now: StoredTime) -> Result<()> {
    let open: Vec<SessionNo> = sql.list(
        "SELECT session_no FROM conversation_sessions
         WHERE user_id = ?1 AND id = coalesce(?2, id) AND ended_at IS NULL",
        values![scope.user_id, session],
        |row| row.get(0),
    )?;
    open.into_iter().try_for_each(|session_no| {
        sql.change_unless_damaged(
            "UPDATE conversation_sessions
             SET ended_at = ?3, end_reason = 'call', memory_tier = 'warm', successor_id = NULL
             WHERE session_no = ?1 AND user_id = ?2",
            values![session_no, scope.user_id, now],
        )
    })
}

/// Counts a turn with these tokens as erased from a session.
pub(crate) fn count_erased(sql: &dyn Sql, scope: &Scope, session_no: SessionNo, tokens: u32) -> Result<()> {
    sql.change_unless_damaged(
        "UPDATE conversation_sessions
         SET total_tokens = CASE WHEN total_tokens > ?3 THEN total_tokens - ?3 ELSE 0 END,
             erased_turns = coalesce(erased_turns, 0) + 1
         WHERE session_no = ?1 AND user_id = ?2",
        values![session_no, scope.user_id, tokens],
    )
}

/// Removes a session of which nothing is left. A session that had it as its successor gets the removed session's successor.
pub(crate) fn remove(sql: &dyn Sql, scope: &Scope, session: &DoomedSession) -> Result<()> {
    sql.change_unless_damaged(
        "UPDATE conversation_sessions SET successor_id = ?3 WHERE successor_id = ?1 AND user_id = ?2",
        values![session.id, scope.user_id, session.successor_id],
    )?;
    sql.put(
        "DELETE FROM conversation_sessions WHERE session_no = ?1 AND user_id = ?2",
        values![session.session_no, scope.user_id],
        RowExpectation::Any,
    )
}
