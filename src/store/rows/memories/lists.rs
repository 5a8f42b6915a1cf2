//! Lists of memories that pass a filter, the last saved first.

use crate::{
    error::Result,
    memory::terms::folded,
    model::{memory::filter::MemoryFilter, place::MemoryNo},
    store::{
        rows::memories::terms,
        scope::Scope,
        sql::{Sql, values},
    },
};

/// A filter as SQL parameters. If several words may match, they are joined by spaces into one parameter.
pub(crate) struct FilterParams {
    kinds: String,
    frequencies: String,
    statuses: String,
    task_type: &'static str,
    min_confidence: f64,
    project: Option<String>,
    project_alone: u32,
    /// The filter's tags, folded.
    tags: Vec<String>,
}

impl FilterParams {
    pub(crate) fn of(filter: &MemoryFilter) -> Self {
        Self {
            kinds: words(filter.kinds.iter().map(|kind| kind.as_str())),
            frequencies: words(filter.frequencies.iter().map(|frequency| frequency.as_str())),
            statuses: words(filter.statuses.iter().map(|status| status.as_str())),
            task_type: filter.task_type.map_or("", |task_type| task_type.as_str()),
            min_confidence: filter.min_confidence.unwrap_or(0.0),
            project: filter.project.clone(),
            project_alone: u32::from(filter.project_alone),
            tags: filter.tags.iter().map(|tag| folded(tag)).collect(),
        }
    }
}

/// Joins words so that `LIKE` finds one of them: ` solution fix `. Empty if there are none, which matches any word.
fn words<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let words: Vec<&str> = words.collect();
    if words.is_empty() { String::new() } else { format!(" {} ", words.join(" ")) }
}

/// A filter's conditions on `user_memories AS m`. `?1`, `?2`, `?3` and `?10` belong to the statement around them: the user's
/// number, a memory number above those of the results, a tag, and the limit.
macro_rules! passes {
    () => {
        "(?4 = '' OR ?4 LIKE '% ' || m.kind || ' %') AND (?5 = '' OR ?5 LIKE '% ' || m.frequency || ' %')
         AND (?6 = '' OR ?6 LIKE '% ' || m.status || ' %') AND (?7 = '' OR m.task_type = ?7)
         AND m.session_no IS NULL AND m.confidence >= ?8
         AND (coalesce(?9, '') = '' OR (m.project IS NULL AND ?11 = 0) OR m.project = ?9)"
    };
}

/// The numbers of memories before the given one that pass a filter, the last saved first. Only the first of the filter's
/// tags is checked.
fn candidates(
    sql: &dyn Sql,
    scope: &Scope,
    sought: &FilterParams,
    (before, limit): (MemoryNo, u32),
) -> Result<Vec<MemoryNo>> {
    let tag = sought.tags.first().map_or("", String::as_str);
    let text = if tag.is_empty() {
        concat!(
            "SELECT m.memory_no FROM user_memories AS m
             WHERE m.user_no = ?1 AND m.memory_no < ?2 AND ?3 = '' AND ",
            passes!(),
            " ORDER BY m.memory_no DESC LIMIT ?10"
        )
    } else {
        concat!(
            "SELECT m.memory_no FROM memory_terms AS t JOIN user_memories AS m
               ON m.user_no = t.user_no AND m.memory_no = t.memory_no
             WHERE t.user_no = ?1 AND t.memory_no < ?2 AND t.term = ?3 AND t.kind = 'tag' AND ",
            passes!(),
            " ORDER BY t.memory_no DESC LIMIT ?10"
        )
    };
    sql.list(
        text,
        values![
            scope.user_no,
            before,
            tag,
            sought.kinds,
            sought.frequencies,
            sought.statuses,
            sought.task_type,
            sought.min_confidence,
            sought.project,
            limit,
            sought.project_alone,
        ],
        |row| row.get(0),
    )
}

/// The numbers of at most `limit` memories below `before` that pass a filter, the last saved first. All of its tags are
/// checked.
pub(crate) fn page(
    sql: &dyn Sql,
    scope: &Scope,
    sought: &FilterParams,
    (mut before, limit): (MemoryNo, u32),
) -> Result<Vec<MemoryNo>> {
    let mut found = Vec::new();
    loop {
        let wanted = limit.saturating_sub(u32::try_from(found.len()).unwrap_or(u32::MAX));
        let some = candidates(sql, scope, sought, (before, wanted))?;
        let is_last = some.len() < wanted as usize;
        before = some.last().copied().unwrap_or(before);
        for memory_no in some {
            if has_all(sql, scope, memory_no, sought.tags.get(1..).unwrap_or_default())? {
                found.push(memory_no);
            }
        }
        if is_last || found.len() == limit as usize {
            return Ok(found);
        }
    }
}

fn has_all(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo, tags: &[String]) -> Result<bool> {
    for tag in tags {
        if !terms::has_tag(sql, scope, memory_no, tag)? {
            return Ok(false);
        }
    }
    Ok(true)
}
