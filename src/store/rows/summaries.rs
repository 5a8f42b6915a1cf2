//! Rows of `conversation_summaries`.

use rusqlite::{Row, params};

use crate::{
    error::Result,
    model::{
        ids::{SessionId, TurnId},
        summary::Summary,
    },
    store::{
        columns::{Instant, instant_at, json_at},
        file::row_check,
        rows::turns::{place_of, turn_key},
        scope::Scope,
        sql::Sql,
    },
};

/// What the row's checksum covers, in the table's order, then the checksum.
const COLUMNS: &str = "turn_key, id, original_turn_id, original, user_id, session_id, turn_number, seq, snapshot_id, \
    timestamp, original_tokens, summary_tokens, reliability, summarizer, identity_anchor_ids, topic_keywords, \
    summary_text, row_check";
/// How many of them the checksum covers.
pub(crate) const CHECKED_COLUMNS: usize = 17;

fn read(row: &Row<'_>) -> Result<Summary> {
    if !row_check::holds(row, CHECKED_COLUMNS)? {
        let (session_no, turn_number) = place_of(row.get("turn_key")?);
        return Err(crate::store::rows::row_check::damaged(format_args!(
            "the summary of turn {turn_number} of session number {session_no}"
        )));
    }
    Ok(Summary {
        id: row.get("id")?,
        original_turn_id: row.get("original_turn_id")?,
        session_id: row.get("session_id")?,
        turn_number: row.get("turn_number")?,
        summary_text: row.get("summary_text")?,
        topic_keywords: json_at(row, "topic_keywords")?,
        identity_anchor_ids: json_at(row, "identity_anchor_ids")?,
        timestamp: instant_at(row, "timestamp")?,
        summarizer: row.get("summarizer")?,
        reliability: row.get("reliability")?,
        summary_tokens: row.get("summary_tokens")?,
        original: row.get("original")?,
        original_tokens: row.get("original_tokens")?,
    })
}

/// Writes a summary for a turn that leaves.
pub(crate) fn insert(
    tx: &dyn Sql,
    scope: &Scope,
    session_no: i64,
    seq: i64,
    snapshot: Option<crate::model::ids::SnapshotId>,
    summary: &Summary,
) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO conversation_summaries
           (turn_key, id, original_turn_id, original, user_id, session_id, turn_number, seq, snapshot_id, timestamp,
            summary_tokens, reliability, summarizer, identity_anchor_ids, topic_keywords, summary_text, original_tokens)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
    )?
    .execute(params![
        turn_key(session_no, summary.turn_number),
        summary.id,
        summary.original_turn_id,
        summary.original,
        scope.user_id,
        summary.session_id,
        summary.turn_number,
        seq,
        snapshot,
        Instant(summary.timestamp),
        summary.summary_tokens,
        summary.reliability,
        summary.summarizer,
        serde_json::json!(summary.identity_anchor_ids).to_string(),
        serde_json::json!(summary.topic_keywords).to_string(),
        summary.summary_text,
        summary.original_tokens,
    ])?;
    Ok(())
}

/// The summary that stands for a turn.
pub(crate) fn of_turn(conn: &dyn Sql, scope: &Scope, turn: TurnId) -> Result<Option<Summary>> {
    let mut stmt = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM conversation_summaries WHERE original_turn_id = ?1 AND user_id = ?2"
    ))?;
    let mut rows = stmt.query(params![turn, scope.user_id])?;
    rows.next()?.map(read).transpose()
}

/// The summary that stands at a place of a session.
pub(crate) fn at(
    conn: &dyn Sql,
    scope: &Scope,
    (session_no, turn_number): (i64, u32),
) -> Result<Option<Summary>> {
    let mut stmt = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM conversation_summaries WHERE turn_key = ?1 AND user_id = ?2"
    ))?;
    let mut rows = stmt.query(params![turn_key(session_no, turn_number), scope.user_id])?;
    rows.next()?.map(read).transpose()
}

/// The summaries of a session, in its order.
pub(crate) fn of_session(conn: &dyn Sql, scope: &Scope, session: SessionId) -> Result<Vec<Summary>> {
    let mut stmt = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM conversation_summaries WHERE session_id = ?1 AND user_id = ?2 ORDER BY turn_key"
    ))?;
    stmt.query_and_then(params![session, scope.user_id], read)?.collect()
}

/// The columns of a summary and what reads them, for doctor: it looks at the rows of all users.
pub(crate) fn row_reader() -> (&'static str, fn(&Row<'_>) -> Result<Summary>) {
    (COLUMNS, read)
}
