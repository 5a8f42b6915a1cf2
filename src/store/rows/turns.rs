//! Rows of `conversation_turns`, of `recall_units` that stand for them, and of `memory_tier_transitions`.

use chrono::{DateTime, Utc};
use rusqlite::{OptionalExtension, Row, params};

use crate::{
    error::Result,
    model::{
        critical::CriticalRule,
        ids::{SessionId, TurnId},
        tier::{MemoryTier, MoveReason, Transition},
        turn::Turn,
    },
    store::{
        columns::{Instant, instant_at},
        rows::{
            turn_row::{COLUMNS, read},
            users,
        },
        scope::Scope,
        sql::Sql,
    },
    text::{
        measure::{ContentHash, MeasuredTurn},
        words::EncodedWords,
    },
};

pub(crate) use crate::store::rows::turn_row::{MAX_TURN_NUMBER, Read, damaged, place_of, turn_key};

/// What an earlier record with the same caller's id left behind.
#[derive(Debug)]
pub(crate) struct KnownUnit {
    pub(crate) seq: i64,
    pub(crate) turn_id: TurnId,
    pub(crate) session_id: SessionId,
    pub(crate) turn_number: u32,
    pub(crate) content_hash: ContentHash,
}

/// The turn with the caller's id, wherever it is now.
pub(crate) fn unit_by_caller_id(conn: &dyn Sql, scope: &Scope, caller_id: &str) -> Result<Option<KnownUnit>> {
    let mut stmt = conn.prepare_cached(
        "SELECT r.seq AS seq, r.owner_id AS owner_id, s.id AS session_id, r.turn_number AS turn_number,
                r.content_hash AS content_hash
         FROM recall_units AS r JOIN conversation_sessions AS s ON s.session_no = r.session_no
         WHERE r.user_no = ?1 AND r.caller_id = ?2 AND s.user_id = ?3",
    )?;
    let read = |row: &Row<'_>| {
        Ok(KnownUnit {
            seq: row.get("seq")?,
            turn_id: row.get("owner_id")?,
            session_id: row.get("session_id")?,
            turn_number: row.get("turn_number")?,
            content_hash: row.get("content_hash")?,
        })
    };
    Ok(stmt.query_row(params![scope.user_no, caller_id, scope.user_id], read).optional()?)
}

/// Where the turn of a unit is, and what its caller calls it.
pub(crate) struct UnitPlace {
    pub(crate) session_no: i64,
    pub(crate) turn_number: u32,
    pub(crate) caller_id: Option<String>,
}

/// A unit by its number.
pub(crate) fn unit_by_seq(conn: &dyn Sql, scope: &Scope, seq: u32) -> Result<Option<UnitPlace>> {
    let mut stmt = conn.prepare_cached(
        "SELECT session_no, turn_number, caller_id FROM recall_units WHERE user_no = ?1 AND seq = ?2",
    )?;
    let read = |row: &Row<'_>| {
        Ok(UnitPlace {
            session_no: row.get("session_no")?,
            turn_number: row.get("turn_number")?,
            caller_id: row.get("caller_id")?,
        })
    };
    Ok(stmt.query_row(params![scope.user_no, seq], read).optional()?)
}

/// Writes a turn as the newest of its session, hot, with the unit that stands for it.
pub(crate) fn insert(
    tx: &dyn Sql,
    scope: &Scope,
    session: (SessionId, i64),
    turn_number: u32,
    measured: MeasuredTurn,
    said_at: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Result<Turn> {
    let (session_id, session_no) = session;
    let MeasuredTurn { turn, tokens, words, content_hash } = measured;
    let id = TurnId::new(now);
    let unit = (id, turn.caller_id.as_deref(), content_hash, said_at);
    let seq = insert_unit_of(tx, scope, (session_no, turn_number), unit)?;
    let turn = Turn {
        id,
        session_id,
        turn_number,
        seq,
        caller_id: turn.caller_id,
        timestamp: said_at,
        memory_tier: MemoryTier::Hot,
        is_identity_critical: turn.critical,
        critical_rule: turn.critical.then_some(CriticalRule::Caller),
        snapshot_id: turn.snapshot_id,
        tokens,
        said: turn.said,
    };
    insert_row(tx, scope, session_no, &turn, &words)?;
    Ok(turn)
}

/// Writes the unit that stands for a turn, and returns its place in the order of recording.
pub(crate) fn insert_unit(
    tx: &dyn Sql,
    scope: &Scope,
    session_no: i64,
    turn: &Turn,
    hash: ContentHash,
) -> Result<i64> {
    let unit = (turn.id, turn.caller_id.as_deref(), hash, turn.timestamp);
    insert_unit_of(tx, scope, (session_no, turn.turn_number), unit)
}

/// The same for a turn of which no more is known.
pub(crate) fn insert_unit_of(
    tx: &dyn Sql,
    scope: &Scope,
    (session_no, turn_number): (i64, u32),
    (id, caller_id, hash, said_at): (TurnId, Option<&str>, ContentHash, DateTime<Utc>),
) -> Result<i64> {
    let seq = users::next_seq(tx, scope)?;
    tx.prepare_cached(
        "INSERT INTO recall_units
           (user_no, seq, kind, owner_id, session_no, turn_number, caller_id, content_hash, said_at)
         VALUES (?1, ?2, 'turn', ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![
        scope.user_no,
        seq,
        id,
        session_no,
        turn_number,
        caller_id,
        hash,
        Instant(said_at)
    ])?;
    Ok(seq)
}

/// Writes a turn that has its unit already, warm: out of the archive.
pub(crate) fn insert_warm(
    tx: &dyn Sql,
    scope: &Scope,
    session_no: i64,
    turn: &Turn,
    words: &[u8],
) -> Result<()> {
    let is_marked = turn.critical_rule == Some(CriticalRule::Caller);
    let turn = Turn {
        memory_tier: MemoryTier::Warm,
        is_identity_critical: is_marked,
        critical_rule: is_marked.then_some(CriticalRule::Caller),
        ..turn.clone()
    };
    insert_row(tx, scope, session_no, &turn, words)
}

/// Writes a turn that has its unit already, as it is.
pub(crate) fn insert_row(
    tx: &dyn Sql,
    scope: &Scope,
    session_no: i64,
    turn: &Turn,
    words: &[u8],
) -> Result<()> {
    // Padded while hot, see the column.
    let pad = if turn.memory_tier == MemoryTier::Hot { "x" } else { "" };
    tx.prepare_cached(
        "INSERT INTO conversation_turns
           (turn_key, id, user_id, session_id, turn_number, seq, caller_id, timestamp, memory_tier,
            user_message_tokens, ai_response_tokens, total_tokens, piece_tokens, counted_by, snapshot_id,
            is_identity_critical, critical_rule, user_name, assistant_name, user_origin, assistant_origin, words,
            user_message, ai_response, tier_pad)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,
                 ?22, ?23, ?24, ?25)",
    )?
    .execute(params![
        turn_key(session_no, turn.turn_number),
        turn.id,
        scope.user_id,
        turn.session_id,
        turn.turn_number,
        turn.seq,
        turn.caller_id,
        Instant(turn.timestamp),
        turn.memory_tier,
        turn.tokens.user_message_tokens,
        turn.tokens.ai_response_tokens,
        turn.tokens.total_tokens,
        turn.tokens.piece_tokens,
        turn.tokens.counted_by,
        turn.snapshot_id,
        turn.is_identity_critical,
        turn.critical_rule,
        turn.said.user_name,
        turn.said.assistant_name,
        turn.said.user_origin,
        turn.said.assistant_origin,
        words,
        turn.said.user_message,
        turn.said.ai_response,
        pad,
    ])?;
    Ok(())
}

/// Moves a turn from hot to warm, and records the move: its first, since a turn begins hot and never comes back. One whose
/// row is gone, which is damage, keeps no other from moving.
pub(crate) fn leave_hot(
    tx: &dyn Sql,
    scope: &Scope,
    (session_no, turn_number): (i64, u32),
    reason: MoveReason,
    now: DateTime<Utc>,
) -> Result<()> {
    // By its key alone: that it is hot its session says, and the index of hot rows, even if a bit of the row says otherwise.
    let moved = tx
        .prepare_cached(
            "UPDATE conversation_turns SET memory_tier = 'warm', tier_pad = '' WHERE turn_key = ?1 AND user_id = ?2",
        )?
        .execute(params![turn_key(session_no, turn_number), scope.user_id])?;
    if moved == 1 {
        record_move(tx, scope, (session_no, turn_number), ("hot", "warm"), reason, now)?;
    }
    Ok(())
}

/// Records that a turn moved: the next of its moves.
pub(crate) fn record_move(
    tx: &dyn Sql,
    scope: &Scope,
    (session_no, turn_number): (i64, u32),
    (from, to): (&str, &str),
    reason: MoveReason,
    now: DateTime<Utc>,
) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO memory_tier_transitions
           (user_no, session_no, turn_number, move_number, from_tier, to_tier, reason, moved_at)
         SELECT ?1, ?2, ?3, 1 + coalesce(max(move_number), 0), ?4, ?5, ?6, ?7 FROM memory_tier_transitions
         WHERE user_no = ?1 AND session_no = ?2 AND turn_number = ?3",
    )?
    .execute(params![scope.user_no, session_no, turn_number, from, to, reason, Instant(now)])?;
    Ok(())
}

/// Keeps a warm turn verbatim in cold.
pub(crate) fn keep_cold(
    tx: &dyn Sql,
    scope: &Scope,
    (session_no, turn_number): (i64, u32),
    rule: Option<CriticalRule>,
) -> Result<()> {
    tx.prepare_cached(
        "UPDATE conversation_turns SET memory_tier = 'cold', is_identity_critical = ?3 IS NOT NULL, critical_rule = ?3
         WHERE turn_key = ?1 AND user_id = ?2",
    )?
    .execute(params![turn_key(session_no, turn_number), scope.user_id, rule])?;
    Ok(())
}

/// Removes a turn whose successor is in this transaction, or that is erased.
pub(crate) fn remove(tx: &dyn Sql, scope: &Scope, (session_no, turn_number): (i64, u32)) -> Result<()> {
    tx.prepare_cached("DELETE FROM conversation_turns WHERE turn_key = ?1 AND user_id = ?2")?
        .execute(params![turn_key(session_no, turn_number), scope.user_id])?;
    Ok(())
}

/// The warm turns of a session behind a place, oldest first, until `is_enough`.
pub(crate) fn warm_after(
    conn: &dyn Sql,
    scope: &Scope,
    session_no: i64,
    after: u32,
    mut is_enough: impl FnMut(&[Turn]) -> bool,
) -> Result<Read> {
    let mut stmt = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM conversation_turns
         WHERE turn_key > ?1 AND turn_key < ?2 AND user_id = ?3 AND memory_tier = 'warm' ORDER BY turn_key"
    ))?;
    let range = params![turn_key(session_no, after), turn_key(session_no + 1, 0), scope.user_id];
    let mut rows = stmt.query(range)?;
    let mut found = Read::default();
    while let Some(row) = rows.next()? {
        if found.take(row)? && is_enough(&found.turns) {
            break;
        }
    }
    Ok(found)
}

/// Whether a session has a warm turn, damaged or not.
pub(crate) fn has_warm(conn: &dyn Sql, scope: &Scope, session_no: i64) -> Result<bool> {
    let mut stmt = conn.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM conversation_turns
                        WHERE turn_key > ?1 AND turn_key < ?2 AND user_id = ?3 AND memory_tier = 'warm')",
    )?;
    let range = params![turn_key(session_no, 0), turn_key(session_no + 1, 0), scope.user_id];
    Ok(stmt.query_row(range, |row| row.get(0))?)
}

/// The hot turns of a session, oldest first.
pub(crate) fn hot(conn: &dyn Sql, scope: &Scope, session: SessionId) -> Result<Read> {
    let mut stmt = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM conversation_turns
         WHERE session_id = ?1 AND user_id = ?2 AND memory_tier = 'hot' ORDER BY turn_number"
    ))?;
    let mut rows = stmt.query(params![session, scope.user_id])?;
    let mut found = Read::default();
    while let Some(row) = rows.next()? {
        found.take(row)?;
    }
    Ok(found)
}

/// The numbers of the hot turns of a session, ascending.
pub(crate) fn hot_numbers(conn: &dyn Sql, scope: &Scope, session: SessionId) -> Result<Vec<u32>> {
    let mut stmt = conn.prepare_cached(
        "SELECT turn_key FROM conversation_turns
         WHERE session_id = ?1 AND user_id = ?2 AND memory_tier = 'hot' ORDER BY turn_number",
    )?;
    let rows = stmt.query_map(params![session, scope.user_id], |row| Ok(place_of(row.get("turn_key")?).1))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The turns of a session that are not cold from `before` backwards, newest first, as long as `take` wants another.
pub(crate) fn newest_before(
    conn: &dyn Sql,
    scope: &Scope,
    session_no: i64,
    before: u32,
    mut take: impl FnMut(&Turn) -> bool,
) -> Result<Read> {
    let mut stmt = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM conversation_turns
         WHERE turn_key >= ?1 AND turn_key < ?2 AND user_id = ?3 AND memory_tier <> 'cold' ORDER BY turn_key DESC"
    ))?;
    let mut rows =
        stmt.query(params![turn_key(session_no, 0), turn_key(session_no, before), scope.user_id])?;
    let mut found = Read::default();
    while let Some(row) = rows.next()? {
        if found.take(row)? && !found.turns.last().is_some_and(&mut take) {
            found.turns.pop();
            break;
        }
    }
    Ok(found)
}

/// Shows the words of every turn of a session before `before` to `each`, by the turn's place.
pub(crate) fn for_each_words(
    conn: &dyn Sql,
    scope: &Scope,
    session_no: i64,
    before: u32,
    mut each: impl FnMut(u32, EncodedWords<'_>),
) -> Result<()> {
    let mut stmt = conn.prepare_cached(
        "SELECT turn_key, words FROM conversation_turns
         WHERE turn_key >= ?1 AND turn_key < ?2 AND user_id = ?3",
    )?;
    let mut rows =
        stmt.query(params![turn_key(session_no, 0), turn_key(session_no, before), scope.user_id])?;
    while let Some(row) = rows.next()? {
        // What cannot be read is not found by its words.
        if let Some(words) = row.get_ref(1)?.as_blob().ok().and_then(EncodedWords::parse) {
            each(place_of(row.get(0)?).1, words);
        }
    }
    Ok(())
}

/// One turn by its place in its session.
pub(crate) fn by_number(
    conn: &dyn Sql,
    scope: &Scope,
    session_no: i64,
    turn_number: u32,
) -> Result<Option<Turn>> {
    let mut stmt = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM conversation_turns WHERE turn_key = ?1 AND user_id = ?2"
    ))?;
    let mut rows = stmt.query(params![turn_key(session_no, turn_number), scope.user_id])?;
    rows.next()?.map(read).transpose()
}

/// One turn by its id.
pub(crate) fn by_id(conn: &dyn Sql, scope: &Scope, id: TurnId) -> Result<Option<Turn>> {
    let mut stmt = conn.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM conversation_turns WHERE id = ?1 AND user_id = ?2"
    ))?;
    let mut rows = stmt.query(params![id, scope.user_id])?;
    rows.next()?.map(read).transpose()
}

/// When the last turn of a session was said, by its order.
pub(crate) fn last_said_at(conn: &dyn Sql, scope: &Scope, session_no: i64) -> Result<Option<DateTime<Utc>>> {
    let mut stmt = conn.prepare_cached(
        "SELECT timestamp FROM conversation_turns
         WHERE turn_key >= ?1 AND turn_key < ?2 AND user_id = ?3 ORDER BY turn_key DESC LIMIT 1",
    )?;
    let range = params![turn_key(session_no, 0), turn_key(session_no + 1, 0), scope.user_id];
    Ok(stmt.query_row(range, |row| instant_at(row, "timestamp")).optional()?)
}

/// Every move of a session's turns, in the turns' order and each turn's own.
pub(crate) fn transitions(
    conn: &dyn Sql,
    scope: &Scope,
    session: (SessionId, i64),
) -> Result<Vec<Transition>> {
    let (session_id, session_no) = session;
    let mut stmt = conn.prepare_cached(
        "SELECT turn_number, move_number, from_tier, to_tier, reason, moved_at FROM memory_tier_transitions
         WHERE user_no = ?1 AND session_no = ?2 ORDER BY turn_number, move_number",
    )?;
    let rows = stmt.query_map(params![scope.user_no, session_no], |row| {
        Ok(Transition {
            session_id,
            turn_number: row.get("turn_number")?,
            move_number: row.get("move_number")?,
            from: row.get("from_tier")?,
            to: row.get("to_tier")?,
            reason: row.get("reason")?,
            moved_at: instant_at(row, "moved_at")?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
