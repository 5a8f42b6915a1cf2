//! The queries and deletions of tending: finds the users that are due, reads what decides whether a memory settles, and
//! deletes unrated uses and earlier states that were kept for undo.

use chrono::NaiveDate;

use crate::{
    error::Result,
    memory::frequency::Past,
    model::{memory::words::Outcome, place::MemoryNo, place::UserNo, stored_time::StoredTime},
    store::{
        rows::memories::uses,
        scope::Scope,
        sql::{RowExpectation, Sql, values},
    },
};

/// A user whose memories should be tended, and the day of the last tending, which is empty if there was none.
pub(crate) type UserToTend = (String, Scope);

/// At most `limit` users after the given one whose memories were last tended neither today nor tomorrow: another process may
/// already have the next day. Ordered by the day of the last tending. Users with a queued `tend` or `erase` job are omitted.
pub(crate) fn due(
    sql: &dyn Sql,
    today: NaiveDate,
    after: Option<&UserToTend>,
    limit: u32,
) -> Result<Vec<UserToTend>> {
    let tomorrow = today.succ_opt().unwrap_or(today);
    let (day, user_no) = after.map_or(("", UserNo(-1)), |(day, scope)| (day.as_str(), scope.user_no));
    sql.list(
        "SELECT u.tended_on, u.user_id, u.user_no FROM user_scopes AS u
         WHERE u.tended_on IS NOT NULL AND (u.tended_on < ?1 OR u.tended_on > ?2)
           AND (u.tended_on > ?3 OR (u.tended_on = ?3 AND u.user_no > ?4))
           AND NOT EXISTS (SELECT 1 FROM jobs AS j
                           WHERE j.user_id = u.user_id AND j.kind IN ('tend', 'erase') AND j.state <> 'failed')
         ORDER BY u.tended_on, u.user_no LIMIT ?5",
        values![today.to_string(), tomorrow.to_string(), day, user_no, limit],
        |row| Ok((row.get(0)?, Scope { user_id: row.get(1)?, user_no: row.get(2)? })),
    )
}

/// The day on which a user's memories were last tended. Empty if never, `None` if there are no memories.
pub(crate) fn tended_on(sql: &dyn Sql, scope: &Scope) -> Result<Option<String>> {
    let found = sql.one(
        "SELECT tended_on FROM user_scopes WHERE user_no = ?1 AND user_id = ?2",
        values![scope.user_no, scope.user_id],
        |row| row.get(0),
    )?;
    Ok(found.flatten())
}

/// Records that a user has memories to tend.
pub(crate) fn expect(sql: &dyn Sql, scope: &Scope) -> Result<()> {
    sql.put(
        "UPDATE user_scopes SET tended_on = '' WHERE user_no = ?1 AND user_id = ?2 AND tended_on IS NULL",
        values![scope.user_no, scope.user_id],
        RowExpectation::Any,
    )
}

/// Records the day of tending or, if no memory is left, that there are none.
pub(crate) fn set_tended(sql: &dyn Sql, scope: &Scope, today: NaiveDate) -> Result<()> {
    sql.put(
        "UPDATE user_scopes
         SET tended_on = CASE WHEN EXISTS (SELECT 1 FROM user_memories AS m WHERE m.user_no = ?1) THEN ?3 END
         WHERE user_no = ?1 AND user_id = ?2 AND tended_on IS DISTINCT FROM ?3",
        values![scope.user_no, scope.user_id, today.to_string()],
        RowExpectation::Any,
    )
}

/// Removes a user's `tend` job that was given up, because the memories are tended now.
pub(crate) fn remove_failed(sql: &dyn Sql, scope: &Scope) -> Result<()> {
    sql.put(
        "DELETE FROM jobs WHERE user_id = ?1 AND kind = 'tend' AND state = 'failed'",
        values![scope.user_id],
        RowExpectation::Any,
    )
}

/// The part of a memory's past that decides whether it settles.
pub(crate) fn past(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    frequency_since: StoredTime,
) -> Result<Past> {
    let birth: Option<Option<Outcome>> = sql.one(
        "SELECT outcome FROM memory_episodes WHERE user_no = ?1 AND memory_no = ?2 AND role = 'birth'",
        values![scope.user_no, memory_no],
        |row| row.get(0),
    )?;
    let has_moved = sql.scalar(
        "SELECT EXISTS (SELECT 1 FROM memory_changes
                        WHERE user_no = ?1 AND memory_no = ?2 AND undone_by IS NULL
                          AND (op = 'frequency' OR before LIKE '%\"frequency\":%'))",
        values![scope.user_no, memory_no],
    )?;
    let has_success_since = sql.scalar(
        "SELECT EXISTS (SELECT 1 FROM memory_episodes
                        WHERE user_no = ?1 AND memory_no = ?2 AND role = 'use' AND outcome = 'success' AND id >= ?3)",
        values![scope.user_no, memory_no, uses::first_of(frequency_since)],
    )?;
    Ok(Past { birth: birth.flatten(), has_moved, has_success_since })
}

/// Whether a memory was once at `high` and left it, and that is not undone.
pub(crate) fn has_left_high(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<bool> {
    sql.scalar(
        "SELECT EXISTS (SELECT 1 FROM memory_changes
                        WHERE user_no = ?1 AND memory_no = ?2 AND undone_by IS NULL
                          AND (op = 'frequency' AND old_value = 'high' OR before LIKE '%\"frequency\":\"high\"%'))",
        values![scope.user_no, memory_no],
    )
}

/// Whether tending changed a memory's frequency or status on a day, and that is not undone.
pub(crate) fn was_moved(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo, day: NaiveDate) -> Result<bool> {
    // As text, a day sorts before all of its instants, and the day followed by `~` sorts after them.
    sql.scalar(
        "SELECT EXISTS (SELECT 1 FROM memory_changes
                        WHERE user_no = ?1 AND memory_no = ?2 AND made_by = 'tend' AND undone_by IS NULL
                          AND op IN ('frequency', 'status') AND made_at >= ?3 AND made_at < ?4)",
        values![scope.user_no, memory_no, day.to_string(), format!("{day}~")],
    )
}

/// Removes at most `limit` unrated uses that were noted before a moment, and returns how many it removed.
pub(crate) fn drop_unrated(sql: &dyn Sql, scope: &Scope, before: StoredTime, limit: u32) -> Result<u64> {
    sql.change(
        "DELETE FROM memory_episodes WHERE user_no = ?1 AND episode_no IN
           (SELECT episode_no FROM memory_episodes
            WHERE user_no = ?1 AND role = 'use' AND outcome IS NULL AND id < ?2 LIMIT ?3)",
        values![scope.user_no, uses::first_of(before), limit],
    )
}

/// Whether there is an unrated use that was noted before a moment.
pub(crate) fn has_unrated(sql: &dyn Sql, scope: &Scope, before: StoredTime) -> Result<bool> {
    sql.scalar(
        "SELECT EXISTS (SELECT 1 FROM memory_episodes
                        WHERE user_no = ?1 AND role = 'use' AND outcome IS NULL AND id < ?2)",
        values![scope.user_no, uses::first_of(before)],
    )
}

/// At most 256 memories after a number that have more than `keep` edits with stored earlier states.
pub(crate) fn often_edited(
    sql: &dyn Sql,
    scope: &Scope,
    after: MemoryNo,
    keep: u32,
) -> Result<Vec<MemoryNo>> {
    sql.list(
        "SELECT m.memory_no FROM user_memories AS m
         WHERE m.user_no = ?1 AND m.memory_no > ?2 AND m.revision > ?3
           AND (SELECT count(*) FROM memory_changes AS c
                WHERE c.user_no = m.user_no AND c.memory_no = m.memory_no AND c.op = 'edit'
                  AND c.before IS NOT NULL) > ?3
         ORDER BY m.memory_no LIMIT 256",
        values![scope.user_no, after, keep],
        |row| row.get(0),
    )
}

/// Removes the earlier states that are stored with a memory's edits, except those of the newest `keep` edits. Returns the
/// number of edits that lost theirs.
pub(crate) fn forget_older(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo, keep: u32) -> Result<u64> {
    sql.change(
        "UPDATE memory_changes SET before = NULL
         WHERE user_no = ?1 AND memory_no = ?2 AND op = 'edit' AND before IS NOT NULL AND change_no NOT IN
           (SELECT c.change_no FROM memory_changes AS c
            WHERE c.user_no = ?1 AND c.memory_no = ?2 AND c.op = 'edit' AND c.before IS NOT NULL
            ORDER BY c.change_no DESC LIMIT ?3)",
        values![scope.user_no, memory_no, keep],
    )
}
