//! Forgetting memories: they are kept but hidden, and undo brings them back.

use crate::{
    error::{ErrorKind, Result},
    model::{
        change::ChangeOp,
        ids::{GroupId, MemoryId},
        memory::{forgotten::Forgotten, trust::Trust, words::MemoryStatus},
        place::MemoryNo,
        turn::Origin,
    },
    store::{
        acts::memories::{
            operation::{MemoryOperation, Note, no_memory},
            voices::check_may_change_words,
        },
        rows::memories::{
            find,
            lists::{self, FilterParams},
        },
        scope::Scope,
        write_tx::WriteTx,
    },
};

/// The reason in the history.
pub(super) const BY_HAND: &str = "by hand";
/// How many memories are forgotten in one transaction.
const FORGOTTEN_AT_ONCE: u32 = 64;

/// What one transaction has forgotten.
pub(crate) struct SomeForgotten {
    pub(crate) group: GroupId,
    pub(crate) memories: Vec<MemoryId>,
    /// Where to continue. `None` if this was the last transaction.
    pub(crate) next: Option<MemoryNo>,
}

impl WriteTx<'_> {
    /// Forgets a memory. A memory that is already forgotten stays as it is.
    pub(crate) fn forget_memory(&mut self, scope: &Scope, id: MemoryId, by: Origin) -> Result<Forgotten> {
        let mut operation = MemoryOperation::begin(self, scope, by.as_str())?;
        let memory_no = find::no_of(operation.tx.sql, scope, id)?.ok_or_else(no_memory)?;
        let memories: Vec<MemoryId> = operation.forget(memory_no, by, BY_HAND)?.into_iter().collect();
        Ok(Forgotten { group: (!memories.is_empty()).then_some(operation.group), memories })
    }

    /// Forgets some of the memories with numbers below `before` that pass a filter. Their changes belong to `group`, or to a
    /// new group if it is `None`. Memories that the caller may not change are skipped.
    pub(crate) fn forget_some_memories(
        &mut self,
        scope: &Scope,
        sought: &FilterParams,
        (group, before): (Option<GroupId>, MemoryNo),
        by: Origin,
    ) -> Result<SomeForgotten> {
        let mut operation = MemoryOperation::begin(self, scope, by.as_str())?;
        operation.group = group.unwrap_or(operation.group);
        let some = lists::page(operation.tx.sql, scope, sought, (before, FORGOTTEN_AT_ONCE))?;
        let is_last = some.len() < FORGOTTEN_AT_ONCE as usize;
        let next = some.last().copied().filter(|_| !is_last);
        let mut memories = Vec::with_capacity(some.len());
        for memory_no in some {
            match operation.forget(memory_no, by, BY_HAND) {
                Err(error) if error.kind() == ErrorKind::Conflict => {} // The memory is trusted more than the caller.
                forgotten => memories.extend(forgotten?),
            }
        }
        Ok(SomeForgotten { group: operation.group, memories, next })
    }
}

impl MemoryOperation<'_, '_> {
    /// Forgets a memory and returns its id, or `None` if it was already forgotten. A quarantined memory stays in quarantine.
    /// Errors: a tool or a document may not change it.
    pub(super) fn forget(
        &mut self,
        memory_no: MemoryNo,
        by: Origin,
        reason: &str,
    ) -> Result<Option<MemoryId>> {
        let row = find::by_no(self.tx.sql, &self.scope, memory_no)?.ok_or_else(no_memory)?;
        if matches!(row.status, MemoryStatus::Forgotten | MemoryStatus::Quarantined) {
            return Ok(None);
        }
        check_may_change_words(&row, Trust::of(by))?;
        let before = self.hold(row)?;
        let mut after = before.clone();
        after.row.status = MemoryStatus::Forgotten;
        (after.row.superseded_by, after.superseded_by) = (None, None);
        let old_value = Some(before.row.status.as_str());
        let new_value = Some(MemoryStatus::Forgotten.as_str());
        let note = Note { old_value, new_value, reason, ..Note::of(ChangeOp::Status) };
        self.change(&before, after, note)?;
        Ok(Some(before.row.id))
    }
}
