//! Erases one turn, wherever it is: in a row, in a line of the archive, set aside, or, if the original was deleted, only as
//! a summary. What jobs made from the turn, the turns that it had replaced, and all receipts of the user are erased too. One
//! transaction does all of this and queues the scrub, so it happens completely or not at all.

use crate::{
    compress::archive::Frame,
    error::{Error, ErrorKind, Result, sound},
    model::{
        ids::{SessionId, TurnId},
        memory::trust::{Trust, check_may_change},
    },
    store::{
        acts::{erase, erased::Erased, memories},
        rows::{
            aside, doomed_sessions,
            erase::{self as erase_rows, DoomedTurn, USER_TABLES},
            jobs, originals, sessions, users,
        },
        scope::Scope,
        sql::Sql,
        write_tx::WriteTx,
    },
};

/// An archive frame without one of its turns, repacked outside any transaction.
#[derive(Debug)]
pub(crate) struct Repacked {
    /// Where the turn was: the frame's number, and the turn's line in it.
    was_at: (i64, usize),
    /// `None` if the turn was the only one.
    frame: Option<Frame>,
}

/// Packs the frame of a turn again, without the turn. `None` if the turn is not in the archive.
pub(crate) fn repack(sql: &dyn Sql, scope: &Scope, id: TurnId) -> Result<Option<Repacked>> {
    let Some((frame_no, position)) = originals::archived_at(sql, scope, id)? else { return Ok(None) };
    let frame = originals::OriginalsReader::new(sql, scope).lines(frame_no)?.without(position)?;
    Ok(Some(Repacked { was_at: (frame_no, position), frame }))
}

impl WriteTx<'_> {
    /// Erases the turn. `None` if its place in the archive is no longer that of `repacked`.
    pub(crate) fn erase_turn(
        &mut self,
        scope: &Scope,
        id: TurnId,
        repacked: Option<Repacked>,
    ) -> Result<Option<Erased>> {
        self.lock(scope)?;
        if jobs::is_erasing(self.sql, scope, None)? {
            return Err(users::gone());
        }
        if originals::archived_at(self.sql, scope, id)? != repacked.as_ref().map(|frame| frame.was_at) {
            return Ok(None);
        }
        let mut erased = Erased::default();
        let mut found = erase_rows::one_turn(self.sql, scope, id)?;
        let aside = aside::session_of(self.sql, scope, id)?;
        if found.is_none() && aside.is_none() {
            found = erase_rows::lost_turn(self.sql, scope, id)?;
        }
        let session = match (&found, aside) {
            (Some(turn), _) => doomed_sessions::by_no(self.sql, scope, turn.doomed.place.session)?,
            (None, Some(id)) => doomed_sessions::by_id(self.sql, scope, id)?,
            (None, None) => return Err(Error::not_found("this user has no such turn")),
        };
        let session = session.ok_or_else(sessions::no_session)?;
        if let Some(turn) = &found
            && repacked.is_none()
            && originals::may_be_in_frames(self.sql, scope, session.id, turn.doomed.turn_id)?
        {
            let message = format!(
                "turn {id} may still be in its session's archive, whose index lacks it; erase the session, or restore a backup"
            );
            return Err(Error::new(ErrorKind::Corrupt, message));
        }
        self.check_may_erase(scope, id, session.trust)?;
        // All receipts are erased, because a query may repeat what was said.
        for table in USER_TABLES.iter().filter(|table| table.goes_whole()) {
            while erase_rows::slice(self.sql, scope, table, u32::MAX)?.0 > 0 {}
        }
        // Invalidates everything that any process has read of the turn.
        users::raise_epoch(self.sql, scope)?;
        self.staged.insert(session.id, None);
        self.live.forget(session.id);
        match &found {
            Some(turn) => self.erase_one(scope, (turn, session.id), repacked, &mut erased)?,
            None => aside::remove(self.sql, scope, id)?,
        }
        erased.turns = 1 + self.erase_replaced_by(scope, id)?;
        // Of a session that cannot be read, no turn can be hot.
        if let Some(session) = sound(sessions::by_id(self.sql, scope, session.id))?
            && session.info.ended_at.is_none()
        {
            self.refill_hot(scope, &session)?;
        }
        self.enqueue_scrub()?;
        Ok(Some(erased))
    }

    /// Fails if the turn, or a memory that would go with it, is trusted more than who asks. A turn that cannot be read is
    /// trusted as far as its session.
    fn check_may_erase(&self, scope: &Scope, id: TurnId, of_session: Trust) -> Result<()> {
        let kept = sound(originals::by_id(self.sql, scope, id))?;
        let aside = sound(aside::by_id(self.sql, scope, id))?;
        let turn = kept.or(aside.map(|aside| aside.turn));
        let trust = turn.map_or(of_session, |turn| turn.said.trust());
        check_may_change(self.by, trust, format_args!("turn {id}"))?;
        memories::erase::check_may_erase_made_of(self, scope, id.as_uuid())
    }

    fn erase_one(
        &mut self,
        scope: &Scope,
        (turn, session): (&DoomedTurn, SessionId),
        repacked: Option<Repacked>,
        erased: &mut Erased,
    ) -> Result<()> {
        erase::unindex(self, scope, std::slice::from_ref(&turn.doomed))?;
        erase::erase_turn(self, scope, &turn.doomed, erased)?;
        if let Some(Repacked { was_at: (frame_no, position), frame }) = repacked {
            // The frame gets another number, so that a process that is restoring the old frame finds that it is gone.
            if let Some(frame) = &frame {
                let new = originals::insert_frame(self.sql, scope, session, frame)?;
                originals::move_lines(self.sql, scope, (frame_no, position), new)?;
            }
            originals::remove_frame(self.sql, scope, frame_no)?;
        }
        doomed_sessions::count_erased(self.sql, scope, turn.doomed.place.session, turn.total_tokens)
    }

    /// Erases the turns that this turn had replaced, those that they had replaced, and so on. Returns how many.
    fn erase_replaced_by(&self, scope: &Scope, id: TurnId) -> Result<u64> {
        let (mut replacing, mut erased) = (vec![id], 0);
        while let Some(id) = replacing.pop() {
            let replaced = aside::remove_replaced_by(self.sql, scope, id)?;
            erased += replaced.len() as u64;
            replacing.extend(replaced);
        }
        Ok(erased)
    }
}
