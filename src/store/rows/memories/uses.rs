//! Uses of memories, as rows of `memory_episodes`: reported, or noted when a context that showed the memory was answered.

use crate::{
    error::{Error, Result},
    model::{
        episode::{EpisodeRole, Use},
        ids::{EpisodeId, MemoryId, ReceiptId, SessionId},
        memory::{
            trust::Trust,
            words::{MemoryStatus, Outcome},
        },
        place::{MemoryNo, SessionNo},
        stored_time::StoredTime,
    },
    store::{
        scope::Scope,
        sql::{RowExpectation, Sql, values},
    },
};

/// A turn that answers the context of a receipt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnsweringTurn {
    pub(crate) session_id: SessionId,
    pub(crate) turn_number: u32,
    pub(crate) receipt_id: ReceiptId,
    /// When the turn was said.
    pub(crate) said_at: StoredTime,
    /// How far the more trusted side of the turn is trusted: a turn of tools and documents alone uses no memory that is
    /// trusted more.
    pub(crate) trust: Trust,
}

/// Records an unrated use of a memory from a context that a turn answers. `None` if it was recorded before, or the memory
/// was erased or hidden since, or is trusted more than a turn of tools and documents.
pub(crate) fn insert_answered(
    sql: &dyn Sql,
    scope: &Scope,
    (id, memory): (EpisodeId, MemoryId),
    answer: &AnsweringTurn,
) -> Result<Option<MemoryNo>> {
    sql.one(
        "INSERT INTO memory_episodes
           (id, user_no, role, memory_no, session_no, turn_number, receipt_id, happened_at, project)
         SELECT ?3, m.user_no, 'use', m.memory_no, s.session_no, ?6, ?7, ?8, s.project
         FROM user_memories AS m LEFT JOIN conversation_sessions AS s ON s.id = ?5 AND s.user_id = ?2
         WHERE m.user_no = ?1 AND m.id = ?4 AND m.status IN ('active', 'archived', 'superseded')
           AND (?9 > 1 OR m.trust = 1)
         ON CONFLICT DO NOTHING RETURNING memory_no",
        values![
            scope.user_no,
            scope.user_id,
            id,
            memory,
            answer.session_id,
            answer.turn_number,
            answer.receipt_id,
            answer.said_at,
            answer.trust.number(),
        ],
        |row| row.get(0),
    )
}

/// Writes a reported use, as an episode of this role.
pub(crate) fn insert_reported(
    sql: &dyn Sql,
    scope: &Scope,
    (id, memory_no, role): (EpisodeId, MemoryNo, EpisodeRole),
    (report, session_no, project): (&Use, Option<SessionNo>, Option<&str>),
    now: StoredTime,
) -> Result<()> {
    sql.put(
        "INSERT INTO memory_episodes
           (id, user_no, role, memory_no, session_no, receipt_id, happened_at, outcome, project, task_id, caller_id,
            task_name, trigger)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        values![
            id,
            scope.user_no,
            role,
            memory_no,
            session_no,
            report.receipt_id,
            now,
            report.outcome,
            project,
            report.task_id,
            report.caller_id,
            report.task_name,
            report.trigger,
        ],
        RowExpectation::Any,
    )
}

/// Rates an unrated use, and writes what else the report says about it.
pub(crate) fn rate(
    sql: &dyn Sql,
    scope: &Scope,
    episode_no: i64,
    (outcome, report): (Outcome, &Use),
) -> Result<()> {
    sql.put(
        "UPDATE memory_episodes
         SET outcome = ?3, project = coalesce(?4, project), task_id = coalesce(task_id, ?5),
             task_name = coalesce(task_name, ?6), trigger = coalesce(trigger, ?7), caller_id = coalesce(caller_id, ?8)
         WHERE user_no = ?1 AND episode_no = ?2 AND role = 'use'",
        values![
            scope.user_no,
            episode_no,
            outcome,
            report.project,
            report.task_id,
            report.task_name,
            report.trigger,
            report.caller_id,
        ],
        RowExpectation::Any,
    )
}

/// Makes a use a report that counts nothing. Returns whether the use is there.
pub(crate) fn uncount(sql: &dyn Sql, scope: &Scope, (id, memory_no): (EpisodeId, MemoryNo)) -> Result<bool> {
    let changed = sql.change(
        "UPDATE memory_episodes SET role = 'report' WHERE user_no = ?1 AND id = ?2 AND memory_no = ?3 AND role = 'use'",
        values![scope.user_no, id, memory_no],
    )?;
    Ok(changed == 1)
}

/// How many uses of a memory are rated, and in how many of them it helped.
pub(crate) fn rated(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<(u32, u32)> {
    let found = sql.one(
        "SELECT count(CASE WHEN outcome IN ('success', 'failure', 'correction') THEN 1 END),
                count(CASE WHEN outcome = 'success' THEN 1 END)
         FROM memory_episodes WHERE user_no = ?1 AND memory_no = ?2 AND role = 'use'",
        values![scope.user_no, memory_no],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    Ok(found.unwrap_or_default())
}

/// The session of a receipt, if it has one. Errors: the receipt does not exist.
pub(crate) fn session_of(sql: &dyn Sql, scope: &Scope, receipt: ReceiptId) -> Result<Option<SessionId>> {
    let found = sql.one(
        "SELECT s.id FROM recall_receipts AS r
         LEFT JOIN conversation_sessions AS s ON s.session_no = r.session_no AND s.user_id = ?3
         WHERE r.user_no = ?1 AND r.id = ?2",
        values![scope.user_no, receipt, scope.user_id],
        |row| row.get(0),
    )?;
    found.ok_or_else(|| Error::not_found("this user has no such receipt; only the newest are kept"))
}

/// The status of a memory: whether it is active and, if not, why.
pub(crate) fn status_of(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<Option<MemoryStatus>> {
    sql.one(
        "SELECT status FROM user_memories WHERE user_no = ?1 AND memory_no = ?2",
        values![scope.user_no, memory_no],
        |row| row.get(0),
    )
}

/// Whether a use of a memory that was noted since `at` is rated, or a check of it has failed since `at`. Both are judged by
/// the system clock, which also orders the ids of episodes, because the time at which something was said does not show when
/// it became known.
pub(crate) fn has_news_since(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    at: StoredTime,
) -> Result<bool> {
    sql.scalar(
        "SELECT EXISTS (SELECT 1 FROM memory_episodes
                        WHERE user_no = ?1 AND memory_no = ?2 AND role = 'use' AND id >= ?3
                          AND outcome IN ('success', 'failure', 'correction'))
             OR EXISTS (SELECT 1 FROM memory_changes
                        WHERE user_no = ?1 AND memory_no = ?2 AND op = 'check' AND new_value = 'fail' AND made_at > ?4)",
        values![scope.user_no, memory_no, first_of(at), at],
    )
}

/// The smallest id that an episode noted at or after this time can have, by the system clock. What the episode reports may
/// have happened long before.
pub(crate) fn first_of(at: StoredTime) -> [u8; 16] {
    let mut first = [0; 16];
    first[..6].copy_from_slice(&EpisodeId::new(*at).as_uuid().as_bytes()[..6]);
    first
}
