//! Rows of `conversation_sessions`.

use crate::{
    error::{Error, ErrorKind, Result},
    model::{
        ids::{SessionId, TurnId},
        memory::trust::Trust,
        page,
        place::{Place, SessionNo},
        session::{EndReason, SessionInfo},
        stored_time::StoredTime,
        tier::MemoryTier,
        turn::Origin,
    },
    store::{
        rows::{row_check, users},
        scope::Scope,
        sql::{Flow, RowExpectation, Sql, SqlRow, missing, values},
    },
};

/// A session with the short key under which its turns are stored.
#[derive(Clone, Debug)]
pub(crate) struct SessionRow {
    pub(crate) session_no: SessionNo,
    /// The user's epoch.
    epoch: i64,
    pub(crate) info: SessionInfo,
}

impl SessionRow {
    /// The place of one of the session's turns.
    pub(crate) fn place(&self, turn_number: u32) -> Place {
        self.session_no.turn(turn_number)
    }

    /// The place of the message that waits for its reply: after all turns.
    pub(crate) fn waiting(&self) -> Option<Place> {
        self.info.incomplete_turn.map(|_| self.place(self.info.turn_count + 1))
    }

    /// Trusts the session as far as something that is recorded in it, if that is more.
    pub(crate) fn raise(&mut self, trust: Trust) {
        self.info.trust = self.info.trust.max(trust);
    }

    /// Counts one more turn. The first one sets when the session started.
    pub(crate) fn count(&mut self, total_tokens: u32, said_at: StoredTime, now: StoredTime) {
        let info = &mut self.info;
        if info.turn_count == 0 {
            info.started_at = *said_at;
        }
        info.turn_count += 1;
        info.total_tokens += u64::from(total_tokens);
        info.last_active_at = *now;
    }

    /// The version with which a hot tier read now should be cached.
    pub(crate) fn version(&self) -> Version {
        let is_open = self.info.ended_at.is_none();
        let SessionInfo { turn_count, incomplete_turn, .. } = self.info;
        Version { epoch: self.epoch, turn_count, incomplete_turn, is_open }
    }
}

/// The columns for [`read`].
macro_rules! columns {
    () => {
        "session_no, id, caller_id, part, project, started_at, ended_at, end_reason, successor_id, turn_count, \
         total_tokens, memory_tier, last_active_at, \
         (SELECT u.epoch FROM user_scopes AS u WHERE u.user_id = conversation_sessions.user_id) AS epoch, \
         erased_turns, (SELECT a.id FROM turns_aside AS a \
                        WHERE a.session_id = conversation_sessions.id AND a.replaced_by IS NULL) AS incomplete_turn, \
         title, metadata, trust"
    };
}

fn read(row: &SqlRow<'_>) -> Result<SessionRow> {
    Ok(SessionRow {
        session_no: row.get(0)?,
        info: SessionInfo {
            id: row.get(1)?,
            caller_id: row.get(2)?,
            part: row.get(3)?,
            project: row.get(4)?,
            started_at: row.get(5)?,
            ended_at: row.get(6)?,
            end_reason: row.get(7)?,
            successor_id: row.get(8)?,
            turn_count: row.get(9)?,
            erased_turns: row.get::<Option<u32>>(14)?.unwrap_or(0),
            incomplete_turn: row.get(15)?,
            total_tokens: row.get(10)?,
            memory_tier: row.get(11)?,
            last_active_at: row.get(12)?,
            title: row.get(16)?,
            metadata: row.get(17)?,
            trust: Trust::of_stored(row.get(18)?),
        },
        epoch: row.get(13)?,
    })
}

pub(crate) fn by_id(sql: &dyn Sql, scope: &Scope, id: SessionId) -> Result<Option<SessionRow>> {
    sql.one(
        concat!("SELECT ", columns!(), " FROM conversation_sessions WHERE id = ?1 AND user_id = ?2"),
        values![id, scope.user_id],
        read,
    )
}

/// The session. Errors: it does not exist.
pub(crate) fn existing(sql: &dyn Sql, scope: &Scope, id: SessionId) -> Result<SessionRow> {
    by_id(sql, scope, id)?.ok_or_else(no_session)
}

/// The latest part of the session with the caller's key.
pub(crate) fn by_caller_id(sql: &dyn Sql, scope: &Scope, caller_id: &str) -> Result<Option<SessionRow>> {
    sql.one(
        concat!(
            "SELECT ",
            columns!(),
            " FROM conversation_sessions WHERE user_id = ?1 AND caller_id = ?2 ORDER BY part DESC LIMIT 1"
        ),
        values![scope.user_id, caller_id],
        read,
    )
}

/// The ids of all parts of the session with the caller's key, newest first. Their rows need not be readable.
pub(crate) fn parts(sql: &dyn Sql, scope: &Scope, caller_id: &str) -> Result<Vec<SessionId>> {
    sql.list(
        "SELECT id FROM conversation_sessions WHERE user_id = ?1 AND caller_id = ?2 ORDER BY part DESC",
        values![scope.user_id, caller_id],
        |row| row.get(0),
    )
}

/// The open unnamed sessions, the last added first.
pub(crate) fn open_unnamed(sql: &dyn Sql, scope: &Scope) -> Result<Vec<SessionRow>> {
    sql.list(
        concat!(
            "SELECT ",
            columns!(),
            " FROM conversation_sessions
             WHERE user_id = ?1 AND ended_at IS NULL AND caller_id IS NULL ORDER BY session_no DESC"
        ),
        values![scope.user_id],
        read,
    )
}

/// At most `limit` of a user's sessions that were added before the given one, the last added first. `None` starts with the
/// last added.
pub(crate) fn page(
    sql: &dyn Sql,
    scope: &Scope,
    after: Option<SessionId>,
    limit: u32,
) -> Result<Vec<SessionRow>> {
    let before = match after {
        Some(id) => by_id(sql, scope, id)?.ok_or_else(|| page::nothing_there("session"))?.session_no,
        None => SessionNo(i64::MAX),
    };
    sql.list(
        concat!(
            "SELECT ",
            columns!(),
            " FROM conversation_sessions WHERE user_id = ?1 AND session_no < ?2 ORDER BY session_no DESC LIMIT ?3"
        ),
        values![scope.user_id, before, limit],
        read,
    )
}

/// All of a user's sessions, the last added first.
pub(crate) fn list(sql: &dyn Sql, scope: &Scope) -> Result<Vec<SessionRow>> {
    sql.list(
        concat!(
            "SELECT ",
            columns!(),
            " FROM conversation_sessions WHERE user_id = ?1 ORDER BY session_no DESC"
        ),
        values![scope.user_id],
        read,
    )
}

/// The user's sessions that are filed under a project.
pub(crate) fn of_project(sql: &dyn Sql, scope: &Scope, project: &str) -> Result<Vec<SessionNo>> {
    sql.list(
        "SELECT session_no FROM conversation_sessions WHERE user_id = ?1 AND project = ?2",
        values![scope.user_id, project],
        |row| row.get(0),
    )
}

/// The session in which the conversation continues: this one, or the last of its successors.
pub(crate) fn latest(sql: &dyn Sql, scope: &Scope, mut session: SessionRow) -> Result<SessionRow> {
    while let Some(id) = session.info.successor_id {
        let next = by_id(sql, scope, id)?.filter(|next| next.session_no > session.session_no);
        session = next.ok_or_else(|| {
            Error::new(ErrorKind::Corrupt, "a session's successor is missing or older than it; run doctor")
        })?;
    }
    Ok(session)
}

/// A session to start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewSession<'s> {
    pub(crate) caller_id: Option<&'s str>,
    pub(crate) part: u32,
    pub(crate) project: Option<&'s str>,
    pub(crate) trust: Trust,
}

impl<'s> NewSession<'s> {
    /// The first part of a session with this key, opened by `by`.
    pub(crate) fn opened(caller_id: Option<&'s str>, by: Origin) -> Self {
        Self { caller_id, part: 1, project: None, trust: Trust::of(by) }
    }
}

/// Starts a session, unless its user is gone or being erased.
pub(crate) fn insert(
    sql: &dyn Sql,
    scope: &Scope,
    new: &NewSession<'_>,
    now: StoredTime,
) -> Result<SessionRow> {
    users::check_is_there(sql, scope)?;
    let id = SessionId::new(now);
    let NewSession { caller_id, part, project, trust } = *new;
    sql.put(
        "INSERT INTO conversation_sessions (id, user_id, caller_id, part, project, started_at, last_active_at, trust)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7)",
        values![id, scope.user_id, caller_id, part, project, now, trust.stored()],
        RowExpectation::Any,
    )?;
    existing(sql, scope, id)
}

/// Writes an imported session, and returns its number in this file.
pub(crate) fn insert_imported(sql: &dyn Sql, scope: &Scope, session: &SessionInfo) -> Result<SessionNo> {
    sql.scalar(
        "INSERT INTO conversation_sessions
           (id, user_id, caller_id, part, project, started_at, ended_at, end_reason, successor_id, turn_count,
            total_tokens, memory_tier, last_active_at, erased_turns, title, metadata, trust)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17) RETURNING session_no",
        values![
            session.id,
            scope.user_id,
            session.caller_id,
            session.part,
            session.project,
            StoredTime::try_from(session.started_at)?,
            StoredTime::stated("ended_at", session.ended_at)?,
            session.end_reason,
            session.successor_id,
            session.turn_count,
            session.total_tokens,
            session.memory_tier,
            StoredTime::try_from(session.last_active_at)?,
            (session.erased_turns > 0).then_some(session.erased_turns),
            session.title,
            session.metadata.as_ref().map(ToString::to_string),
            session.trust.stored(),
        ],
    )
}

pub(crate) fn no_session() -> Error {
    Error::not_found("this user has no such session")
}

/// Writes what [`SessionRow::count`] and [`SessionRow::raise`] change.
pub(crate) fn set_counts(sql: &dyn Sql, scope: &Scope, session: &SessionRow) -> Result<()> {
    let SessionInfo { turn_count, total_tokens, started_at, last_active_at, trust, .. } = session.info;
    sql.put(
        "UPDATE conversation_sessions
         SET turn_count = ?3, total_tokens = ?4, started_at = ?5, last_active_at = ?6, trust = ?7
         WHERE session_no = ?1 AND user_id = ?2",
        values![
            session.session_no,
            scope.user_id,
            turn_count,
            total_tokens,
            StoredTime::try_from(started_at)?,
            StoredTime::try_from(last_active_at)?,
            trust.stored()
        ],
        RowExpectation::One(missing),
    )
}

/// Writes the counts of a session from which turns were removed.
pub(crate) fn set_left(sql: &dyn Sql, scope: &Scope, session: &SessionRow) -> Result<()> {
    let SessionInfo { turn_count, total_tokens, erased_turns, .. } = session.info;
    sql.put(
        "UPDATE conversation_sessions SET turn_count = ?3, total_tokens = ?4, erased_turns = ?5
         WHERE session_no = ?1 AND user_id = ?2",
        values![
            session.session_no,
            scope.user_id,
            turn_count,
            total_tokens,
            (erased_turns > 0).then_some(erased_turns)
        ],
        RowExpectation::One(missing),
    )
}

/// Gives a checksum to those sessions of a user that another program inserted. Any write of a row adds the checksum, so this
/// one changes no value.
pub(crate) fn seal(sql: &dyn Sql, scope: &Scope) -> Result<()> {
    sql.put(
        "UPDATE conversation_sessions SET last_active_at = last_active_at WHERE user_id = ?1 AND row_check = ?2",
        values![scope.user_id, row_check::UNSEALED.as_slice()],
        RowExpectation::Any,
    )
}

/// Ends a session. The caller moves its turns in the same transaction.
pub(crate) fn set_ended(
    sql: &dyn Sql,
    scope: &Scope,
    session_no: SessionNo,
    reason: EndReason,
    ended_at: StoredTime,
) -> Result<()> {
    sql.put(
        "UPDATE conversation_sessions SET ended_at = ?3, end_reason = ?4, memory_tier = 'warm'
         WHERE session_no = ?1 AND user_id = ?2 AND ended_at IS NULL",
        values![session_no, scope.user_id, ended_at, reason],
        RowExpectation::Any,
    )
}

/// Open sessions numbered above `after` that have at least one message and have been silent since `cutoff`, with their
/// users.
pub(crate) fn silent(
    sql: &dyn Sql,
    cutoff: StoredTime,
    after: SessionNo,
    limit: u32,
) -> Result<Vec<(SessionNo, Scope, SessionId)>> {
    sql.list(
        "SELECT s.session_no, s.user_id, u.user_no, s.id
         FROM conversation_sessions AS s JOIN user_scopes AS u ON u.user_id = s.user_id
         WHERE s.ended_at IS NULL AND s.last_active_at <= ?1 AND s.session_no > ?2
           AND (s.turn_count > 0 OR EXISTS (SELECT 1 FROM turns_aside AS a WHERE a.session_id = s.id))
         ORDER BY s.session_no LIMIT ?3",
        values![cutoff, after, limit],
        |row| Ok((row.get(0)?, Scope { user_id: row.get(1)?, user_no: row.get(2)? }, row.get(3)?)),
    )
}

/// Marks an ended session as completely cold, or as warm again, as it was when it ended.
pub(crate) fn set_tier(sql: &dyn Sql, scope: &Scope, session_no: SessionNo, tier: MemoryTier) -> Result<()> {
    sql.put(
        "UPDATE conversation_sessions SET memory_tier = ?3
         WHERE session_no = ?1 AND user_id = ?2 AND ended_at IS NOT NULL",
        values![session_no, scope.user_id, tier],
        RowExpectation::Any,
    )
}

/// Changes the end of a session that silence had ended to an end by call, so that nothing continues it.
pub(crate) fn set_ended_by_call(sql: &dyn Sql, scope: &Scope, session_no: SessionNo) -> Result<()> {
    sql.put(
        "UPDATE conversation_sessions SET end_reason = 'call'
         WHERE session_no = ?1 AND user_id = ?2 AND ended_at IS NOT NULL",
        values![session_no, scope.user_id],
        RowExpectation::Any,
    )
}

pub(crate) fn set_successor(
    sql: &dyn Sql,
    scope: &Scope,
    session_no: SessionNo,
    successor: SessionId,
) -> Result<()> {
    sql.put(
        "UPDATE conversation_sessions SET successor_id = ?3 WHERE session_no = ?1 AND user_id = ?2",
        values![session_no, scope.user_id, successor],
        RowExpectation::Any,
    )
}

/// Files a session under a project. Errors: the session does not exist.
pub(crate) fn set_project(sql: &dyn Sql, scope: &Scope, id: SessionId, project: Option<&str>) -> Result<()> {
    sql.put(
        "UPDATE conversation_sessions SET project = ?3 WHERE id = ?1 AND user_id = ?2",
        values![id, scope.user_id, project],
        RowExpectation::One(no_session),
    )
}

/// Copies the title and the metadata of a session to its successor.
pub(crate) fn hand_on(sql: &dyn Sql, scope: &Scope, from: &SessionRow, to: &mut SessionRow) -> Result<()> {
    let SessionInfo { title, metadata, .. } = &from.info;
    if title.is_none() && metadata.is_none() {
        return Ok(());
    }
    (to.info.title, to.info.metadata) = (title.clone(), metadata.clone());
    sql.put(
        "UPDATE conversation_sessions SET title = ?3, metadata = ?4 WHERE session_no = ?1 AND user_id = ?2",
        values![to.session_no, scope.user_id, title, metadata.as_ref().map(ToString::to_string)],
        RowExpectation::One(missing),
    )
}

/// Sets a session's title. Errors: the session does not exist.
pub(crate) fn set_title(sql: &dyn Sql, scope: &Scope, id: SessionId, title: Option<&str>) -> Result<()> {
    sql.put(
        "UPDATE conversation_sessions SET title = ?3 WHERE id = ?1 AND user_id = ?2",
        values![id, scope.user_id, title],
        RowExpectation::One(no_session),
    )
}

/// Sets the caller's JSON of a session. Errors: the session does not exist.
pub(crate) fn set_metadata(
    sql: &dyn Sql,
    scope: &Scope,
    id: SessionId,
    metadata: Option<&str>,
) -> Result<()> {
    sql.put(
        "UPDATE conversation_sessions SET metadata = ?3 WHERE id = ?1 AND user_id = ?2",
        values![id, scope.user_id, metadata],
        RowExpectation::One(no_session),
    )
}

/// The state of a session when its hot tier was cached. If it is unchanged, the cache is current. An erase raises the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Version {
    pub(crate) epoch: i64,
    pub(crate) turn_count: u32,
    /// The message that waits for its reply.
    pub(crate) incomplete_turn: Option<TurnId>,
    pub(crate) is_open: bool,
}

/// The session's version. `None` if there is no such session.
pub(crate) fn version(sql: &dyn Sql, scope: &Scope, id: SessionId) -> Result<Option<Version>> {
    sql.one(
        "SELECT u.epoch, s.turn_count, s.ended_at IS NULL,
                (SELECT a.id FROM turns_aside AS a WHERE a.session_id = s.id AND a.replaced_by IS NULL) AS incomplete_turn
         FROM conversation_sessions AS s JOIN user_scopes AS u ON u.user_id = s.user_id
         WHERE s.id = ?1 AND s.user_id = ?2",
        values![id, scope.user_id],
        |row| {
            Ok(Version {
                epoch: row.get(0)?,
                turn_count: row.get(1)?,
                is_open: row.get(2)?,
                incomplete_turn: row.get(3)?,
            })
        },
    )
}

/// Passes the number of every session that belongs to a user of this file to `each`, with the session, or the error if it
/// cannot be read. Used by doctor.
pub(crate) fn each_of_all(sql: &dyn Sql, each: &mut dyn FnMut(SessionNo, Result<SessionRow>)) -> Result<()> {
    const ALL: &str = concat!(
        "SELECT ",
        columns!(),
        " FROM conversation_sessions WHERE user_id IN (SELECT user_id FROM user_scopes)"
    );
    sql.query(ALL, &[], &mut |row| {
        each(row.get(0)?, read(row));
        Ok(Flow::Next)
    })
}
