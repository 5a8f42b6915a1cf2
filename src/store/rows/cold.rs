//! Pages of a user's cold turns and summaries, ordered by when the turns were said, the last said first.

use crate::{
    error::Result,
    model::{
        ids::{SummaryId, TurnId},
        place::Place,
        stored_time::StoredTime,
    },
    store::{
        scope::Scope,
        sql::{Sql, values},
    },
};

/// Where a page continues: with entries of an earlier time or, at the same time, of a lower place.
pub(crate) type ColdCursor = (StoredTime, Place);

/// The position before the newest entry: the last millisecond that has a year of four digits.
pub(crate) const NEWEST: ColdCursor = (StoredTime::LAST, Place::LAST);

/// When a turn was said, and its place, even if only a summary of it is left.
pub(crate) fn turn_said(sql: &dyn Sql, scope: &Scope, id: TurnId) -> Result<Option<ColdCursor>> {
    sql.one(
        "SELECT timestamp, turn_key FROM conversation_turns WHERE id = ?1 AND user_id = ?2
         UNION ALL
         SELECT timestamp, turn_key FROM conversation_summaries WHERE original_turn_id = ?1 AND user_id = ?2",
        values![id, scope.user_id],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// When a summary's turn was said, and its place.
pub(crate) fn summary_said(sql: &dyn Sql, scope: &Scope, id: SummaryId) -> Result<Option<ColdCursor>> {
    sql.one(
        "SELECT timestamp, turn_key FROM conversation_summaries WHERE id = ?1 AND user_id = ?2",
        values![id, scope.user_id],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// The cold turns before this position, from rows and from the archive, the last said first.
pub(crate) fn turns_before(
    sql: &dyn Sql,
    scope: &Scope,
    (at, place): ColdCursor,
    limit: u32,
) -> Result<Vec<ColdCursor>> {
    sql.list(
        "SELECT timestamp, turn_key FROM
           (SELECT timestamp, turn_key FROM
              (SELECT timestamp, turn_key FROM conversation_turns
               WHERE user_id = ?1 AND memory_tier = 'cold' AND (timestamp, turn_key) < (?2, ?3)
               ORDER BY timestamp DESC, turn_key DESC LIMIT ?4) AS kept
            UNION ALL
            SELECT timestamp, turn_key FROM
              (SELECT timestamp, turn_key FROM conversation_summaries
               WHERE user_id = ?1 AND original = 'archived' AND (timestamp, turn_key) < (?2, ?3)
               ORDER BY timestamp DESC, turn_key DESC LIMIT ?4) AS archived) AS cold
         ORDER BY timestamp DESC, turn_key DESC LIMIT ?4",
        values![scope.user_id, at, place, limit],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// The summaries of turns before this position, those of the last said first.
pub(crate) fn summaries_before(
    sql: &dyn Sql,
    scope: &Scope,
    (at, place): ColdCursor,
    limit: u32,
) -> Result<Vec<ColdCursor>> {
    sql.list(
        "SELECT timestamp, turn_key FROM conversation_summaries
         WHERE user_id = ?1 AND (timestamp, turn_key) < (?2, ?3)
         ORDER BY timestamp DESC, turn_key DESC LIMIT ?4",
        values![scope.user_id, at, place, limit],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}
