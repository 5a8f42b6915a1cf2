//! How sessions start, resume and end, and how their projects, titles and metadata are set.

use chrono::TimeDelta;

use crate::{
    config::Config,
    error::{Error, ErrorKind, Result},
    model::{
        ids::SessionId,
        job::JobKind,
        session::{EndReason, SessionInfo},
        stored_time::StoredTime,
        tier::{MemoryTier, MoveReason},
    },
    store::{
        rows::{
            memories, receipts,
            sessions::{self, NewSession, SessionRow},
            turns, users,
        },
        scope::{Scope, UserKey},
        sql::Sql,
        write_tx::WriteTx,
    },
};

/// Whether silence has ended the session although that is not recorded yet. An empty session does not end by silence.
pub(crate) fn is_silent(session: &SessionInfo, config: &Config, now: StoredTime) -> bool {
    let timeout = TimeDelta::from_std(config.session_timeout).ok();
    let silence = now.signed_duration_since(session.last_active_at);
    let is_empty = session.turn_count == 0 && session.incomplete_turn.is_none();
    session.ended_at.is_none() && !is_empty && timeout.is_some_and(|timeout| silence >= timeout)
}

/// Rejects a session that cannot continue, because it was ended by call and has no key.
pub(crate) fn check_can_go_on(session: &SessionInfo) -> Result<()> {
    if session.can_go_on() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::SessionEnded, "the session was ended and never reopens; start another one"))
}

/// Starts the successor of an ended session: under the same key, the next part.
pub(crate) fn start_successor(
    sql: &dyn Sql,
    scope: &Scope,
    ended: &SessionRow,
    now: StoredTime,
) -> Result<SessionRow> {
    let SessionInfo { caller_id, part, project, trust, .. } = &ended.info;
    let new = NewSession {
        caller_id: caller_id.as_deref(),
        part: part.saturating_add(1),
        project: project.as_deref(),
        trust: *trust,
    };
    let mut successor = sessions::insert(sql, scope, &new, now)?;
    sessions::hand_on(sql, scope, ended, &mut successor)?;
    sessions::set_successor(sql, scope, ended.session_no, successor.info.id)?;
    Ok(successor)
}

impl WriteTx<'_> {
    /// The user, added to the file if missing.
    pub(crate) fn add_user(&mut self, key: &UserKey) -> Result<Scope> {
        users::find_or_add(self.sql, key, self.now())
    }

    /// The newest open unnamed session, started if there is none. Sessions that silence has ended are ended now.
    pub(crate) fn resume_session(&mut self, scope: &Scope) -> Result<SessionRow> {
        self.lock(scope)?;
        let now = self.now();
        for session in sessions::open_unnamed(self.sql, scope)? {
            if !is_silent(&session.info, self.config, now) {
                return Ok(session);
            }
            self.end(scope, &session, EndReason::Silence, None)?;
        }
        sessions::insert(self.sql, scope, &NewSession::opened(None, self.by), now)
    }

    /// The session with the caller's key, started if there is none. A session that silence has ended is ended now; the next
    /// record continues it in a successor.
    pub(crate) fn open_session(&mut self, scope: &Scope, key: &str) -> Result<SessionRow> {
        self.lock(scope)?;
        let now = self.now();
        match sessions::by_caller_id(self.sql, scope, key)? {
            Some(session) if is_silent(&session.info, self.config, now) => {
                self.end(scope, &session, EndReason::Silence, None)?;
                Ok(session)
            }
            Some(session) => Ok(session),
            None => sessions::insert(self.sql, scope, &NewSession::opened(Some(key), self.by), now),
        }
    }

    /// Ends the open unnamed sessions and starts another one.
    pub(crate) fn start_session(&mut self, scope: &Scope) -> Result<SessionRow> {
        self.lock(scope)?;
        let now = self.now();
        let open = sessions::open_unnamed(self.sql, scope)?;
        for session in &open {
            if !is_silent(&session.info, self.config, now) {
                self.check_may_change_session(session)?;
            }
        }
        for session in open {
            let silent = is_silent(&session.info, self.config, now);
            let reason = if silent { EndReason::Silence } else { EndReason::Call };
            self.end(scope, &session, reason, None)?;
        }
        sessions::insert(self.sql, scope, &NewSession::opened(None, self.by), now)
    }

    /// Ends a session's conversation, in the last of its successors. A session that was already ended by call stays as it
    /// is.
    pub(crate) fn end_session(
        &mut self,
        scope: &Scope,
        session: SessionId,
        ended_at: Option<StoredTime>,
    ) -> Result<SessionInfo> {
        self.lock(scope)?;
        let mut row = sessions::existing(self.sql, scope, session)?;
        if row.info.end_reason == Some(EndReason::Call) {
            return Ok(row.info); // Its conversation may have continued since, under its key.
        }
        row = sessions::latest(self.sql, scope, row)?;
        self.check_may_change_session(&row)?;
        if row.info.incomplete_turn.is_some() {
            row = self.settle_ended(scope, row)?;
        }
        match row.info.end_reason {
            Some(EndReason::Call) => return Ok(row.info),
            Some(EndReason::Silence) => sessions::set_ended_by_call(self.sql, scope, row.session_no)?,
            None => {
                if ended_at.is_some_and(|at| *at < row.info.started_at) {
                    return Err(Error::invalid("the session cannot have ended before it started"));
                }
                self.end(scope, &row, EndReason::Call, ended_at)?;
            }
        }
        Ok(sessions::existing(self.sql, scope, row.info.id)?.info)
    }

    /// Ends a session if silence has ended it, and returns whether it had.
    pub(crate) fn end_if_silent(&mut self, scope: &Scope, session: SessionId) -> Result<bool> {
        self.lock(scope)?;
        let Some(session) = sessions::by_id(self.sql, scope, session)? else { return Ok(false) };
        let silent = is_silent(&session.info, self.config, self.now());
        if silent {
            self.end(scope, &session, EndReason::Silence, None)?;
        }
        Ok(silent)
    }

    /// Ends a session: makes its hot turns warm, removes what lasts only as long as the session, and queues its extraction
    /// and compression. If `ended_at` is `None`, a session ended by call ends now, and one ended by silence ends when its
    /// last turn was said.
    pub(super) fn end(
        &mut self,
        scope: &Scope,
        session: &SessionRow,
        reason: EndReason,
        ended_at: Option<StoredTime>,
    ) -> Result<()> {
        let now = self.now();
        let settled;
        let session = match session.info.incomplete_turn {
            Some(_) => {
                settled = self.settle_ended(scope, session.clone())?;
                &settled
            }
            None => session,
        };
        let session_no = session.session_no;
        let ended_at = match (ended_at, reason) {
            (Some(at), _) => at,
            (None, EndReason::Call) => now,
            (None, EndReason::Silence) => turns::last_said_at(self.sql, scope, session_no)?.unwrap_or(now),
        };
        for turn_number in turns::hot_numbers(self.sql, scope, session.info.id)? {
            turns::leave_hot(self.sql, scope, session_no.turn(turn_number), MoveReason::SessionEnd, now)?;
        }
        receipts::remove_promotions(self.sql, scope, session_no)?;
        memories::row::remove_volatile(self.sql, scope, session_no)?;
        sessions::set_ended(self.sql, scope, session_no, reason, ended_at)?;
        if session.info.turn_count > 0 {
            self.queue_extraction(scope, session)?; // Queued first, so that at equal priority it is taken first.
            self.enqueue(scope, JobKind::Compress, Some(session.info.id), session.info.turn_count)?;
        }
        self.staged.insert(session.info.id, None);
        Ok(())
    }

    /// Files a session under a project, or under none.
    pub(crate) fn set_project(
        &mut self,
        scope: &Scope,
        session: SessionId,
        project: Option<&str>,
    ) -> Result<()> {
        self.lock(scope)?;
        self.check_may_change_session(&sessions::existing(self.sql, scope, session)?)?;
        sessions::set_project(self.sql, scope, session, project)
    }

    /// Sets or removes a session's title.
    pub(crate) fn set_title(&mut self, scope: &Scope, session: SessionId, title: Option<&str>) -> Result<()> {
        self.lock(scope)?;
        self.check_may_change_session(&sessions::existing(self.sql, scope, session)?)?;
        sessions::set_title(self.sql, scope, session, title)
    }

    /// Sets or removes the caller's JSON of a session.
    pub(crate) fn set_metadata(
        &mut self,
        scope: &Scope,
        session: SessionId,
        metadata: Option<&str>,
    ) -> Result<()> {
        self.lock(scope)?;
        self.check_may_change_session(&sessions::existing(self.sql, scope, session)?)?;
        sessions::set_metadata(self.sql, scope, session, metadata)
    }

    /// Queues the compression of an ended session that was restored. Does nothing for other sessions.
    pub(crate) fn queue_compression(&mut self, scope: &Scope, session: SessionId) -> Result<()> {
        self.lock(scope)?;
        let row = sessions::existing(self.sql, scope, session)?;
        self.check_may_change_session(&row)?;
        let info = row.info;
        if info.memory_tier == MemoryTier::Warm {
            self.enqueue(scope, JobKind::Compress, Some(session), info.turn_count)?;
        }
        Ok(())
    }
}
