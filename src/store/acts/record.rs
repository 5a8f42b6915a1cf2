//! What a record does inside the writer's transaction.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::{
    error::{Error, ErrorKind, Result},
    model::{
        ids::SessionId,
        instant,
        session::EndReason,
        turn::{RecordOutcome, Recorded},
    },
    store::{
        acts::{index, lifecycle},
        rows::{
            receipts,
            sessions::{self, SessionRow, Version},
            turns, users,
        },
        scope::Scope,
        sql::Sql,
        write_tx::WriteTx,
    },
    text::measure::{ContentHash, MeasuredTurn},
};

/// Writes the turn, and in the same transaction all that follows from it: its place, the evictions, the session's
/// counts; where silence had ended the session, its end and its successor.
pub(crate) fn record(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    session: SessionId,
    measured: MeasuredTurn,
) -> Result<Recorded> {
    if let Some(caller_id) = &measured.turn.caller_id
        && let Some(known) = find(tx.sql, scope, caller_id, measured.content_hash)?
    {
        return Ok(known);
    }
    let now = tx.now();
    let (session, continues) = session_to_write(tx, scope, session, now)?;
    if let Some(snapshot) = measured.turn.snapshot_id {
        users::add_snapshot(tx.sql, snapshot, now)?;
    }

    let mut hot = tx.hot(scope, &session)?;
    let turn_number = session.info.turn_count + 1;
    if turn_number > turns::MAX_TURN_NUMBER {
        return Err(Error::invalid("the session is full; start another one"));
    }
    let said_at = measured.turn.said_at.map_or(Ok(now), instant::checked)?;
    let (total_tokens, answering) = (measured.tokens.total_tokens, measured.turn.answering);
    let place = (session.info.id, session.session_no);
    let turn = Arc::new(turns::insert(tx.sql, scope, place, turn_number, measured, said_at, now)?);
    sessions::count_turn(tx.sql, scope, session.session_no, total_tokens, said_at, now)?;

    let (turn_id, seq) = (turn.id, turn.seq);
    if let Some(receipt) = answering {
        receipts::count_use(tx, scope, &session, receipt)?;
    }
    index::queue_if_due(tx, scope, seq)?;
    let mut evicted = Vec::new();
    for gone in hot.push(turn) {
        let number = gone.turn.turn_number;
        turns::leave_hot(tx.sql, scope, (session.session_no, number), gone.reason, now)
            .inspect_err(|_| tx.live.forget(session.info.id))?;
        evicted.push(number);
    }
    let version = Version { turn_count: turn_number, ..session.version() };
    tx.staged.insert(session.info.id, Some((Arc::new(hot), version)));
    Ok(Recorded {
        turn_id,
        session_id: session.info.id,
        turn_number,
        seq,
        outcome: RecordOutcome::New,
        evicted,
        continues,
    })
}

/// The result of an earlier record with the same caller's id; the same id with other text is a conflict.
pub(crate) fn find(
    conn: &dyn Sql,
    scope: &Scope,
    caller_id: &str,
    content_hash: ContentHash,
) -> Result<Option<Recorded>> {
    let Some(unit) = turns::unit_by_caller_id(conn, scope, caller_id)? else { return Ok(None) };
    if unit.content_hash != content_hash {
        return Err(Error::new(
            ErrorKind::Conflict,
            "a turn with this caller's id and other text is already recorded; use another id",
        ));
    }
    Ok(Some(Recorded {
        turn_id: unit.turn_id,
        session_id: unit.session_id,
        turn_number: unit.turn_number,
        seq: unit.seq,
        outcome: RecordOutcome::Known,
        evicted: Vec::new(),
        continues: None,
    }))
}

/// The session that takes the turn: the one asked for, or, where silence ended that, its successor.
fn session_to_write(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    asked: SessionId,
    now: DateTime<Utc>,
) -> Result<(SessionRow, Option<SessionId>)> {
    let session = sessions::existing(tx.sql, scope, asked)?;
    let mut session = sessions::latest(tx.sql, scope, session)?;
    if session.info.end_reason == Some(EndReason::Call) {
        return Err(Error::new(
            ErrorKind::SessionEnded,
            "the session was ended and never reopens; start another one",
        ));
    }
    if lifecycle::is_silent(&session.info, tx.config, now) {
        lifecycle::end(tx, scope, &session, EndReason::Silence, None)?;
        session.info.end_reason = Some(EndReason::Silence);
    }
    if session.info.end_reason.is_none() {
        return Ok((session, None));
    }
    let successor = lifecycle::start_successor(tx.sql, scope, &session, now)?;
    Ok((successor, Some(session.info.id)))
}
