//! Rows of `conversation_summaries`.

use std::collections::HashMap;

use crate::{
    error::Result,
    model::{
        history::HistoryEnd,
        ids::{AnchorId, SessionId, SnapshotId, TurnId},
        place::{Place, Seq, SessionNo},
        stored_time::StoredTime,
        summary::{BUILT_IN, FALLBACK, Original, Summary},
    },
    store::{
        rows::row_check,
        scope::Scope,
        sql::{Flow, RowExpectation, Sql, SqlRow, values},
    },
};

/// The columns for [`read`]: those covered by the row's checksum, in the table's order, then the checksum.
macro_rules! columns {
    () => {
        "turn_key, id, original_turn_id, original, user_id, session_id, turn_number, seq, snapshot_id, timestamp, \
         original_tokens, summary_tokens, reliability, summarizer, identity_anchor_ids, topic_keywords, summary_text, \
         row_check"
    };
}

/// The index of the column with the backend's state at the turn.
const SNAPSHOT_ID: usize = 8;
/// How many of these columns the checksum covers.
const CHECKED_COLUMNS: usize = 17;

fn read(row: &SqlRow<'_>) -> Result<Summary> {
    if !row_check::holds(row, CHECKED_COLUMNS)? {
        let Place { session, turn_number } = row.get(0)?;
        return Err(row_check::damaged(format_args!(
            "the summary of turn {turn_number} of session number {}",
            session.0
        )));
    }
    Ok(Summary {
        id: row.get(1)?,
        original_turn_id: row.get(2)?,
        original: row.get(3)?,
        session_id: row.get(5)?,
        turn_number: row.get(6)?,
        timestamp: row.get(9)?,
        original_tokens: row.get(10)?,
        summary_tokens: row.get(11)?,
        reliability: row.get(12)?,
        summarizer: row.get(13)?,
        identity_anchor_ids: row.json(14)?,
        topic_keywords: row.json(15)?,
        summary_text: row.get(16)?,
    })
}

/// Where the original of each of the user's summarized turns is.
pub(crate) fn originals_of_user(sql: &dyn Sql, scope: &Scope) -> Result<HashMap<TurnId, Original>> {
    let mut originals = HashMap::new();
    sql.query(
        "SELECT original_turn_id, original FROM conversation_summaries WHERE user_id = ?1",
        values![scope.user_id],
        &mut |row| {
            originals.insert(row.get(0)?, row.get(1)?);
            Ok(Flow::Next)
        },
    )?;
    Ok(originals)
}

/// Writes the summary of a turn whose row is removed.
pub(crate) fn insert(
    sql: &dyn Sql,
    scope: &Scope,
    session_no: SessionNo,
    seq: Seq,
    snapshot: Option<SnapshotId>,
    summary: &Summary,
) -> Result<()> {
    sql.put(
        "INSERT INTO conversation_summaries
           (turn_key, id, original_turn_id, original, user_id, session_id, turn_number, seq, snapshot_id, timestamp,
            summary_tokens, reliability, summarizer, identity_anchor_ids, topic_keywords, summary_text, original_tokens)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
        values![
            session_no.turn(summary.turn_number),
            summary.id,
            summary.original_turn_id,
            summary.original,
            scope.user_id,
            summary.session_id,
            summary.turn_number,
            seq,
            snapshot,
            StoredTime::try_from(summary.timestamp)?,
            summary.summary_tokens,
            summary.reliability,
            summary.summarizer,
            serde_json::json!(summary.identity_anchor_ids).to_string(),
            serde_json::json!(summary.topic_keywords).to_string(),
            summary.summary_text,
            summary.original_tokens,
        ],
        RowExpectation::Any,
    )
}

/// Removes the summary of a turn whose row is restored, if there is one.
pub(crate) fn remove(sql: &dyn Sql, scope: &Scope, place: Place) -> Result<()> {
    sql.put(
        "DELETE FROM conversation_summaries WHERE turn_key = ?1 AND user_id = ?2",
        values![place, scope.user_id],
        RowExpectation::Any,
    )
}

/// Sets on a turn's summary which anchors the turn is evidence for.
pub(crate) fn set_anchors(sql: &dyn Sql, scope: &Scope, place: Place, anchors: &[AnchorId]) -> Result<()> {
    sql.put(
        "UPDATE conversation_summaries SET identity_anchor_ids = ?3 WHERE turn_key = ?1 AND user_id = ?2",
        values![place, scope.user_id, serde_json::json!(anchors).to_string()],
        RowExpectation::Any,
    )
}

/// The summary that stands for a turn.
pub(crate) fn of_turn(sql: &dyn Sql, scope: &Scope, turn: TurnId) -> Result<Option<Summary>> {
    sql.one(
        concat!(
            "SELECT ",
            columns!(),
            " FROM conversation_summaries WHERE original_turn_id = ?1 AND user_id = ?2"
        ),
        values![turn, scope.user_id],
        read,
    )
}

/// The summary at a place of a session.
pub(crate) fn at(sql: &dyn Sql, scope: &Scope, place: Place) -> Result<Option<Summary>> {
    sql.one(
        concat!("SELECT ", columns!(), " FROM conversation_summaries WHERE turn_key = ?1 AND user_id = ?2"),
        values![place, scope.user_id],
        read,
    )
}

/// At most `limit` summaries of a session after turn number `after`, in the session's order.
pub(crate) fn page(
    sql: &dyn Sql,
    scope: &Scope,
    session: SessionNo,
    after: u32,
    limit: u32,
) -> Result<Vec<Summary>> {
    let (after, end) = HistoryEnd::After(after).bounds(session);
    sql.list(
        concat!(
            "SELECT ",
            columns!(),
            " FROM conversation_summaries WHERE turn_key > ?1 AND turn_key < ?2 AND user_id = ?3
             ORDER BY turn_key LIMIT ?4"
        ),
        values![after, end, scope.user_id, limit],
        read,
    )
}

/// The place of a summary; the summary, or the error if it cannot be read; and the caller's id of its turn.
pub(crate) type PlacedSummary = (Place, Result<Summary>, Option<String>);

/// At most `limit` summaries after or before a place of a session, nearest first.
pub(crate) fn between(
    sql: &dyn Sql,
    scope: &Scope,
    session: SessionNo,
    part: HistoryEnd,
    limit: u32,
) -> Result<Vec<PlacedSummary>> {
    let statement = match part {
        HistoryEnd::After(_) => OLDEST,
        HistoryEnd::Before(_) => NEWEST,
    };
    let (after, before) = part.bounds(session);
    let params = values![after, before, scope.user_id, scope.user_no, limit];
    sql.list(statement, params, |row| Ok((row.get(0)?, read(row), row.get(CHECKED_COLUMNS + 1)?)))
}

const OLDEST: &str = concat!(
    "SELECT ",
    columns!(),
    ", (SELECT r.caller_id FROM recall_units AS r WHERE r.user_no = ?4 AND r.seq = conversation_summaries.seq)
     FROM conversation_summaries WHERE turn_key > ?1 AND turn_key < ?2 AND user_id = ?3 ORDER BY turn_key LIMIT ?5"
);
const NEWEST: &str = concat!(
    "SELECT ",
    columns!(),
    ", (SELECT r.caller_id FROM recall_units AS r WHERE r.user_no = ?4 AND r.seq = conversation_summaries.seq)
     FROM conversation_summaries WHERE turn_key > ?1 AND turn_key < ?2 AND user_id = ?3 ORDER BY turn_key DESC LIMIT ?5"
);

/// The user's sessions in which the built-in summarizer wrote a summary, in the order in which the sessions were added.
pub(crate) fn built_in_sessions(sql: &dyn Sql, scope: &Scope) -> Result<Vec<SessionId>> {
    sql.list(
        "SELECT s.id FROM conversation_sessions AS s
         WHERE s.user_id = ?1 AND EXISTS
           (SELECT 1 FROM conversation_summaries AS m
            WHERE m.session_id = s.id AND m.user_id = ?1 AND m.summarizer IN (?2, ?3))
         ORDER BY s.session_no",
        values![scope.user_id, BUILT_IN, FALLBACK],
        |row| row.get(0),
    )
}

/// Passes every summary of the file to `each`, or the error if it cannot be read. Used by doctor.
pub(crate) fn each_of_all(sql: &dyn Sql, each: &mut dyn FnMut(Result<Summary>)) -> Result<()> {
    sql.query(concat!("SELECT ", columns!(), " FROM conversation_summaries"), &[], &mut |row| {
        each(read(row));
        Ok(Flow::Next)
    })
}

/// Passes every summary of the user to `each`, in the order of recording, with the backend's state at its turn. Used by the
/// export.
pub(crate) fn each_of_user(
    sql: &dyn Sql,
    scope: &Scope,
    each: &mut dyn FnMut(Option<SnapshotId>, Summary) -> Result<()>,
) -> Result<()> {
    const OF_USER: &str =
        concat!("SELECT ", columns!(), " FROM conversation_summaries WHERE user_id = ?1 ORDER BY seq");
    sql.query(OF_USER, values![scope.user_id], &mut |row| {
        each(row.get(SNAPSHOT_ID)?, read(row)?)?;
        Ok(Flow::Next)
    })
}
