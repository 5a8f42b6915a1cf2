//! Rows of `turns_aside`: messages that wait for their replies, and replaced turns.

use crate::{
    error::{Error, ErrorKind, Result},
    model::{
        ids::{SessionId, TurnId},
        stored_time::StoredTime,
        turn::{ReplacedTurn, Turn, TurnState},
    },
    store::{
        rows::row_check,
        scope::Scope,
        sql::{Flow, RowExpectation, Sql, SqlRow, missing, values},
    },
    text::measure::ContentHash,
};

/// A row of `turns_aside`: a turn that waits for its reply, or that was replaced.
#[derive(Clone, Debug)]
pub(crate) struct Aside {
    pub(crate) turn: Turn,
    pub(crate) content_hash: ContentHash,
    /// The turn that replaced it, and when. `None` if it waits for its reply.
    pub(crate) replaced: Option<(TurnId, StoredTime)>,
}

/// The columns for [`read`]: those covered by the row's checksum, in the table's order, then the checksum.
macro_rules! columns {
    () => {
        "id, user_id, session_id, turn_number, caller_id, content_hash, replaced_by, replaced_at, turn, row_check"
    };
}

/// How many of these columns the checksum covers.
const CHECKED_COLUMNS: usize = 9;

fn read(row: &SqlRow<'_>) -> Result<Aside> {
    if !row_check::holds(row, CHECKED_COLUMNS)? {
        return Err(damaged(row));
    }
    let text: String = row.get(8)?;
    // serde_json's message is dropped, because it quotes the text where parsing fails.
    let turn: Turn = serde_json::from_str(&text).map_err(|_| damaged(row))?;
    let by: Option<TurnId> = row.get(6)?;
    let replaced = by.zip(row.get(7)?);
    let state = if replaced.is_some() { TurnState::Replaced } else { TurnState::Incomplete };
    Ok(Aside { turn: Turn { state, ..turn }, content_hash: row.get(5)?, replaced })
}

fn damaged(row: &SqlRow<'_>) -> Error {
    let number: u32 = row.get(3).unwrap_or_default();
    row_check::damaged(format_args!("a turn of number {number} that was set aside, or waits for its reply,"))
}

/// Writes a turn that has no row in another table.
pub(crate) fn insert(sql: &dyn Sql, scope: &Scope, aside: &Aside) -> Result<()> {
    let Aside { turn, content_hash, replaced } = aside;
    let text = serde_json::to_string(turn)
        .map_err(|error| Error::caused(ErrorKind::Corrupt, "a turn cannot be written as JSON", error))?;
    sql.put(
        "INSERT INTO turns_aside
           (id, user_id, session_id, turn_number, caller_id, content_hash, replaced_by, replaced_at, turn)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        values![
            turn.id,
            scope.user_id,
            turn.session_id,
            turn.turn_number,
            turn.caller_id,
            content_hash,
            replaced.map(|(by, _)| by),
            replaced.map(|(_, at)| at),
            text,
        ],
        RowExpectation::Any,
    )
}

/// The session's message that waits for its reply.
pub(crate) fn incomplete(sql: &dyn Sql, scope: &Scope, session: SessionId) -> Result<Option<Aside>> {
    sql.one(
        concat!(
            "SELECT ",
            columns!(),
            " FROM turns_aside WHERE session_id = ?1 AND user_id = ?2 AND replaced_by IS NULL"
        ),
        values![session, scope.user_id],
        read,
    )
}

/// One turn by its id.
pub(crate) fn by_id(sql: &dyn Sql, scope: &Scope, id: TurnId) -> Result<Option<Aside>> {
    sql.one(
        concat!("SELECT ", columns!(), " FROM turns_aside WHERE id = ?1 AND user_id = ?2"),
        values![id, scope.user_id],
        read,
    )
}

/// One turn by the caller's id.
pub(crate) fn by_caller_id(sql: &dyn Sql, scope: &Scope, caller_id: &str) -> Result<Option<Aside>> {
    sql.one(
        concat!("SELECT ", columns!(), " FROM turns_aside WHERE user_id = ?1 AND caller_id = ?2"),
        values![scope.user_id, caller_id],
        read,
    )
}

/// The session of a turn, whether or not the turn is damaged.
pub(crate) fn session_of(sql: &dyn Sql, scope: &Scope, id: TurnId) -> Result<Option<SessionId>> {
    sql.one(
        "SELECT session_id FROM turns_aside WHERE id = ?1 AND user_id = ?2",
        values![id, scope.user_id],
        |row| row.get(0),
    )
}

/// The replaced turns with a turn number of a session, in the order in which they were replaced.
pub(crate) fn replaced_at(
    sql: &dyn Sql,
    scope: &Scope,
    session: SessionId,
    turn_number: u32,
) -> Result<Vec<ReplacedTurn>> {
    let found = sql.list(
        concat!(
            "SELECT ",
            columns!(),
            " FROM turns_aside
             WHERE session_id = ?1 AND turn_number = ?2 AND user_id = ?3 AND replaced_by IS NOT NULL
             ORDER BY replaced_at, id"
        ),
        values![session, turn_number, scope.user_id],
        read,
    )?;
    let replaced = |Aside { turn, replaced, .. }| {
        replaced.map(|(replaced_by, replaced_at)| ReplacedTurn {
            turn,
            replaced_by,
            replaced_at: *replaced_at,
        })
    };
    Ok(found.into_iter().filter_map(replaced).collect())
}

/// Passes every turn of a session in this table to `each`, by turn number, then in the order in which they were replaced.
pub(crate) fn each_of_session(
    sql: &dyn Sql,
    scope: &Scope,
    session: SessionId,
    each: &mut dyn FnMut(Aside) -> Result<()>,
) -> Result<()> {
    sql.query(
        concat!(
            "SELECT ",
            columns!(),
            " FROM turns_aside WHERE session_id = ?1 AND user_id = ?2
             ORDER BY turn_number, replaced_at, id"
        ),
        values![session, scope.user_id],
        &mut |row| {
            each(read(row)?)?;
            Ok(Flow::Next)
        },
    )
}

/// Records that turn `by` has replaced the message that waited for its reply.
pub(crate) fn set_replaced(
    sql: &dyn Sql,
    scope: &Scope,
    id: TurnId,
    (by, at): (TurnId, StoredTime),
) -> Result<()> {
    sql.put(
        "UPDATE turns_aside SET replaced_by = ?3, replaced_at = ?4
         WHERE id = ?1 AND user_id = ?2 AND replaced_by IS NULL",
        values![id, scope.user_id, by, at],
        RowExpectation::One(missing),
    )
}

/// Removes a turn.
pub(crate) fn remove(sql: &dyn Sql, scope: &Scope, id: TurnId) -> Result<()> {
    sql.put(
        "DELETE FROM turns_aside WHERE id = ?1 AND user_id = ?2",
        values![id, scope.user_id],
        RowExpectation::One(missing),
    )
}

/// Removes the turns that the given one has replaced, and returns their ids.
pub(crate) fn remove_replaced_by(sql: &dyn Sql, scope: &Scope, by: TurnId) -> Result<Vec<TurnId>> {
    sql.list(
        "DELETE FROM turns_aside WHERE user_id = ?1 AND session_id IN
           (SELECT id FROM conversation_sessions WHERE user_id = ?1) AND replaced_by = ?2 RETURNING id",
        values![scope.user_id, by],
        |row| row.get(0),
    )
}

/// Passes every turn of this table, of all users, to `each`, or the error if it cannot be read. Used by doctor.
pub(crate) fn each_of_all(sql: &dyn Sql, each: &mut dyn FnMut(Result<Aside>)) -> Result<()> {
    const ALL: &str = concat!("SELECT ", columns!(), " FROM turns_aside");
    sql.query(ALL, &[], &mut |row| {
        each(read(row));
        Ok(Flow::Next)
    })
}
