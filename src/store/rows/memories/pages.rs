//! Reads what pages about many of a user's memories need: the memories to count or to compare, tags, and how often memories
//! were merged or reflected on.

use crate::{
    error::Result,
    model::{memory::words::MemoryKind, place::MemoryNo, stored_time::StoredTime},
    store::{
        scope::Scope,
        sql::{Sql, values},
    },
};

/// The `task_name` of the notes that record a reflection.
pub(crate) const REFLECTED: &str = "reflect";

/// The data of a memory that the pages count.
#[derive(Clone, Debug)]
pub(crate) struct CountedMemory {
    pub(crate) memory_no: MemoryNo,
    pub(crate) kind: MemoryKind,
    pub(crate) project: Option<String>,
    pub(crate) access_count: u32,
}

/// The active non-volatile memories that are trusted at least as much as the assistant's words, newest first.
pub(crate) fn counted(sql: &dyn Sql, scope: &Scope) -> Result<Vec<CountedMemory>> {
    sql.list(
        "SELECT m.memory_no, m.kind, m.project, s.access_count
         FROM user_memories AS m JOIN memory_state AS s ON s.user_no = m.user_no AND s.memory_no = m.memory_no
         WHERE m.user_no = ?1 AND m.status = 'active' AND m.session_no IS NULL AND m.trust >= 2
         ORDER BY m.memory_no DESC",
        values![scope.user_no],
        |row| {
            Ok(CountedMemory {
                memory_no: row.get(0)?,
                kind: row.get(1)?,
                project: row.get(2)?,
                access_count: row.get(3)?,
            })
        },
    )
}

/// The folded tags of the user's memories, each with its memory, ordered by memory.
pub(crate) fn tags(sql: &dyn Sql, scope: &Scope) -> Result<Vec<(MemoryNo, String)>> {
    sql.list(
        "SELECT memory_no, term FROM memory_terms WHERE user_no = ?1 AND kind = 'tag' ORDER BY memory_no, position",
        values![scope.user_no],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// How many merges are in effect.
pub(crate) fn merges(sql: &dyn Sql, scope: &Scope) -> Result<u64> {
    sql.scalar(
        "SELECT count(DISTINCT group_id) FROM memory_changes
         WHERE user_no = ?1 AND op = 'merge' AND undone_by IS NULL",
        values![scope.user_no],
    )
}

/// How many reflections are recorded, and when the latest happened.
pub(crate) fn reflections(sql: &dyn Sql, scope: &Scope) -> Result<(u64, Option<StoredTime>)> {
    let found = sql.one(
        "SELECT count(*), max(happened_at) FROM memory_episodes
         WHERE user_no = ?1 AND role = 'note' AND task_name = ?2",
        values![scope.user_no, REFLECTED],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    Ok(found.unwrap_or_default())
}

/// The newest memories that may be compared with each other, newest first.
pub(crate) fn newest(sql: &dyn Sql, scope: &Scope, limit: u32) -> Result<Vec<MemoryNo>> {
    sql.list(
        "SELECT memory_no FROM user_memories
         WHERE user_no = ?1 AND status = 'active' AND session_no IS NULL AND trust >= 2
         ORDER BY memory_no DESC LIMIT ?2",
        values![scope.user_no, limit],
        |row| row.get(0),
    )
}
