//! Memories as callers see them: their rows with tags and state, and the standing that follows from these at a moment.

use crate::{
    error::{Result, sound},
    memory::{facts::MemoryFacts, validity::standing},
    model::{
        ids::{MemoryId, SessionId},
        memory::{known::Memory, standing::Standing, words::MemoryStatus},
        place::MemoryNo,
        stored_time::StoredTime,
    },
    store::{
        rows::memories::{find, row::MemoryRow, state, terms},
        scope::Scope,
        sql::{Sql, ToColumn, values},
    },
};

/// A complete memory by its number. `None` if it does not exist or cannot be read.
pub(crate) fn readable(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    now: StoredTime,
) -> Result<Option<Memory>> {
    let read = || find::by_no(sql, scope, memory_no)?.map(|row| one(sql, scope, row, now)).transpose();
    sound(read())
}

/// The complete memory of a row, at a moment.
pub(crate) fn one(sql: &dyn Sql, scope: &Scope, row: MemoryRow, now: StoredTime) -> Result<Memory> {
    let memory = many(sql, scope, vec![row], now)?.pop();
    Ok(memory.expect("a row is a memory"))
}

/// The complete memories of these rows, in order, at a moment.
pub(crate) fn many(
    sql: &dyn Sql,
    scope: &Scope,
    rows: Vec<MemoryRow>,
    now: StoredTime,
) -> Result<Vec<Memory>> {
    let numbers: Vec<MemoryNo> = rows.iter().map(|row| row.memory_no).collect();
    let names = terms::of_many(sql, scope, &numbers)?;
    let states = state::of_many(sql, scope, &numbers)?;
    let contested = contested(sql, scope, &numbers)?;
    let mut memories = Vec::with_capacity(rows.len());
    for (((row, names), state), contested) in rows.into_iter().zip(names).zip(states).zip(contested) {
        let superseded_by = row.superseded_by.map(|no| id_of(sql, scope, no)).transpose()?.flatten();
        let session_id = match row.session_no {
            Some(session_no) => sql.one(
                "SELECT id FROM conversation_sessions WHERE user_id = ?1 AND session_no = ?2",
                values![scope.user_id, session_no],
                |row| row.get::<SessionId>(0),
            )?,
            None => None,
        };
        let mut memory = Memory {
            id: row.id,
            kind: row.kind,
            status: row.status,
            superseded_by,
            frequency: row.frequency,
            frequency_since: *row.frequency_since,
            importance: row.importance,
            confidence: row.confidence,
            reliability: row.reliability,
            consolidation_threshold: row.consolidation_threshold,
            information_type: row.information_type,
            volatility: row.volatility,
            validity_window: row.validity_window,
            origin: row.origin,
            trust: row.trust,
            learning_source: row.learning_source,
            made_by: row.made_by,
            pinned: row.pinned,
            session_id,
            project: row.project,
            goal_signature: row.goal_signature,
            task_type: row.task_type,
            version: row.version,
            revision: row.revision,
            caller_id: row.caller_id,
            said_at: *row.said_at,
            created_at: *row.created_at,
            updated_at: *row.updated_at,
            title: row.title,
            summary: row.summary,
            procedure: row.procedure,
            content: row.content,
            tags: names.tags,
            entities: names.entities,
            extra: row.extra,
            state,
            // Only active and archived memories can be contested.
            contested: contested && matches!(row.status, MemoryStatus::Active | MemoryStatus::Archived),
            standing: Standing::default(),
        };
        memory.standing = standing(&MemoryFacts::from(&memory), *now);
        memories.push(memory);
    }
    Ok(memories)
}

fn id_of(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<Option<MemoryId>> {
    super::find::id_of(sql, scope, memory_no)
}

/// For each of these memories, whether another one contradicts it and no person has decided: a review of the contradiction
/// is open, or an accepted edge says that it and an active memory contradict each other. A waiting memory with the words of
/// a tool or a document does not contest a memory that is trusted more.
pub(crate) fn contested(sql: &dyn Sql, scope: &Scope, memories: &[MemoryNo]) -> Result<Vec<bool>> {
    let sets: Vec<_> =
        memories.iter().map(|memory_no| vec![scope.user_no.to_column(), memory_no.to_column()]).collect();
    let mut found = vec![false; memories.len()];
    sql.query_many(
        "SELECT EXISTS (SELECT 1 FROM memory_reviews AS r
                        WHERE r.user_no = ?1 AND r.memory_no = ?2 AND r.kind = 'contradiction' AND r.decision IS NULL)
             OR EXISTS (SELECT 1 FROM memory_reviews AS r
                          JOIN user_memories AS o ON o.user_no = r.user_no AND o.memory_no = r.memory_no
                          JOIN user_memories AS m ON m.user_no = r.user_no AND m.memory_no = r.other_no
                        WHERE r.user_no = ?1 AND r.other_no = ?2 AND r.kind = 'contradiction' AND r.decision IS NULL
                          AND (o.trust > 1 OR m.trust = 1))
             OR EXISTS (SELECT 1 FROM memory_edges AS e JOIN user_memories AS o
                          ON o.user_no = e.user_no AND o.memory_no = e.to_no
                        WHERE e.user_no = ?1 AND e.from_no = ?2 AND e.type = 'contradicts' AND e.status = 'accepted'
                          AND o.status = 'active')
             OR EXISTS (SELECT 1 FROM memory_edges AS e JOIN user_memories AS o
                          ON o.user_no = e.user_no AND o.memory_no = e.from_no
                        WHERE e.user_no = ?1 AND e.to_no = ?2 AND e.type = 'contradicts' AND e.status = 'accepted'
                          AND o.status = 'active')",
        &sets,
        &mut |at, row| {
            found[at] = row.get(0)?;
            Ok(())
        },
    )?;
    Ok(found)
}
