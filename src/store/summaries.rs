//! Rows of `conversation_summaries`.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::{
    error::Result,
    model::{
        ids::{SessionId, TurnId},
        summary::Summary,
    },
    store::{
        turns::turn_key,
        users::Scope,
        values::{Instant, instant_at, json_at},
    },
};

const COLUMNS: &str = "id, original_turn_id, session_id, turn_number, summary_text, topic_keywords, \
    identity_anchor_ids, timestamp, summarizer, reliability, summary_tokens, original, original_tokens";

fn read(row: &Row<'_>) -> rusqlite::Result<Summary> {
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
    tx: &Connection,
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
pub(crate) fn of_turn(conn: &Connection, scope: &Scope, turn: TurnId) -> Result<Option<Summary>> {
    let mut stmt = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM conversation_summaries WHERE original_turn_id = ?1 AND user_id = ?2"
    ))?;
    Ok(stmt.query_row(params![turn, scope.user_id], read).optional()?)
}

/// The summary that stands at a place of a session.
pub(crate) fn at(
    conn: &Connection,
    scope: &Scope,
    (session_no, turn_number): (i64, u32),
) -> Result<Option<Summary>> {
    let mut stmt = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM conversation_summaries WHERE turn_key = ?1 AND user_id = ?2"
    ))?;
    Ok(stmt.query_row(params![turn_key(session_no, turn_number), scope.user_id], read).optional()?)
}

/// The summaries of a session, in its order.
pub(crate) fn of_session(conn: &Connection, scope: &Scope, session: SessionId) -> Result<Vec<Summary>> {
    let mut stmt = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM conversation_summaries WHERE session_id = ?1 AND user_id = ?2 ORDER BY turn_key"
    ))?;
    let rows = stmt.query_map(params![session, scope.user_id], read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The columns of a summary and what reads them, for doctor: it looks at the rows of all users.
pub(super) fn row_reader() -> (&'static str, fn(&Row<'_>) -> rusqlite::Result<Summary>) {
    (COLUMNS, read)
}
