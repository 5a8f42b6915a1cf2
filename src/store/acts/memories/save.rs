//! Saving a memory: what is known already, what takes whose place, what has to wait for a person.

use crate::{
    error::{Error, Result},
    memory::{
        bounds::MAX_TERMS,
        slot::{Voice, may_take_the_place},
        terms::terms,
    },
    model::{
        change::ChangeOp,
        edge::{Edge, EdgeStatus, EdgeType},
        ids::{EdgeId, EpisodeId, MemoryId, ReviewId},
        instant,
        memory::{
            saved::{SaveOutcome, Saved},
            words::{LearningSource, MemoryStatus},
        },
        place::MemoryNo,
        review::ReviewKind,
        turn::Origin,
    },
    store::{
        acts::memories::{
            before::Held,
            measured::MeasuredMemory,
            operation::{Note, Operation, conflict},
        },
        rows::{
            memories::{
                edges, episodes, find, reviews,
                row::{self, MemoryRow},
                sources::{self, Source, SourceFrom},
                state,
                terms::{self as term_rows, TermKind},
            },
            units,
        },
        scope::Scope,
        write_tx::WriteTx,
    },
};

impl WriteTx<'_> {
    /// Saves a memory, once: what is known already is what it was.
    pub(crate) fn save_memory(&mut self, scope: &Scope, memory: &MeasuredMemory) -> Result<Saved> {
        let mut operation = Operation::begin(self, scope, memory.new.origin.as_str())?;
        let (memory_no, outcome) = operation.save(memory)?;
        Ok(Saved { memory: operation.shown(memory_no)?, outcome })
    }
}

/// Why an archived memory holds again, as the history says it.
const SAVED_AGAIN: &str = "saved again";

/// What became of what was to be saved.
type Outcome = (MemoryNo, SaveOutcome);

impl Operation<'_, '_> {
    pub(super) fn save(&mut self, memory: &MeasuredMemory) -> Result<Outcome> {
        if let Some(known) = self.known_by_caller(memory)? {
            return Ok(known);
        }
        if let Some(known) = self.known_by_text(memory)? {
            return Ok(known);
        }
        let row = self.begin_row(memory)?;
        match self.holder(&row)? {
            None => Ok((self.add(memory, row)?, SaveOutcome::New)),
            Some(holder) if may_take_the_place(voice(&row), voice(&holder)) => {
                let old = self.hold(holder)?;
                let memory_no = self.add_in_place_of(memory, row, &old, "the same slot")?;
                Ok((memory_no, SaveOutcome::Superseded(old.row.id)))
            }
            Some(holder) => self.add_waiting(memory, row, &holder),
        }
    }

    /// What was saved before with the same caller's id. The same id with other text is a conflict.
    fn known_by_caller(&mut self, memory: &MeasuredMemory) -> Result<Option<Outcome>> {
        let Some(caller_id) = &memory.new.caller_id else { return Ok(None) };
        let Some(row) = find::by_caller_id(self.tx.sql, &self.scope, caller_id)? else { return Ok(None) };
        if row.content_hash != memory.content_hash {
            return Err(conflict(format!(
                "{} was saved with this caller's id and says something else; edit it, or use another id",
                row.id
            )));
        }
        match row.status {
            MemoryStatus::Active => self.join_tags(row, memory).map(Some),
            MemoryStatus::Archived => self.save_again(row).map(Some),
            _ => Ok(Some((row.memory_no, SaveOutcome::Known))),
        }
    }

    /// What says the same already: what is active is known, what was archived holds again. What was superseded or
    /// forgotten may be said again, and is new; what is in quarantine may not.
    pub(super) fn known_by_text(&mut self, memory: &MeasuredMemory) -> Result<Option<Outcome>> {
        let (sql, scope) = (self.tx.sql, self.scope);
        let (project, hash) = (memory.new.project.as_deref(), memory.content_hash);
        if let Some(row) = find::active_same(sql, &scope, project, hash)? {
            return self.join_tags(row, memory).map(Some);
        }
        let put_away = |status| find::put_away_same(sql, &scope, (project, hash), status);
        if let Some(row) = put_away(MemoryStatus::Quarantined)? {
            return Err(conflict(format!("{} says the same and is in quarantine; lift that first", row.id)));
        }
        match put_away(MemoryStatus::Archived)? {
            Some(row) => self.save_again(row).map(Some),
            None => Ok(None),
        }
    }

    /// Adds the tags that a known memory does not have. One that has no caller's id gets this one.
    fn join_tags(&mut self, row: MemoryRow, memory: &MeasuredMemory) -> Result<Outcome> {
        let memory_no = row.memory_no;
        let mut before = self.hold(row)?;
        if before.row.caller_id.is_none() && memory.new.caller_id.is_some() {
            before.row.caller_id.clone_from(&memory.new.caller_id);
            row::update(self.tx.sql, &self.scope, &before.row)?;
        }
        let known = before.names.tags.iter().chain(memory.tags.iter().map(|term| &term.name));
        let mut tags: Vec<String> = terms(known).into_iter().map(|term| term.name).collect();
        tags.truncate(MAX_TERMS.max(before.names.tags.len()));
        let mut after = before.clone();
        after.names.tags = tags;
        self.change(
            &before,
            after,
            Note { reason: "saved again with other tags", ..Note::of(ChangeOp::Edit) },
        )?;
        Ok((memory_no, SaveOutcome::Known))
    }

    /// Has an archived memory hold again that was saved again, unless it waits, or has to.
    fn save_again(&mut self, row: MemoryRow) -> Result<Outcome> {
        let memory_no = row.memory_no;
        if let Some(review) = reviews::waits_for(self.tx.sql, &self.scope, memory_no)? {
            return Ok((memory_no, SaveOutcome::Waits(review)));
        }
        match self.holder(&row)? {
            None => {
                let before = self.hold(row)?;
                self.restore(&before, SAVED_AGAIN)?;
                Ok((memory_no, SaveOutcome::Restored))
            }
            Some(holder) if may_take_the_place(voice(&row), voice(&holder)) => {
                let (old, before) = (self.hold(holder)?, self.hold(row)?);
                self.retire(&old, &before.row, "the same slot")?;
                self.restore(&before, SAVED_AGAIN)?;
                self.succeed(&old, &before.row)?;
                Ok((memory_no, SaveOutcome::Superseded(old.row.id)))
            }
            Some(holder) => Ok((memory_no, SaveOutcome::Waits(self.contradict(&row, &holder)?))),
        }
    }

    /// Has an archived memory hold again.
    pub(super) fn restore(&mut self, before: &Held, reason: &str) -> Result<Held> {
        let mut after = before.clone();
        after.row.status = MemoryStatus::Active;
        after.row.frequency_since = self.now; // Else the rule that archived it would do it again.
        let (old_value, new_value) = (Some(before.row.status.as_str()), Some(MemoryStatus::Active.as_str()));
        let note = Note { old_value, new_value, reason, ..Note::of(ChangeOp::Status) };
        self.change(before, after, note)
    }

    /// The row that a memory begins with.
    pub(super) fn begin_row(&self, memory: &MeasuredMemory) -> Result<MemoryRow> {
        let said_at = memory.new.said_at.map_or(Ok(self.now), instant::checked)?;
        Ok(memory.row(MemoryId::new(self.now), MemoryStatus::Active, (said_at, self.now)))
    }

    /// Writes a memory that is new, with all that stands beside it.
    pub(super) fn add(&mut self, memory: &MeasuredMemory, mut row: MemoryRow) -> Result<MemoryNo> {
        let (sql, scope) = (self.tx.sql, self.scope);
        let session_no = self.session_no(memory.new.birth.session_id)?;
        row.seq = Some(self.next_seq()?);
        row.memory_no = row::insert(sql, &scope, &row)?;
        let memory_no = row.memory_no;
        term_rows::set(sql, &scope, (memory_no, TermKind::Tag), &memory.tags)?;
        term_rows::set(sql, &scope, (memory_no, TermKind::Entity), &memory.entities)?;
        state::insert(sql, &scope, memory_no)?;
        self.add_sources(memory, &row)?;
        let (birth, id) = (&memory.new.birth, EpisodeId::new(self.now));
        let filed = (row.project.as_deref(), row.said_at);
        episodes::insert_birth(sql, &scope, (id, memory_no), (birth, session_no), filed)?;
        self.add_unit(&row, &memory.words)?;
        let new_value = Some(row.status.as_str());
        self.note(memory_no, Note { new_value, ..Note::of(ChangeOp::Save) }, None)?;
        Ok(memory_no)
    }

    /// Notes what a memory was made of. What somebody saves is made of that call, too: it stays when a turn is erased.
    fn add_sources(&mut self, memory: &MeasuredMemory, row: &MemoryRow) -> Result<()> {
        let (sql, scope) = (self.tx.sql, self.scope);
        for source in &memory.sources {
            if let SourceFrom::Turn(turn, seq) = source.from
                && !units::is_of(sql, &scope, seq, turn)?
            {
                return Err(Error::not_found("a turn that the memory comes of was erased meanwhile"));
            }
            sources::insert(sql, &scope, row.memory_no, source)?;
        }
        if memory.new.learning_source == LearningSource::Manual {
            self.add_caller(row.memory_no, row.origin)?;
        }
        Ok(())
    }

    /// Notes that somebody said what a memory says.
    pub(super) fn add_caller(&self, memory_no: MemoryNo, origin: Origin) -> Result<()> {
        let source = Source {
            from: SourceFrom::Caller(*self.group.as_uuid()),
            origin,
            made_by: "caller".to_owned(),
            said_at: self.now,
            quote: String::new(),
        };
        sources::insert(self.tx.sql, &self.scope, memory_no, &source)
    }

    /// Writes a memory that takes the place of another: one version more, its importance unless another is stated.
    pub(super) fn add_in_place_of(
        &mut self,
        memory: &MeasuredMemory,
        mut row: MemoryRow,
        old: &Held,
        reason: &str,
    ) -> Result<MemoryNo> {
        row.version = old.row.version.saturating_add(1);
        if memory.new.importance.is_none() {
            row.importance = old.row.importance;
        }
        self.retire(old, &row, reason)?;
        row.memory_no = self.add(memory, row.clone())?;
        self.succeed(old, &row)?;
        Ok(row.memory_no)
    }

    /// Says that another memory took the place of this one. Its number is noted once it has one.
    pub(super) fn retire(&mut self, old: &Held, by: &MemoryRow, reason: &str) -> Result<()> {
        let mut after = old.clone();
        after.row.status = MemoryStatus::Superseded;
        after.row.superseded_by = Some(by.memory_no);
        after.superseded_by = Some(by.id);
        let (old_value, new_value) = (Some(old.row.status.as_str()), Some(MemoryStatus::Superseded.as_str()));
        let note = Note { old_value, new_value, reason, ..Note::of(ChangeOp::Supersede) };
        self.change(old, after, note).map(drop)
    }

    /// Names what took a memory's place, and has an edge say so.
    pub(super) fn succeed(&mut self, old: &Held, by: &MemoryRow) -> Result<()> {
        let (old_no, old_id) = (old.row.memory_no, old.row.id);
        row::set_superseded_by(self.tx.sql, &self.scope, old_no, by.memory_no)?;
        self.add_edge((by.memory_no, by.id), (old_no, old_id), (EdgeType::Supersedes, by.origin))
    }

    /// Adds an edge that follows from what was done, unless it is there.
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
            id: EdgeId::new(self.now),
            from,
            to,
            edge_type,
            strength: edge_type.default_strength(),
            status: EdgeStatus::Accepted,
            origin,
            created_at: self.now,
            updated_at: self.now,
            context: String::new(),
            description: String::new(),
        };
        edges::insert(sql, scope, (from_no, to_no), &edge)
    }

    /// Writes a memory that contradicts what holds in its slot, and may not take its place: archived, it waits for a
    /// person.
    pub(super) fn add_waiting(
        &mut self,
        memory: &MeasuredMemory,
        mut row: MemoryRow,
        holder: &MemoryRow,
    ) -> Result<Outcome> {
        row.status = MemoryStatus::Archived;
        row.memory_no = self.add(memory, row.clone())?;
        Ok((row.memory_no, SaveOutcome::Waits(self.contradict(&row, holder)?)))
    }

    /// Asks a person which of two holds.
    pub(super) fn contradict(&self, waiting: &MemoryRow, holder: &MemoryRow) -> Result<ReviewId> {
        let both = (waiting.memory_no, holder.memory_no);
        if let Some(review) = reviews::of_two(self.tx.sql, &self.scope, both)? {
            return Ok(review); // It is asked already.
        }
        let ends = ((waiting.memory_no, waiting.id), (holder.memory_no, holder.id));
        self.add_edge(ends.0, ends.1, (EdgeType::Contradicts, waiting.origin))?;
        let why = format!("trust {} against {}", waiting.trust.number(), holder.trust.number());
        let (id, kind) = (ReviewId::new(self.now), ReviewKind::Contradiction);
        let of = (waiting.memory_no, Some(holder.memory_no));
        reviews::insert(self.tx.sql, &self.scope, (id, kind), of, (&why, self.now))?;
        Ok(id)
    }
}

/// Whose words a memory has.
pub(super) fn voice(row: &MemoryRow) -> Voice {
    Voice { origin: row.origin, trust: row.trust }
}
