//! Writes imported memories. They refer to each other by id, and references to later memories are written at the end.

use std::collections::HashMap;

use crate::{
    error::{Error, Result},
    memory::terms::terms,
    model::{
        change::{Change, ChangeOp},
        edge::Edge,
        ids::{MemoryId, TurnId},
        memory::source::{MemorySource, SourceName},
        place::{MemoryNo, Owner, Seq, SessionNo},
    },
    store::{
        acts::memories::before::MemoryBefore,
        rows::{
            memories::{
                edges,
                episodes::EpisodeRow,
                erased,
                row::{self, MemoryRow},
                tend,
                terms::{self as term_rows, MemoryTermKind},
                transfer::{self, ReviewRow},
                units as memory_units,
            },
            transfer::is_any_owned,
            units,
        },
        scope::Scope,
        sql::Sql,
        transfer::{
            TransferLine, check_memories,
            memories::{ChangeLine, EpisodeLine, KnowledgeLine, MemoryDetails},
        },
    },
};

/// Whether any user in this file already has a memory, an edge, an episode or a review of these lines.
pub(in crate::store::acts) fn is_any_known(sql: &dyn Sql, lines: &[TransferLine]) -> Result<bool> {
    let (mut memories, mut edges, mut episodes, mut reviews) = (vec![], vec![], vec![], vec![]);
    for line in lines {
        match line {
            TransferLine::Knowledge(memory) => {
                memories.push(memory.id);
                reviews.extend(memory.reviews.iter().map(|review| review.id));
            }
            TransferLine::Edge(edge) => edges.push(edge.id),
            TransferLine::Episode(episode) => episodes.push(episode.id),
            _ => {}
        }
    }
    Ok(is_any_owned(sql, transfer::OWNER_OF_MEMORY, &memories)?
        || is_any_owned(sql, transfer::OWNER_OF_EDGE, &edges)?
        || is_any_owned(sql, transfer::OWNER_OF_EPISODE, &episodes)?
        || is_any_owned(sql, transfer::OWNER_OF_REVIEW, &reviews)?)
}

/// The memories that were written so far, and the references that are written at the end.
#[derive(Default)]
pub(in crate::store::acts) struct ImportedMemories {
    numbers: HashMap<MemoryId, MemoryNo>,
    successors: Vec<(MemoryNo, MemoryId)>,
    reviews: Vec<(MemoryNo, ReviewRow)>,
}

impl ImportedMemories {
    /// Writes a memory and its unit, if it has one, after `last_seq`. `seq_of` returns the unit of a turn.
    pub(in crate::store::acts) fn add(
        &mut self,
        (sql, scope): (&dyn Sql, &Scope),
        line: KnowledgeLine,
        last_seq: &mut Seq,
        seq_of: impl Fn(TurnId) -> Result<Seq>,
    ) -> Result<()> {
        erased::remove(sql, scope, line.id)?;
        let (mut row, beside) = line.into_row()?;
        if row.is_recalled() {
            *last_seq = last_seq.next()?;
            row.seq = Some(*last_seq);
        }
        let MemoryDetails { superseded_by, names, state, sources, changes, sensors, reviews } = beside;
        // The successor may not have a number yet.
        row.superseded_by = superseded_by.map(|_| MemoryNo::default());
        let memory_no = row::insert(sql, scope, &row)?;
        row.memory_no = memory_no;
        self.numbers.insert(row.id, memory_no);
        self.successors.extend(superseded_by.map(|by| (memory_no, by)));
        self.reviews.extend(reviews.into_iter().map(|review| (memory_no, review)));
        for kind in MemoryTermKind::EVERY {
            term_rows::set(sql, scope, (memory_no, kind), &terms(names.of(kind)))?;
        }
        transfer::insert_state(sql, scope, memory_no, &state)?;
        tend::expect(sql, scope)?;
        if let Some(seq) = row.seq {
            memory_units::insert(sql, scope, (seq, memory_no), &row.text().words(names.iter()))?;
            let unit = (row.id, None, row.content_hash, row.said_at);
            units::insert(sql, scope, seq, Owner::Memory, unit)?;
        }
        add_sources((sql, scope), memory_no, &sources, seq_of)?;
        for sensor in sensors {
            transfer::insert_sensor(sql, scope, memory_no, &sensor)?;
        }
        let held = MemoryBefore { row, superseded_by, names, resurfacing: state.resurfacing };
        add_changes((sql, scope), &held, changes)
    }

    /// Writes an edge between two of the memories.
    pub(in crate::store::acts) fn add_edge(
        &self,
        (sql, scope): (&dyn Sql, &Scope),
        edge: &Edge,
    ) -> Result<()> {
        edges::insert(sql, scope, (self.number(edge.from)?, self.number(edge.to)?), edge)
    }

    /// Writes an episode in the session with this number, or in none.
    pub(in crate::store::acts) fn add_episode(
        &self,
        (sql, scope): (&dyn Sql, &Scope),
        episode: EpisodeLine,
        session_no: Option<SessionNo>,
    ) -> Result<()> {
        let row = EpisodeRow {
            episode_no: 0,
            id: episode.id,
            role: episode.role,
            memory_no: episode.memory_id.map(|id| self.number(id)).transpose()?,
            session_id: episode.session_id,
            turn_number: episode.turn_number,
            receipt_id: episode.receipt_id,
            happened_at: episode.happened_at.try_into()?,
            outcome: episode.outcome,
            kind: episode.kind,
            project: episode.project,
            task_id: episode.task_id,
            caller_id: episode.caller_id,
            task_name: episode.task_name,
            trigger: episode.trigger,
            title: episode.title,
            tags: episode.tags,
            summary: episode.summary,
        };
        transfer::insert_episode(sql, scope, session_no, &row)
    }

    /// Writes the references to other memories, which all have numbers now.
    pub(in crate::store::acts) fn end(&self, (sql, scope): (&dyn Sql, &Scope)) -> Result<()> {
        for (memory_no, by) in &self.successors {
            row::set_superseded_by(sql, scope, *memory_no, self.number(*by)?)?;
        }
        for (memory_no, review) in &self.reviews {
            let other = review.other_id.map(|id| self.number(id)).transpose()?;
            transfer::insert_review(sql, scope, (*memory_no, other), review)?;
        }
        Ok(())
    }

    fn number(&self, id: MemoryId) -> Result<MemoryNo> {
        self.numbers.get(&id).copied().ok_or_else(|| Error::invalid("a line's memory is missing"))
    }
}

fn add_sources(
    (sql, scope): (&dyn Sql, &Scope),
    memory_no: MemoryNo,
    sources: &[MemorySource],
    seq_of: impl Fn(TurnId) -> Result<Seq>,
) -> Result<()> {
    for source in sources {
        let seq = match source.from {
            SourceName::Turn(turn) => Some(seq_of(turn)?),
            _ => None,
        };
        transfer::insert_source(sql, scope, memory_no, (source, seq))?;
    }
    Ok(())
}

/// Writes the history of a memory. Undo writes back earlier states from it, so they are checked against the bounds of a
/// memory too.
fn add_changes(
    (sql, scope): (&dyn Sql, &Scope),
    held: &MemoryBefore,
    changes: Vec<ChangeLine>,
) -> Result<()> {
    let changes: Vec<Change> =
        (1..).zip(changes).map(|(change_no, change)| change.into_change(held.row.id, change_no)).collect();
    check_changes(held, &changes)?;
    changes.iter().try_for_each(|change| transfer::insert_change(sql, scope, held.row.memory_no, change))
}

/// Walks a history back from the current memory. Every earlier state must be a valid memory, as far back as states are known
/// in full. Further back, only the bounds of the known values are checked.
fn check_changes(held: &MemoryBefore, changes: &[Change]) -> Result<()> {
    let (mut was, mut is_whole) = (held.clone(), true);
    for change in changes.iter().rev() {
        let Some(before) = &change.before else {
            // Before a state that is no longer kept, the memory is unknown.
            is_whole &= matches!(change.op, ChangeOp::Save | ChangeOp::Check | ChangeOp::Resurface);
            continue;
        };
        was = was.restored(before).map_err(|_| Error::invalid("a change does not say what was before"))?;
        if is_whole {
            was.check()?;
        }
        check_restored(was.clone())?;
    }
    Ok(())
}

fn check_restored(MemoryBefore { row, names, .. }: MemoryBefore) -> Result<()> {
    let row = MemoryRow { seq: None, ..row };
    check_memories::check_bounds(&KnowledgeLine::of(row, MemoryDetails::of_names(names)))
}
