//! Quarantine: hides the memories of a source and what jobs made from them, as one operation that undo takes back.
//!
//! The memories of a source depend on what it is:
//!
//! - a memory: the memory itself;
//! - a call: what it saved, rewrote or imported;
//! - an origin: all memories of it;
//! - a session: what was saved from it or made from its turns;
//! - a turn: what was saved or made from it.
//!
//! Hidden is what jobs made from the source, and what tools, documents and the assistant saved from it, unless a person
//! approved it; and so is what came of that, and so on. Volatile memories are left alone. What the user or the backend saved
//! from the source stays, but is trusted only like a document's words. A memory that a hidden one had superseded gets its
//! former status back, or is archived if its place is taken.
//!
//! A turn or a session is in quarantine as long as something of it is hidden. What the same people save from it meanwhile is
//! born hidden, as part of the same operation, so that lifting the quarantine shows it.

use std::collections::BTreeSet;

use uuid::Uuid;

use crate::{
    error::{Error, Result},
    memory::frequency::most_settled,
    model::{
        change::ChangeOp,
        ids::{GroupId, MemoryId},
        memory::{
            quarantined::{QuarantineSource, Quarantined},
            trust::Trust,
            words::{LearningSource, MemoryStatus},
        },
        place::MemoryNo,
        turn::Origin,
    },
    store::{
        acts::memories::{
            measured::MeasuredMemory,
            operation::{MemoryOperation, Note, conflict, no_memory},
            voices::{check_is_not_foreign, check_may_change_words},
        },
        rows::{
            erase,
            memories::{
                find, quarantine as rows,
                row::MemoryRow,
                sources::{self, SourceFrom},
            },
            sessions,
        },
        scope::Scope,
        sql::Sql,
        write_tx::WriteTx,
    },
};

impl WriteTx<'_> {
    /// Hides a source and what came of it, and lowers the trust of what the user or the backend saved from it.
    pub(crate) fn quarantine_source(
        &mut self,
        scope: &Scope,
        source: QuarantineSource,
        why: &str,
        by: Origin,
    ) -> Result<Quarantined> {
        check_is_not_foreign(by, "cannot hide anything")?;
        self.by = by;
        let mut operation = MemoryOperation::begin(self, scope, by.as_str())?;
        let found = Reach::of(operation.tx.sql, scope, source)?;
        let reason = reason_of(source, why);
        let (mut memories, mut lowered, mut restored) = (Vec::new(), Vec::new(), Vec::new());
        for &memory_no in &found.hidden {
            memories.extend(operation.hide(memory_no, &reason)?);
        }
        for &memory_no in found.staying.difference(&found.hidden) {
            lowered.extend(operation.distrust(memory_no)?);
        }
        for &memory_no in &found.hidden {
            for held_before in find::superseded_by(operation.tx.sql, scope, memory_no)? {
                if !found.hidden.contains(&held_before) {
                    restored.extend(operation.hold_again(held_before)?);
                }
            }
        }
        let is_nothing = memories.is_empty() && lowered.is_empty() && restored.is_empty();
        let group = (!is_nothing).then_some(operation.group);
        Ok(Quarantined { group, memories, lowered, restored })
    }
}

/// The memories that came from a source.
#[derive(Debug, Default)]
struct Reach {
    hidden: BTreeSet<MemoryNo>,
    /// Memories that rest on the source, but that the user or the backend saved, or a person approved.
    staying: BTreeSet<MemoryNo>,
}

impl Reach {
    fn of(sql: &dyn Sql, scope: &Scope, source: QuarantineSource) -> Result<Self> {
        let mut reach = Self::default();
        match source {
            QuarantineSource::Memory(id) => {
                let memory_no = find::no_of(sql, scope, id)?.ok_or_else(no_memory)?;
                reach.hide(sql, scope, memory_no)?;
            }
            QuarantineSource::Turn(id) => {
                if erase::one_turn(sql, scope, id)?.is_none() {
                    return Err(Error::not_found("this user has no such turn"));
                }
                reach.add_made_of(sql, scope, id.as_uuid())?;
            }
            QuarantineSource::Session(id) => {
                let session_no = sessions::existing(sql, scope, id)?.session_no;
                for memory_no in rows::born_in(sql, scope, session_no)? {
                    if goes_with_its_source(sql, scope, memory_no)? {
                        reach.hide(sql, scope, memory_no)?;
                    }
                }
                for memory_no in rows::made_of_session(sql, scope, session_no)? {
                    reach.add(sql, scope, memory_no)?;
                }
            }
            QuarantineSource::Call(id) => {
                let found = rows::of_call(sql, scope, &id)?;
                if found.is_empty() {
                    return Err(Error::not_found("this user has no memory of such a call"));
                }
                for memory_no in found {
                    reach.hide(sql, scope, memory_no)?;
                }
            }
            QuarantineSource::Origin(origin) => {
                for memory_no in rows::of_origin(sql, scope, origin)? {
                    reach.hide(sql, scope, memory_no)?;
                }
            }
        }
        Ok(reach)
    }

    /// Hides a memory and what came of it, and so on. Each memory is visited once, because sources may form a ring.
    fn hide(&mut self, sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<()> {
        let mut doomed = vec![memory_no];
        while let Some(memory_no) = doomed.pop() {
            if !self.hidden.insert(memory_no) {
                continue;
            }
            let Some(id) = find::id_of(sql, scope, memory_no)? else { continue };
            for product in sources::made_of(sql, scope, id.as_uuid())? {
                if goes_with_its_source(sql, scope, product)? {
                    doomed.push(product);
                } else {
                    self.staying.insert(product);
                }
            }
        }
        Ok(())
    }

    /// Adds a memory that was made from the source: it is hidden with it or stays.
    fn add(&mut self, sql: &dyn Sql, scope: &Scope, product: MemoryNo) -> Result<()> {
        if goes_with_its_source(sql, scope, product)? {
            return self.hide(sql, scope, product);
        }
        self.staying.insert(product);
        Ok(())
    }

    fn add_made_of(&mut self, sql: &dyn Sql, scope: &Scope, source: &Uuid) -> Result<()> {
        sources::made_of(sql, scope, source)?
            .into_iter()
            .try_for_each(|product| self.add(sql, scope, product))
    }
}

/// Whether a memory is hidden with its source: a job made it, or it has the words of a tool, a document or the assistant and
/// no person approved it.
fn goes_with_its_source(sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<bool> {
    Ok(rows::is_of_others(sql, scope, memory_no)? || sources::is_of_a_job(sql, scope, memory_no)?)
}

/// The history's reason for what a quarantine changes: what is in quarantine, and why.
fn reason_of(source: QuarantineSource, why: &str) -> String {
    let source = match source {
        QuarantineSource::Turn(id) => format!("turn {id}"),
        QuarantineSource::Session(id) => format!("session {id}"),
        QuarantineSource::Memory(id) => format!("memory {id}"),
        QuarantineSource::Call(id) => format!("call {id}"),
        QuarantineSource::Origin(origin) => format!("origin {}", origin.as_str()),
    };
    let reason = format!("quarantine of {source}");
    if why.is_empty() { reason } else { format!("{reason}: {why}") }
}

impl MemoryOperation<'_, '_> {
    /// The quarantine of a turn or a session from which a memory is saved, and its reason without why. `None` if there is
    /// none, or if the memory would stay.
    pub(super) fn quarantine_over(&self, memory: &MeasuredMemory) -> Result<Option<(GroupId, String)>> {
        let new = &memory.new;
        if Trust::of(new.origin) >= Trust::User && new.learning_source == LearningSource::Manual {
            return Ok(None);
        }
        let (sql, scope) = (self.tx.sql, &self.scope);
        let mut from: Vec<_> = new.birth.session_id.into_iter().map(QuarantineSource::Session).collect();
        for source in &memory.sources {
            if let SourceFrom::Turn(turn, seq) = source.from {
                from.push(QuarantineSource::Turn(turn));
                from.extend(rows::session_of(sql, scope, seq)?.map(QuarantineSource::Session));
            }
        }
        for source in from {
            let reason = reason_of(source, "");
            if let Some(group) = rows::of_source(sql, scope, &reason)? {
                return Ok(Some((group, reason)));
            }
        }
        Ok(None)
    }

    /// Fails if a memory that should take another's place comes from a turn or a session in quarantine.
    pub(super) fn check_has_no_hidden_source(&self, memory: &MeasuredMemory) -> Result<()> {
        match self.quarantine_over(memory)? {
            Some((group, _)) => {
                Err(conflict(format!("what it is saved from is in quarantine; lift group {group} first")))
            }
            None => Ok(()),
        }
    }

    /// Saves a memory from a source in quarantine: hidden, as part of that quarantine. If another memory holds in its slot
    /// now, it is archived once the quarantine is lifted.
    pub(super) fn add_hidden(
        &mut self,
        memory: &MeasuredMemory,
        mut row: MemoryRow,
        (group, reason): (GroupId, &str),
    ) -> Result<MemoryNo> {
        if self.holder(&row)?.is_some() {
            row.status = MemoryStatus::Archived;
        }
        let memory_no = self.add(memory, row)?;
        let own = std::mem::replace(&mut self.group, group);
        let hidden = self.hide(memory_no, &format!("{reason}: saved from it since"));
        self.group = own;
        hidden?;
        Ok(memory_no)
    }

    /// Hides a memory and returns its id. `None` if it is already hidden, or is volatile.
    fn hide(&mut self, memory_no: MemoryNo, reason: &str) -> Result<Option<MemoryId>> {
        let row = self.row(memory_no)?;
        if row.status == MemoryStatus::Quarantined || row.session_no.is_some() {
            return Ok(None);
        }
        let before = self.hold(row)?;
        let mut after = before.clone();
        after.row.status = MemoryStatus::Quarantined;
        (after.row.superseded_by, after.superseded_by) = (None, None);
        let (old_value, new_value) = (Some(before.row.status.as_str()), Some(after.row.status.as_str()));
        self.change(&before, after, Note { old_value, new_value, reason, ..Note::of(ChangeOp::Status) })?;
        Ok(Some(before.row.id))
    }

    /// Lowers a memory's trust to that of a document's words, and its frequency to what such words may have. Returns its id,
    /// or `None` if it stays as it is: it is already trusted that little, was approved by a person, is hidden, or is
    /// volatile.
    fn distrust(&mut self, memory_no: MemoryNo) -> Result<Option<MemoryId>> {
        let row = self.row(memory_no)?;
        let is_doubted = matches!(row.trust, Trust::Assistant | Trust::User);
        if !is_doubted || row.status == MemoryStatus::Quarantined || row.session_no.is_some() {
            return Ok(None);
        }
        let before = self.hold(row)?;
        let mut after = before.clone();
        after.row.trust = Trust::Foreign;
        after.row.frequency = before.row.frequency.min(most_settled(before.row.volatility, Trust::Foreign));
        if after.row.frequency != before.row.frequency {
            after.row.frequency_since = self.now;
        }
        let [old, new] = [before.row.trust, after.row.trust].map(|trust| trust.number().to_string());
        let (old_value, new_value) = (Some(old.as_str()), Some(new.as_str()));
        let reason = "a source is in quarantine";
        self.change(&before, after, Note { old_value, new_value, reason, ..Note::of(ChangeOp::Trust) })?;
        Ok(Some(before.row.id))
    }

    /// Gives a memory that a hidden one had superseded the status of one whose successor is gone. Returns its id if it holds
    /// again.
    fn hold_again(&mut self, memory_no: MemoryNo) -> Result<Option<MemoryId>> {
        let row = self.row(memory_no)?;
        let before = self.hold(row)?;
        let after = self.without_successor(&before)?;
        let (old_value, new_value) = (Some(before.row.status.as_str()), Some(after.row.status.as_str()));
        let reason = "what had taken its place is in quarantine";
        let note = Note { old_value, new_value, reason, ..Note::of(ChangeOp::Status) };
        let after = self.change(&before, after, note)?;
        Ok((after.row.status != MemoryStatus::Forgotten).then_some(before.row.id))
    }

    /// A memory to change. Errors: it is trusted more than who asks, so nothing is hidden.
    fn row(&self, memory_no: MemoryNo) -> Result<MemoryRow> {
        let row = find::by_no(self.tx.sql, &self.scope, memory_no)?.ok_or_else(no_memory)?;
        check_may_change_words(&row, Trust::of(self.tx.by))?;
        Ok(row)
    }
}
