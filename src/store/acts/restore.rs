//! Restoring a session from the archive: its compression undone, but for the anchors.
//!
//! A slice for each frame, then the turns that were kept verbatim. Cut short, it is begun again and goes on.

use rusqlite::params;

use crate::{
    compress::archive,
    error::{Error, ErrorKind, Result},
    model::{
        ids::SessionId,
        tier::{MemoryTier, MoveReason},
        turn::Turn,
    },
    store::{
        rows::{
            jobs, originals, sessions,
            turns::{self, turn_key},
        },
        scope::Scope,
        sql::Sql,
        write_tx::WriteTx,
    },
    text::{measure::ContentHash, words::WordCounts},
};

/// Turns kept verbatim that one slice moves.
const SLICE: u32 = 64;

/// The oldest frame of a session, read and checked outside of any transaction; `None`: there is none.
pub(crate) struct Unpacked {
    frame_no: i64,
    /// Each turn with its words.
    turns: Vec<(Turn, Vec<u8>)>,
}

/// Reads what the next slice puts back.
pub(crate) fn unpack(conn: &dyn Sql, scope: &Scope, session: SessionId) -> Result<Option<Unpacked>> {
    let Some((frame_no, body)) = originals::first_frame(conn, scope, session)? else { return Ok(None) };
    let mut turns = Vec::new();
    for turn in archive::unpack(&body)? {
        let hash = hash_of(conn, scope, turn.seq)?;
        let turn = originals::checked(turn, &hash)?;
        let words = WordCounts::of(&turn.said).encode();
        turns.push((turn, words));
    }
    Ok(Some(Unpacked { frame_no, turns }))
}

/// Restores a slice, and returns how many turns that were; 0: all is done.
pub(crate) fn slice(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    session: SessionId,
    unpacked: Option<Unpacked>,
) -> Result<u32> {
    let row = sessions::existing(tx.sql, scope, session)?;
    if row.info.ended_at.is_none() {
        return Err(Error::invalid("the session is open; there is nothing to restore"));
    }
    if jobs::is_erasing(tx.sql, scope, Some(session))? {
        return Err(Error::new(ErrorKind::Conflict, "the session is being erased"));
    }
    let restored = match unpacked {
        Some(unpacked) => put_back(tx, scope, row.session_no, &unpacked)?,
        None => warm_kept(tx, scope, row.session_no)?,
    };
    if restored > 0 || row.info.memory_tier == MemoryTier::Cold {
        // Whoever compresses it loses its job: from here on it is like a session that is compressed in part.
        jobs::remove_compression(tx.sql, scope, session)?;
        sessions::set_tier(tx.sql, scope, row.session_no, MemoryTier::Warm)?;
    }
    Ok(restored)
}

fn put_back(tx: &WriteTx<'_>, scope: &Scope, session_no: i64, unpacked: &Unpacked) -> Result<u32> {
    if !originals::remove_frame(tx.sql, scope, unpacked.frame_no)? {
        return Err(Error::new(ErrorKind::Conflict, "somebody else restores or erases the session"));
    }
    for (turn, words) in &unpacked.turns {
        let place = (session_no, turn.turn_number);
        turns::insert_warm(tx.sql, scope, session_no, turn, words)?;
        turns::record_move(tx.sql, scope, place, ("cold", "warm"), MoveReason::Restoration, tx.now())?;
        tx.sql
            .prepare_cached("DELETE FROM conversation_summaries WHERE turn_key = ?1 AND user_id = ?2")?
            .execute(params![turn_key(session_no, turn.turn_number), scope.user_id])?;
    }
    u32::try_from(unpacked.turns.len())
        .map_err(|_| Error::new(ErrorKind::Corrupt, "a frame holds too many turns"))
}

fn hash_of(conn: &dyn Sql, scope: &Scope, seq: i64) -> Result<ContentHash> {
    let mut stmt =
        conn.prepare_cached("SELECT content_hash FROM recall_units WHERE seq = ?1 AND user_no = ?2")?;
    Ok(stmt.query_row(params![seq, scope.user_no], |row| row.get("content_hash"))?)
}

/// Turns that were kept verbatim are warm again; only the caller's own marks stay.
fn warm_kept(tx: &WriteTx<'_>, scope: &Scope, session_no: i64) -> Result<u32> {
    let now = tx.now();
    let mut stmt = tx.sql.prepare_cached(
        "UPDATE conversation_turns
         SET memory_tier = 'warm', is_identity_critical = critical_rule IS 'caller',
             critical_rule = CASE critical_rule WHEN 'caller' THEN 'caller' END
         WHERE user_id = ?3 AND turn_key IN
           (SELECT turn_key FROM conversation_turns
            WHERE turn_key > ?1 AND turn_key < ?2 AND memory_tier = 'cold' AND user_id = ?3 LIMIT ?4)
         RETURNING turn_number",
    )?;
    let range = params![turn_key(session_no, 0), turn_key(session_no + 1, 0), scope.user_id, SLICE];
    let moved: Vec<u32> =
        stmt.query_map(range, |row| row.get("turn_number"))?.collect::<rusqlite::Result<_>>()?;
    for &number in &moved {
        let place = (session_no, number);
        turns::record_move(tx.sql, scope, place, ("cold", "warm"), MoveReason::Restoration, now)?;
    }
    u32::try_from(moved.len()).map_err(|_| Error::new(ErrorKind::Corrupt, "too many turns moved"))
}
