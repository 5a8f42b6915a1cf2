//! Rows of `memory_reviews`: questions that wait for a person.

use crate::{
    error::{Error, ErrorKind, Result},
    memory::frequency::may_ask_again,
    model::{
        ids::{MemoryId, ReviewId},
        place::MemoryNo,
        review::{Decision, Review, ReviewKind},
        stored_time::StoredTime,
    },
    store::{
        rows::row_check,
        scope::Scope,
        sql::{Flow, RowExpectation, Sql, SqlRow, values},
    },
};

/// A review, with its number and those of the memories that it is about.
#[derive(Clone, Debug)]
pub(crate) struct NumberedReview {
    pub(crate) review_no: i64,
    pub(crate) memory_no: MemoryNo,
    pub(crate) other_no: Option<MemoryNo>,
    pub(crate) review: Review,
}

/// How many columns the checksum covers.
const CHECKED_COLUMNS: usize = 11;

macro_rules! select {
    ($which:literal) => {
        concat!(
            "SELECT r.review_no, r.id, r.user_no, r.kind, r.memory_no, r.other_no, r.opened_at, r.why, r.decision,
                    r.decided_at, r.decided_by, r.row_check, m.id, o.id
             FROM memory_reviews AS r
             JOIN user_memories AS m ON m.user_no = r.user_no AND m.memory_no = r.memory_no
             LEFT JOIN user_memories AS o ON o.user_no = r.user_no AND o.memory_no = r.other_no
             WHERE r.user_no = ?1 AND ",
            $which
        )
    };
}

fn read(row: &SqlRow<'_>) -> Result<NumberedReview> {
    let review_no = row.get(0)?;
    if !row_check::holds(row, CHECKED_COLUMNS)? {
        return Err(row_check::damaged(format_args!("review number {review_no}")));
    }
    let review = Review {
        id: row.get(1)?,
        kind: row.get(3)?,
        memory_id: row.get::<MemoryId>(12)?,
        other_id: row.get(13)?,
        opened_at: row.get(6)?,
        why: row.get(7)?,
        decision: row.get(8)?,
        decided_at: row.get(9)?,
        decided_by: row.get(10)?,
    };
    Ok(NumberedReview { review_no, memory_no: row.get(4)?, other_no: row.get(5)?, review })
}

/// The error for a review that does not exist or belongs to another user.
pub(crate) fn no_review() -> Error {
    Error::not_found("this user has no such review")
}

/// The review with this id.
pub(crate) fn by_id(sql: &dyn Sql, scope: &Scope, id: ReviewId) -> Result<Option<NumberedReview>> {
    sql.one(select!("r.id = ?2"), values![scope.user_no, id], read)
}

/// At most `limit` open or decided reviews of these kinds (words joined by spaces) after the given one, oldest first.
/// Damaged ones are omitted.
pub(crate) fn page(
    sql: &dyn Sql,
    scope: &Scope,
    (kinds, decided): (&str, bool),
    (after, limit): (i64, u32),
) -> Result<Vec<Review>> {
    let mut found = Vec::new();
    sql.query(
        select!(
            "r.review_no > ?2 AND (?3 = '' OR ?3 LIKE '% ' || r.kind || ' %') AND CASE WHEN r.decision IS NULL THEN 0 ELSE 1 END = ?4
             ORDER BY r.review_no LIMIT ?5"
        ),
        values![scope.user_no, after, kinds, i64::from(decided), limit],
        &mut |row| {
            match read(row) {
                Ok(asked) => found.push(asked.review),
                Err(error) if error.kind() == ErrorKind::Corrupt => {} // Doctor reports where.
                Err(error) => return Err(error),
            }
            Ok(Flow::Next)
        },
    )?;
    Ok(found)
}

/// Writes a person's decision.
pub(crate) fn decide(
    sql: &dyn Sql,
    scope: &Scope,
    review_no: i64,
    (decision, by, now): (Decision, &str, StoredTime),
) -> Result<()> {
    sql.put(
        "UPDATE memory_reviews SET decision = ?3, decided_at = ?4, decided_by = ?5
         WHERE user_no = ?1 AND review_no = ?2 AND decision IS NULL",
        values![scope.user_no, review_no, decision, now, by],
        RowExpectation::Any,
    )
}

/// Whether a question may be put to a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuestionState {
    /// The question is open, as this review.
    Open(ReviewId),
    /// A person decided the question recently, or nothing is new since.
    Rests,
    /// The question may be asked, for the first time or again. A withdrawn review does not count as decided.
    Free,
}

/// The state of a question of this kind about one memory or two. `has_news` returns whether anything is new since a person
/// decided.
pub(crate) fn question(
    sql: &dyn Sql,
    scope: &Scope,
    kind: ReviewKind,
    (memory_no, other_no): (MemoryNo, Option<MemoryNo>),
    (now, has_news): (StoredTime, impl FnOnce(StoredTime) -> Result<bool>),
) -> Result<QuestionState> {
    let last: Option<(ReviewId, Option<StoredTime>)> = sql.one(
        "SELECT id, decided_at FROM memory_reviews
         WHERE user_no = ?1 AND kind = ?2 AND memory_no = ?3 AND coalesce(other_no, 0) = coalesce(?4, 0)
           AND (decision IS NULL OR decision <> 'withdrawn')
         ORDER BY decided_at IS NOT NULL, decided_at DESC, review_no DESC LIMIT 1",
        values![scope.user_no, kind, memory_no, other_no],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    Ok(match last {
        Some((open, None)) => QuestionState::Open(open),
        Some((_, Some(decided_at))) if !may_ask_again(*decided_at, has_news(decided_at)?, *now) => {
            QuestionState::Rests
        }
        _ => QuestionState::Free,
    })
}

/// The open review of this kind about one memory alone.
#[cfg(feature = "files")]
pub(crate) fn open(
    sql: &dyn Sql,
    scope: &Scope,
    kind: ReviewKind,
    memory_no: MemoryNo,
) -> Result<Option<ReviewId>> {
    sql.one(
        "SELECT id FROM memory_reviews
         WHERE user_no = ?1 AND kind = ?2 AND memory_no = ?3 AND other_no IS NULL AND decision IS NULL",
        values![scope.user_no, kind, memory_no],
        |row| row.get(0),
    )
}

/// Whether an open review asks if a waiting memory or another one holds. The other one may have been erased since.
pub(crate) fn is_waiting(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<bool> {
    sql.scalar(
        "SELECT EXISTS (SELECT 1 FROM memory_reviews
                        WHERE user_no = ?1 AND memory_no = ?2 AND kind = 'contradiction' AND decision IS NULL)",
        values![scope.user_no, memory_no],
    )
}

/// Opens a review.
pub(crate) fn insert(
    sql: &dyn Sql,
    scope: &Scope,
    (id, kind): (ReviewId, ReviewKind),
    (memory_no, other_no): (MemoryNo, Option<MemoryNo>),
    (why, now): (&str, StoredTime),
) -> Result<()> {
    sql.put(
        "INSERT INTO memory_reviews (id, user_no, kind, memory_no, other_no, opened_at, why)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        values![id, scope.user_no, kind, memory_no, other_no, now, why],
        RowExpectation::Any,
    )
}

/// The memories that a waiting memory contradicts, newest first.
pub(crate) fn contradicted_by(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<Vec<MemoryNo>> {
    sql.list(
        "SELECT other_no FROM memory_reviews
         WHERE user_no = ?1 AND memory_no = ?2 AND kind = 'contradiction' AND decision IS NULL AND other_no IS NOT NULL
         ORDER BY review_no DESC",
        values![scope.user_no, memory_no],
        |row| row.get(0),
    )
}

/// The memory in favour of which a person last rejected a waiting memory, and when.
pub(crate) fn rejected_for(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
) -> Result<Option<(MemoryNo, StoredTime)>> {
    sql.one(
        "SELECT other_no, decided_at FROM memory_reviews
         WHERE user_no = ?1 AND memory_no = ?2 AND kind = 'contradiction' AND decision = 'rejected' AND other_no IS NOT NULL
         ORDER BY decided_at DESC, review_no DESC LIMIT 1",
        values![scope.user_no, memory_no],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// The open review that asks which of two memories holds.
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

/// Withdraws the open reviews of a memory, because it is no longer active or archived.
pub(crate) fn withdraw(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo, now: StoredTime) -> Result<()> {
    sql.put(
        "UPDATE memory_reviews SET decision = 'withdrawn', decided_at = ?3
         WHERE user_no = ?1 AND memory_no = ?2 AND decision IS NULL",
        values![scope.user_no, memory_no, now],
        RowExpectation::Any,
    )
}

/// Withdraws the open reviews of other memories that name a memory as the other one, because it was superseded or
/// quarantined.
pub(crate) fn withdraw_of_other(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    now: StoredTime,
) -> Result<()> {
    sql.put(
        "UPDATE memory_reviews SET decision = 'withdrawn', decided_at = ?3
         WHERE user_no = ?1 AND other_no = ?2 AND decision IS NULL",
        values![scope.user_no, memory_no, now],
        RowExpectation::Any,
    )
}

/// Reopens the reviews that were withdrawn at a moment because a memory was no longer active or archived, now that it is
/// again. A review stays withdrawn if its other memory is not active or archived, or if its question is already open.
pub(crate) fn reopen(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    withdrawn_at: StoredTime,
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
        RowExpectation::Any,
    )
}

/// Withdraws the open contradictions for which a memory waited, because it is active now.
pub(crate) fn withdraw_waiting(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    now: StoredTime,
) -> Result<()> {
    sql.put(
        "UPDATE memory_reviews SET decision = 'withdrawn', decided_at = ?3
         WHERE user_no = ?1 AND memory_no = ?2 AND kind = 'contradiction' AND decision IS NULL",
        values![scope.user_no, memory_no, now],
        RowExpectation::Any,
    )
}

/// Removes an erased memory from the reviews that name it as the other one. A contradiction stays, because the memory that
/// waits must still be decided, unless another open review already asks that. Reviews of other kinds are deleted, because
/// they make no sense about one memory.
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
        RowExpectation::Any,
    )?;
    sql.change_or_delete(
        "UPDATE memory_reviews SET other_no = NULL WHERE user_no = ?1 AND other_no = ?2",
        "DELETE FROM memory_reviews WHERE user_no = ?1 AND other_no = ?2",
        values![scope.user_no, memory_no],
    )
    .map(drop)
}
