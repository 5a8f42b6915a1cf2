//! How sessions start, resume and end, inside the writer's transaction.

use chrono::{DateTime, TimeDelta, Utc};

use crate::{
    config::Config,
    error::{Error, Result},
    model::{
        ids::SessionId,
        job::JobKind,
        session::{EndReason, SessionInfo},
        tier::MoveReason,
    },
    store::{
        rows::{
            jobs, receipts,
            sessions::{self, SessionRow},
            turns,
        },
        scope::Scope,
        sql::Sql,
        write_tx::WriteTx,
    },
};

/// Whether silence has ended the session, though nobody noticed yet. An empty one waits for its first turn.
pub(crate) fn is_silent(session: &SessionInfo, config: &Config, now: DateTime<Utc>) -> bool {
    let timeout = i64::try_from(config.session_timeout_ms).ok().and_then(TimeDelta::try_milliseconds);
    let silence = now.signed_duration_since(session.last_active_at);
    session.ended_at.is_none() && session.turn_count > 0 && timeout.is_some_and(|timeout| silence >= timeout)
}

/// The newest open unnamed session; those that silence has ended are ended now. Started if there is none.
pub(crate) fn resume_or_start(tx: &mut WriteTx<'_>, scope: &Scope) -> Result<SessionRow> {
    let now = tx.now();
    for session in sessions::open_unnamed(tx.sql, scope)? {
        if !is_silent(&session.info, tx.config, now) {
            return Ok(session);
        }
        end(tx, scope, &session, EndReason::Silence, None)?;
    }
    sessions::insert(tx.sql, scope, (None, 1), None, now)
}

/// Ends the open unnamed sessions and starts another one.
pub(crate) fn start_new(tx: &mut WriteTx<'_>, scope: &Scope) -> Result<SessionRow> {
    let now = tx.now();
    for session in sessions::open_unnamed(tx.sql, scope)? {
        let silent = is_silent(&session.info, tx.config, now);
        end(tx, scope, &session, if silent { EndReason::Silence } else { EndReason::Call }, None)?;
    }
    sessions::insert(tx.sql, scope, (None, 1), None, now)
}

/// The session with the caller's key, started if there is none. One that silence has ended is ended now, and left
/// to the next record to go on from.
pub(crate) fn named(tx: &mut WriteTx<'_>, scope: &Scope, key: &str) -> Result<SessionRow> {
    let now = tx.now();
    match sessions::by_caller_id(tx.sql, scope, key)? {
        Some(session) if is_silent(&session.info, tx.config, now) => {
            end(tx, scope, &session, EndReason::Silence, None)?;
            Ok(session)
        }
        Some(session) => Ok(session),
        None => sessions::insert(tx.sql, scope, (Some(key), 1), None, now),
    }
}

/// Starts the session in which a talk goes on that silence had ended: under the same key, the next part.
pub(crate) fn start_successor(
    tx: &dyn Sql,
    scope: &Scope,
    ended: &SessionRow,
    now: DateTime<Utc>,
) -> Result<SessionRow> {
    let key = (ended.info.caller_id.as_deref(), ended.info.part.saturating_add(1));
    let successor = sessions::insert(tx, scope, key, ended.info.project.as_deref(), now)?;
    sessions::set_successor(tx, scope, ended.session_no, successor.info.id)?;
    Ok(successor)
}

/// Ends the talk of a session that was asked to end; what was ended by call stays as it is.
pub(crate) fn end_by_call(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    session: SessionId,
    ended_at: Option<DateTime<Utc>>,
) -> Result<SessionInfo> {
    let row = sessions::existing(tx.sql, scope, session)?;
    let row = sessions::latest(tx.sql, scope, row)?;
    match row.info.end_reason {
        Some(EndReason::Call) => return Ok(row.info),
        Some(EndReason::Silence) => sessions::set_ended_by_call(tx.sql, scope, row.session_no)?,
        None => {
            if ended_at.is_some_and(|at| at < row.info.started_at) {
                return Err(Error::invalid("the session cannot have ended before it started"));
            }
            end(tx, scope, &row, EndReason::Call, ended_at)?;
        }
    }
    Ok(sessions::existing(tx.sql, scope, row.info.id)?.info)
}

/// Ends a session if silence has ended it; whether it had.
pub(crate) fn end_if_silent(tx: &mut WriteTx<'_>, scope: &Scope, session: SessionId) -> Result<bool> {
    let Some(session) = sessions::by_id(tx.sql, scope, session)? else { return Ok(false) };
    let silent = is_silent(&session.info, tx.config, tx.now());
    if silent {
        end(tx, scope, &session, EndReason::Silence, None)?;
    }
    Ok(silent)
}

/// Sets the end, moves what is hot to warm, and queues the compression. Ends by silence are dated by the last turn.
pub(crate) fn end(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    session: &SessionRow,
    reason: EndReason,
    ended_at: Option<DateTime<Utc>>,
) -> Result<()> {
    let now = tx.now();
    let ended_at = match (ended_at, reason) {
        (Some(at), _) => at,
        (None, EndReason::Call) => now,
        (None, EndReason::Silence) => turns::last_said_at(tx.sql, scope, session.session_no)?.unwrap_or(now),
    };
    for turn_number in turns::hot_numbers(tx.sql, scope, session.info.id)? {
        let place = (session.session_no, turn_number);
        turns::leave_hot(tx.sql, scope, place, MoveReason::SessionEnd, now)?;
    }
    receipts::end_promotions(tx, scope, session.session_no)?;
    sessions::set_ended(tx.sql, scope, session.session_no, reason, ended_at)?;
    if session.info.turn_count > 0 {
        jobs::enqueue(tx, scope, JobKind::Compress, Some(session.info.id), session.info.turn_count)?;
    }
    tx.staged.insert(session.info.id, None);
    Ok(())
}
