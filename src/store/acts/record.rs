//! What a record does inside the writer's transaction.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::{
    compress::derived::Kinds,
    error::{Error, ErrorKind, Result},
    model::{
        ids::SessionId,
        instant,
        place::MAX_TURN_NUMBER,
        session::EndReason,
        turn::{RecordOutcome, Recorded},
    },
    store::{
        acts::{index, lifecycle},
        behind::Behind,
        rows::{
            sessions::{self, SessionRow},
            turns, users,
        },
        scope::Scope,
        sql::Sql,
        write_tx::WriteTx,
    },
    text::measure::{ContentHash, MeasuredTurn},
};

impl WriteTx<'_> {
    /// Writes the turn, and in the same transaction all that follows from it: its place, the evictions, the session's
    /// counts; where silence had ended the session, its end and its successor.
    pub(crate) fn record(
        &mut self,
        scope: &Scope,
        session: SessionId,
        measured: MeasuredTurn,
    ) -> Result<Recorded> {
        let user = self.lock(scope)?;
        if let Some(caller_id) = &measured.turn.caller_id
            && let Some(known) = find(self.sql, scope, caller_id, measured.content_hash)?
        {
            return Ok(known);
        }
        let now = self.now();
        let (mut session, continues) = self.session_to_write(scope, session, now)?;
        if let Some(snapshot) = measured.turn.snapshot_id {
            users::add_snapshot(self.sql, snapshot, now)?;
        }

        let mut hot = self.hot(scope, &session)?;
        let said_at = measured.turn.said_at.map_or(Ok(now), instant::checked)?;
        session.count(measured.tokens.total_tokens, said_at, now);
        let (id, session_no, turn_number) = (session.info.id, session.session_no, session.info.turn_count);
        if turn_number > MAX_TURN_NUMBER {
            return Err(Error::invalid("the session is full; start another one"));
        }
        let seq = user.last_seq.next()?;
        let answering = measured.turn.answering;
        let numbers = (turn_number, seq);
        let turn = turns::insert(self.sql, scope, (id, session_no), numbers, measured, (said_at, now))?;
        users::set_last_seq(self.sql, scope, seq)?;
        self.note_rules(scope, &user, Kinds::WORDS)?;
        sessions::set_counts(self.sql, scope, &session)?;

        let turn_id = turn.id;
        if let Some(receipt) = answering {
            self.behind.push(Behind::Use(*scope, id, receipt));
        }
        index::queue_if_due(self, scope, seq)?;
        let mut evicted = Vec::new();
        for gone in hot.push(Arc::new(turn)) {
            let number = gone.turn.turn_number;
            turns::leave_hot(self.sql, scope, session_no.turn(number), gone.reason, now)
                .inspect_err(|_| self.live.forget(id))?;
            evicted.push(number);
        }
        self.staged.insert(id, Some((Arc::new(hot), session.version())));
        Ok(Recorded {
            turn_id,
            session_id: id,
            turn_number,
            seq: seq.into(),
            outcome: RecordOutcome::New,
            evicted,
            continues,
        })
    }

    /// The session that takes the turn: the one asked for, or, where silence ended that, its successor.
    fn session_to_write(
        &mut self,
        scope: &Scope,
        asked: SessionId,
        now: DateTime<Utc>,
    ) -> Result<(SessionRow, Option<SessionId>)> {
        let session = sessions::existing(self.sql, scope, asked)?;
        let mut session = sessions::latest(self.sql, scope, session)?;
        if session.info.end_reason == Some(EndReason::Call) {
            return Err(Error::new(
                ErrorKind::SessionEnded,
                "the session was ended and never reopens; start another one",
            ));
        }
        if lifecycle::is_silent(&session.info, self.config, now) {
            self.end(scope, &session, EndReason::Silence, None)?;
            session.info.end_reason = Some(EndReason::Silence);
        }
        if session.info.end_reason.is_none() {
            return Ok((session, None));
        }
        let successor = lifecycle::start_successor(self.sql, scope, &session, now)?;
        Ok((successor, Some(session.info.id)))
    }
}

/// The result of an earlier record with the same caller's id; the same id with other text is a conflict.
pub(crate) fn find(
    sql: &dyn Sql,
    scope: &Scope,
    caller_id: &str,
    content_hash: ContentHash,
) -> Result<Option<Recorded>> {
    let Some(unit) = turns::unit_by_caller_id(sql, scope, caller_id)? else { return Ok(None) };
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
        seq: unit.seq.into(),
        outcome: RecordOutcome::Known,
        evicted: Vec::new(),
        continues: None,
    }))
}
