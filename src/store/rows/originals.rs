//! A turn's original, wherever it is: a row of `conversation_turns`, or a line in a frame of the archive.

use std::num::NonZero;

use lru::LruCache;
use rusqlite::{OptionalExtension, Row, params};

use crate::{
    compress::archive::{Frame, Lines, Unpacker},
    error::{Error, ErrorKind, Result},
    model::{
        ids::{SessionId, SnapshotId, TurnId},
        tier::MemoryTier,
        turn::Turn,
    },
    store::{
        file::row_check,
        rows::turns::{self, turn_key},
        scope::Scope,
        sql::Sql,
    },
    text::{measure, words::EncodedWords},
};

/// Frames that a reader keeps: of chat-sized turns some 100 KB, of the longest a gigabyte.
const MAX_FRAMES: NonZero<usize> = NonZero::new(32).expect("it is not zero");

/// How many columns of a frame its checksum covers.
const CHECKED_FRAME_COLUMNS: usize = 6;

/// Reads originals. Of the frames it is asked for it keeps the lines: what is recalled together often lies together.
pub(crate) struct Reader<'c> {
    conn: &'c dyn Sql,
    scope: Scope,
    frames: LruCache<i64, Lines>,
    unpacker: Option<Unpacker>,
}

impl<'c> Reader<'c> {
    pub(crate) fn new(conn: &'c dyn Sql, scope: &Scope) -> Self {
        Self { conn, scope: *scope, frames: LruCache::new(MAX_FRAMES), unpacker: None }
    }

    /// One turn by its place in its session.
    pub(crate) fn by_number(&mut self, session_no: i64, turn_number: u32) -> Result<Option<Turn>> {
        let scope = self.scope;
        let found = match turns::by_number(self.conn, &scope, session_no, turn_number)? {
            Some(turn) => Some(turn),
            None => self.archived(
                "a.turn_key = ?1",
                params![turn_key(session_no, turn_number), scope.user_no, scope.user_id],
            )?,
        };
        match found {
            Some(turn) if turn.turn_number != turn_number => Err(turns::damaged((session_no, turn_number))),
            found => Ok(found),
        }
    }

    /// Reads one turn out of its frame; `which` names it by the first parameter, the others are the user.
    fn archived(&mut self, which: &str, params: &[&dyn rusqlite::ToSql]) -> Result<Option<Turn>> {
        let mut stmt = self.conn.prepare_cached(&format!(
            "SELECT a.turn_key AS turn_key, a.frame_no AS frame_no, a.position AS position,
                    r.content_hash AS content_hash
             FROM archived_turns AS a JOIN recall_units AS r ON r.user_no = a.user_no AND r.seq = a.seq
             WHERE {which} AND a.user_no = ?2 AND EXISTS
               (SELECT 1 FROM archived_frames AS f WHERE f.frame_no = a.frame_no AND f.user_id = ?3)"
        ))?;
        let mut rows = stmt.query(params)?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let (frame_no, position) = (row.get("frame_no")?, row.get("position")?);
        let turn = self.lines(frame_no).and_then(|lines| lines.turn(position));
        let turn = turn.and_then(|turn| checked(turn, &row.get("content_hash")?));
        match turn {
            // Whatever cannot be read of a frame, it is this turn that is asked for.
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                Err(turns::damaged(turns::place_of(row.get("turn_key")?)))
            }
            turn => turn.map(Some),
        }
    }

    fn lines(&mut self, frame_no: i64) -> Result<&Lines> {
        self.frames.try_get_or_insert(frame_no, || {
            let sql = "SELECT frame_no, user_id, session_id, turn_count, raw_bytes, body, row_check
                       FROM archived_frames WHERE frame_no = ?1 AND user_id = ?2";
            let mut stmt = self.conn.prepare_cached(sql)?;
            let mut rows = stmt.query(params![frame_no, self.scope.user_id])?;
            let row = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
            if !row_check::holds(row, CHECKED_FRAME_COLUMNS)? {
                return Err(crate::store::rows::row_check::damaged(format_args!(
                    "frame {frame_no} of the archive"
                )));
            }
            let body = row.get_ref("body")?.as_blob().map_err(rusqlite::Error::from)?;
            let unpacker = match &mut self.unpacker {
                Some(unpacker) => unpacker,
                none => none.insert(Unpacker::new()?),
            };
            unpacker.lines(body)
        })
    }
}

/// One turn by its place in its session.
pub(crate) fn by_number(
    conn: &dyn Sql,
    scope: &Scope,
    session_no: i64,
    turn_number: u32,
) -> Result<Option<Turn>> {
    Reader::new(conn, scope).by_number(session_no, turn_number)
}

/// One turn by its id.
pub(crate) fn by_id(conn: &dyn Sql, scope: &Scope, id: TurnId) -> Result<Option<Turn>> {
    let found = match turns::by_id(conn, scope, id)? {
        Some(turn) => Some(turn),
        None => {
            Reader::new(conn, scope).archived("a.turn_id = ?1", params![id, scope.user_no, scope.user_id])?
        }
    };
    match found {
        // What names it is damaged: an index, or the place in the archive.
        Some(turn) if turn.id != id => {
            Err(crate::store::rows::row_check::damaged(format_args!("turn {id}, or what leads to it,")))
        }
        found => Ok(found),
    }
}

/// One turn by the caller's own id.
pub(crate) fn by_caller_id(conn: &dyn Sql, scope: &Scope, caller_id: &str) -> Result<Option<Turn>> {
    let Some(unit) = turns::unit_by_caller_id(conn, scope, caller_id)? else { return Ok(None) };
    match by_id(conn, scope, unit.turn_id)? {
        Some(turn) if turn.caller_id.as_deref() != Some(caller_id) => {
            Err(crate::store::rows::row_check::damaged("what leads from this caller's id to its turn"))
        }
        found => Ok(found),
    }
}

/// A turn out of a frame is cold, and its text is the one that was recorded.
pub(crate) fn checked(mut turn: Turn, hash: &measure::ContentHash) -> Result<Turn> {
    if measure::content_hash(&turn.said.user_message, &turn.said.ai_response) != *hash {
        return Err(Error::new(ErrorKind::Corrupt, "an archived turn is not what was recorded; run doctor"));
    }
    turn.memory_tier = MemoryTier::Cold;
    Ok(turn)
}

/// Shows the words of every turn of a session before `before` to `each`, by the turn's place; the archive's too.
pub(crate) fn for_each_words(
    conn: &dyn Sql,
    scope: &Scope,
    session_no: i64,
    before: u32,
    mut each: impl FnMut(u32, EncodedWords<'_>),
) -> Result<()> {
    turns::for_each_words(conn, scope, session_no, before, &mut each)?;
    let mut stmt = conn.prepare_cached(
        "SELECT turn_key, words FROM archived_turns WHERE turn_key >= ?1 AND turn_key < ?2 AND user_no = ?3",
    )?;
    let range = params![turn_key(session_no, 0), turn_key(session_no, before), scope.user_no];
    let mut rows = stmt.query(range)?;
    while let Some(row) = rows.next()? {
        if let Some(words) = row.get_ref("words")?.as_blob().ok().and_then(EncodedWords::parse) {
            each(turns::place_of(row.get("turn_key")?).1, words);
        }
    }
    Ok(())
}

/// The backend's state at a turn, wherever the turn is; `None` if there was none, or no such turn.
pub(crate) fn snapshot(
    conn: &dyn Sql,
    scope: &Scope,
    session_no: i64,
    turn_number: u32,
) -> Result<Option<SnapshotId>> {
    let mut stmt = conn.prepare_cached(
        "SELECT snapshot_id FROM conversation_turns WHERE turn_key = ?1 AND user_id = ?2
         UNION ALL SELECT snapshot_id FROM conversation_summaries WHERE turn_key = ?1 AND user_id = ?2",
    )?;
    let found = stmt.query_row(params![turn_key(session_no, turn_number), scope.user_id], |row| row.get(0));
    Ok(found.optional()?.flatten())
}

/// Puts a frame into the archive, and returns its number.
pub(crate) fn insert_frame(tx: &dyn Sql, scope: &Scope, session: SessionId, frame: &Frame) -> Result<i64> {
    tx.prepare_cached(
        "INSERT INTO archived_frames (user_id, session_id, turn_count, raw_bytes, body) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute(params![scope.user_id, session, frame.turn_count, frame.raw_bytes, frame.body])?;
    Ok(tx.last_insert_rowid())
}

/// Notes where in the archive a turn is, with the words of its row, which is still there.
pub(crate) fn insert_archived(
    tx: &dyn Sql,
    scope: &Scope,
    (session_no, turn_number): (i64, u32),
    (frame_no, position): (i64, usize),
) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO archived_turns (turn_key, turn_id, user_no, frame_no, position, turn_number, seq, words)
         SELECT turn_key, id, ?3, ?4, ?5, turn_number, seq, words FROM conversation_turns
         WHERE turn_key = ?1 AND user_id = ?2",
    )?
    .execute(params![
        turn_key(session_no, turn_number),
        scope.user_id,
        scope.user_no,
        frame_no,
        position
    ])?;
    Ok(())
}

/// The oldest frame of a session, with its number.
pub(crate) fn first_frame(
    conn: &dyn Sql,
    scope: &Scope,
    session: SessionId,
) -> Result<Option<(i64, Vec<u8>)>> {
    let mut stmt = conn.prepare_cached(
        "SELECT frame_no, body FROM archived_frames WHERE session_id = ?1 AND user_id = ?2 ORDER BY frame_no LIMIT 1",
    )?;
    let read = |row: &Row<'_>| Ok((row.get("frame_no")?, row.get("body")?));
    Ok(stmt.query_row(params![session, scope.user_id], read).optional()?)
}

/// Takes a frame and its turns' places out of the archive; false: it is not there any more.
pub(crate) fn remove_frame(tx: &dyn Sql, scope: &Scope, frame_no: i64) -> Result<bool> {
    let removed = tx
        .prepare_cached("DELETE FROM archived_frames WHERE frame_no = ?1 AND user_id = ?2")?
        .execute(params![frame_no, scope.user_id])?;
    Ok(removed == 1)
}
