//! Finds memories that may be shown to a person again.

use chrono::NaiveDate;

use crate::{
    error::Result,
    model::{place::MemoryNo, stored_time::StoredTime},
    store::{
        scope::Scope,
        sql::{Sql, missing, values},
    },
};

/// A memory that may be shown again, and the data that decides when.
pub(crate) struct DueCandidate {
    pub(crate) memory_no: MemoryNo,
    /// The day of a person's last answer or, if there is none, the day on which the memory was saved.
    pub(crate) last: NaiveDate,
    pub(crate) resurfaced_count: u32,
    pub(crate) dismiss_count: u32,
}

/// The user's active memories at `mid` or `low` that are more important than this, may be shown again, and are trusted more
/// than the words of a tool or a document.
pub(crate) fn candidates(sql: &dyn Sql, scope: &Scope, importance: f64) -> Result<Vec<DueCandidate>> {
    sql.list(
        "SELECT m.memory_no, s.resurfaced_on, m.created_at, s.resurfaced_count, s.dismiss_count
         FROM user_memories AS m JOIN memory_state AS s ON s.memory_no = m.memory_no AND s.user_no = m.user_no
         WHERE m.user_no = ?1 AND m.status = 'active' AND m.frequency IN ('mid', 'low') AND m.importance > ?2
           AND m.trust >= 2 AND m.session_no IS NULL AND s.resurfacing = 'on' ORDER BY m.memory_no",
        values![scope.user_no, importance],
        |row| {
            let resurfaced_on: Option<String> = row.get(1)?;
            let created_at: StoredTime = row.get(2)?;
            let last =
                resurfaced_on.map(|day| day.parse::<NaiveDate>().map_err(|_| missing())).transpose()?;
            Ok(DueCandidate {
                memory_no: row.get(0)?,
                last: last.unwrap_or_else(|| created_at.date_naive()),
                resurfaced_count: row.get(3)?,
                dismiss_count: row.get(4)?,
            })
        },
    )
}
