//! Rows of `memory_units`: the units of memories, with the words of current and of older texts.

use std::collections::BTreeSet;

use crate::{
    error::Result,
    model::place::{MemoryNo, Seq},
    store::{
        rows::{
            memories::{
                row::{self, MemoryRow, memory_columns},
                terms,
            },
            row_check,
        },
        scope::Scope,
        sql::{RowExpectation, Sql, missing, values},
    },
};

/// Writes the words of a new unit.
pub(crate) fn insert(
    sql: &dyn Sql,
    scope: &Scope,
    (seq, memory_no): (Seq, MemoryNo),
    words: &[u8],
) -> Result<()> {
    sql.put(
        "INSERT INTO memory_units (user_no, seq, memory_no, words) VALUES (?1, ?2, ?3, ?4)",
        values![scope.user_no, seq, memory_no, words],
        RowExpectation::Any,
    )
}

/// The memory whose current text is this unit. `None` if the unit has an older text, or is not a memory's.
pub(crate) fn memory_of(sql: &dyn Sql, scope: &Scope, seq: Seq) -> Result<Option<MemoryRow>> {
    sql.one(
        concat!(
            "SELECT ",
            memory_columns!(),
            " FROM memory_units AS k JOIN user_memories AS m
                ON m.user_no = k.user_no AND m.memory_no = k.memory_no AND m.seq = k.seq
              WHERE k.user_no = ?1 AND k.seq = ?2"
        ),
        values![scope.user_no, seq],
        row::read,
    )
}

/// The words of a memory's current text.
pub(crate) fn words_of(sql: &dyn Sql, scope: &Scope, memory: &MemoryRow) -> Result<Vec<u8>> {
    Ok(memory.text().words(terms::names(sql, scope, memory.memory_no)?.iter()))
}

/// The words of a unit. `None` if they are damaged or do not exist.
pub(crate) fn sound_words(sql: &dyn Sql, scope: &Scope, seq: Seq) -> Result<Option<Vec<u8>>> {
    let found = sql.one(
        "SELECT user_no, seq, memory_no, words, row_check FROM memory_units WHERE user_no = ?1 AND seq = ?2",
        values![scope.user_no, seq],
        |row| if row_check::holds(row, 4)? { row.get(3).map(Some) } else { Ok(None) },
    )?;
    Ok(found.flatten())
}

/// Replaces the words of a unit.
pub(crate) fn set_words(sql: &dyn Sql, scope: &Scope, seq: Seq, words: &[u8]) -> Result<()> {
    sql.put(
        "UPDATE memory_units SET words = ?3 WHERE user_no = ?1 AND seq = ?2",
        values![scope.user_no, seq, words],
        RowExpectation::One(missing),
    )
}

/// At most `limit` memory units that do not have a memory's current text.
pub(crate) fn stale(sql: &dyn Sql, scope: &Scope, limit: u32) -> Result<Vec<Seq>> {
    sql.list(
        "SELECT k.seq FROM memory_units AS k JOIN user_memories AS m
           ON m.user_no = k.user_no AND m.memory_no = k.memory_no
         WHERE k.user_no = ?1 AND m.seq IS DISTINCT FROM k.seq ORDER BY k.seq LIMIT ?2",
        values![scope.user_no, limit],
        |row| row.get(0),
    )
}

/// How many memory units there are, and how many of them do not have a memory's current text.
pub(crate) fn counts(sql: &dyn Sql, scope: &Scope) -> Result<(u64, u64)> {
    let found = sql.one(
        "SELECT count(*), CAST(coalesce(sum(CASE WHEN m.seq = k.seq THEN 0 ELSE 1 END), 0) AS BIGINT)
         FROM memory_units AS k JOIN user_memories AS m ON m.user_no = k.user_no AND m.memory_no = k.memory_no
         WHERE k.user_no = ?1",
        values![scope.user_no],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    Ok(found.unwrap_or_default())
}

/// The units of a memory. The number of a damaged row is that of the memory's current text.
pub(crate) fn of_memory(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<BTreeSet<Seq>> {
    let found: Vec<Option<Seq>> = sql.list(
        "SELECT seq FROM memory_units WHERE user_no = ?1 AND memory_no = ?2
         UNION SELECT seq FROM user_memories WHERE user_no = ?1 AND memory_no = ?2",
        values![scope.user_no, memory_no],
        |row| Ok(row.get(0).ok().flatten()),
    )?;
    Ok(found.into_iter().flatten().collect())
}

/// The units with older texts of a memory.
pub(crate) fn stale_of(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<Vec<Seq>> {
    // Sorted here, because for an ORDER BY SQLite would go through all of the user's units.
    let mut found: Vec<Seq> = sql.list(
        "SELECT k.seq FROM memory_units AS k JOIN user_memories AS m
           ON m.user_no = k.user_no AND m.memory_no = k.memory_no
         WHERE k.user_no = ?1 AND k.memory_no = ?2 AND m.seq IS DISTINCT FROM k.seq",
        values![scope.user_no, memory_no],
        |row| row.get(0),
    )?;
    found.sort_unstable();
    Ok(found)
}
