//! Erasing: out of the rows, the indexes and the bytes of the file.
//!
//! A durable job comes first, so that an erase that is cut short is finished by whoever runs jobs next. Then slices
//! of at most [`SLICE`] rows, so that nobody waits long; the last one takes the session's or user's own row and queues
//! the scrubbing of the file. `secure_delete` overwrites rows where they are deleted; what it misses, and the
//! write-ahead log, is scrubbed ([`scrub`](crate::store::file::scrub)).

use serde::Serialize;

use crate::{
    error::{ErrorKind, Result},
    model::{ids::SessionId, job::JobKind},
    store::{
        acts::{index, jobs},
        job_tx::JobTx,
        rows::{
            anchors,
            erase::{self, Doomed, USER_TABLES},
            jobs::{self as job_rows, Lease},
            sessions, unit_texts, users, vectors,
        },
        scope::Scope,
        slice_error::SliceResult,
        write_tx::WriteTx,
    },
};

/// Rows of one slice: with all that hangs on them, about 3 ms.
const SLICE: u32 = 16;
/// Rows of what recalls considered: these are small, and many.
const SLICE_OF_RECALLS: u32 = 32 * SLICE;

/// What was erased, in rows. Counts only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Erased {
    /// Sessions.
    pub sessions: u64,
    /// Turns, wherever they were: as rows, in the archive, or only as a summary.
    pub turns: u64,
    /// Of these, turns in the archive.
    pub archived_turns: u64,
    /// Summaries.
    pub summaries: u64,
    /// Anchors; those with evidence elsewhere were folded anew and are not counted.
    pub anchors: u64,
    /// Pieces of evidence.
    pub derivations: u64,
    /// Moves between tiers on record.
    pub transitions: u64,
    /// Memories.
    pub memories: u64,
    /// Jobs that had not run.
    pub jobs: u64,
    /// Whether the file or its write-ahead log still holds old bytes, since some reader, perhaps of another process,
    /// holds the log. A job overwrites them once that has gone.
    pub is_pending: bool,
}

impl Erased {
    fn add(&mut self, table: &str, rows: u64) {
        match table {
            "conversation_sessions" => self.sessions += rows,
            "recall_units" => self.turns += rows,
            "archived_turns" => self.archived_turns += rows,
            "conversation_summaries" => self.summaries += rows,
            "identity_anchors" => self.anchors += rows,
            "derivations" => self.derivations += rows,
            "memory_tier_transitions" => self.transitions += rows,
            "user_memories" => self.memories += rows,
            _ => {}
        }
    }

    /// Adds what was erased after it. Whether old bytes are left is as the later one says: it empties the log of both.
    #[must_use]
    pub fn and(mut self, slice: Self) -> Self {
        self.sessions += slice.sessions;
        self.turns += slice.turns;
        self.archived_turns += slice.archived_turns;
        self.summaries += slice.summaries;
        self.anchors += slice.anchors;
        self.derivations += slice.derivations;
        self.transitions += slice.transitions;
        self.memories += slice.memories;
        self.jobs += slice.jobs;
        self.is_pending = slice.is_pending;
        self
    }
}

/// What one slice did, and whether it was the last.
pub(crate) type Slice = (Erased, bool);

impl WriteTx<'_> {
    /// Makes the erase durable before anything goes: from here on it will be finished. Other jobs on the same data end,
    /// and every cache of it is void.
    ///
    /// The job is taken in the same transaction, so that no worker is faster than who waits for the receipt.
    pub(crate) fn begin_erase(
        &mut self,
        scope: &Scope,
        session: Option<SessionId>,
    ) -> Result<(Erased, Lease)> {
        self.lock(scope)?;
        let turns = match session {
            Some(id) => sessions::existing(self.sql, scope, id)?.info.turn_count,
            None => 0,
        };
        users::raise_epoch(self.sql, scope)?;
        // From here on nothing is acknowledged that the erase would take away.
        let now = self.now();
        sessions::close(self.sql, scope, session, now)?;
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
    /// Erases a slice of what the job is there for: of a user, or of one of its sessions.
    pub(crate) fn erase_slice(&mut self, scope: &Scope) -> SliceResult<Slice> {
        self.lock(scope)?;
        match self.lease.session_id {
            Some(session) => self.erase_slice_of_session(scope, session),
            None => self.erase_slice_of_user(scope),
        }
    }

    fn erase_slice_of_user(&mut self, scope: &Scope) -> SliceResult<Slice> {
        let sql = self.tx.sql;
        users::raise_epoch(sql, scope)?;
        let (mut erased, mut room) = (Erased::default(), SLICE);
        for table in USER_TABLES {
            let (rows, counted) = erase::slice(sql, scope, table, room)?;
            erased.add(table.name, counted);
            room = room.saturating_sub(u32::try_from(rows).unwrap_or(u32::MAX));
            if room == 0 {
                self.got_on(&erased)?;
                return Ok((erased, false));
            }
        }
        self.end_erase(scope, None)?;
        users::remove(sql, scope)?;
        Ok((erased, true))
    }

    /// Erases a slice of a session, and every receipt of the user: a query may repeat what was said. Anchors that have
    /// other evidence are folded anew from it.
    fn erase_slice_of_session(&mut self, scope: &Scope, session: SessionId) -> SliceResult<Slice> {
        let (sql, mut erased) = (self.tx.sql, Erased::default());
        if let Some(row) = sessions::by_id(sql, scope, session)? {
            for table in USER_TABLES {
                if table.goes_whole() && erase::slice(sql, scope, table, SLICE_OF_RECALLS)?.0 > 0 {
                    return Ok((erased, false));
                }
            }
            let turns = erase::some_turns(sql, scope, row.session_no, SLICE)?;
            if !turns.is_empty() {
                // Whatever was read of them since the erase began, by whomever, is void.
                users::raise_epoch(sql, scope)?;
                unindex(self.tx, scope, &turns)?;
                for turn in &turns {
                    erase_turn(self.tx, scope, turn, &mut erased)?;
                }
                self.got_on(&erased)?;
                return Ok((erased, false));
            }
            for table in USER_TABLES {
                if erase::of_session(sql, scope, table, row.session_no, SLICE)? > 0 {
                    return Ok((erased, false));
                }
            }
            sessions::remove(sql, scope, &row)?;
            erased.sessions += 1;
        }
        self.tx.staged.insert(session, None);
        self.end_erase(scope, Some(session))?;
        Ok((erased, true))
    }

    /// An erase that gets on is never given up, however often it is cut short.
    fn got_on(&mut self, slice: &Erased) -> Result<()> {
        let turns = u32::try_from(slice.turns).unwrap_or(u32::MAX);
        job_rows::progress(self.tx.sql, self.lease, turns, 1)
    }

    /// Nothing is left: the jobs on it go, this one too, and the file is to be scrubbed.
    fn end_erase(&mut self, scope: &Scope, session: Option<SessionId>) -> SliceResult<()> {
        job_rows::remove(self.tx.sql, scope, session, Some(self.lease))?;
        self.finish()?;
        Ok(self.tx.enqueue_scrub()?)
    }
}

/// Takes turns out of the words and the vectors.
pub(super) fn unindex(tx: &mut WriteTx<'_>, scope: &Scope, turns: &[Doomed]) -> Result<()> {
    let sql = tx.sql;
    let mut is_sound = index::has_known_words(tx, scope)?;
    let (mut gone, mut texts) = (Vec::with_capacity(turns.len()), unit_texts::Reader::new(sql, scope));
    for turn in turns {
        let words = texts.sound_words_at(turn.place)?;
        is_sound &= words.is_some();
        gone.push((turn.seq.0, words.unwrap_or_default()));
    }
    match index::forget(sql, scope, &gone) {
        Ok(()) if is_sound => {}
        // Nobody knows under which words they stand in the index: all of it goes, and is made anew from the others.
        Err(error) if error.kind() != ErrorKind::Corrupt => return Err(error),
        _ => index::drop_all(tx, scope)?,
    }
    vectors::forget(sql, scope, &gone.iter().map(|(seq, _)| *seq).collect())
}

pub(super) fn erase_turn(tx: &WriteTx<'_>, scope: &Scope, turn: &Doomed, erased: &mut Erased) -> Result<()> {
    let gone = anchors::withdraw(tx.sql, scope, turn.turn_id)?;
    erased.derivations += gone.derivations;
    erased.anchors += anchors::refold(tx.sql, scope, &gone.folds)?;
    for table in USER_TABLES {
        erased.add(table.name, erase::of_turn(tx.sql, scope, table, turn)?);
    }
    Ok(())
}
