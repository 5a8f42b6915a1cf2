//! Rows of `memory_terms`: tags and entities of memories, folded so that different spellings match.

use crate::{
    error::Result,
    memory::terms::MemoryTerm,
    model::{memory::term::TermCount, place::MemoryNo},
    store::{
        rows::row_check,
        scope::Scope,
        sql::{RowExpectation, Sql, SqlRow, ToColumn, values},
    },
};

/// Whether a term is a tag or an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryTermKind {
    Tag,
    Entity,
}

impl MemoryTermKind {
    pub(crate) const EVERY: [Self; 2] = [Self::Tag, Self::Entity];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Tag => "tag",
            Self::Entity => "entity",
        }
    }
}

/// The tags and entities of a memory as they were written, each in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TermNames {
    pub(crate) tags: Vec<String>,
    pub(crate) entities: Vec<String>,
}

impl TermNames {
    /// All tags, then all entities.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.tags.iter().chain(&self.entities).map(String::as_str)
    }

    pub(crate) fn of(&self, kind: MemoryTermKind) -> &[String] {
        match kind {
            MemoryTermKind::Tag => &self.tags,
            MemoryTermKind::Entity => &self.entities,
        }
    }
}

/// How many columns the checksum covers.
const CHECKED_COLUMNS: usize = 6;

/// The tags and entities of a memory.
pub(crate) fn names(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<TermNames> {
    Ok(of_many(sql, scope, &[memory_no])?.pop().unwrap_or_default())
}

/// The tags and entities of each of these memories.
pub(crate) fn of_many(sql: &dyn Sql, scope: &Scope, memories: &[MemoryNo]) -> Result<Vec<TermNames>> {
    let sets: Vec<_> =
        memories.iter().map(|memory_no| vec![scope.user_no.to_column(), memory_no.to_column()]).collect();
    let mut found = vec![TermNames::default(); memories.len()];
    sql.query_many(
        "SELECT user_no, memory_no, kind, term, position, name, row_check FROM memory_terms
         WHERE user_no = ?1 AND memory_no = ?2 ORDER BY position",
        &sets,
        &mut |at, row| {
            let (is_tag, name) = read(row)?;
            let names = if is_tag { &mut found[at].tags } else { &mut found[at].entities };
            names.push(name);
            Ok(())
        },
    )?;
    Ok(found)
}

fn read(row: &SqlRow<'_>) -> Result<(bool, String)> {
    if !row_check::holds(row, CHECKED_COLUMNS)? {
        let MemoryNo(memory_no) = row.get(1)?;
        return Err(row_check::damaged(format_args!("a tag or an entity of memory number {memory_no}")));
    }
    let kind: String = row.get(2)?;
    Ok((kind == MemoryTermKind::Tag.as_str(), row.get(5)?))
}

/// Replaces a memory's tags, or its entities.
pub(crate) fn set(
    sql: &dyn Sql,
    scope: &Scope,
    (memory_no, kind): (MemoryNo, MemoryTermKind),
    terms: &[MemoryTerm],
) -> Result<()> {
    sql.put(
        "DELETE FROM memory_terms WHERE user_no = ?1 AND memory_no = ?2 AND kind = ?3",
        values![scope.user_no, memory_no, kind.as_str()],
        RowExpectation::Any,
    )?;
    (1_u32..).zip(terms).try_for_each(|(position, MemoryTerm { folded, name })| {
        sql.put(
            "INSERT INTO memory_terms (user_no, memory_no, kind, term, position, name)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            values![scope.user_no, memory_no, kind.as_str(), folded, position, name],
            RowExpectation::Any,
        )
    })
}

/// Whether a memory has a tag, given in folded form.
pub(crate) fn has_tag(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo, term: &str) -> Result<bool> {
    sql.scalar(
        "SELECT EXISTS (SELECT 1 FROM memory_terms
                        WHERE user_no = ?1 AND memory_no = ?2 AND kind = 'tag' AND term = ?3)",
        values![scope.user_no, memory_no, term],
    )
}

/// At most `limit` of the user's tags or entities after the given one, by folded form, and how many active memories have
/// each.
pub(crate) fn page(
    sql: &dyn Sql,
    scope: &Scope,
    kind: MemoryTermKind,
    (after, limit): (&str, u32),
) -> Result<Vec<TermCount>> {
    sql.list(
        "SELECT t.term AS name, min(t.name), count(*) FROM memory_terms AS t JOIN user_memories AS m
           ON m.user_no = t.user_no AND m.memory_no = t.memory_no
         WHERE t.user_no = ?1 AND t.term > ?2 AND t.kind = ?3 AND m.status = 'active'
         GROUP BY t.term ORDER BY name LIMIT ?4",
        values![scope.user_no, after, kind.as_str(), limit],
        |row| Ok(TermCount { term: row.get(0)?, name: row.get(1)?, memories: row.get(2)? }),
    )
}
