//! Finds memories by an identifier, by the first or last digits of their id, or by their text, slot or successor.

use crate::{
    error::Result,
    model::{
        ids::MemoryId,
        memory::words::{MemoryKind, MemoryStatus},
        place::MemoryNo,
    },
    store::{
        rows::memories::row::{self, MemoryRow, memory_columns},
        scope::Scope,
        sql::{Flow, Sql, SqlValue, values},
    },
    text::measure::ContentHash,
};

macro_rules! select {
    ($which:literal) => {
        concat!("SELECT ", memory_columns!(), " FROM user_memories AS m WHERE m.user_no = ?1 AND ", $which)
    };
}

pub(crate) fn by_id(sql: &dyn Sql, scope: &Scope, id: MemoryId) -> Result<Option<MemoryRow>> {
    one(sql, select!("m.id = ?2"), values![scope.user_no, id])
}

pub(crate) fn by_no(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<Option<MemoryRow>> {
    one(sql, select!("m.memory_no = ?2"), values![scope.user_no, memory_no])
}

pub(crate) fn by_caller_id(sql: &dyn Sql, scope: &Scope, caller_id: &str) -> Result<Option<MemoryRow>> {
    one(sql, select!("m.caller_id = ?2"), values![scope.user_no, caller_id])
}

/// The active, non-volatile memory with the same text in the same project.
pub(crate) fn active_same(
    sql: &dyn Sql,
    scope: &Scope,
    project: Option<&str>,
    hash: ContentHash,
) -> Result<Option<MemoryRow>> {
    one(
        sql,
        select!(
            "coalesce(m.project, '') = ?2 AND m.content_hash = ?3 AND m.status = 'active' AND m.session_no IS NULL"
        ),
        values![scope.user_no, project.unwrap_or_default(), hash],
    )
}

/// The newest non-volatile memory with the same text in the same project and with this status, which is not `active`.
pub(crate) fn put_away_same(
    sql: &dyn Sql,
    scope: &Scope,
    (project, hash): (Option<&str>, ContentHash),
    status: MemoryStatus,
) -> Result<Option<MemoryRow>> {
    one(
        sql,
        select!(
            "coalesce(m.project, '') = ?2 AND m.content_hash = ?3 AND m.status = ?4 AND m.status <> 'active'
             AND m.session_no IS NULL ORDER BY m.memory_no DESC LIMIT 1"
        ),
        values![scope.user_no, project.unwrap_or_default(), hash, status],
    )
}

/// The memories in quarantine that may have the text with this hash: those that have it, and those that were hidden before
/// hashes were stored.
pub(crate) fn hidden_like(sql: &dyn Sql, scope: &Scope, hash: ContentHash) -> Result<Vec<MemoryRow>> {
    sql.list(
        select!(
            "m.status = 'quarantined' AND (m.hidden_hash = ?2 OR m.hidden_hash IS NULL) ORDER BY m.memory_no"
        ),
        values![scope.user_no, hash],
        row::read,
    )
}

/// The active memory in a slot.
pub(crate) fn in_slot(
    sql: &dyn Sql,
    scope: &Scope,
    (project, kind): (Option<&str>, MemoryKind),
    slot: &str,
) -> Result<Option<MemoryRow>> {
    one(
        sql,
        select!(
            "coalesce(m.project, '') = ?2 AND m.kind = ?3 AND coalesce(m.session_no, 0) = 0 AND m.goal_signature = ?4
             AND m.status = 'active'"
        ),
        values![scope.user_no, project.unwrap_or_default(), kind, slot],
    )
}

/// At most two ids of memories from `first` to `last`, inclusive.
pub(crate) fn between(
    sql: &dyn Sql,
    scope: &Scope,
    (first, last): ([u8; 16], [u8; 16]),
) -> Result<Vec<MemoryId>> {
    sql.list(
        "SELECT id FROM user_memories WHERE user_no = ?1 AND id >= ?2 AND id <= ?3 ORDER BY id LIMIT 2",
        values![scope.user_no, first, last],
        |row| row.get(0),
    )
}

/// At most two ids of memories that end with these hexadecimal digits. This reads all of the user's ids, because no index
/// helps.
pub(crate) fn ending(sql: &dyn Sql, scope: &Scope, digits: &str) -> Result<Vec<MemoryId>> {
    let mut found: Vec<MemoryId> = Vec::new();
    sql.query("SELECT id FROM user_memories WHERE user_no = ?1", values![scope.user_no], &mut |row| {
        let id: MemoryId = row.get(0)?;
        if id.as_uuid().simple().to_string().ends_with(digits) {
            found.push(id);
        }
        Ok(if found.len() < 2 { Flow::Next } else { Flow::Stop })
    })?;
    Ok(found)
}

/// Whether any memory that can be recalled is filed under a project.
pub(crate) fn is_any_of_project(sql: &dyn Sql, scope: &Scope, project: &str) -> Result<bool> {
    sql.scalar(
        "SELECT EXISTS (SELECT 1 FROM user_memories
                        WHERE user_no = ?1 AND project = ?2 AND status IN ('active', 'archived'))",
        values![scope.user_no, project],
    )
}

/// The memories that a memory superseded.
pub(crate) fn superseded_by(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<Vec<MemoryNo>> {
    sql.list(
        "SELECT memory_no FROM user_memories WHERE user_no = ?1 AND superseded_by = ?2 ORDER BY memory_no",
        values![scope.user_no, memory_no],
        |row| row.get(0),
    )
}

/// The memory that superseded a memory.
pub(crate) fn successor_of(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<Option<MemoryNo>> {
    let found = sql.one(
        "SELECT superseded_by FROM user_memories WHERE user_no = ?1 AND memory_no = ?2",
        values![scope.user_no, memory_no],
        |row| row.get::<Option<MemoryNo>>(0),
    )?;
    Ok(found.flatten())
}

/// The number of a memory.
pub(crate) fn no_of(sql: &dyn Sql, scope: &Scope, id: MemoryId) -> Result<Option<MemoryNo>> {
    sql.one(
        "SELECT memory_no FROM user_memories WHERE user_no = ?1 AND id = ?2",
        values![scope.user_no, id],
        |row| row.get(0),
    )
}

/// The id of a memory.
pub(crate) fn id_of(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<Option<MemoryId>> {
    sql.one(
        "SELECT id FROM user_memories WHERE user_no = ?1 AND memory_no = ?2",
        values![scope.user_no, memory_no],
        |row| row.get(0),
    )
}

fn one(sql: &dyn Sql, text: &'static str, params: &[SqlValue<'_>]) -> Result<Option<MemoryRow>> {
    sql.one(text, params, row::read)
}
