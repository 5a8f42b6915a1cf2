//! Erasing: from the rows, the indexes and the bytes of the file.
//!
//! First a durable job is queued, so that the next run of jobs finishes an erase that is cut short. Then come slices of a
//! few turns or rows, so that other writers do not wait long. The last slice removes the session's or user's own row and
//! queues the scrub of the file. `secure_delete` overwrites rows where they are deleted; the scrub overwrites what it
//! misses, and empties the write-ahead log ([`scrub`](crate::store::file::scrub)).

use crate::{
    error::Result,
    model::{
        ids::SessionId,
        job::JobKind,
        memory::trust::{Trust, check_may_change},
    },
    store::{
        acts::{erased::Erased, jobs, memories, unindex},
        job_tx::JobTx,
        rows::{
            anchors, doomed_sessions,
            erase::{self, TurnToErase, USER_TABLES},
            jobs::{self as job_rows, Lease},
            sessions, unit_texts, users,
        },
        scope::Scope,
        slice_error::{SliceError, SliceResult},
        write_tx::WriteTx,
    },
};

/// Rows per slice: with everything that depends on them, about 3 ms.
const SLICE: u32 = 16;
/// How many rows of the tables that are emptied because their rows may repeat what was said count as one row of a slice.
const RECALLS_AS_ONE: u32 = 32;

/// The table with incomplete and replaced turns.
const ASIDE: &str = "turns_aside";

/// What one slice erased, and whether it was the last.
pub(crate) type Slice = (Erased, bool);

/// How many more rows a slice may erase.
struct Room(u32);

impl Room {
    /// Takes room for these rows. Returns `true` if none is left: then there may be more such rows.
    fn is_filled_by(&mut self, rows: u64) -> bool {
        self.0 = self.0.saturating_sub(u32::try_from(rows).unwrap_or(u32::MAX));
        self.0 == 0
    }
}

impl WriteTx<'_> {
    /// Fails if a session, something made from it or, without a session, the user is trusted more than who asks for it.
    /// Queues the job before anything is removed: from here on the erase will be finished. Removes the other jobs on the
    /// same data, and invalidates every cache of it.
    ///
    /// The job is taken in the same transaction, so that no worker takes it before the caller who waits for the result.
    pub(crate) fn begin_erase(
        &mut self,
        scope: &Scope,
        session: Option<SessionId>,
    ) -> Result<(Erased, Lease)> {
        let turns = if let Some(id) = session {
            self.lock(scope)?;
            let doomed = doomed_sessions::by_id(self.sql, scope, id)?.ok_or_else(sessions::no_session)?;
            check_may_change(self.by, doomed.trust, format_args!("session {id}"))?;
            memories::erase::check_may_erase_what_rests_on(self, scope, doomed.session_no)?;
            doomed.turn_count
        } else {
            if !self.lock_doomed(scope)? {
                return Err(users::gone());
            }
            check_may_change(self.by, Trust::User, "all that is kept of a user")?;
            0
        };
        match session {
            Some(_) => users::raise_epoch(self.sql, scope)?,
            None => users::raise_epoch_of_doomed(self.sql, scope)?,
        }
        // From here on nothing is acknowledged that the erase would remove.
        let now = self.now();
        doomed_sessions::close(self.sql, scope, session, now)?;
        if session.is_none() {
            users::forget_name(self.sql, scope)?;
        }
        let jobs = job_rows::remove(self.sql, scope, session, None)?;
        self.enqueue(scope, JobKind::Erase, session, turns)?;
        self.live.forget_all();
        let lease = jobs::take_of(self, (JobKind::Erase, scope, session))?;
        Ok((Erased { jobs, ..Erased::default() }, lease))
    }
}

impl JobTx<'_, '_> {
    /// Erases a slice of the job's data: of a user, or of one of the user's sessions.
    pub(crate) fn erase_slice(&mut self, scope: &Scope) -> SliceResult<Slice> {
        match self.lease.session_id {
            Some(session) => {
                self.lock(scope)?;
                self.erase_slice_of_session(scope, session)
            }
            None if self.tx.lock_doomed(scope)? => self.erase_slice_of_user(scope),
            None => Err(SliceError::Lost),
        }
    }

    fn erase_slice_of_user(&mut self, scope: &Scope) -> SliceResult<Slice> {
        let sql = self.tx.sql;
        users::raise_epoch_of_doomed(sql, scope)?;
        let (mut erased, mut room) = (Erased::default(), Room(SLICE));
        for table in USER_TABLES {
            let (rows, counted) = erase::slice(sql, scope, table, room.0)?;
            erased.add(table.name, counted);
            if room.is_filled_by(rows) {
                self.note_progress(&erased)?;
                return Ok((erased, false));
            }
        }
        self.end_erase(scope, None)?;
        users::remove(sql, scope)?;
        Ok((erased, true))
    }

    /// Erases a slice of a session, and every receipt of the user, because a query may repeat what was said. Anchors that
    /// have other evidence are folded again. What is small goes in one slice, because each slice waits for its turn among
    /// everybody's writes.
    fn erase_slice_of_session(&mut self, scope: &Scope, session: SessionId) -> SliceResult<Slice> {
        let (sql, mut erased, mut room) = (self.tx.sql, Erased::default(), Room(SLICE));
        if let Some(row) = doomed_sessions::by_id(sql, scope, session)? {
            for table in USER_TABLES.iter().filter(|table| table.goes_whole()) {
                let rows = erase::slice(sql, scope, table, room.0 * RECALLS_AS_ONE)?.0;
                if room.is_filled_by(rows.div_ceil(RECALLS_AS_ONE.into())) {
                    return Ok((erased, false));
                }
            }
            let turns = erase::some_turns(sql, scope, row.session_no, room.0)?;
            if !turns.is_empty() {
                erased = erased.and(self.erase_turns(scope, &turns)?);
            }
            if room.is_filled_by(turns.len() as u64) {
                return Ok((erased, false));
            }
            let episodes = memories::erase::empty_episodes(self.tx, scope, row.session_no, room.0)?;
            if room.is_filled_by(episodes) {
                return Ok((erased, false));
            }
            for table in USER_TABLES {
                let rows = erase::of_session(sql, scope, table, row.session_no, room.0)?;
                // Of a session, neither its frames nor the entries of its state are reported.
                if table.name == ASIDE {
                    erased.add(table.name, rows);
                }
                if room.is_filled_by(rows) {
                    return Ok((erased, false));
                }
            }
            // Last, because it reads every unit of the user.
            let lost = erase::lost_turns(sql, scope, row.session_no, room.0)?;
            if !lost.is_empty() {
                erased = erased.and(self.erase_turns(scope, &lost)?);
            }
            if room.is_filled_by(lost.len() as u64) {
                return Ok((erased, false));
            }
            doomed_sessions::remove(sql, scope, &row)?;
            erased.sessions += 1;
        }
        self.tx.staged.insert(session, None);
        self.end_erase(scope, Some(session))?;
        Ok((erased, true))
    }

    fn erase_turns(&mut self, scope: &Scope, turns: &[TurnToErase]) -> Result<Erased> {
        let mut erased = Erased::default();
        // Invalidates what any process has read of these turns since the erase began.
        users::raise_epoch(self.tx.sql, scope)?;
        unindex(self.tx, scope, turns)?;
        for turn in turns {
            erase_turn(self.tx, scope, turn, &mut erased)?;
        }
        self.note_progress(&erased)?;
        Ok(erased)
    }

    /// Counts the erased turns, so that an erase that makes progress is never given up, however often it is cut short.
    fn note_progress(&mut self, slice: &Erased) -> Result<()> {
        let turns = u32::try_from(slice.turns).unwrap_or(u32::MAX);
        job_rows::progress(self.tx.sql, self.lease, turns, 1)
    }

    /// Removes all jobs on the erased data, including this one, and queues the scrub of the file.
    fn end_erase(&mut self, scope: &Scope, session: Option<SessionId>) -> SliceResult<()> {
        job_rows::remove(self.tx.sql, scope, session, Some(self.lease))?;
        self.finish()?;
        Ok(self.tx.enqueue_scrub()?)
    }
}

/// Removes turns from the index and the vectors.
pub(super) fn unindex(tx: &mut WriteTx<'_>, scope: &Scope, turns: &[TurnToErase]) -> Result<()> {
    let (mut gone, mut texts) = (Vec::with_capacity(turns.len()), unit_texts::UnitReader::new(tx.sql, scope));
    for turn in turns {
        gone.push((turn.seq.0, texts.sound_words_at(turn.place)?));
    }
    unindex::units(tx, scope, gone)
}

/// Removes a turn and what was made from it, except from the index and the vectors. Memories that somebody saved or
/// confirmed stay.
pub(super) fn erase_turn(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    turn: &TurnToErase,
    erased: &mut Erased,
) -> Result<()> {
    erased.memories += memories::erase::erase_made_of(tx, scope, turn.turn_id)?;
    let gone = anchors::withdraw(tx.sql, scope, turn.turn_id)?;
    erased.derivations += gone.derivations;
    erased.anchors += gone.anchors + anchors::refold(tx.sql, scope, &gone.folds)?;
    for table in USER_TABLES {
        erased.add(table.name, erase::of_turn(tx.sql, scope, table, turn)?);
    }
    Ok(())
}
