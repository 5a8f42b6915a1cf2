//! The columns of memories from which rules compute scores, without texts, so that a hundred thousand memories can be read
//! quickly. The rows are not checked against their checksums, because before a memory is changed or shown, its whole row is
//! read and checked.

use crate::{
    error::Result,
    memory::{
        decay::Fading,
        facts::{MemoryFacts, days},
    },
    model::{
        memory::{state::MemoryState, trust::Trust, words::MemoryKind},
        place::MemoryNo,
        stored_time::StoredTime,
    },
    store::{
        scope::Scope,
        sql::{Flow, Sql, SqlRow, values},
    },
};

/// At most `limit` active non-volatile memories after a number, by number, with the data that the rules need. `contested` is
/// false, because it is read later, for only a few memories. Empty if there are no more.
pub(crate) fn some_active(
    sql: &dyn Sql,
    scope: &Scope,
    after: MemoryNo,
    limit: u32,
) -> Result<Vec<(MemoryNo, MemoryFacts)>> {
    sql.list(
        "SELECT m.memory_no, m.kind, m.status, m.frequency, m.frequency_since, m.importance, m.confidence, m.reliability,
                m.consolidation_threshold, m.volatility, m.validity_window_s, m.trust, m.learning_source, m.pinned,
                m.said_at, m.created_at, s.access_count, s.last_used_at, s.usage_count, s.success_rate, s.context_count,
                s.project_count, s.validated_at, s.validation_count
         FROM user_memories AS m JOIN memory_state AS s ON s.user_no = m.user_no AND s.memory_no = m.memory_no
         WHERE m.user_no = ?1 AND m.memory_no > ?2 AND m.status = 'active' AND m.session_no IS NULL
         ORDER BY m.memory_no LIMIT ?3",
        values![scope.user_no, after, limit],
        read,
    )
}

fn read(row: &SqlRow<'_>) -> Result<(MemoryNo, MemoryFacts)> {
    let state = MemoryState {
        access_count: row.get(16)?,
        last_used_at: row.get(17)?,
        usage_count: row.get(18)?,
        success_rate: row.get(19)?,
        context_count: row.get(20)?,
        project_count: row.get(21)?,
        validated_at: row.get(22)?,
        validation_count: row.get(23)?,
        ..MemoryState::default()
    };
    let facts = MemoryFacts {
        kind: row.get(1)?,
        status: row.get(2)?,
        frequency: row.get(3)?,
        frequency_since: row.get(4)?,
        importance: row.get(5)?,
        confidence: row.get(6)?,
        reliability: row.get(7)?,
        consolidation_threshold: row.get(8)?,
        volatility: row.get(9)?,
        validity_window: row.get::<Option<u64>>(10)?.map(std::time::Duration::from_secs),
        trust: row.get(11)?,
        learning_source: row.get(12)?,
        pinned: row.get(13)?,
        is_volatile: false,
        contested: false,
        said_at: row.get(14)?,
        created_at: row.get(15)?,
        state,
    };
    Ok((row.get(0)?, facts))
}

/// The decay score of a memory, and the data that callers filter by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScoredMemory {
    pub(crate) memory_no: MemoryNo,
    pub(crate) kind: MemoryKind,
    pub(crate) pinned: bool,
    pub(crate) trust: Trust,
    pub(crate) score: f64,
}

/// Passes the score of each active non-volatile memory at a moment to `each`, by number. The rows are stored in this order;
/// reading them by kind takes four times as long.
pub(crate) fn for_each_score(
    sql: &dyn Sql,
    scope: &Scope,
    now: StoredTime,
    mut each: impl FnMut(ScoredMemory),
) -> Result<()> {
    sql.query(
        "SELECT m.memory_no, m.kind, m.pinned, m.trust, m.importance, m.volatility, s.access_count,
                coalesce(s.last_used_at, m.created_at) AS since
         FROM user_memories AS m JOIN memory_state AS s ON s.user_no = m.user_no AND s.memory_no = m.memory_no
         WHERE m.user_no = ?1 AND m.status = 'active' AND m.session_no IS NULL ORDER BY m.memory_no",
        values![scope.user_no],
        &mut |row| {
            let fading = Fading {
                kind: row.get(1)?,
                pinned: row.get(2)?,
                importance: row.get(4)?,
                volatility: row.get(5)?,
                access_count: row.get(6)?,
            };
            let since: StoredTime = row.get(7)?;
            each(ScoredMemory {
                memory_no: row.get(0)?,
                kind: fading.kind,
                pinned: fading.pinned,
                trust: row.get(3)?,
                score: fading.score(days(now - since)),
            });
            Ok(Flow::Next)
        },
    )
}
