//! Quarantine: hides the memories of a source and what jobs made from them, as one operation that undo takes back.
//!
//! The memories of a source depend on what it is:
//!
//! - a memory: the memory itself;
//! - a call: what it saved, rewrote or imported;
//! - an origin: all memories of it;
//! - a session: what was saved from it and is trusted less than the user's words, and what jobs made from its turns;
//! - a turn: what jobs made from it.
//!
//! These are hidden, and so is what jobs made from them, and so on. Volatile memories are left alone. Any other memory that
//! rests on the source was saved by somebody: it stays, but is trusted only like a document's words. The trust of a memory
//! that a person approved stays. A memory that a hidden one had superseded gets its former status back, or is archived if
//! its place is taken.

use std::collections::BTreeSet;

use uuid::Uuid;

use crate::{
    error::{Error, Result},
    memory::frequency::most_settled,
    model::{
        change::ChangeOp,
        ids::MemoryId,
        memory::{
            quarantined::{QuarantineSource, Quarantined},
            trust::Trust,
            words::MemoryStatus,
        },
        place::MemoryNo,
        turn::Origin,
    },
    store::{
        acts::memories::{
            operation::{MemoryOperation, Note, no_memory},
            voices::{check_is_not_foreign, check_may_change_words},
        },
        rows::{
            erase,
            memories::{find, quarantine as rows, row::MemoryRow, sources},
            sessions,
        },
        scope::Scope,
        sql::Sql,
        write_tx::WriteTx,
    },
};

impl WriteTx<'_> {
    /// Hides a source and what jobs made from it, and lowers the trust of what somebody saved from it.
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
        let reason = if why.is_empty() { "quarantine".to_owned() } else { format!("quarantine: {why}") };
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
    /// Memories that rest on the source, but that somebody saved.
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
                for memory_no in rows::born_in(sql, scope, session_no, Trust::User)? {
                    reach.hide(sql, scope, memory_no)?;
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

    /// Hides a memory and what jobs made from it, and so on. Each memory is visited once, because sources may form a ring.
    fn hide(&mut self, sql: &dyn Sql, scope: &Scope, memory_no: MemoryNo) -> Result<()> {
        let mut doomed = vec![memory_no];
        while let Some(memory_no) = doomed.pop() {
            if !self.hidden.insert(memory_no) {
                continue;
            }
            let Some(id) = find::id_of(sql, scope, memory_no)? else { continue };
            for product in sources::made_of(sql, scope, id.as_uuid())? {
                if sources::is_of_a_job(sql, scope, product)? {
                    doomed.push(product);
                } else {
                    self.staying.insert(product);
                }
            }
        }
        Ok(())
    }

    /// Adds a memory that was made from the source: if a job made it, it is hidden; if somebody saved it, it stays.
    fn add(&mut self, sql: &dyn Sql, scope: &Scope, product: MemoryNo) -> Result<()> {
        if sources::is_of_a_job(sql, scope, product)? {
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

impl MemoryOperation<'_, '_> {
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
