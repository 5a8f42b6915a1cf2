//! Rows of `conversation_sessions`.

use chrono::{DateTime, Utc};
use rusqlite::{OptionalExtension, Row, params};

use crate::{
    error::{Error, ErrorKind, Result},
    model::{
        ids::SessionId,
        session::{EndReason, SessionInfo},
        tier::MemoryTier,
    },
    store::{columns::Instant, rows::users, scope::Scope, sql::Sql},
};

/// A session with the short key that its turns lie under.
#[derive(Clone, Debug)]
pub(crate) struct SessionRow {
    pub(crate) session_no: i64,
    /// The user's.
    epoch: i64,
    pub(crate) info: SessionInfo,
}

impl SessionRow {
    /// What a hot tier read now is to be remembered with.
    pub(crate) fn version(&self) -> Version {
        let is_open = self.info.ended_at.is_none();
        Version { epoch: self.epoch, turn_count: self.info.turn_count, is_open }
    }
}

/// In the order of [`read`], which counts them instead of naming them: a context reads its session a few times.
const COLUMNS: &str = "session_no, id, caller_id, part, project, started_at, ended_at, end_reason, successor_id, \
    turn_count, total_tokens, memory_tier, last_active_at, \
    (SELECT u.epoch FROM user_scopes AS u WHERE u.user_id = conversation_sessions.user_id) AS epoch";

fn read(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    Ok(SessionRow {
        session_no: row.get(0)?,
        info: SessionInfo {
            id: row.get(1)?,
            caller_id: row.get(2)?,
            part: row.get(3)?,
            project: row.get(4)?,
            started_at: row.get::<_, Instant>(5)?.0,
            ended_at: row.get::<_, Option<Instant>>(6)?.map(|at| at.0),
            end_reason: row.get(7)?,
            successor_id: row.get(8)?,
            turn_count: row.get(9)?,
            total_tokens: row.get(10)?,
            memory_tier: row.get(11)?,
            last_active_at: row.get::<_, Instant>(12)?.0,
        },
        epoch: row.get(13)?,
    })
}

pub(crate) fn by_id(conn: &dyn Sql, scope: &Scope, id: SessionId) -> Result<Option<SessionRow>> {
    let mut stmt = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM conversation_sessions WHERE id = ?1 AND user_id = ?2"
    ))?;
    Ok(stmt.query_row(params![id, scope.user_id], read).optional()?)
}

/// The session, which must be there.
pub(crate) fn existing(conn: &dyn Sql, scope: &Scope, id: SessionId) -> Result<SessionRow> {
    by_id(conn, scope, id)?.ok_or_else(no_session)
}

/// The last part of the session with the caller's key.
pub(crate) fn by_caller_id(conn: &dyn Sql, scope: &Scope, caller_id: &str) -> Result<Option<SessionRow>> {
    let mut stmt = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM conversation_sessions WHERE user_id = ?1 AND caller_id = ?2
         ORDER BY part DESC LIMIT 1"
    ))?;
    Ok(stmt.query_row(params![scope.user_id, caller_id], read).optional()?)
}

/// The open unnamed sessions, newest first.
pub(crate) fn open_unnamed(conn: &dyn Sql, scope: &Scope) -> Result<Vec<SessionRow>> {
    let mut stmt = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM conversation_sessions
         WHERE user_id = ?1 AND ended_at IS NULL AND caller_id IS NULL ORDER BY session_no DESC"
    ))?;
    let rows = stmt.query_map(params![scope.user_id], read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// A user's sessions, newest first.
pub(crate) fn list(conn: &dyn Sql, scope: &Scope) -> Result<Vec<SessionRow>> {
    let mut stmt = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM conversation_sessions WHERE user_id = ?1 ORDER BY session_no DESC"
    ))?;
    let rows = stmt.query_map(params![scope.user_id], read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The session in which a talk goes on by now: this one, or the last of its successors.
pub(crate) fn latest(conn: &dyn Sql, scope: &Scope, mut session: SessionRow) -> Result<SessionRow> {
    while let Some(id) = session.info.successor_id {
        let next = by_id(conn, scope, id)?.filter(|next| next.session_no > session.session_no);
        session = next.ok_or_else(|| {
            Error::new(ErrorKind::Corrupt, "a session's successor is missing or older than it; run doctor")
        })?;
    }
    Ok(session)
}

/// Starts a session. The user may have gone since its handle was made: a backend can delete it.
pub(crate) fn insert(
    tx: &dyn Sql,
    scope: &Scope,
    (caller_id, part): (Option<&str>, u32),
    project: Option<&str>,
    now: DateTime<Utc>,
) -> Result<SessionRow> {
    users::check_is_there(tx, scope)?;
    let id = SessionId::new(now);
    let made = tx
        .prepare_cached(
            "INSERT INTO conversation_sessions (id, user_id, caller_id, part, project, started_at, last_active_at)
             SELECT ?1, user_id, ?3, ?4, ?5, ?6, ?6 FROM user_scopes WHERE user_id = ?2",
        )?
        .execute(params![id, scope.user_id, caller_id, part, project, Instant(now)])?;
    if made == 0 {
        return Err(users::gone());
    }
    existing(tx, scope, id)
}

/// Writes a session that was exported, and returns its number here.
pub(crate) fn insert_imported(tx: &dyn Sql, scope: &Scope, session: &SessionInfo) -> Result<i64> {
    tx.prepare_cached(
        "INSERT INTO conversation_sessions
           (id, user_id, caller_id, part, project, started_at, ended_at, end_reason, successor_id, turn_count,
            total_tokens, memory_tier, last_active_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )?
    .execute(params![
        session.id,
        scope.user_id,
        session.caller_id,
        session.part,
        session.project,
        Instant(session.started_at),
        session.ended_at.map(Instant),
        session.end_reason,
        session.successor_id,
        session.turn_count,
        session.total_tokens,
        session.memory_tier,
        Instant(session.last_active_at),
    ])?;
    Ok(tx.last_insert_rowid())
}

pub(crate) fn no_session() -> Error {
    Error::not_found("this user has no such session")
}

/// Counts one more turn. The first one says when the session started.
pub(crate) fn count_turn(
    tx: &dyn Sql,
    scope: &Scope,
    session_no: i64,
    total_tokens: u32,
    said_at: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Result<()> {
    tx.prepare_cached(
        "UPDATE conversation_sessions
         SET turn_count = turn_count + 1, total_tokens = total_tokens + ?3, last_active_at = ?5,
             started_at = CASE turn_count WHEN 0 THEN ?4 ELSE started_at END
         WHERE session_no = ?1 AND user_id = ?2",
    )?
    .execute(params![session_no, scope.user_id, total_tokens, Instant(said_at), Instant(now)])?;
    Ok(())
}

/// Ends a session; its turns are moved by the caller, in the same transaction.
pub(crate) fn set_ended(
    tx: &dyn Sql,
    scope: &Scope,
    session_no: i64,
    reason: EndReason,
    ended_at: DateTime<Utc>,
) -> Result<()> {
    tx.prepare_cached(
        "UPDATE conversation_sessions SET ended_at = ?3, end_reason = ?4, memory_tier = 'warm'
         WHERE session_no = ?1 AND user_id = ?2 AND ended_at IS NULL",
    )?
    .execute(params![session_no, scope.user_id, Instant(ended_at), reason])?;
    Ok(())
}

/// Removes a session of which nothing is left. A talk that went on in it goes on in its successor.
pub(crate) fn remove(tx: &dyn Sql, scope: &Scope, session: &SessionRow) -> Result<()> {
    tx.prepare_cached(
        "UPDATE conversation_sessions SET successor_id = ?3 WHERE successor_id = ?1 AND user_id = ?2",
    )?
    .execute(params![session.info.id, scope.user_id, session.info.successor_id])?;
    tx.prepare_cached("DELETE FROM conversation_sessions WHERE session_no = ?1 AND user_id = ?2")?
        .execute(params![session.session_no, scope.user_id])?;
    Ok(())
}

/// Open sessions behind a place that have been silent since before `cutoff`, with the users they belong to.
pub(crate) fn silent(
    conn: &dyn Sql,
    cutoff: DateTime<Utc>,
    after: i64,
    limit: u32,
) -> Result<Vec<(i64, Scope, SessionId)>> {
    let mut stmt = conn.prepare_cached(
        "SELECT s.session_no AS session_no, s.user_id AS user_id, u.user_no AS user_no, s.id AS id
         FROM conversation_sessions AS s JOIN user_scopes AS u ON u.user_id = s.user_id
         WHERE s.ended_at IS NULL AND s.turn_count > 0 AND s.last_active_at <= ?1 AND s.session_no > ?2
         ORDER BY s.session_no LIMIT ?3",
    )?;
    let rows = stmt.query_map(params![Instant(cutoff), after, limit], |row| {
        let scope = Scope { user_id: row.get("user_id")?, user_no: row.get("user_no")? };
        Ok((row.get("session_no")?, scope, row.get("id")?))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Ends open sessions by call, one or all of a user's, as they are: they are to be erased.
pub(crate) fn close(
    tx: &dyn Sql,
    scope: &Scope,
    session: Option<SessionId>,
    now: DateTime<Utc>,
) -> Result<()> {
    tx.prepare_cached(
        "UPDATE conversation_sessions SET ended_at = coalesce(ended_at, ?3), end_reason = 'call', memory_tier = 'warm',
           successor_id = NULL
         WHERE user_id = ?1 AND (id = ?2 OR ?2 IS NULL) AND ended_at IS NULL",
    )?
    .execute(params![scope.user_id, session, Instant(now)])?;
    Ok(())
}

/// Says of an ended session that all of it is in cold, or that it is again as it was when it ended: warm.
pub(crate) fn set_tier(tx: &dyn Sql, scope: &Scope, session_no: i64, tier: MemoryTier) -> Result<()> {
    tx.prepare_cached(
        "UPDATE conversation_sessions SET memory_tier = ?3
         WHERE session_no = ?1 AND user_id = ?2 AND ended_at IS NOT NULL",
    )?
    .execute(params![session_no, scope.user_id, tier])?;
    Ok(())
}

/// Says that a session which silence had ended was ended by call after all: nothing goes on from it.
pub(crate) fn set_ended_by_call(tx: &dyn Sql, scope: &Scope, session_no: i64) -> Result<()> {
    tx.prepare_cached(
        "UPDATE conversation_sessions SET end_reason = 'call'
         WHERE session_no = ?1 AND user_id = ?2 AND ended_at IS NOT NULL",
    )?
    .execute(params![session_no, scope.user_id])?;
    Ok(())
}

pub(crate) fn set_successor(
    tx: &dyn Sql,
    scope: &Scope,
    session_no: i64,
    successor: SessionId,
) -> Result<()> {
    tx.prepare_cached(
        "UPDATE conversation_sessions SET successor_id = ?3 WHERE session_no = ?1 AND user_id = ?2",
    )?
    .execute(params![session_no, scope.user_id, successor])?;
    Ok(())
}

pub(crate) fn set_project(tx: &dyn Sql, scope: &Scope, id: SessionId, project: Option<&str>) -> Result<bool> {
    let changed = tx
        .prepare_cached("UPDATE conversation_sessions SET project = ?3 WHERE id = ?1 AND user_id = ?2")?
        .execute(params![id, scope.user_id, project])?;
    Ok(changed > 0)
}

/// What tells whether a cached hot tier is still the file's. Erase raises the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Version {
    pub(crate) epoch: i64,
    pub(crate) turn_count: u32,
    pub(crate) is_open: bool,
}

/// The session's version; `None` if there is no such session.
pub(crate) fn version(conn: &dyn Sql, scope: &Scope, id: SessionId) -> Result<Option<Version>> {
    let mut stmt = conn.prepare_cached(
        "SELECT u.epoch AS epoch, s.turn_count AS turn_count, s.ended_at IS NULL AS is_open
         FROM conversation_sessions AS s JOIN user_scopes AS u ON u.user_id = s.user_id
         WHERE s.id = ?1 AND s.user_id = ?2",
    )?;
    let read = |row: &Row<'_>| {
        Ok(Version {
            epoch: row.get("epoch")?,
            turn_count: row.get("turn_count")?,
            is_open: row.get("is_open")?,
        })
    };
    Ok(stmt.query_row(params![id, scope.user_id], read).optional()?)
}

/// The columns of a session and what reads them, for doctor: it looks at the rows of all users.
pub(crate) fn row_reader() -> (&'static str, fn(&Row<'_>) -> rusqlite::Result<SessionRow>) {
    (COLUMNS, read)
}
