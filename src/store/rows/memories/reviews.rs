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

/// Asks again what was withdrawn at a moment, since a memory holds again that did not from then on; unless the other one
/// still does not, or it is asked already.
pub(crate) fn reopen(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    withdrawn_at: DateTime<Utc>,
) -> Result<()> {
    sql.put(
        "UPDATE memory_reviews SET decision = NULL, decided_at = NULL
         WHERE user_no = ?1 AND (memory_no = ?2 OR other_no = ?2) AND decision = 'withdrawn' AND decided_at = ?3
           AND NOT EXISTS (SELECT 1 FROM memory_reviews AS o
                           WHERE o.user_no = memory_reviews.user_no AND o.kind = memory_reviews.kind
                             AND o.memory_no = memory_reviews.memory_no
                             AND o.other_no IS NOT DISTINCT FROM memory_reviews.other_no AND o.decision IS NULL)
           AND EXISTS (SELECT 1 FROM user_memories AS m
                       WHERE m.user_no = memory_reviews.user_no AND m.memory_no = memory_reviews.memory_no
                         AND m.status IN ('active', 'archived'))
           AND (other_no IS NULL
                OR EXISTS (SELECT 1 FROM user_memories AS m
                           WHERE m.user_no = memory_reviews.user_no AND m.memory_no = memory_reviews.other_no
                             AND m.status IN ('active', 'archived')))",
        values![scope.user_no, memory_no, withdrawn_at],
        Expect::Any,
    )
}

/// Whether this is asked of a memory, and when a person decided it last.
pub(crate) fn asked(
    sql: &dyn Sql,
    scope: &Scope,
    (memory_no, kind): (MemoryNo, ReviewKind),
    other_no: Option<MemoryNo>,
) -> Result<(bool, Option<DateTime<Utc>>)> {
    let found = sql.one(
        "SELECT count(CASE WHEN decision IS NULL THEN 1 END) > 0,
                max(CASE WHEN decision IN ('approved', 'rejected') THEN decided_at END)
         FROM memory_reviews
         WHERE user_no = ?1 AND memory_no = ?2 AND kind = ?3 AND coalesce(other_no, 0) = coalesce(?4, 0)",
        values![scope.user_no, memory_no, kind, other_no],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    Ok(found.unwrap_or_default())
}

/// Removes the reviews in which a memory that is erased is the other one.
pub(crate) fn remove_of_other(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<()> {
    sql.put(
        "DELETE FROM memory_reviews WHERE user_no = ?1 AND other_no = ?2",
        values![scope.user_no, memory_no],
        Expect::Any,
    )
}
