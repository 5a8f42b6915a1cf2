//! Writes the lines of an export about memories: memories in the order of saving, then edges, episodes, extracted sessions,
//! and erased memories.

use std::io::Write;

use crate::{
    error::Result,
    model::{hex::hex, memory::state::MemoryState, place::MemoryNo},
    store::{
        rows::memories::{
            changes, edges, episodes, episodes::EpisodeRow, erased, find, row::MemoryRow, state, terms,
            transfer,
        },
        scope::Scope,
        sql::Sql,
        transfer::{
            TransferLine,
            lines::LineWriter,
            memories::{ChangeLine, EpisodeLine, ErasedLine, ExtractedLine, KnowledgeLine, MemoryDetails},
        },
    },
};

/// Writes all lines about memories.
pub(super) fn lines<W: Write>(sql: &dyn Sql, scope: &Scope, out: &mut LineWriter<W>) -> Result<()> {
    knowledge(sql, scope, out)?;
    let mut after = 0;
    loop {
        let some = edges::lasting_after(sql, scope, after)?;
        let Some(last) = some.last() else { break };
        after = last.edge_no;
        for edge in some {
            out.counts.edges += 1;
            out.line(&TransferLine::Edge(edge.edge))?;
        }
    }
    all_episodes(sql, scope, out)?;
    for (session_id, extracted_at) in transfer::extracted(sql, scope)? {
        out.counts.extracted += 1;
        out.line(&TransferLine::Extracted(ExtractedLine { session_id, extracted_at: *extracted_at }))?;
    }
    for id_hash in erased::all(sql, scope)? {
        out.counts.erased += 1;
        out.line(&TransferLine::Erased(ErasedLine { id_hash: hex(&id_hash) }))?;
    }
    Ok(())
}

fn knowledge<W: Write>(sql: &dyn Sql, scope: &Scope, out: &mut LineWriter<W>) -> Result<()> {
    let mut after = MemoryNo::default();
    loop {
        let some = transfer::memories_after(sql, scope, after)?;
        let Some(last) = some.last() else { return Ok(()) };
        after = last.memory_no;
        let numbers: Vec<MemoryNo> = some.iter().map(|memory| memory.memory_no).collect();
        let states = state::of_many(sql, scope, &numbers)?;
        let names = terms::of_many(sql, scope, &numbers)?;
        for ((row, state), names) in some.into_iter().zip(states).zip(names) {
            let beside = beside(sql, scope, &row, (state, names))?;
            out.counts.memories += 1;
            out.line(&TransferLine::Knowledge(Box::new(KnowledgeLine::of(row, beside))))?;
        }
    }
}

fn beside(
    sql: &dyn Sql,
    scope: &Scope,
    row: &MemoryRow,
    (state, names): (MemoryState, terms::TermNames),
) -> Result<MemoryDetails> {
    let memory = (row.memory_no, row.id);
    let mut changes = changes::page(sql, scope, memory, (u32::MAX, u32::MAX))?;
    changes.reverse();
    Ok(MemoryDetails {
        superseded_by: row.superseded_by.map(|no| find::id_of(sql, scope, no)).transpose()?.flatten(),
        names,
        state,
        sources: transfer::sources(sql, scope, row.memory_no)?,
        changes: changes.into_iter().map(ChangeLine::of).collect(),
        sensors: transfer::sensors(sql, scope, row.memory_no)?,
        reviews: transfer::reviews(sql, scope, row.memory_no)?,
    })
}

fn all_episodes<W: Write>(sql: &dyn Sql, scope: &Scope, out: &mut LineWriter<W>) -> Result<()> {
    let mut after = 0;
    loop {
        let some = episodes::lasting_after(sql, scope, after)?;
        let Some(last) = some.last() else { return Ok(()) };
        after = last.episode_no;
        for episode in some {
            let memory_id = episode.memory_no.map(|no| find::id_of(sql, scope, no)).transpose()?.flatten();
            let EpisodeRow { id, role, session_id, turn_number, receipt_id, happened_at, outcome, .. } =
                episode;
            out.counts.episodes += 1;
            out.line(&TransferLine::Episode(Box::new(EpisodeLine {
                id,
                role,
                memory_id,
                session_id,
                turn_number,
                receipt_id,
                happened_at: *happened_at,
                outcome,
                kind: episode.kind,
                project: episode.project,
                task_id: episode.task_id,
                caller_id: episode.caller_id,
                task_name: episode.task_name,
                trigger: episode.trigger,
                title: episode.title,
                tags: episode.tags,
                summary: episode.summary,
            })))?;
        }
    }
}
