//! A turn's original, wherever it is stored: a row of `conversation_turns`, or a line in an archive frame.

use std::num::NonZero;

use lru::LruCache;

use crate::{
    compress::archive::{Frame, FrameLines, Unpacker},
    error::{Error, ErrorKind, Result},
    model::{
        ids::{SessionId, SnapshotId, TurnId},
        place::{Place, Seq, SessionNo},
        tier::MemoryTier,
        turn::Turn,
    },
    store::{
        rows::{row_check, turns},
        scope::Scope,
        sql::{RowExpectation, Sql, SqlRow, SqlValue, bytes, missing, values},
    },
    text::measure::{self, ContentHash},
};

/// The most frames that a reader keeps in memory: together some 100 KB for chat-sized turns, a gigabyte for the longest.
const MAX_FRAMES: NonZero<usize> = NonZero::new(32).expect("it is not zero");

/// How many columns of `archived_frames`, and of `archived_turns`, are covered by a row's checksum.
const CHECKED_FRAME_COLUMNS: usize = 6;
const CHECKED_ARCHIVED_COLUMNS: usize = 7;

/// Reads originals. It keeps the lines of the frames it has read, because what is recalled together is often stored
/// together.
pub(crate) struct OriginalsReader<'s> {
    sql: &'s dyn Sql,
    scope: Scope,
    frames: LruCache<i64, FrameLines>,
    unpacker: Option<Unpacker>,
}

/// Selects a turn's location in the archive. `$which` identifies the turn by `?1`; `?2` and `?3` are the user's number and
/// id.
macro_rules! archived {
    ($which:literal) => {
        concat!(
            "SELECT a.turn_key, a.frame_no, a.position, r.content_hash
             FROM archived_turns AS a JOIN recall_units AS r ON r.user_no = a.user_no AND r.seq = a.seq
             WHERE ",
            $which,
            " AND a.user_no = ?2 AND EXISTS
               (SELECT 1 FROM archived_frames AS f WHERE f.frame_no = a.frame_no AND f.user_id = ?3)"
        )
    };
}

/// A turn's location in the archive, and its content hash.
struct Archived {
    place: Place,
    frame_no: i64,
    position: usize,
    content_hash: Result<ContentHash>,
}

fn read_archived(row: &SqlRow<'_>) -> Result<Archived> {
    Ok(Archived {
        place: row.get(0)?,
        frame_no: row.get(1)?,
        position: row.get(2)?,
        content_hash: row.get(3),
    })
}

impl<'s> OriginalsReader<'s> {
    pub(crate) fn new(sql: &'s dyn Sql, scope: &Scope) -> Self {
        Self { sql, scope: *scope, frames: LruCache::new(MAX_FRAMES), unpacker: None }
    }

    /// One turn by its place in its session.
    pub(crate) fn by_number(&mut self, place: Place) -> Result<Option<Turn>> {
        match turns::by_number(self.sql, &self.scope, place)? {
            Some(turn) if turn.turn_number != place.turn_number => Err(turns::damaged(place)),
            None => self.archived_at(place),
            found => Ok(found),
        }
    }

    /// One turn by its place, from the archive: for a turn without a row.
    pub(crate) fn archived_at(&mut self, place: Place) -> Result<Option<Turn>> {
        let Scope { user_no, user_id } = self.scope;
        match self.archived(archived!("a.turn_key = ?1"), values![place, user_no, user_id])? {
            Some(turn) if turn.turn_number != place.turn_number => Err(turns::damaged(place)),
            found => Ok(found),
        }
    }

    fn by_id(&mut self, id: TurnId) -> Result<Option<Turn>> {
        let Scope { user_no, user_id } = self.scope;
        let found = turns::by_id(self.sql, &self.scope, id)?;
        if found.is_some() {
            return Ok(found);
        }
        self.archived(archived!("a.turn_id = ?1"), values![id, user_no, user_id])
    }

    /// Reads one turn from its frame.
    fn archived(&mut self, statement: &'static str, params: &[SqlValue<'_>]) -> Result<Option<Turn>> {
        let Some(found) = self.sql.one(statement, params, read_archived)? else { return Ok(None) };
        let turn = self.lines(found.frame_no).and_then(|lines| lines.turn(found.position));
        match turn.and_then(|turn| checked(turn, &found.content_hash?)) {
            // Whichever part of the frame is damaged, the error names the requested turn.
            Err(error) if error.kind() == ErrorKind::Corrupt => Err(turns::damaged(found.place)),
            turn => turn.map(Some),
        }
    }

    /// The lines of a frame.
    pub(crate) fn lines(&mut self, frame_no: i64) -> Result<&FrameLines> {
        self.frames.try_get_or_insert(frame_no, || {
            let unpacker = match &mut self.unpacker {
                Some(unpacker) => unpacker,
                none => none.insert(Unpacker::new()?),
            };
            let lines = self.sql.one(
                "SELECT frame_no, user_id, session_id, turn_count, raw_bytes, body, row_check
                 FROM archived_frames WHERE frame_no = ?1 AND user_id = ?2",
                values![frame_no, self.scope.user_id],
                |row| match bytes(row.value(5)?) {
                    Some(body) if row_check::holds(row, CHECKED_FRAME_COLUMNS)? => unpacker.lines(body),
                    _ => Err(row_check::damaged(format_args!("frame {frame_no} of the archive"))),
                },
            )?;
            lines.ok_or_else(missing)
        })
    }
}

/// One turn by its id.
pub(crate) fn by_id(sql: &dyn Sql, scope: &Scope, id: TurnId) -> Result<Option<Turn>> {
    match OriginalsReader::new(sql, scope).by_id(id)? {
        // The turn itself may be sound: what led to it is damaged, an index or its location in the archive.
        Some(turn) if turn.id != id => {
            Err(row_check::damaged(format_args!("turn {id}, or what leads to it,")))
        }
        found => Ok(found),
    }
}

/// One turn by the caller's id.
pub(crate) fn by_caller_id(sql: &dyn Sql, scope: &Scope, caller_id: &str) -> Result<Option<Turn>> {
    let Some(unit) = turns::unit_by_caller_id(sql, scope, caller_id)? else { return Ok(None) };
    match by_id(sql, scope, unit.turn_id)? {
        Some(turn) if turn.caller_id.as_deref() != Some(caller_id) => {
            Err(row_check::damaged("what leads from this caller's id to its turn"))
        }
        found => Ok(found),
    }
}

/// Checks that the text of a turn from a frame is the recorded one, and marks the turn as cold.
pub(crate) fn checked(mut turn: Turn, hash: &ContentHash) -> Result<Turn> {
    if measure::content_hash(&turn.said.user_message, &turn.said.ai_response) != *hash {
        return Err(Error::new(ErrorKind::Corrupt, "an archived turn is not what was recorded; run doctor"));
    }
    turn.memory_tier = MemoryTier::Cold;
    Ok(turn)
}

/// The backend's state at a turn, in any tier. `None` if there was no state, or there is no such turn.
pub(crate) fn snapshot(sql: &dyn Sql, scope: &Scope, place: Place) -> Result<Option<SnapshotId>> {
    let found = sql.one(
        "SELECT snapshot_id FROM conversation_turns WHERE turn_key = ?1 AND user_id = ?2
         UNION ALL SELECT snapshot_id FROM conversation_summaries WHERE turn_key = ?1 AND user_id = ?2",
        values![place, scope.user_id],
        |row| row.get(0),
    )?;
    Ok(found.flatten())
}

/// Adds a frame to the archive, and returns its number.
pub(crate) fn insert_frame(sql: &dyn Sql, scope: &Scope, session: SessionId, frame: &Frame) -> Result<i64> {
    sql.scalar(
        "INSERT INTO archived_frames (user_id, session_id, turn_count, raw_bytes, body)
         VALUES (?1, ?2, ?3, ?4, ?5) RETURNING frame_no",
        values![scope.user_id, session, frame.turn_count, frame.raw_bytes, frame.body],
    )
}

/// Records the archive location of a turn that still has a row.
pub(crate) fn insert_archived(
    sql: &dyn Sql,
    scope: &Scope,
    place: Place,
    (frame_no, position): (i64, usize),
) -> Result<()> {
    sql.put(
        "INSERT INTO archived_turns (turn_key, turn_id, user_no, frame_no, position, turn_number, seq)
         SELECT turn_key, id, ?3, ?4, ?5, turn_number, seq FROM conversation_turns
         WHERE turn_key = ?1 AND user_id = ?2",
        values![place, scope.user_id, scope.user_no, frame_no, position],
        RowExpectation::One(missing),
    )
}

/// A turn's location in the archive: its frame, and its line there.
pub(crate) fn archived_at(sql: &dyn Sql, scope: &Scope, id: TurnId) -> Result<Option<(i64, usize)>> {
    sql.one(
        "SELECT frame_no, position FROM archived_turns WHERE turn_id = ?1 AND user_no = ?2",
        values![id, scope.user_no],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// Moves the turns of a frame to a new frame, which has the same lines except `without`.
pub(crate) fn move_lines(sql: &dyn Sql, scope: &Scope, (from, without): (i64, usize), to: i64) -> Result<()> {
    sql.put(
        "UPDATE archived_turns
         SET frame_no = ?4, position = CASE WHEN position > ?3 THEN position - 1 ELSE position END
         WHERE frame_no = ?1 AND user_no = ?2",
        values![from, scope.user_no, without, to],
        RowExpectation::Any,
    )
}

/// The units and places of a session's archived turns before turn number `before`, ascending.
pub(crate) fn archived_in(
    sql: &dyn Sql,
    scope: &Scope,
    session_no: SessionNo,
    before: u32,
) -> Result<Vec<(Seq, Place)>> {
    sql.list(
        "SELECT seq, turn_key FROM archived_turns
         WHERE turn_key >= ?1 AND turn_key < ?2 AND user_no = ?3 ORDER BY seq",
        values![session_no.start(), session_no.turn(before), scope.user_no],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// Whether a turn's row of `archived_turns` matches its checksum. True if there is no such row.
pub(crate) fn is_place_sound(sql: &dyn Sql, scope: &Scope, place: Place) -> Result<bool> {
    let is_sound = sql.one(
        "SELECT turn_key, turn_id, user_no, frame_no, position, turn_number, seq, row_check
         FROM archived_turns WHERE turn_key = ?1 AND user_no = ?2",
        values![place, scope.user_no],
        |row| row_check::holds(row, CHECKED_ARCHIVED_COLUMNS),
    )?;
    Ok(is_sound.unwrap_or(true))
}

/// Whether the text of a turn may still be in a frame of its session, although `archived_turns` does not name the turn.
pub(crate) fn may_be_in_frames(
    sql: &dyn Sql,
    scope: &Scope,
    session: SessionId,
    turn: TurnId,
) -> Result<bool> {
    sql.scalar(
        "SELECT EXISTS (SELECT 1 FROM archived_frames WHERE session_id = ?1 AND user_id = ?2)
           AND NOT EXISTS (SELECT 1 FROM conversation_turns WHERE id = ?3 AND user_id = ?2)
           AND NOT EXISTS (SELECT 1 FROM conversation_summaries
                           WHERE original_turn_id = ?3 AND user_id = ?2 AND original = 'deleted')",
        values![session, scope.user_id, turn],
    )
}

/// The number and the packed contents of a session's oldest frame.
pub(crate) fn first_frame(
    sql: &dyn Sql,
    scope: &Scope,
    session: SessionId,
) -> Result<Option<(i64, Vec<u8>)>> {
    sql.one(
        "SELECT frame_no, body FROM archived_frames WHERE session_id = ?1 AND user_id = ?2 ORDER BY frame_no LIMIT 1",
        values![session, scope.user_id],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// Removes a frame and its turns' places from the archive. Errors: the frame no longer exists.
pub(crate) fn remove_frame(sql: &dyn Sql, scope: &Scope, frame_no: i64) -> Result<()> {
    sql.put(
        "DELETE FROM archived_frames WHERE frame_no = ?1 AND user_id = ?2",
        values![frame_no, scope.user_id],
        RowExpectation::One(|| {
            Error::new(ErrorKind::Conflict, "another operation is restoring or erasing the session")
        }),
    )
}
