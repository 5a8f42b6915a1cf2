//! Recording turns and messages, inside the writer's transaction.

use std::sync::Arc;

use crate::{
    compress::derived::Kinds,
    error::{Error, ErrorKind, Result, sound},
    model::{
        critical::CriticalRule,
        ids::{SessionId, TurnId},
        memory::trust::{Trust, check_may_change},
        place::{MAX_TURN_NUMBER, Owner, Seq},
        session::EndReason,
        stored_time::StoredTime,
        tier::MemoryTier,
        turn::{NewTurn, RecordOutcome, Recorded, TokenCounts, Turn, TurnState},
    },
    store::{
        acts::{index, lifecycle},
        behind::WriteBehind,
        rows::{
            aside::{self, Aside},
            jobs,
            memories::uses::AnsweringTurn,
            originals,
            sessions::{self, NewSession, SessionRow},
            turn_row, turns, units, users,
        },
        scope::Scope,
        sql::{Sql, UserRow},
        write_tx::WriteTx,
    },
    text::{
        measure::{ContentHash, MeasuredTurn},
        words::WordCounts,
    },
    tier::hot::{Evicted, HotTier},
};

/// The session in which to record.
#[derive(Debug)]
pub(crate) enum WantedSession {
    /// This session or, if it has ended and can continue, its last successor.
    Id(SessionId),
    /// The session with this caller's key, which is started if there is none, or its last successor.
    Named(String),
    /// The newest open session without a key, which is started if there is none.
    Unnamed,
}

/// A session that takes a turn, as this transaction has left it so far.
pub(super) struct RecordingSession {
    user: UserRow,
    pub(super) session: SessionRow,
    /// The ended session, if this one was started as its successor now.
    continues: Option<SessionId>,
    pub(super) hot: HotTier,
    evicted: Vec<u32>,
}

impl WriteTx<'_> {
    /// Writes the turn and, in the same transaction, everything that follows from it: its place, the evictions, the
    /// session's counts and, if silence had ended the session, its end and its successor.
    pub(crate) fn record(
        &mut self,
        scope: &Scope,
        session: &WantedSession,
        measured: MeasuredTurn,
    ) -> Result<Recorded> {
        self.lock(scope)?;
        if let Some(caller_id) = &measured.turn.caller_id
            && let Some(known) = find(self.sql, scope, caller_id, measured.content_hash)?
        {
            return replaces_another(known, measured.turn.replacing);
        }
        let id = TurnId::new(self.now());
        self.by = self.by.less_trusted(measured.turn.said.recorded_by);
        let mut taking = self.begin(scope, session, (id, measured.turn.replacing))?;
        let (number, seq) = self.write_turn(scope, &mut taking, id, measured)?;
        Ok(self.finish(taking, (id, number, seq)))
    }

    /// Writes a message whose reply has not arrived yet. It is hot, and has no unit until it is complete.
    pub(crate) fn record_message(
        &mut self,
        scope: &Scope,
        session: &WantedSession,
        measured: MeasuredTurn,
    ) -> Result<Recorded> {
        self.lock(scope)?;
        if let Some(caller_id) = &measured.turn.caller_id
            && let Some(known) = find_message(self.sql, scope, caller_id, &measured)?
        {
            return replaces_another(known, measured.turn.replacing);
        }
        let now = self.now();
        let id = TurnId::new(now);
        self.by = self.by.less_trusted(measured.turn.said.recorded_by);
        let mut taking = self.begin(scope, session, (id, measured.turn.replacing))?;
        let said_at = StoredTime::stated("said_at", measured.turn.said_at)?.unwrap_or(now);
        let info = &mut taking.session.info;
        let (session_id, turn_number) = (info.id, next_number(info.turn_count)?);
        (info.incomplete_turn, info.last_active_at) = (Some(id), *now);
        taking.session.raise(measured.turn.said.trust());
        let MeasuredTurn { turn, tokens, content_hash, .. } = measured;
        let place = (session_id, turn_number, Seq::default());
        let turn = Turn { state: TurnState::Incomplete, ..turn_of(id, place, turn, tokens, said_at) };
        aside::insert(self.sql, scope, &Aside { turn: turn.clone(), content_hash, replaced: None })?;
        sessions::set_counts(self.sql, scope, &taking.session)?;
        self.push_hot(scope, &mut taking, turn)?;
        Ok(self.finish(taking, (id, turn_number, Seq::default())))
    }

    /// Adds the reply to a message, which gives it its unit. `None` if the message no longer waits for one.
    pub(crate) fn complete(
        &mut self,
        scope: &Scope,
        id: TurnId,
        measured: MeasuredTurn,
    ) -> Result<Option<Recorded>> {
        let user = self.lock(scope)?;
        let waiting = aside::by_id(self.sql, scope, id)?.filter(|aside| aside.replaced.is_none());
        let Some(Aside { turn, .. }) = waiting else { return Ok(None) };
        check_may_change(self.by, turn.said.trust(), format_args!("message {id}"))?;
        let session = sessions::existing(self.sql, scope, turn.session_id)?;
        if session.info.ended_at.is_some() {
            // A message waits in an ended session only while that session is being erased. Nothing is acknowledged that the
            // erase would remove.
            return Err(sessions::no_session());
        }
        let mut taking = self.take(scope, user, session)?;
        let (number, seq) = self.complete_waiting(scope, &mut taking, id, measured)?;
        Ok(Some(self.finish(taking, (id, number, seq))))
    }

    /// Finds or starts the session that takes a turn, and prepares it: a turn to be replaced is set aside, and a message
    /// that still waits for its reply gets none.
    fn begin(
        &mut self,
        scope: &Scope,
        session: &WantedSession,
        (id, replacing): (TurnId, Option<TurnId>),
    ) -> Result<RecordingSession> {
        let asked = match session {
            WantedSession::Id(id) => sessions::existing(self.sql, scope, *id)?,
            WantedSession::Named(key) => match sessions::by_caller_id(self.sql, scope, key)? {
                Some(session) => session,
                None => {
                    sessions::insert(self.sql, scope, &NewSession::opened(Some(key), self.by), self.now())?
                }
            },
            WantedSession::Unnamed => self.resume_session(scope)?,
        };
        let (mut session, continues) = self.session_to_write(scope, asked, self.now())?;
        if let Some(replaced) = replacing {
            session = self.set_aside(scope, session, (replaced, id))?;
        }
        let user = self.lock(scope)?;
        let waiting = session.info.incomplete_turn;
        let mut taking = RecordingSession { continues, ..self.take(scope, user, session)? };
        if let Some(waiting) = waiting {
            self.check_may_settle(scope, waiting)?;
            self.settle(scope, &mut taking)?;
        }
        Ok(taking)
    }

    /// Fails if the message that waits for its reply is trusted more than who records the next turn: it would be completed
    /// without the reply that it waits for. A damaged message waits for nothing.
    pub(super) fn check_may_settle(&self, scope: &Scope, waiting: TurnId) -> Result<()> {
        let found = sound(aside::by_id(self.sql, scope, waiting))?;
        let trust = found.map_or(Trust::Foreign, |aside| aside.turn.said.trust());
        check_may_change(self.by, trust, format_args!("message {waiting}, which still waits for its reply,"))
    }

    fn take(&self, scope: &Scope, user: UserRow, session: SessionRow) -> Result<RecordingSession> {
        let hot = self.hot(scope, &session)?;
        Ok(RecordingSession { user, session, continues: None, hot, evicted: Vec::new() })
    }

    /// Completes the session's message that waits for its reply without one, because none will come. A damaged message stays
    /// in `turns_aside`, marked as replaced by itself.
    fn settle(&mut self, scope: &Scope, taking: &mut RecordingSession) -> Result<()> {
        let Some(id) = taking.session.info.incomplete_turn else { return Ok(()) };
        match aside::incomplete(self.sql, scope, taking.session.info.id) {
            Ok(Some(Aside { turn, content_hash, .. })) => {
                let words = WordCounts::of(&turn.said).encode();
                let (tokens, turn) = (turn.tokens.clone(), NewTurn::of(turn));
                let measured = MeasuredTurn { turn, tokens, words, content_hash };
                self.complete_waiting(scope, taking, id, measured).map(drop)
            }
            Ok(None) => Ok(()),
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                taking.session.info.incomplete_turn = None;
                taking.hot.take_incomplete();
                aside::set_replaced(self.sql, scope, id, (id, self.now()))
            }
            Err(error) => Err(error),
        }
    }

    /// Like `settle`, for a session that ends.
    pub(super) fn settle_ended(&mut self, scope: &Scope, session: SessionRow) -> Result<SessionRow> {
        let user = self.lock(scope)?;
        let mut taking = self.take(scope, user, session)?;
        self.settle(scope, &mut taking)?;
        Ok(taking.session)
    }

    fn complete_waiting(
        &mut self,
        scope: &Scope,
        taking: &mut RecordingSession,
        id: TurnId,
        measured: MeasuredTurn,
    ) -> Result<(u32, Seq)> {
        taking.session.info.incomplete_turn = None;
        taking.hot.take_incomplete();
        // Removed before the turn is written, because the caller's id is unique across both tables.
        aside::remove(self.sql, scope, id)?;
        self.write_turn(scope, taking, id, measured)
    }

    /// Writes a turn with its unit, as the newest of its session.
    fn write_turn(
        &mut self,
        scope: &Scope,
        taking: &mut RecordingSession,
        id: TurnId,
        measured: MeasuredTurn,
    ) -> Result<(u32, Seq)> {
        let now = self.now();
        let MeasuredTurn { turn, tokens, words, content_hash } = measured;
        if let Some(snapshot) = turn.snapshot_id {
            users::add_snapshot(self.sql, snapshot, now)?;
        }
        let said_at = StoredTime::stated("said_at", turn.said_at)?.unwrap_or(now);
        let session = &mut taking.session;
        let (session_id, turn_number) = (session.info.id, next_number(session.info.turn_count)?);
        session.count(tokens.total_tokens, said_at, now);
        session.raise(turn.said.trust());
        let seq = taking.user.last_seq.next()?;
        taking.user.last_seq = seq;

        let answering = turn.answering;
        let trust = turn.said.trust();
        let turn = turn_of(id, (session_id, turn_number, seq), turn, tokens, said_at);
        let unit = (id, turn.caller_id.as_deref(), content_hash, said_at);
        units::insert(self.sql, scope, seq, Owner::Turn(session.place(turn_number)), unit)?;
        turn_row::insert(self.sql, scope, session.session_no, &turn, &words)?;
        users::set_last_seq(self.sql, scope, seq)?;
        self.note_rules(scope, &taking.user, Kinds::WORDS)?;
        sessions::set_counts(self.sql, scope, session)?;
        if let Some(receipt_id) = answering {
            self.behind.push(WriteBehind::Use(
                *scope,
                AnsweringTurn { session_id, turn_number, receipt_id, said_at, trust },
            ));
        }
        index::queue_if_due(self, scope, seq)?;
        self.push_hot(scope, taking, turn)?;
        Ok((turn_number, seq))
    }

    fn push_hot(&mut self, scope: &Scope, taking: &mut RecordingSession, turn: Turn) -> Result<()> {
        let (session, now) = (&taking.session, self.now());
        for Evicted { turn, reason } in taking.hot.push(Arc::new(turn)) {
            let number = turn.turn_number;
            turns::leave_hot(self.sql, scope, session.place(number), reason, now)
                .inspect_err(|_| self.live.forget(session.info.id))?;
            taking.evicted.push(number);
        }
        Ok(())
    }

    fn finish(
        &mut self,
        taking: RecordingSession,
        (turn_id, turn_number, seq): (TurnId, u32, Seq),
    ) -> Recorded {
        let RecordingSession { session, continues, hot, evicted, .. } = taking;
        let session_id = session.info.id;
        self.staged.insert(session_id, Some((Arc::new(hot), session.version())));
        Recorded {
            turn_id,
            session_id,
            turn_number,
            seq: seq.into(),
            state: if seq == Seq::default() { TurnState::Incomplete } else { TurnState::Complete },
            outcome: RecordOutcome::New,
            evicted,
            continues,
        }
    }

    /// The session that takes the turn: the requested one or, if that has ended and can continue, its successor. In that
    /// case also returns the ended session.
    pub(super) fn session_to_write(
        &mut self,
        scope: &Scope,
        asked: SessionRow,
        now: StoredTime,
    ) -> Result<(SessionRow, Option<SessionId>)> {
        let mut session = sessions::latest(self.sql, scope, asked)?;
        lifecycle::check_can_go_on(&session.info)?;
        if lifecycle::is_silent(&session.info, self.config, now) {
            self.end(scope, &session, EndReason::Silence, None)?;
            session.info.end_reason = Some(EndReason::Silence);
        }
        if session.info.end_reason.is_none() {
            return Ok((session, None));
        }
        if jobs::is_erasing(self.sql, scope, Some(session.info.id))? {
            return Err(sessions::no_session());
        }
        let successor = lifecycle::start_successor(self.sql, scope, &session, now)?;
        Ok((successor, Some(session.info.id)))
    }
}

/// Returns the known turn. Errors: the turn would replace itself, although a replacement is another turn and needs its own
/// id.
fn replaces_another(known: Recorded, replacing: Option<TurnId>) -> Result<Recorded> {
    if replacing == Some(known.turn_id) {
        return Err(Error::invalid(
            "a turn cannot replace itself; give the new one a caller's id of its own",
        ));
    }
    Ok(known)
}

fn next_number(turn_count: u32) -> Result<u32> {
    let next = turn_count.saturating_add(1);
    if next > MAX_TURN_NUMBER {
        return Err(Error::invalid("the session is full; start another one"));
    }
    Ok(next)
}

fn turn_of(
    id: TurnId,
    (session_id, turn_number, seq): (SessionId, u32, Seq),
    turn: NewTurn,
    tokens: TokenCounts,
    said_at: StoredTime,
) -> Turn {
    Turn {
        id,
        session_id,
        turn_number,
        seq: seq.into(),
        caller_id: turn.caller_id,
        timestamp: *said_at,
        memory_tier: MemoryTier::Hot,
        state: TurnState::Complete,
        is_identity_critical: turn.critical,
        critical_rule: turn.critical.then_some(CriticalRule::Caller),
        snapshot_id: turn.snapshot_id,
        tokens,
        said: turn.said,
        metadata: turn.metadata,
    }
}

/// The result of an earlier record with the same caller's id. Errors: a conflict if the id came with different text.
pub(crate) fn find(
    sql: &dyn Sql,
    scope: &Scope,
    caller_id: &str,
    content_hash: ContentHash,
) -> Result<Option<Recorded>> {
    if let Some(unit) = units::unit_by_caller_id(sql, scope, caller_id)? {
        let known = known((unit.turn_id, unit.session_id, unit.turn_number), unit.seq.into());
        return if unit.content_hash == content_hash { Ok(Some(known)) } else { Err(other_text()) };
    }
    match aside::by_caller_id(sql, scope, caller_id)? {
        None => Ok(None),
        Some(aside) if aside.content_hash == content_hash => Ok(Some(Recorded::known(&aside.turn))),
        Some(aside) if aside.replaced.is_none() => Err(Error::new(
            ErrorKind::Conflict,
            "a message with this caller's id waits for its reply; complete it, or use another id",
        )),
        Some(_) => Err(other_text()),
    }
}

/// Like `find`, for a message. The reply to it is not compared.
fn find_message(
    sql: &dyn Sql,
    scope: &Scope,
    caller_id: &str,
    measured: &MeasuredTurn,
) -> Result<Option<Recorded>> {
    let message = &measured.turn.said.user_message;
    if let Some(unit) = units::unit_by_caller_id(sql, scope, caller_id)? {
        // If the original was deleted, there is no text to compare.
        let turn = originals::by_id(sql, scope, unit.turn_id)?;
        let known = known((unit.turn_id, unit.session_id, unit.turn_number), unit.seq.into());
        let is_it = turn.is_none_or(|turn| turn.said.user_message == *message);
        return if is_it { Ok(Some(known)) } else { Err(other_text()) };
    }
    match aside::by_caller_id(sql, scope, caller_id)? {
        None => Ok(None),
        Some(aside) if aside.turn.said.user_message == *message => Ok(Some(Recorded::known(&aside.turn))),
        Some(_) => Err(other_text()),
    }
}

fn known((turn_id, session_id, turn_number): (TurnId, SessionId, u32), seq: i64) -> Recorded {
    let (outcome, state) = (RecordOutcome::Known, TurnState::Complete);
    Recorded { turn_id, session_id, turn_number, seq, state, outcome, evicted: Vec::new(), continues: None }
}

fn other_text() -> Error {
    Error::new(
        ErrorKind::Conflict,
        "a turn with this caller's id and other text is already recorded; use another id",
    )
}
