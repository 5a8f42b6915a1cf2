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

/// The review for which a memory waits that contradicts another.
pub(crate) fn waits_for(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<Option<ReviewId>> {
    sql.one(
        "SELECT id FROM memory_reviews
         WHERE user_no = ?1 AND memory_no = ?2 AND kind = 'contradiction' AND decision IS NULL ORDER BY id DESC LIMIT 1",
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

/// The open review of a kind that asks about one memory alone.
pub(crate) fn open_of(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    kind: ReviewKind,
) -> Result<Option<ReviewId>> {
    sql.one(
        "SELECT id FROM memory_reviews
         WHERE user_no = ?1 AND memory_no = ?2 AND kind = ?3 AND other_no IS NULL AND decision IS NULL",
        values![scope.user_no, memory_no, kind],
        |row| row.get(0),
    )
}

/// When a person decided such a review last.
pub(crate) fn decided_last(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    kind: ReviewKind,
) -> Result<Option<DateTime<Utc>>> {
    sql.one(
        "SELECT decided_at FROM memory_reviews
         WHERE user_no = ?1 AND memory_no = ?2 AND kind = ?3 AND other_no IS NULL
           AND decision IN ('approved', 'rejected') AND decided_at IS NOT NULL
         ORDER BY decided_at DESC, review_no DESC LIMIT 1",
        values![scope.user_no, memory_no, kind],
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
    )?;
    sql.put(
        "UPDATE memory_reviews SET decision = 'withdrawn', decided_at = ?3
         WHERE user_no = ?1 AND other_no = ?2 AND decision IS NULL",
        values![scope.user_no, memory_no, now],
        Expect::Any,
    )
}

/// Removes the reviews in which a memory that is erased is the other one.
pub(crate) fn remove_of_other(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<()> {
    sql.put(
        "DELETE FROM memory_reviews WHERE user_no = ?1 AND other_no = ?2",
        values![scope.user_no, memory_no],
        Expect::Any,
    )
}
