//! Restores a session from the archive: undoes its compression, except for the anchors, and for turns whose originals were
//! deleted.
//!
//! Each slice restores one frame; then come the turns that were kept verbatim. A restoration that was cut short continues
//! when it is started again.

use crate::{
    compress::{archive, derived::Kinds},
    error::{Error, ErrorKind, Result},
    model::{
        ids::SessionId,
        place::{Seq, SessionNo},
        tier::{MemoryTier, MoveReason},
        turn::Turn,
    },
    store::{
        rows::{jobs, originals, sessions, summaries, turns, units},
        scope::Scope,
        sql::Sql,
        write_tx::WriteTx,
    },
    text::words::WordCounts,
};

/// How many turns that were kept verbatim one slice moves.
const SLICE: u32 = 64;

/// A session's oldest frame, read and checked outside any transaction.
pub(crate) struct Unpacked {
    frame_no: i64,
    /// Each turn with its words.
    turns: Vec<(Turn, Vec<u8>)>,
}

/// Reads and checks the next frame to restore. `None` if no frame is left.
pub(crate) fn unpack(sql: &dyn Sql, scope: &Scope, session: SessionId) -> Result<Option<Unpacked>> {
    let Some((frame_no, body)) = originals::first_frame(sql, scope, session)? else { return Ok(None) };
    let archived = archive::unpack(&body)?;
    let hashes = units::content_hashes(sql, scope, archived.iter().map(|turn| Seq::of(turn.seq)))?;
    let mut turns = Vec::with_capacity(archived.len());
    for (turn, hash) in archived.into_iter().zip(&hashes) {
        let turn = originals::checked(turn, hash)?;
        let words = WordCounts::of(&turn.said).encode();
        turns.push((turn, words));
    }
    Ok(Some(Unpacked { frame_no, turns }))
}

impl WriteTx<'_> {
    /// Restores a slice, and returns how many turns it restored. 0 if everything is done.
    pub(crate) fn restore_slice(
        &mut self,
        scope: &Scope,
        session: SessionId,
        unpacked: Option<Unpacked>,
    ) -> Result<u32> {
        let user = self.lock(scope)?;
        self.note_rules(scope, &user, Kinds::WORDS)?;
        let row = sessions::existing(self.sql, scope, session)?;
        self.check_may_change_session(&row)?;
        if row.info.ended_at.is_none() {
            return Err(Error::invalid("the session is open; there is nothing to restore"));
        }
        if jobs::is_erasing(self.sql, scope, Some(session))? {
            return Err(Error::new(ErrorKind::Conflict, "the session is being erased"));
        }
        let restored = match unpacked {
            Some(unpacked) => self.put_back(scope, row.session_no, &unpacked)?,
            None => self.warm_kept(scope, row.session_no)?,
        };
        if restored > 0 || row.info.memory_tier == MemoryTier::Cold {
            // A running compression of the session is lost. From here on the session is like one that is partly compressed.
            jobs::remove_compression(self.sql, scope, session)?;
            sessions::set_tier(self.sql, scope, row.session_no, MemoryTier::Warm)?;
        }
        Ok(restored)
    }

    /// Restores a slice of a session that should be compressed again. The compression is queued in the same transaction, so
    /// that a process killed in between leaves nothing warm for good. It begins once everything is restored, or one lease
    /// after the last restored slice, in case the restoring process has died.
    pub(crate) fn restore_slice_to_compress(
        &mut self,
        scope: &Scope,
        session: SessionId,
        unpacked: Option<Unpacked>,
    ) -> Result<u32> {
        let restored = self.restore_slice(scope, session, unpacked)?;
        self.queue_compression(scope, session)?;
        if restored > 0 {
            let until = jobs::lease_end((self.sql.lease_clock()?, self.config.lease));
            jobs::put_off_compression(self.sql, scope, session, until)?;
        }
        Ok(restored)
    }

    fn put_back(&self, scope: &Scope, session_no: SessionNo, unpacked: &Unpacked) -> Result<u32> {
        let now = self.now();
        originals::remove_frame(self.sql, scope, unpacked.frame_no)?;
        for (turn, words) in &unpacked.turns {
            let place = session_no.turn(turn.turn_number);
            turns::insert_warm(self.sql, scope, session_no, turn, words)?;
            turns::record_move(self.sql, scope, place, ("cold", "warm"), MoveReason::Restoration, now)?;
            summaries::remove(self.sql, scope, place)?;
        }
        u32::try_from(unpacked.turns.len())
            .map_err(|_| Error::new(ErrorKind::Corrupt, "a frame holds too many turns"))
    }

    /// Makes some turns that were kept verbatim warm again. They keep no mark but the caller's.
    fn warm_kept(&self, scope: &Scope, session_no: SessionNo) -> Result<u32> {
        let now = self.now();
        let moved = turns::warm_kept(self.sql, scope, session_no, SLICE)?;
        for &number in &moved {
            let place = session_no.turn(number);
            turns::record_move(self.sql, scope, place, ("cold", "warm"), MoveReason::Restoration, now)?;
        }
        u32::try_from(moved.len()).map_err(|_| Error::new(ErrorKind::Corrupt, "too many turns moved"))
    }
}
