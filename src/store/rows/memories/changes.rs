//! Rows of `memory_changes`: the history of memories, from which undo restores.

use chrono::NaiveDate;

use crate::{
    error::Result,
    model::{
        change::{Change, ChangeOp},
        ids::{GroupId, MemoryId},
        memory::words::MemoryStatus,
        place::MemoryNo,
        stored_time::StoredTime,
    },
    store::{
        rows::row_check,
        scope::Scope,
        sql::{RowExpectation, Sql, SqlRow, values},
    },
};

/// The columns of `memory_changes AS c` for [`read`]: those covered by the row's checksum, in the table's order, then the
/// checksum.
macro_rules! change_columns {
    () => {
        "c.user_no, c.memory_no, c.change_no, c.op, c.group_id, c.made_by, c.made_at, c.old_value, c.new_value, c.reason, \
         c.before, c.undone_by, c.row_check"
    };
}

/// How many of these columns the checksum covers.
const CHECKED_COLUMNS: usize = 12;

/// A change to record.
pub(crate) struct NewChange<'c> {
    pub(crate) memory_no: MemoryNo,
    pub(crate) op: ChangeOp,
    pub(crate) group_id: GroupId,
    pub(crate) made_by: &'c str,
    pub(crate) made_at: StoredTime,
    pub(crate) old_value: Option<&'c str>,
    pub(crate) new_value: Option<&'c str>,
    pub(crate) reason: &'c str,
    /// The previous values of the changed columns, as a JSON object. `None` if no column changed.
    pub(crate) before: Option<String>,
}

/// Records a change after all others of its memory.
pub(crate) fn insert(sql: &dyn Sql, scope: &Scope, change: &NewChange<'_>) -> Result<()> {
    sql.put(
        "INSERT INTO memory_changes
           (user_no, memory_no, change_no, op, group_id, made_by, made_at, old_value, new_value, reason, before)
         SELECT ?1, ?2, coalesce(max(c.change_no), 0) + 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
         FROM memory_changes AS c WHERE c.user_no = ?1 AND c.memory_no = ?2",
        values![
            scope.user_no,
            change.memory_no,
            change.op,
            change.group_id,
            change.made_by,
            change.made_at,
            change.old_value,
            change.new_value,
            change.reason,
            change.before,
        ],
        RowExpectation::Any,
    )
}

/// A change of a memory, with the memory's number.
#[derive(Clone, Debug)]
pub(crate) struct NumberedChange {
    pub(crate) memory_no: MemoryNo,
    pub(crate) change: Change,
}

fn read(row: &SqlRow<'_>, memory_id: MemoryId) -> Result<NumberedChange> {
    let memory_no = row.get(1)?;
    if !row_check::holds(row, CHECKED_COLUMNS)? {
        let MemoryNo(memory_no) = memory_no;
        return Err(row_check::damaged(format_args!("a change of memory number {memory_no}")));
    }
    let change = Change {
        memory_id,
        change_no: row.get(2)?,
        op: row.get(3)?,
        group_id: row.get(4)?,
        made_by: row.get(5)?,
        made_at: row.get(6)?,
        old_value: row.get(7)?,
        new_value: row.get(8)?,
        reason: row.get(9)?,
        before: row.get(10)?,
        undone_by: row.get(11)?,
    };
    Ok(NumberedChange { memory_no, change })
}

/// At most `limit` changes of a memory before the given one, newest first.
pub(crate) fn page(
    sql: &dyn Sql,
    scope: &Scope,
    (memory_no, memory_id): (MemoryNo, MemoryId),
    (before, limit): (u32, u32),
) -> Result<Vec<Change>> {
    sql.list(
        concat!(
            "SELECT ",
            change_columns!(),
            " FROM memory_changes AS c WHERE c.user_no = ?1 AND c.memory_no = ?2 AND c.change_no < ?3
              ORDER BY c.change_no DESC LIMIT ?4"
        ),
        values![scope.user_no, memory_no, before, limit],
        |row| Ok(read(row, memory_id)?.change),
    )
}

/// The newest operation on a memory, by hand or by a job, that can be undone and is not undone. Saves, checks, undos and
/// answers to being shown again cannot be undone, except a save that superseded or merged other memories.
pub(crate) fn to_undo(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<Option<GroupId>> {
    sql.one(
        "SELECT c.group_id FROM memory_changes AS c
         WHERE c.user_no = ?1 AND c.memory_no = ?2 AND c.undone_by IS NULL
           AND (c.op IN ('edit', 'frequency', 'status', 'supersede', 'merge', 'trust', 'use')
                OR (c.op = 'save' AND EXISTS
                  (SELECT 1 FROM memory_changes AS o WHERE o.user_no = c.user_no AND o.group_id = c.group_id
                   AND o.memory_no <> c.memory_no AND o.op IN ('supersede', 'merge'))))
         ORDER BY c.change_no DESC LIMIT 1",
        values![scope.user_no, memory_no],
        |row| row.get(0),
    )
}

/// All changes of one operation, by memory, newest first within each.
pub(crate) fn of_group(sql: &dyn Sql, scope: &Scope, group: GroupId) -> Result<Vec<NumberedChange>> {
    sql.list(
        concat!(
            "SELECT ",
            change_columns!(),
            ", m.id FROM memory_changes AS c JOIN user_memories AS m
                 ON m.user_no = c.user_no AND m.memory_no = c.memory_no
               WHERE c.user_no = ?1 AND c.group_id = ?2 ORDER BY c.memory_no, c.change_no DESC"
        ),
        values![scope.user_no, group],
        |row| read(row, row.get(CHECKED_COLUMNS + 1)?),
    )
}

/// Whether all changes of an operation are undone. `None` if none of its changes is stored.
pub(crate) fn is_undone(sql: &dyn Sql, scope: &Scope, group: GroupId) -> Result<Option<bool>> {
    let found: Option<(u64, u64)> = sql.one(
        "SELECT count(*), count(undone_by) FROM memory_changes WHERE user_no = ?1 AND group_id = ?2",
        values![scope.user_no, group],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    Ok(found.filter(|(all, _)| *all > 0).map(|(all, undone)| all == undone))
}

/// The first change of a memory after the given one that is not undone. Undos, checks, and answers to being shown again are
/// ignored; so are uses, unless `with_uses` is set.
pub(crate) fn later(
    sql: &dyn Sql,
    scope: &Scope,
    (memory_no, change_no): (MemoryNo, u32),
    with_uses: bool,
) -> Result<Option<(ChangeOp, GroupId)>> {
    sql.one(
        "SELECT c.op, c.group_id FROM memory_changes AS c
         WHERE c.user_no = ?1 AND c.memory_no = ?2 AND c.change_no > ?3 AND c.undone_by IS NULL
           AND c.op NOT IN ('undo', 'check', 'resurface') AND (c.op <> 'use' OR ?4 = 1)
         ORDER BY c.change_no LIMIT 1",
        values![scope.user_no, memory_no, change_no, i64::from(with_uses)],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// Whether a use that somebody reported on a day rated a memory, even if that is undone.
pub(crate) fn was_rated(
    sql: &dyn Sql,
    scope: &Scope,
    (memory_no, made_by): (MemoryNo, &str),
    day: NaiveDate,
) -> Result<bool> {
    // As text, a day sorts before all of its instants, and the day followed by `~` sorts after them.
    sql.scalar(
        "SELECT EXISTS (SELECT 1 FROM memory_changes
                        WHERE user_no = ?1 AND memory_no = ?2 AND op = 'use' AND made_by = ?3
                          AND made_at >= ?4 AND made_at < ?5)",
        values![scope.user_no, memory_no, made_by, day.to_string(), format!("{day}~")],
    )
}

/// Marks all changes of an operation as undone by another operation.
pub(crate) fn set_undone(sql: &dyn Sql, scope: &Scope, group: GroupId, by: GroupId) -> Result<()> {
    sql.put(
        "UPDATE memory_changes SET undone_by = ?3 WHERE user_no = ?1 AND group_id = ?2 AND undone_by IS NULL",
        values![scope.user_no, group, by],
        RowExpectation::Any,
    )
}

/// Removes earlier texts of a memory from its history, because they may repeat what was erased. A change without texts can
/// still be undone; one with texts loses its whole earlier state, because half of an operation is never undone. If one with
/// texts is damaged so that it cannot be written, those with texts are deleted.
pub(crate) fn forget_before(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<()> {
    macro_rules! with_texts {
        ($write:literal) => {
            concat!(
                $write,
                " WHERE user_no = ?1 AND memory_no = ?2
                   AND (before LIKE '%\"title\":%' OR before LIKE '%\"content\":%' OR before LIKE '%\"summary\":%'
                        OR before LIKE '%\"procedure\":%' OR before LIKE '%\"tags\":%' OR before LIKE '%\"entities\":%')"
            )
        };
    }
    sql.change_or_delete(
        with_texts!("UPDATE memory_changes SET before = NULL, reason = ''"),
        with_texts!("DELETE FROM memory_changes"),
        values![scope.user_no, memory_no],
    )
    .map(drop)
}

/// The status of a memory, active or archived, before it was last superseded.
pub(crate) fn status_before_superseding(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
) -> Result<Option<MemoryStatus>> {
    let was_archived = sql.one(
        "SELECT c.before LIKE '%\"status\":\"archived\"%' FROM memory_changes AS c
         WHERE c.user_no = ?1 AND c.memory_no = ?2 AND c.op IN ('supersede', 'merge') AND c.undone_by IS NULL
           AND c.before LIKE '%\"superseded_by\":null%'
         ORDER BY c.change_no DESC LIMIT 1",
        values![scope.user_no, memory_no],
        |row| row.get::<bool>(0),
    )?;
    Ok(was_archived.map(|was| if was { MemoryStatus::Archived } else { MemoryStatus::Active }))
}

/// Who forgot a memory last for this reason. `None` if nobody did, or that was undone.
pub(crate) fn forgotten_by(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    reason: &str,
) -> Result<Option<String>> {
    sql.one(
        "SELECT c.made_by FROM memory_changes AS c
         WHERE c.user_no = ?1 AND c.memory_no = ?2 AND c.op = 'status' AND c.new_value = 'forgotten' AND c.reason = ?3
           AND c.undone_by IS NULL
         ORDER BY c.change_no DESC LIMIT 1",
        values![scope.user_no, memory_no, reason],
        |row| row.get(0),
    )
}

/// Records that operation `by` undid the last superseding of a memory.
pub(crate) fn set_superseding_undone(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    by: GroupId,
) -> Result<()> {
    sql.put(
        "UPDATE memory_changes SET undone_by = ?3
         WHERE user_no = ?1 AND memory_no = ?2 AND undone_by IS NULL AND op IN ('supersede', 'merge')
           AND change_no = (SELECT max(c.change_no) FROM memory_changes AS c
                            WHERE c.user_no = ?1 AND c.memory_no = ?2 AND c.op IN ('supersede', 'merge'))",
        values![scope.user_no, memory_no, by],
        RowExpectation::Any,
    )
}
