//! Merging: several memories become one, which takes the place of each. The merged memory is trusted no more than the least
//! trusted of them. It is erased with any of them, because its text may repeat theirs, unless somebody has confirmed it
//! since.

use crate::{
    error::{Error, Result},
    memory::{frequency::most_settled, slot::may_take_the_place},
    model::{
        change::ChangeOp,
        ids::MemoryId,
        memory::{merged::Merged, words::LearningSource},
        place::MemoryNo,
        turn::Origin,
    },
    store::{
        acts::memories::{
            before::MemoryBefore,
            edit::check_may_change,
            measured::MeasuredMemory,
            operation::{MemoryOperation, conflict},
            voices::voice,
        },
        rows::memories::{
            find,
            row::MemoryRow,
            sources::{SourceFrom, SourceRow},
        },
        scope::Scope,
        write_tx::WriteTx,
    },
};

/// The most memories in one merge. A person cannot compare more side by side.
const MOST: usize = 16;

impl WriteTx<'_> {
    /// Saves a memory that supersedes several others. Errors: the same text is active or in quarantine.
    pub(crate) fn merge_memories(
        &mut self,
        scope: &Scope,
        ids: &[MemoryId],
        mut memory: MeasuredMemory,
        by: Origin,
    ) -> Result<Merged> {
        let is_repeated = |(at, id): (usize, &MemoryId)| ids[..at].contains(id);
        if !(2..=MOST).contains(&ids.len()) || ids.iter().enumerate().any(is_repeated) {
            return Err(Error::invalid(format!("a merge takes 2 to {MOST} memories, each named once")));
        }
        let mut operation = MemoryOperation::begin(self, scope, by.as_str())?;
        if let Some(caller_id) = &memory.new.caller_id
            && find::by_caller_id(operation.tx.sql, scope, caller_id)?.is_some()
        {
            return Err(conflict("a memory with this caller's id already exists; use another id"));
        }
        let sources = ids.iter().map(|id| operation.memory(*id)).collect::<Result<Vec<_>>>()?;
        sources.iter().try_for_each(check_may_change)?;
        memory.new.learning_source = LearningSource::Consolidation;
        memory.sources.extend(sources.iter().map(source_of));
        let row = merged_row(&operation, &memory, &sources)?;
        operation.check_is_not_hidden(memory.text(), &memory.new.summary)?;
        operation.check_has_no_hidden_source(&memory)?;
        if by != Origin::User
            && let Some(other) = sources.iter().find(|it| !may_take_the_place(voice(&row), voice(&it.row)))
        {
            return Err(conflict(format!(
                "{} is trusted more than what should take its place",
                other.row.id
            )));
        }
        let memory_no = operation.merge(&memory, row, &sources)?;
        let memory = operation.shown(memory_no)?;
        Ok(Merged { group: operation.group, memory, sources: ids.to_vec() })
    }
}

impl MemoryOperation<'_, '_> {
    fn merge(
        &mut self,
        memory: &MeasuredMemory,
        mut row: MemoryRow,
        sources: &[MemoryBefore],
    ) -> Result<MemoryNo> {
        for old in sources {
            self.retire(old, &row, (ChangeOp::Merge, "merged"))?;
        }
        self.check_free(&row)?;
        row.memory_no = self.add(memory, row.clone())?;
        for old in sources {
            self.succeed(old, &row)?;
        }
        Ok(row.memory_no)
    }
}

/// A memory as the source of another.
fn source_of(held: &MemoryBefore) -> SourceRow {
    SourceRow {
        from: SourceFrom::Memory(held.row.id),
        origin: held.row.origin,
        made_by: "caller".to_owned(),
        said_at: held.row.said_at,
        quote: String::new(),
    }
}

/// The row of the merged memory. What is not stated for it is inherited if all its sources agree. Its importance is the
/// highest of theirs if none is stated.
fn merged_row(
    operation: &MemoryOperation<'_, '_>,
    memory: &MeasuredMemory,
    sources: &[MemoryBefore],
) -> Result<MemoryRow> {
    let mut row = operation.begin_row(memory)?;
    row.project = row.project.or_else(|| common(sources, |it| it.project.clone()));
    row.task_type = row.task_type.or_else(|| common(sources, |it| it.task_type));
    if sources.iter().all(|it| it.row.kind == row.kind && it.row.project == row.project) {
        row.goal_signature = row.goal_signature.or_else(|| common(sources, |it| it.goal_signature.clone()));
    }
    row.version = sources.iter().map(|it| it.row.version).max().unwrap_or_default().saturating_add(1);
    if memory.new.importance.is_none() {
        row.importance = sources.iter().map(|it| it.row.importance).fold(0.0, f64::max);
    }
    row.pinned |= sources.iter().any(|it| it.row.pinned);
    for source in sources {
        // A source may be trusted less than its origin implies.
        row.trust = row.trust.min(source.row.trust);
        row.volatility = row.volatility.max(source.row.volatility);
    }
    row.frequency = row.frequency.min(most_settled(row.volatility, row.trust));
    Ok(row)
}

/// The value that all sources share. `None` if they have none, or if they differ.
fn common<T: PartialEq>(sources: &[MemoryBefore], of: impl Fn(&MemoryRow) -> Option<T>) -> Option<T> {
    let mut each = sources.iter().map(|it| of(&it.row));
    let first = each.next().flatten()?;
    each.all(|other| other.as_ref() == Some(&first)).then_some(first)
}
