//! Saving a memory: what supersedes what, and what has to wait for a person.

use chrono::TimeDelta;

use crate::{
    error::{Error, Result},
    memory::slot::may_take_the_place,
    model::{
        change::ChangeOp,
        edge::{Edge, EdgeStatus, EdgeType},
        ids::{EdgeId, EpisodeId, MemoryId, ReviewId},
        memory::{
            saved::{SaveOutcome, Saved},
            words::{LearningSource, MemoryStatus},
        },
        place::MemoryNo,
        review::ReviewKind,
        stored_time::StoredTime,
        turn::Origin,
    },
    store::{
        acts::memories::{
            before::MemoryBefore,
            measured::MeasuredMemory,
            operation::{MemoryOperation, Note, conflict},
            voices::voice,
        },
        rows::{
            memories::{
                edges, episodes, erased, reviews,
                row::{self, MemoryRow},
                sources::{self, SourceFrom, SourceRow},
                state, tend,
                terms::{self as term_rows, MemoryTermKind},
                transfer::OWNER_OF_MEMORY,
            },
            transfer::is_any_owned,
            units,
        },
        scope::Scope,
        write_tx::WriteTx,
    },
};

impl WriteTx<'_> {
    /// Saves a memory, unless it is already known by its caller's id or its text.
    pub(crate) fn save_memory(&mut self, scope: &Scope, memory: &MeasuredMemory) -> Result<Saved> {
        let mut operation = MemoryOperation::begin(self, scope, memory.new.origin.as_str())?;
        let kept = operation.save(memory)?;
        operation.saved(kept)
    }
}

/// How far in the future a stated time may be: clocks and time zones differ, but a later time cannot be true yet.
const MOST_AHEAD: TimeDelta = TimeDelta::days(1);

/// The result of saving a memory.
pub(super) struct SaveResult {
    pub(super) memory_no: MemoryNo,
    pub(super) outcome: SaveOutcome,
    /// Names of stated values that were not stored, because the memory has others.
    pub(super) not_taken: Vec<&'static str>,
}

impl SaveResult {
    pub(super) fn whole(memory_no: MemoryNo, outcome: SaveOutcome) -> Self {
        Self { memory_no, outcome, not_taken: Vec::new() }
    }
}

/// The version of a memory that takes the place of another: higher than the other's.
pub(super) fn version_over(memory: &MemoryRow, old: &MemoryRow) -> u32 {
    memory.version.max(old.version.saturating_add(1))
}

impl MemoryOperation<'_, '_> {
    pub(super) fn save(&mut self, memory: &MeasuredMemory) -> Result<SaveResult> {
        if let Some(known) = self.known(memory)? {
            return Ok(known);
        }
        let row = self.begin_row(memory)?;
        if let Some((group, reason)) = self.quarantine_over(memory)? {
            let memory_no = self.add_hidden(memory, row, (group, &reason))?;
            return Ok(SaveResult::whole(memory_no, SaveOutcome::New));
        }
        match self.holder(&row)? {
            None => Ok(SaveResult::whole(self.add(memory, row)?, SaveOutcome::New)),
            Some(holder) if may_take_the_place(voice(&row), voice(&holder)) => {
                let old = self.hold(holder)?;
                let memory_no = self.add_in_place_of(memory, row, &old, "the same slot")?;
                Ok(SaveResult::whole(memory_no, SaveOutcome::Superseded(old.row.id)))
            }
            Some(holder) => self.add_waiting(memory, row, &holder),
        }
    }

    /// The result as a caller sees it.
    pub(super) fn saved(&self, SaveResult { memory_no, outcome, not_taken }: SaveResult) -> Result<Saved> {
        let not_taken = not_taken.into_iter().map(str::to_owned).collect();
        Ok(Saved { memory: self.shown(memory_no)?, outcome, not_taken })
    }

    /// The row with which a memory begins. Errors: a memory with this id was erased, or the stated time is too far ahead.
    pub(super) fn begin_row(&self, memory: &MeasuredMemory) -> Result<MemoryRow> {
        let named = memory.new.caller_id.as_deref().and_then(|id| id.parse().ok());
        if let Some(id) = named
            && erased::is_erased(self.tx.sql, &self.scope, id)?
        {
            return Err(conflict(
                "the memory with this id was erased, and cannot come back under another id",
            ));
        }
        let said_at = StoredTime::stated("said_at", memory.new.said_at)?.unwrap_or(self.now);
        if said_at > self.now + MOST_AHEAD {
            return Err(Error::invalid("the time it refers to is more than a day ahead of the clock"));
        }
        let id = match memory.new.id {
            Some(id) if !is_any_owned(self.tx.sql, OWNER_OF_MEMORY, &[id])? => id,
            _ => MemoryId::new(self.now),
        };
        Ok(memory.row(id, MemoryStatus::Active, (said_at, self.now)))
    }

    /// Writes a new memory and its rows in other tables.
    pub(super) fn add(&mut self, memory: &MeasuredMemory, mut row: MemoryRow) -> Result<MemoryNo> {
        let (sql, scope) = (self.tx.sql, self.scope);
        let session_no = self.session_no(memory.new.birth.session_id)?;
        row.seq = Some(self.next_seq()?);
        row.memory_no = row::insert(sql, &scope, &row)?;
        let memory_no = row.memory_no;
        term_rows::set(sql, &scope, (memory_no, MemoryTermKind::Tag), &memory.tags)?;
        term_rows::set(sql, &scope, (memory_no, MemoryTermKind::Entity), &memory.entities)?;
        state::insert(sql, &scope, memory_no)?;
        self.add_sources(memory, &row)?;
        let (birth, id) = (&memory.new.birth, EpisodeId::new(*self.now));
        let filed = (row.project.as_deref(), row.said_at);
        episodes::insert_birth(sql, &scope, (id, memory_no), (birth, session_no), filed)?;
        self.add_unit(&row, &memory.words)?;
        tend::expect(sql, &scope)?;
        let new_value = Some(row.status.as_str());
        self.note(memory_no, Note { new_value, ..Note::of(ChangeOp::Save) }, None)?;
        Ok(memory_no)
    }

    /// Records a memory's sources. If somebody saves it, the call is a source too, so that it stays when a source is erased.
    fn add_sources(&mut self, memory: &MeasuredMemory, row: &MemoryRow) -> Result<()> {
        for source in &memory.sources {
            self.add_source(row.memory_no, source)?;
        }
        if memory.new.learning_source == LearningSource::Manual {
            self.add_caller(row.memory_no, row.origin)?;
        }
        Ok(())
    }

    /// Records one source of a memory.
    pub(super) fn add_source(&self, memory_no: MemoryNo, source: &SourceRow) -> Result<()> {
        let (sql, scope) = (self.tx.sql, &self.scope);
        if let SourceFrom::Turn(turn, seq) = source.from
            && !units::is_of(sql, scope, seq, turn)?
        {
            return Err(Error::not_found("a turn that the memory is made from has been erased"));
        }
        sources::insert(sql, scope, memory_no, source)
    }

    /// Records that somebody stated a memory's text.
    pub(super) fn add_caller(&self, memory_no: MemoryNo, origin: Origin) -> Result<()> {
        let source = SourceRow {
            from: SourceFrom::Caller(*self.group.as_uuid()),
            origin,
            made_by: "caller".to_owned(),
            said_at: self.now,
            quote: String::new(),
        };
        sources::insert(self.tx.sql, &self.scope, memory_no, &source)
    }

    /// Writes a memory that supersedes another: its version is one higher, and it keeps the importance unless another is
    /// stated.
    pub(super) fn add_in_place_of(
        &mut self,
        memory: &MeasuredMemory,
        mut row: MemoryRow,
        old: &MemoryBefore,
        reason: &str,
    ) -> Result<MemoryNo> {
        row.version = version_over(&row, &old.row);
        if memory.new.importance.is_none() {
            row.importance = old.row.importance;
        }
        self.retire(old, &row, (ChangeOp::Supersede, reason))?;
        row.memory_no = self.add(memory, row.clone())?;
        self.succeed(old, &row)?;
        Ok(row.memory_no)
    }

    /// Marks a memory as superseded by another one. If that one has no number yet, `succeed` writes it later.
    pub(super) fn retire(
        &mut self,
        old: &MemoryBefore,
        by: &MemoryRow,
        (op, reason): (ChangeOp, &str),
    ) -> Result<()> {
        let mut after = old.clone();
        after.row.status = MemoryStatus::Superseded;
        after.row.superseded_by = Some(by.memory_no);
        after.superseded_by = Some(by.id);
        let (old_value, new_value) = (Some(old.row.status.as_str()), Some(MemoryStatus::Superseded.as_str()));
        self.change(old, after, Note { op, old_value, new_value, reason }).map(drop)
    }

    /// Records the number of a memory's successor, and adds the edge from it.
    pub(super) fn succeed(&mut self, old: &MemoryBefore, by: &MemoryRow) -> Result<()> {
        let (old_no, old_id) = (old.row.memory_no, old.row.id);
        row::set_superseded_by(self.tx.sql, &self.scope, old_no, by.memory_no)?;
        self.add_edge((by.memory_no, by.id), (old_no, old_id), (EdgeType::Supersedes, by.origin))
    }

    /// Adds an edge that follows from an operation, unless it already exists.
    pub(super) fn add_edge(
        &self,
        (from_no, from): (MemoryNo, MemoryId),
        (to_no, to): (MemoryNo, MemoryId),
        (edge_type, origin): (EdgeType, Origin),
    ) -> Result<()> {
        let (sql, scope) = (self.tx.sql, &self.scope);
        if edges::between(sql, scope, (from_no, to_no), edge_type)?.is_some() {
            return Ok(());
        }
        let edge = Edge {
            id: EdgeId::new(*self.now),
            from,
            to,
            edge_type,
            strength: edge_type.default_strength(),
            status: EdgeStatus::Accepted,
            origin,
            created_at: *self.now,
            updated_at: *self.now,
            context: String::new(),
            description: String::new(),
        };
        edges::insert(sql, scope, (from_no, to_no), &edge)
    }

    /// Writes a memory that contradicts the active one, `holder`, and may not take its place: it is archived and waits for a
    /// person.
    pub(super) fn add_waiting(
        &mut self,
        memory: &MeasuredMemory,
        mut row: MemoryRow,
        holder: &MemoryRow,
    ) -> Result<SaveResult> {
        row.status = MemoryStatus::Archived;
        row.memory_no = self.add(memory, row.clone())?;
        Ok(SaveResult::whole(row.memory_no, SaveOutcome::Waits(self.contradict(&row, holder)?)))
    }

    /// Asks a person which of two memories holds.
    pub(super) fn contradict(&self, waiting: &MemoryRow, holder: &MemoryRow) -> Result<ReviewId> {
        let both = (waiting.memory_no, holder.memory_no);
        if let Some(review) = reviews::of_two(self.tx.sql, &self.scope, both)? {
            return Ok(review); // The question is already open.
        }
        let ends = ((waiting.memory_no, waiting.id), (holder.memory_no, holder.id));
        self.add_edge(ends.0, ends.1, (EdgeType::Contradicts, waiting.origin))?;
        let why = format!("trust {} against {}", waiting.trust.number(), holder.trust.number());
        let (id, kind) = (ReviewId::new(*self.now), ReviewKind::Contradiction);
        let of = (waiting.memory_no, Some(holder.memory_no));
        reviews::insert(self.tx.sql, &self.scope, (id, kind), of, (&why, self.now))?;
        Ok(id)
    }
}
