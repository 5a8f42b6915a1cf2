//! Undo: takes back one operation, in all the memories that it changed or in none. The operation is named by its group, or
//! is the newest one on a given memory that is not undone yet.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    error::{Error, Result},
    model::{
        change::{ChangeOp, Undone},
        edge::EdgeType,
        ids::{GroupId, MemoryId},
        memory::words::MemoryStatus,
        place::MemoryNo,
        turn::Origin,
    },
    store::{
        acts::memories::{
            before::MemoryBefore,
            operation::{MemoryOperation, Note, conflict, no_memory},
            rated::confidence_before,
            voices::check_may_take_back,
        },
        rows::memories::{
            changes::{self, NumberedChange},
            edges, find, reviews,
        },
        scope::Scope,
        write_tx::WriteTx,
    },
};

impl WriteTx<'_> {
    /// Takes back the newest operation on a memory that is not undone yet: an edit, a superseding, a merge, a use that rated
    /// it, or a change of its status, frequency or trust. An undo is not such an operation, so repeated calls go further back. Errors: the
    /// operation was made by somebody who is trusted more than `by`.
    pub(crate) fn undo_memory(&mut self, scope: &Scope, id: MemoryId, by: Origin) -> Result<Undone> {
        let mut operation = MemoryOperation::begin(self, scope, by.as_str())?;
        let memory_no = find::no_of(operation.tx.sql, scope, id)?.ok_or_else(no_memory)?;
        let newest = changes::to_undo(operation.tx.sql, scope, memory_no)?;
        let group = newest.ok_or_else(|| conflict(format!("{id} has no change that can be undone")))?;
        let noted = changes::of_group(operation.tx.sql, scope, group)?;
        operation.undone(group, noted, by)
    }

    /// Takes back one operation, by its group, in all the memories it changed or in none: the moves of a tending run, a
    /// quarantine, a merge, or any operation that undo on one memory would find.
    pub(crate) fn undo_memory_group(&mut self, scope: &Scope, group: GroupId, by: Origin) -> Result<Undone> {
        self.undo_group_if(scope, group, by, |_| Ok(()))
    }

    /// Takes back a quarantine, and nothing else.
    pub(crate) fn lift_quarantine(&mut self, scope: &Scope, group: GroupId, by: Origin) -> Result<Undone> {
        self.undo_group_if(scope, group, by, |changes| {
            let hidden = Some(MemoryStatus::Quarantined.as_str());
            let is_quarantine = changes.iter().any(|noted| {
                noted.change.op == ChangeOp::Status && noted.change.new_value.as_deref() == hidden
            });
            let what = || conflict(format!("group {group} is not a quarantine; use undo for it"));
            is_quarantine.then_some(()).ok_or_else(what)
        })
    }

    fn undo_group_if(
        &mut self,
        scope: &Scope,
        group: GroupId,
        by: Origin,
        check: impl FnOnce(&[NumberedChange]) -> Result<()>,
    ) -> Result<Undone> {
        let mut operation = MemoryOperation::begin(self, scope, by.as_str())?;
        let sql = operation.tx.sql;
        let is_undone = changes::is_undone(sql, scope, group)?;
        if is_undone.ok_or_else(no_group)? {
            return Err(conflict(format!("group {group} was already undone")));
        }
        let noted = changes::of_group(sql, scope, group)?;
        check(&noted)?;
        if !noted.iter().any(|noted| can_be_undone(noted.change.op)) {
            return Err(conflict(format!("group {group} has no change that can be undone")));
        }
        operation.undone(group, noted, by)
    }
}

/// Whether undo takes back a change of this sort by itself. A save is undone only together with what it superseded. Checks
/// and answers to being shown again are facts. An undo cannot be undone.
fn can_be_undone(op: ChangeOp) -> bool {
    match op {
        ChangeOp::Edit
        | ChangeOp::Frequency
        | ChangeOp::Status
        | ChangeOp::Supersede
        | ChangeOp::Merge
        | ChangeOp::Trust
        | ChangeOp::Use => true,
        ChangeOp::Save | ChangeOp::Check | ChangeOp::Resurface | ChangeOp::Undo => false,
    }
}

/// The error for an operation that does not exist or belongs to another user.
fn no_group() -> Error {
    Error::not_found("this user has no such group of changes")
}

impl MemoryOperation<'_, '_> {
    /// Takes back an operation. `noted` are its changes, the newest of each memory first. Returns the memories afterwards.
    fn undone(&mut self, group: GroupId, noted: Vec<NumberedChange>, by: Origin) -> Result<Undone> {
        let changed = self.undo(group, noted, by)?;
        let memories = changed.into_iter().map(|no| self.shown(no)).collect::<Result<_>>()?;
        Ok(Undone { group, memories })
    }

    fn undo(&mut self, group: GroupId, noted: Vec<NumberedChange>, by: Origin) -> Result<Vec<MemoryNo>> {
        let (sql, scope) = (self.tx.sql, self.scope);
        let mut of_memories: BTreeMap<MemoryNo, Vec<NumberedChange>> = BTreeMap::new();
        for noted in noted {
            of_memories.entry(noted.memory_no).or_default().push(noted);
        }
        let (mut restored, mut come_back) = (Vec::with_capacity(of_memories.len()), Vec::new());
        for (memory_no, newest_first) in &of_memories {
            let last = newest_first.first().map_or(0, |noted| noted.change.change_no);
            let has_use = newest_first.iter().any(|noted| noted.change.op == ChangeOp::Use);
            if let Some((op, later)) = changes::later(sql, &scope, (*memory_no, last), has_use)? {
                let id = newest_first[0].change.memory_id;
                return Err(conflict(format!(
                    "{id} was changed since, by the {} of group {later}: undo that first",
                    op.as_str()
                )));
            }
            let (now, after) = self.before_group(*memory_no, newest_first)?;
            if !now.row.is_recalled() && after.row.is_recalled() {
                come_back.extend(newest_first.iter().map(|noted| (*memory_no, noted.change.made_at)));
            }
            for NumberedChange { change, .. } in newest_first {
                check_may_take_back(&now.row, &change.made_by, by)?;
            }
            // A history that was imported from a file may contain anything.
            after.check().map_err(|error| {
                conflict(format!("what {} was before is not a valid memory: {error}", now.row.id))
            })?;
            restored.push((now, after));
        }
        // Only one memory in a slot may be active. So the memories that will not be active come first, then those that are
        // already active and may leave their slot, and last those that become active.
        restored.sort_by_key(|(now, after)| {
            let [was_active, is_active] = [now, after].map(|held| held.row.status == MemoryStatus::Active);
            (is_active, !was_active)
        });
        for (now, mut after) in restored {
            self.separate(&now, &after)?;
            after.row.superseded_by = match after.superseded_by {
                Some(by) => Some(find::no_of(sql, &scope, by)?.ok_or_else(|| {
                    conflict(format!("the memory that replaced {} has been erased", now.row.id))
                })?),
                None => None,
            };
            if let Some(by) = after.row.superseded_by {
                self.check_no_ring(&now, by)?;
            }
            let after = self.change(&now, after, Note::of(ChangeOp::Undo))?;
            for NumberedChange { change, .. } in &of_memories[&now.row.memory_no] {
                if change.op == ChangeOp::Use {
                    self.uncount(&now.row, change)?;
                }
            }
            if let Some(by) = after.row.superseded_by
                && let Some(by) = find::by_no(sql, &scope, by)?
            {
                self.succeed(&after, &by)?;
            }
        }
        for (memory_no, withdrawn_at) in come_back {
            reviews::reopen(self.tx.sql, &scope, memory_no, withdrawn_at.try_into()?)?;
        }
        changes::set_undone(self.tx.sql, &scope, group, self.group)?;
        Ok(of_memories.into_keys().collect())
    }

    /// A memory as it is now, and as it was before an operation that made these changes, newest first. A memory that the
    /// operation saved in place of others did not exist before, so it becomes forgotten.
    fn before_group(
        &self,
        memory_no: MemoryNo,
        newest_first: &[NumberedChange],
    ) -> Result<(MemoryBefore, MemoryBefore)> {
        let row = find::by_no(self.tx.sql, &self.scope, memory_no)?.ok_or_else(no_memory)?;
        let now = self.hold(row)?;
        let mut after = now.clone();
        for NumberedChange { change, .. } in newest_first {
            match &change.before {
                Some(_) if change.op == ChangeOp::Use => {
                    after.row.confidence = confidence_before(&now.row, change)?;
                }
                Some(before) => after = after.restored(before)?,
                None if change.op == ChangeOp::Save => {
                    after.row.status = MemoryStatus::Forgotten;
                    (after.row.superseded_by, after.superseded_by) = (None, None);
                }
                None => {
                    return Err(conflict(format!(
                        "what {} said before is no longer kept: its source was erased, or too much was \
                         edited since",
                        now.row.id
                    )));
                }
            }
        }
        Ok((now, after))
    }

    /// Fails if the chain of successors from `by` leads back to the memory.
    fn check_no_ring(&self, now: &MemoryBefore, by: MemoryNo) -> Result<()> {
        let (mut at, mut walked) = (Some(by), BTreeSet::new());
        while let Some(no) = at {
            if no == now.row.memory_no || !walked.insert(no) {
                return Err(conflict(format!(
                    "the memory that replaced {} has been superseded by it",
                    now.row.id
                )));
            }
            at = find::by_no(self.tx.sql, &self.scope, no)?.and_then(|row| row.superseded_by);
        }
        Ok(())
    }

    /// Removes the edge from a memory's successor, if the memory gets another successor or none.
    fn separate(&self, now: &MemoryBefore, after: &MemoryBefore) -> Result<()> {
        let (sql, scope) = (self.tx.sql, &self.scope);
        if let Some(by) = now.row.superseded_by.filter(|_| after.superseded_by != now.superseded_by)
            && let Some(edge) = edges::between(sql, scope, (by, now.row.memory_no), EdgeType::Supersedes)?
        {
            edges::remove(sql, scope, edge.edge.id)?;
        }
        Ok(())
    }
}
