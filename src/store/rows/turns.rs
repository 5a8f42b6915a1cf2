//! Rows of `conversation_turns` and of `memory_tier_transitions`.

use crate::{
    error::Result,
    model::{
        critical::CriticalRule,
        ids::{SessionId, TurnId},
        place::{Place, SessionNo},
        stored_time::StoredTime,
        tier::{MemoryTier, MoveReason, Transition},
        turn::{TokenCounts, Turn},
    },
    store::{
        rows::turn_row::{self, read, turn_columns},
        scope::Scope,
        sql::{Flow, RowExpectation, Sql, SqlValue, ToColumn, bytes, missing, values},
    },
    text::words::EncodedWords,
};

pub(crate) use crate::store::rows::{
    turn_row::{ReadTurns, damaged},
    units::{unit_by_caller_id, unit_by_seq},
};

/// Writes the row of a turn from the archive, which already has its unit. The turn is warm, and keeps no mark but the
/// caller's.
pub(crate) fn insert_warm(
    sql: &dyn Sql,
    scope: &Scope,
    session_no: SessionNo,
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
    turn_row::insert(sql, scope, session_no, &turn, words)
}

/// Moves a turn from hot to warm, and records the transition. A turn begins hot, so this is its first transition:
/// [`return_to_hot`] removes an earlier one. If the row is missing, which is damage, this does nothing, so that the
/// session's other turns can move.
pub(crate) fn leave_hot(
    sql: &dyn Sql,
    scope: &Scope,
    place: Place,
    reason: MoveReason,
    now: StoredTime,
) -> Result<()> {
    // The condition is the key alone, without the tier: the session and the index of hot rows say that the turn is hot, even
    // if a damaged bit of the row says otherwise.
    sql.put(
        "UPDATE conversation_turns SET memory_tier = 'warm', tier_pad = '' WHERE turn_key = ?1 AND user_id = ?2",
        values![place, scope.user_id],
        RowExpectation::Any,
    )?;
    sql.put(
        "INSERT INTO memory_tier_transitions
           (user_no, session_no, turn_number, move_number, from_tier, to_tier, reason, moved_at)
         SELECT ?1, ?2, ?3,
                1 + coalesce((SELECT max(m.move_number) FROM memory_tier_transitions AS m
                              WHERE m.user_no = ?1 AND m.session_no = ?2 AND m.turn_number = ?3), 0),
                'hot', 'warm', ?4, ?5
         FROM conversation_turns WHERE turn_key = ?6 AND user_id = ?7",
        values![scope.user_no, place.session, place.turn_number, reason, now, place, scope.user_id],
        RowExpectation::Any,
    )
}

/// Makes a warm turn of an open session hot again, and removes its last transition, which was the one from hot to warm.
pub(crate) fn return_to_hot(sql: &dyn Sql, scope: &Scope, place: Place) -> Result<()> {
    sql.put(
        "UPDATE conversation_turns SET memory_tier = 'hot', tier_pad = 'x'
         WHERE turn_key = ?1 AND user_id = ?2 AND memory_tier = 'warm'",
        values![place, scope.user_id],
        RowExpectation::One(missing),
    )?;
    sql.put(
        "DELETE FROM memory_tier_transitions
         WHERE user_no = ?1 AND session_no = ?2 AND turn_number = ?3 AND move_number =
           (SELECT max(m.move_number) FROM memory_tier_transitions AS m
            WHERE m.user_no = ?1 AND m.session_no = ?2 AND m.turn_number = ?3)",
        values![scope.user_no, place.session, place.turn_number],
        RowExpectation::Any,
    )
}

/// Removes the promotions that older versions recorded as transitions, from the next session after `after` that has any.
/// Returns that session. `None` if there is none.
pub(crate) fn prune_moves(sql: &dyn Sql, scope: &Scope, after: SessionNo) -> Result<Option<SessionNo>> {
    let next: Option<SessionNo> = sql.one(
        "SELECT session_no FROM memory_tier_transitions
         WHERE user_no = ?1 AND session_no > ?2 AND reason IN ('recall', 'recall_end') ORDER BY session_no LIMIT 1",
        values![scope.user_no, after],
        |row| row.get(0),
    )?;
    let Some(session_no) = next else { return Ok(None) };
    sql.put(
        "DELETE FROM memory_tier_transitions
         WHERE user_no = ?1 AND session_no = ?2 AND reason IN ('recall', 'recall_end')",
        values![scope.user_no, session_no],
        RowExpectation::Any,
    )?;
    Ok(Some(session_no))
}

/// Records a turn's next transition.
pub(crate) fn record_move(
    sql: &dyn Sql,
    scope: &Scope,
    place: Place,
    (from, to): (&str, &str),
    reason: MoveReason,
    now: StoredTime,
) -> Result<()> {
    sql.put(
        "INSERT INTO memory_tier_transitions
           (user_no, session_no, turn_number, move_number, from_tier, to_tier, reason, moved_at)
         SELECT ?1, ?2, ?3, 1 + coalesce(max(move_number), 0), ?4, ?5, ?6, ?7 FROM memory_tier_transitions
         WHERE user_no = ?1 AND session_no = ?2 AND turn_number = ?3",
        values![scope.user_no, place.session, place.turn_number, from, to, reason, now],
        RowExpectation::Any,
    )
}

/// Whether these turns of a session are all warm and have these ids.
pub(crate) fn are_warm(
    sql: &dyn Sql,
    scope: &Scope,
    session_no: SessionNo,
    turns: &[(u32, TurnId)],
) -> Result<bool> {
    let key = |number| SqlValue::Integer(session_no.turn(number).key());
    let sets: Vec<_> = turns
        .iter()
        .map(|(number, id)| vec![key(*number), scope.user_id.to_column(), id.to_column()])
        .collect();
    let mut warm = 0;
    sql.query_many(
        "SELECT 1 FROM conversation_turns WHERE turn_key = ?1 AND user_id = ?2 AND id = ?3 AND memory_tier = 'warm'",
        &sets,
        &mut |_, _| {
            warm += 1;
            Ok(())
        },
    )?;
    Ok(warm == turns.len())
}

/// Makes a warm turn cold, kept verbatim. `rule` is why it is critical, if it is.
pub(crate) fn keep_cold(
    sql: &dyn Sql,
    scope: &Scope,
    place: Place,
    rule: Option<CriticalRule>,
) -> Result<()> {
    sql.put(
        "UPDATE conversation_turns SET memory_tier = 'cold', is_identity_critical = ?3, critical_rule = ?4
         WHERE turn_key = ?1 AND user_id = ?2",
        values![place, scope.user_id, rule.is_some(), rule],
        RowExpectation::One(missing),
    )
}

/// Writes what was computed from the text of a turn that another program inserted.
pub(crate) fn set_measured(
    sql: &dyn Sql,
    scope: &Scope,
    place: Place,
    tokens: &TokenCounts,
    words: &[u8],
) -> Result<()> {
    sql.put(
        "UPDATE conversation_turns
         SET user_message_tokens = ?3, ai_response_tokens = ?4, total_tokens = ?5, piece_tokens = ?6,
             counted_by = ?7, words = ?8
         WHERE turn_key = ?1 AND user_id = ?2",
        values![
            place,
            scope.user_id,
            tokens.user_message_tokens,
            tokens.ai_response_tokens,
            tokens.total_tokens,
            tokens.piece_tokens,
            tokens.counted_by,
            words,
        ],
        RowExpectation::One(missing),
    )
}

/// Updates why a turn is kept verbatim in cold. Does nothing if the turn no longer exists.
pub(crate) fn judge_anew(
    sql: &dyn Sql,
    scope: &Scope,
    (place, id): (Place, TurnId),
    rule: Option<CriticalRule>,
) -> Result<()> {
    sql.put(
        "UPDATE conversation_turns SET is_identity_critical = ?4, critical_rule = ?5
         WHERE turn_key = ?1 AND user_id = ?2 AND id = ?3 AND memory_tier = 'cold'",
        values![place, scope.user_id, id, rule.is_some(), rule],
        RowExpectation::Any,
    )
}

/// Makes at most `limit` of a session's turns that were kept verbatim in cold warm again, and returns their numbers. They
/// keep no mark but the caller's.
pub(crate) fn warm_kept(sql: &dyn Sql, scope: &Scope, session_no: SessionNo, limit: u32) -> Result<Vec<u32>> {
    sql.list(
        "UPDATE conversation_turns
         SET memory_tier = 'warm', is_identity_critical = CASE WHEN critical_rule = 'caller' THEN 1 ELSE 0 END,
             critical_rule = CASE WHEN critical_rule = 'caller' THEN critical_rule END
         WHERE user_id = ?3 AND turn_key IN
           (SELECT turn_key FROM conversation_turns
            WHERE turn_key > ?1 AND turn_key < ?2 AND memory_tier = 'cold' AND user_id = ?3
            ORDER BY turn_key LIMIT ?4)
         RETURNING turn_number",
        values![session_no.start(), session_no.end(), scope.user_id, limit],
        |row| row.get(0),
    )
}

/// Removes the row of a turn whose summary is written in the same transaction.
pub(crate) fn remove(sql: &dyn Sql, scope: &Scope, place: Place) -> Result<()> {
    sql.put(
        "DELETE FROM conversation_turns WHERE turn_key = ?1 AND user_id = ?2",
        values![place, scope.user_id],
        RowExpectation::One(missing),
    )
}

/// The warm turns of a session after turn number `after`, oldest first, until `is_enough` returns true.
pub(crate) fn warm_after(
    sql: &dyn Sql,
    scope: &Scope,
    session_no: SessionNo,
    after: u32,
    mut is_enough: impl FnMut(&[Turn]) -> bool,
) -> Result<ReadTurns> {
    let mut found = ReadTurns::default();
    sql.query(
        concat!(
            "SELECT ",
            turn_columns!(),
            " FROM conversation_turns
             WHERE turn_key > ?1 AND turn_key < ?2 AND user_id = ?3 AND memory_tier = 'warm' ORDER BY turn_key"
        ),
        values![session_no.turn(after), session_no.end(), scope.user_id],
        &mut |row| Ok(if found.take(row)? && is_enough(&found.turns) { Flow::Stop } else { Flow::Next }),
    )?;
    Ok(found)
}

/// Whether a session has a warm turn, even a damaged one.
pub(crate) fn has_warm(sql: &dyn Sql, scope: &Scope, session_no: SessionNo) -> Result<bool> {
    sql.scalar(
        "SELECT EXISTS (SELECT 1 FROM conversation_turns
                        WHERE turn_key > ?1 AND turn_key < ?2 AND user_id = ?3 AND memory_tier = 'warm')",
        values![session_no.start(), session_no.end(), scope.user_id],
    )
}

/// The hot turns of a session, oldest first.
pub(crate) fn hot(sql: &dyn Sql, scope: &Scope, session: SessionId) -> Result<ReadTurns> {
    let mut found = ReadTurns::default();
    sql.query(
        concat!(
            "SELECT ",
            turn_columns!(),
            " FROM conversation_turns
             WHERE session_id = ?1 AND user_id = ?2 AND memory_tier = 'hot' ORDER BY turn_number"
        ),
        values![session, scope.user_id],
        &mut |row| found.take(row).map(|_| Flow::Next),
    )?;
    Ok(found)
}

/// The numbers of the hot turns of a session, ascending.
pub(crate) fn hot_numbers(sql: &dyn Sql, scope: &Scope, session: SessionId) -> Result<Vec<u32>> {
    sql.list(
        "SELECT turn_key FROM conversation_turns
         WHERE session_id = ?1 AND user_id = ?2 AND memory_tier = 'hot' ORDER BY turn_number",
        values![session, scope.user_id],
        |row| Ok(row.get::<Place>(0)?.turn_number),
    )
}

/// The hot and warm turns of a session before turn number `before`, newest first, while `take` returns true.
pub(crate) fn newest_before(
    sql: &dyn Sql,
    scope: &Scope,
    session_no: SessionNo,
    before: u32,
    mut take: impl FnMut(&Turn) -> bool,
) -> Result<ReadTurns> {
    let mut found = ReadTurns::default();
    sql.query(
        concat!(
            "SELECT ",
            turn_columns!(),
            " FROM conversation_turns
             WHERE turn_key >= ?1 AND turn_key < ?2 AND user_id = ?3 AND memory_tier <> 'cold'
             ORDER BY turn_key DESC"
        ),
        values![session_no.start(), session_no.turn(before), scope.user_id],
        &mut |row| {
            if found.take(row)? && !found.turns.last().is_some_and(&mut take) {
                found.turns.pop();
                return Ok(Flow::Stop);
            }
            Ok(Flow::Next)
        },
    )?;
    Ok(found)
}

/// Passes the number and the words of every turn with a row, before turn number `before` of a session, to `each`.
pub(crate) fn for_each_words(
    sql: &dyn Sql,
    scope: &Scope,
    session_no: SessionNo,
    before: u32,
    mut each: impl FnMut(u32, EncodedWords<'_>),
) -> Result<()> {
    sql.query(
        "SELECT turn_key, words FROM conversation_turns
         WHERE turn_key >= ?1 AND turn_key < ?2 AND user_id = ?3 ORDER BY turn_key",
        values![session_no.start(), session_no.turn(before), scope.user_id],
        &mut |row| {
            // A turn whose words cannot be read is skipped, so no search by words finds it.
            if let Some(words) = bytes(row.value(1)?).and_then(EncodedWords::parse) {
                each(row.get::<Place>(0)?.turn_number, words);
            }
            Ok(Flow::Next)
        },
    )
}

/// The turns of a session that have rows, from turn number `first` on, in order. Errors: one is damaged.
pub(crate) fn from(sql: &dyn Sql, scope: &Scope, session_no: SessionNo, first: u32) -> Result<Vec<Turn>> {
    sql.list(
        concat!(
            "SELECT ",
            turn_columns!(),
            " FROM conversation_turns WHERE turn_key >= ?1 AND turn_key < ?2 AND user_id = ?3 ORDER BY turn_key"
        ),
        values![session_no.turn(first), session_no.end(), scope.user_id],
        read,
    )
}

/// How many turns of a session have a row.
pub(crate) fn count(sql: &dyn Sql, scope: &Scope, session_no: SessionNo) -> Result<u32> {
    sql.scalar(
        "SELECT count(*) FROM conversation_turns WHERE turn_key >= ?1 AND turn_key < ?2 AND user_id = ?3",
        values![session_no.start(), session_no.end(), scope.user_id],
    )
}

/// One turn by its place in its session.
pub(crate) fn by_number(sql: &dyn Sql, scope: &Scope, place: Place) -> Result<Option<Turn>> {
    sql.one(
        concat!("SELECT ", turn_columns!(), " FROM conversation_turns WHERE turn_key = ?1 AND user_id = ?2"),
        values![place, scope.user_id],
        read,
    )
}

/// One turn by its id.
pub(crate) fn by_id(sql: &dyn Sql, scope: &Scope, id: TurnId) -> Result<Option<Turn>> {
    sql.one(
        concat!("SELECT ", turn_columns!(), " FROM conversation_turns WHERE id = ?1 AND user_id = ?2"),
        values![id, scope.user_id],
        read,
    )
}

/// When the turn with the highest number of a session was said. `None` if no turn of it has a row.
pub(crate) fn last_said_at(
    sql: &dyn Sql,
    scope: &Scope,
    session_no: SessionNo,
) -> Result<Option<StoredTime>> {
    sql.one(
        "SELECT timestamp FROM conversation_turns
         WHERE turn_key >= ?1 AND turn_key < ?2 AND user_id = ?3 ORDER BY turn_key DESC LIMIT 1",
        values![session_no.start(), session_no.end(), scope.user_id],
        |row| row.get(0),
    )
}

/// At most `limit` transitions of a session's turns after the given one, by turn, then in each turn's order.
pub(crate) fn transitions(
    sql: &dyn Sql,
    scope: &Scope,
    session: (SessionId, SessionNo),
    after: (u32, u32),
    limit: u32,
) -> Result<Vec<Transition>> {
    let (session_id, session_no) = session;
    sql.list(
        "SELECT turn_number, move_number, from_tier, to_tier, reason, moved_at FROM memory_tier_transitions
         WHERE user_no = ?1 AND session_no = ?2 AND (turn_number, move_number) > (?3, ?4)
           AND reason NOT IN ('recall', 'recall_end')
         ORDER BY turn_number, move_number LIMIT ?5",
        values![scope.user_no, session_no, after.0, after.1, limit],
        |row| {
            Ok(Transition {
                session_id,
                turn_number: row.get(0)?,
                move_number: row.get(1)?,
                from: row.get(2)?,
                to: row.get(3)?,
                reason: row.get(4)?,
                moved_at: row.get(5)?,
            })
        },
    )
}
