//! Rows of `memory_state`: counts and times of a memory's uses, of its checks, and of its being shown to a person again.

use chrono::NaiveDate;

use crate::{
    error::Result,
    model::{
        memory::{state::MemoryState, words::Resurfacing},
        place::MemoryNo,
        stored_time::StoredTime,
    },
    store::{
        rows::row_check,
        scope::Scope,
        sql::{RowExpectation, Sql, SqlRow, ToColumn, missing, values},
    },
};

/// How many columns the checksum covers.
const CHECKED_COLUMNS: usize = 15;

/// Inserts the state of a memory that was never used.
pub(crate) fn insert(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<()> {
    sql.put(
        "INSERT INTO memory_state (user_no, memory_no) VALUES (?1, ?2)",
        values![scope.user_no, memory_no],
        RowExpectation::Any,
    )
}

/// The states of these memories, in order.
pub(crate) fn of_many(sql: &dyn Sql, scope: &Scope, memories: &[MemoryNo]) -> Result<Vec<MemoryState>> {
    let sets: Vec<_> =
        memories.iter().map(|memory_no| vec![scope.user_no.to_column(), memory_no.to_column()]).collect();
    let mut found = vec![None; memories.len()];
    sql.query_many(
        "SELECT memory_no, user_no, access_count, last_used_at, usage_count, success_rate, context_count, project_count,
                validated_at, validated_by, validation_count, resurfacing, resurfaced_count, resurfaced_on, dismiss_count,
                row_check
         FROM memory_state WHERE user_no = ?1 AND memory_no = ?2",
        &sets,
        &mut |at, row| {
            found[at] = Some(read(row)?);
            Ok(())
        },
    )?;
    found.into_iter().map(|state| state.ok_or_else(missing)).collect()
}

fn read(row: &SqlRow<'_>) -> Result<MemoryState> {
    if !row_check::holds(row, CHECKED_COLUMNS)? {
        let MemoryNo(memory_no) = row.get(0)?;
        return Err(row_check::damaged(format_args!("the state of memory number {memory_no}")));
    }
    let resurfaced_on: Option<String> = row.get(13)?;
    let day = |day: String| day.parse::<NaiveDate>().map_err(|_| missing());
    Ok(MemoryState {
        access_count: row.get(2)?,
        last_used_at: row.get(3)?,
        usage_count: row.get(4)?,
        success_rate: row.get(5)?,
        context_count: row.get(6)?,
        project_count: row.get(7)?,
        validated_at: row.get(8)?,
        validated_by: row.get(9)?,
        validation_count: row.get(10)?,
        resurfacing: row.get(11)?,
        resurfaced_count: row.get(12)?,
        resurfaced_on: resurfaced_on.map(day).transpose()?,
        dismiss_count: row.get(14)?,
    })
}

/// Whether a memory is shown to a person again after a time.
pub(crate) fn resurfacing(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<Resurfacing> {
    sql.scalar(
        "SELECT resurfacing FROM memory_state WHERE user_no = ?1 AND memory_no = ?2",
        values![scope.user_no, memory_no],
    )
}

/// Sets whether a memory is shown again. Turning this on resets the number of dismissals.
pub(crate) fn set_resurfacing(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    resurfacing: Resurfacing,
) -> Result<()> {
    sql.put(
        "UPDATE memory_state
         SET resurfacing = ?3, dismiss_count = CASE WHEN ?3 = 'on' THEN 0 ELSE dismiss_count END
         WHERE user_no = ?1 AND memory_no = ?2",
        values![scope.user_no, memory_no, resurfacing],
        RowExpectation::One(missing),
    )
}

/// Writes a person's answer to a memory that was shown again: how often they looked at it, and how often they put it off.
pub(crate) fn set_resurfaced(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    (state, today): (&MemoryState, NaiveDate),
) -> Result<()> {
    sql.put(
        "UPDATE memory_state SET resurfacing = ?3, resurfaced_count = ?4, resurfaced_on = ?5, dismiss_count = ?6
         WHERE user_no = ?1 AND memory_no = ?2",
        values![
            scope.user_no,
            memory_no,
            state.resurfacing,
            state.resurfaced_count,
            today.to_string(),
            state.dismiss_count,
        ],
        RowExpectation::One(missing),
    )
}

/// Counts again, from the remaining episodes, in how many sessions and projects a memory helped.
pub(crate) fn recount(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<()> {
    sql.change_unless_damaged(
        "UPDATE memory_state
         SET context_count =
               (SELECT count(DISTINCT e.session_no) FROM memory_episodes AS e
                WHERE e.user_no = ?1 AND e.memory_no = ?2 AND e.role = 'use' AND e.outcome = 'success'),
             project_count =
               (SELECT count(DISTINCT e.project) FROM memory_episodes AS e
                WHERE e.user_no = ?1 AND e.memory_no = ?2 AND e.role = 'use' AND e.outcome = 'success')
         WHERE user_no = ?1 AND memory_no = ?2",
        values![scope.user_no, memory_no],
    )
}

/// Counts accesses: answered contexts that showed a memory, or reported uses.
pub(crate) fn count_access(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    accesses: u32,
    now: StoredTime,
) -> Result<()> {
    sql.put(
        "UPDATE memory_state SET access_count = access_count + ?3, last_used_at = ?4
         WHERE user_no = ?1 AND memory_no = ?2",
        values![scope.user_no, memory_no, accesses, now],
        RowExpectation::Any,
    )
}

/// Writes how many uses were rated, and the share in which the memory helped.
pub(crate) fn set_rated(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    (usage_count, success_rate): (u32, Option<f64>),
) -> Result<()> {
    sql.put(
        "UPDATE memory_state SET usage_count = ?3, success_rate = ?4 WHERE user_no = ?1 AND memory_no = ?2",
        values![scope.user_no, memory_no, usage_count, success_rate],
        RowExpectation::One(missing),
    )
}

/// Takes back one access: writes when the memory was last used before it, if it was not used since `at`.
pub(crate) fn uncount_access(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    (at, before): (StoredTime, Option<StoredTime>),
) -> Result<()> {
    sql.put(
        "UPDATE memory_state
         SET access_count = CASE WHEN access_count > usage_count THEN access_count - 1 ELSE access_count END,
             last_used_at = CASE WHEN last_used_at = ?3 THEN ?4 ELSE last_used_at END
         WHERE user_no = ?1 AND memory_no = ?2",
        values![scope.user_no, memory_no, at, before],
        RowExpectation::One(missing),
    )
}

/// Counts a check that a memory passed.
pub(crate) fn count_pass(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    (by, now): (&str, StoredTime),
) -> Result<()> {
    sql.put(
        "UPDATE memory_state SET validated_at = ?3, validated_by = ?4, validation_count = validation_count + 1
         WHERE user_no = ?1 AND memory_no = ?2",
        values![scope.user_no, memory_no, now, by],
        RowExpectation::One(missing),
    )
}
