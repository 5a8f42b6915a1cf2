//! Rows of `memory_reviews`: what waits for a person.

use chrono::{DateTime, Utc};

use crate::{
    error::Result,
    model::{ids::ReviewId, place::MemoryNo, review::ReviewKind},
    store::{
        scope::Scope,
        sql::{Expect, Sql, values},
    },
};

/// Opens a review.
pub(crate) fn insert(
    sql: &dyn Sql,
    scope: &Scope,
    (id, kind): (ReviewId, ReviewKind),
    (memory_no, other_no): (MemoryNo, Option<MemoryNo>),
    (why, now): (&str, DateTime<Utc>),
) -> Result<()> {
    sql.put(
        "INSERT INTO memory_reviews (id, user_no, kind, memory_no, other_no, opened_at, why)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        values![id, scope.user_no, kind, memory_no, other_no, now, why],
        Expect::Any,
    )
}

/// What a memory waits for that contradicts others, the newest first.
pub(crate) fn contradicted_by(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<Vec<MemoryNo>> {
    sql.list(
        "SELECT other_no FROM memory_reviews
         WHERE user_no = ?1 AND memory_no = ?2 AND kind = 'contradiction' AND decision IS NULL AND other_no IS NOT NULL
         ORDER BY review_no DESC",
        values![scope.user_no, memory_no],
        |row| row.get(0),
    )
}

/// The open review that asks which of two holds.
pub(crate) fn of_two(
    sql: &dyn Sql,
    scope: &Scope,
    (one, other): (MemoryNo, MemoryNo),
) -> Result<Option<ReviewId>> {
    sql.one(
        "SELECT id FROM memory_reviews
         WHERE user_no = ?1 AND kind = 'contradiction' AND decision IS NULL
           AND ((memory_no = ?2 AND other_no = ?3) OR (memory_no = ?3 AND other_no = ?2)) ORDER BY id LIMIT 1",
        values![scope.user_no, one, other],
        |row| row.get(0),
    )
}

/// Withdraws what was asked of a memory, for it does not hold any more.
pub(crate) fn withdraw(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo, now: DateTime<Utc>) -> Result<()> {
    sql.put(
        "UPDATE memory_reviews SET decision = 'withdrawn', decided_at = ?3
         WHERE user_no = ?1 AND memory_no = ?2 AND decision IS NULL",
        values![scope.user_no, memory_no, now],
        Expect::Any,
    )
}

/// Withdraws what was asked of others beside a memory, whose place another took.
pub(crate) fn withdraw_of_other(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    now: DateTime<Utc>,
) -> Result<()> {
    sql.put(
        "UPDATE memory_reviews SET decision = 'withdrawn', decided_at = ?3
         WHERE user_no = ?1 AND other_no = ?2 AND decision IS NULL",
        values![scope.user_no, memory_no, now],
        Expect::Any,
    )
}

/// Withdraws what a memory waited for, for it holds.
pub(crate) fn withdraw_waiting(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    now: DateTime<Utc>,
) -> Result<()> {
    sql.put(
        "UPDATE memory_reviews SET decision = 'withdrawn', decided_at = ?3
         WHERE user_no = ?1 AND memory_no = ?2 AND kind = 'contradiction' AND decision IS NULL",
        values![scope.user_no, memory_no, now],
        Expect::Any,
    )
}

/// Has reviews name nobody where they name a memory that is erased: what waits is still to be decided. What was asked of
/// two memories, and makes no sense of one, goes.
pub(crate) fn forget_other(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<()> {
    sql.put(
        "DELETE FROM memory_reviews
         WHERE user_no = ?1 AND other_no = ?2
           AND (kind <> 'contradiction'
                OR (decision IS NULL AND EXISTS
                  (SELECT 1 FROM memory_reviews AS o
                   WHERE o.user_no = memory_reviews.user_no AND o.memory_no = memory_reviews.memory_no
                     AND o.kind = 'contradiction' AND o.decision IS NULL AND o.other_no IS NULL)))",
        values![scope.user_no, memory_no],
        Expect::Any,
    )?;
    sql.put(
        "UPDATE memory_reviews SET other_no = NULL WHERE user_no = ?1 AND other_no = ?2",
        values![scope.user_no, memory_no],
        Expect::Any,
    )
}
