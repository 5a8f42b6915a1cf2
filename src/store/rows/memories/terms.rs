//! Rows of `memory_terms`: tags and entities of memories, folded so that two spellings are one.

use crate::{
    error::Result,
    model::place::MemoryNo,
    store::{
        scope::Scope,
        sql::{Sql, values},
    },
};

/// The tags and entities of a memory as they were written, each in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Names {
    pub(crate) tags: Vec<String>,
    pub(crate) entities: Vec<String>,
}

impl Names {
    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.tags.iter().chain(&self.entities).map(String::as_str)
    }
}

/// The tags and entities of a memory.
pub(crate) fn names(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<Names> {
    let rows: Vec<(bool, String)> = sql.list(
        "SELECT kind = 'tag' AS is_tag, name FROM memory_terms WHERE user_no = ?1 AND memory_no = ?2
         ORDER BY position",
        values![scope.user_no, memory_no],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let mut names = Names::default();
    for (is_tag, name) in rows {
        if is_tag { names.tags.push(name) } else { names.entities.push(name) }
    }
    Ok(names)
}
