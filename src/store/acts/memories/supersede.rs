//! Superseding one memory with another, by hand.

use crate::{
    error::{Error, Result},
    memory::slot::may_take_the_place,
    model::{
        change::ChangeOp,
        ids::MemoryId,
        memory::{
            saved::{SaveOutcome, Saved},
            trust::Trust,
            words::MemoryStatus,
        },
        turn::Origin,
    },
    store::{
        acts::memories::{
            before::MemoryBefore,
            edit::check_may_change,
            measured::MeasuredMemory,
            operation::{MemoryOperation, Note, conflict},
            save::{SaveResult, version_over},
            voices::{check_may_contradict, voice},
        },
        rows::memories::find,
        scope::Scope,
        write_tx::WriteTx,
    },
};

/// The reason in the history.
const BY_HAND: &str = "by hand";

impl WriteTx<'_> {
    /// Saves a memory in the place of another. If the new one may not take that place, it waits for a person instead.
    /// Errors: a tool or a document would supersede a memory that is trusted more; the new text is in quarantine.
    pub(crate) fn supersede_memory(
        &mut self,
        scope: &Scope,
        old: MemoryId,
        memory: &MeasuredMemory,
    ) -> Result<Saved> {
        let mut operation = MemoryOperation::begin(self, scope, memory.new.origin.as_str())?;
        let kept = operation.supersede(old, memory)?;
        operation.saved(kept)
    }

    /// Puts an existing memory in the place of another. If it may not take that place, both stay as they are, and a person
    /// is asked: nobody less trusted can hide a memory by naming it here.
    pub(crate) fn supersede_memory_by(
        &mut self,
        scope: &Scope,
        (old, new): (MemoryId, MemoryId),
        by: Origin,
    ) -> Result<Saved> {
        let mut operation = MemoryOperation::begin(self, scope, by.as_str())?;
        let (old, new) = (operation.memory(old)?, operation.memory(new)?);
        [&old, &new].into_iter().try_for_each(|held| check_may_contradict(&held.row, Trust::of(by)))?;
        // The user decides which of two memories holds, whatever their trust.
        let kept = operation.supersede_by(&old, &new, (Trust::of(by), by == Origin::User))?;
        operation.saved(kept)
    }
}

impl MemoryOperation<'_, '_> {
    fn supersede(&mut self, old: MemoryId, memory: &MeasuredMemory) -> Result<SaveResult> {
        let old = self.memory(old)?;
        check_may_contradict(&old.row, memory.trust())?;
        let mut row = self.begin_row(memory)?;
        // What is not stated for the new memory is inherited from the old one.
        row.project = row.project.or_else(|| old.row.project.clone());
        row.task_type = row.task_type.or(old.row.task_type);
        if row.kind == old.row.kind && row.project == old.row.project {
            row.goal_signature = row.goal_signature.or_else(|| old.row.goal_signature.clone());
        }
        let known = match &memory.new.caller_id {
            Some(caller_id) => find::by_caller_id(self.tx.sql, &self.scope, caller_id)?,
            None => None,
        };
        let known = match known {
            None => find::active_same(self.tx.sql, &self.scope, row.project.as_deref(), memory.content_hash)?,
            known => known,
        };
        if let Some(known) = known {
            let new = self.hold(known)?;
            if new.row.content_hash != memory.content_hash {
                return Err(conflict(format!(
                    "{} was saved with this caller's id and says something else",
                    new.row.id
                )));
            }
            if old.superseded_by == Some(new.row.id) {
                // This was done before.
                return Ok(SaveResult::whole(new.row.memory_no, SaveOutcome::Superseded(old.row.id)));
            }
            let new = self.raise(new, memory.voice())?;
            return self.supersede_by(&old, &new, (memory.trust(), false));
        }
        self.check_is_not_hidden(memory.text(), &memory.new.summary)?;
        self.check_has_no_hidden_source(memory)?;
        check_may_change(&old)?;
        if !may_take_the_place(voice(&row), voice(&old.row)) {
            let same = (row.project.as_deref(), memory.content_hash);
            let known = find::put_away_same(self.tx.sql, &self.scope, same, MemoryStatus::Forgotten)?;
            if let Some(known) = known
                && self.was_rejected(&known, memory.voice())?
            {
                return Ok(SaveResult::whole(known.memory_no, SaveOutcome::PutAway));
            }
            return self.add_waiting(memory, row, &old.row);
        }
        // The new memory's slot may belong to a third memory.
        let holder = self.holder(&row)?.filter(|holder| holder.memory_no != old.row.memory_no);
        if let Some(holder) = holder {
            return Err(conflict(format!("{} holds in the same slot", holder.id)));
        }
        let memory_no = self.add_in_place_of(memory, row, &old, BY_HAND)?;
        Ok(SaveResult::whole(memory_no, SaveOutcome::Superseded(old.row.id)))
    }

    fn supersede_by(
        &mut self,
        old: &MemoryBefore,
        new: &MemoryBefore,
        (by, is_decided): (Trust, bool),
    ) -> Result<SaveResult> {
        if old.row.memory_no == new.row.memory_no {
            return Err(Error::invalid("a memory cannot supersede itself"));
        }
        check_may_change(old)?;
        check_may_change(new)?;
        let may_change = by.may_change(old.row.trust) && by.may_change(new.row.trust);
        if !may_change || !is_decided && !may_take_the_place(voice(&new.row), voice(&old.row)) {
            let review = self.contradict(&new.row, &old.row)?;
            return Ok(SaveResult::whole(new.row.memory_no, SaveOutcome::Waits(review)));
        }
        self.take_the_place(new, old, BY_HAND)?;
        Ok(SaveResult::whole(new.row.memory_no, SaveOutcome::Superseded(old.row.id)))
    }

    /// Puts an existing memory in the place of another, without comparing their trust.
    pub(super) fn take_the_place(
        &mut self,
        new: &MemoryBefore,
        old: &MemoryBefore,
        reason: &str,
    ) -> Result<()> {
        self.retire(old, &new.row, (ChangeOp::Supersede, reason))?;
        let mut after = new.clone();
        after.row.status = MemoryStatus::Active;
        after.row.version = version_over(&new.row, &old.row);
        self.change(new, after, Note { reason, ..Note::of(ChangeOp::Supersede) })?;
        self.succeed(old, &new.row)
    }
}
