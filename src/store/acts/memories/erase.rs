//! Erases memories in two cases: a caller erases one, and what jobs made from it goes too; or a turn is erased, and the
//! memories that jobs made from it go with it.
//!
//! A memory that a job or a merge made, or that was saved with a learning source other than `manual`, is erased with any of
//! its sources, because its text may repeat the source. Any other memory stays, and so does one whose text the user or the
//! backend changed, or that was saved again by somebody whose words count more (`is_raised_by`). A memory that stays loses
//! its earlier texts, and the source with its quote.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use crate::{
    error::{Error, ErrorKind, Result, sound},
    model::{
        change::ChangeOp,
        ids::{MemoryId, TurnId},
        memory::trust::{Trust, check_may_change},
        place::{MemoryNo, SessionNo},
    },
    store::{
        acts::{
            erased::Erased,
            memories::{
                operation::{MemoryOperation, Note, no_memory},
                sweep::take_out,
            },
        },
        rows::{
            erase::{self as erase_rows, USER_TABLES},
            jobs,
            memories::{changes, edges, episodes, erased, find, reviews, row, sources, state, units},
            users,
        },
        scope::Scope,
        write_tx::WriteTx,
    },
};

impl WriteTx<'_> {
    /// Erases a memory and what jobs made from it, and queues the scrub in the same transaction.
    pub(crate) fn erase_memory(&mut self, scope: &Scope, id: MemoryId) -> Result<Erased> {
        self.lock(scope)?;
        if jobs::is_erasing(self.sql, scope, None)? {
            return Err(users::gone());
        }
        let memory_no = find::no_of(self.sql, scope, id)?.ok_or_else(no_memory)?;
        let mut doomed = DoomedMemories::default();
        doomed.add(self, scope, memory_no)?;
        doomed.check(self, scope)?;
        // All receipts are erased, because a query may repeat what the memory says.
        for table in USER_TABLES.iter().filter(|table| table.goes_whole()) {
            while erase_rows::slice(self.sql, scope, table, u32::MAX)?.0 > 0 {}
        }
        // Invalidates everything that any process has read of the memory.
        users::raise_epoch(self.sql, scope)?;
        let memories = doomed.erase(self, scope)?;
        self.enqueue_scrub()?;
        Ok(Erased { memories, ..Erased::default() })
    }
}

/// Erases what jobs made from a turn that is being erased. Returns the number of memories.
pub(crate) fn erase_made_of(tx: &mut WriteTx<'_>, scope: &Scope, turn: TurnId) -> Result<u64> {
    let mut doomed = DoomedMemories::default();
    doomed.add_made_of(tx, scope, turn.as_uuid())?;
    doomed.erase(tx, scope)
}

/// Fails if erasing a turn or a memory would erase a memory, or an edge, that is trusted more than who asks.
pub(crate) fn check_may_erase_made_of(tx: &WriteTx<'_>, scope: &Scope, source: &Uuid) -> Result<()> {
    let mut doomed = DoomedMemories::default();
    doomed.add_made_of(tx, scope, source)?;
    doomed.check(tx, scope)
}

/// Like `check_may_erase_made_of`, for every turn of a session, and for the memories that belong to it.
pub(crate) fn check_may_erase_what_rests_on(
    tx: &WriteTx<'_>,
    scope: &Scope,
    session_no: SessionNo,
) -> Result<()> {
    if Trust::of(tx.by).may_change(Trust::Approved) {
        return Ok(()); // Nothing is trusted more, so the session need not be searched.
    }
    let mut doomed = DoomedMemories::default();
    for turn in sources::turns_of_session(tx.sql, scope, session_no)? {
        doomed.add_made_of(tx, scope, turn.as_uuid())?;
    }
    doomed.check(tx, scope)
}

/// Removes the texts from some episodes of a session that is being erased, and counts again in how many sessions and
/// projects memories helped. Returns how many.
pub(crate) fn empty_episodes(
    tx: &WriteTx<'_>,
    scope: &Scope,
    session_no: SessionNo,
    limit: u32,
) -> Result<u64> {
    let memories = episodes::memories_in(tx.sql, scope, session_no)?;
    let emptied = episodes::empty(tx.sql, scope, session_no, limit)?;
    for memory_no in memories {
        state::recount(tx.sql, scope, memory_no)?;
    }
    Ok(emptied)
}

/// The memories to erase, and those that stay although they were made from something erased.
#[derive(Debug, Default)]
struct DoomedMemories {
    memories: BTreeSet<MemoryNo>,
    /// The ids of the erased turns and memories, which are removed from the sources of all memories.
    sources: Vec<Uuid>,
    survivors: BTreeSet<MemoryNo>,
}

impl DoomedMemories {
    /// Adds a memory and what jobs made from it.
    fn add(&mut self, tx: &WriteTx<'_>, scope: &Scope, memory_no: MemoryNo) -> Result<()> {
        if !self.memories.insert(memory_no) {
            return Ok(());
        }
        match sound(find::id_of(tx.sql, scope, memory_no))? {
            Some(id) => self.add_made_of(tx, scope, id.as_uuid()),
            None => Ok(()),
        }
    }

    fn add_made_of(&mut self, tx: &WriteTx<'_>, scope: &Scope, source: &Uuid) -> Result<()> {
        self.sources.push(*source);
        for product in sources::made_of(tx.sql, scope, source)? {
            if sources::is_of_a_job(tx.sql, scope, product)? {
                self.add(tx, scope, product)?;
            } else {
                self.survivors.insert(product);
            }
        }
        Ok(())
    }

    /// Fails if one of these memories, or an edge of one, is trusted more than who asks, or one that stays and loses its
    /// earlier texts.
    fn check(&self, tx: &WriteTx<'_>, scope: &Scope) -> Result<()> {
        for &memory_no in self.memories.union(&self.survivors) {
            // A damaged memory may say anything of its trust, so it counts as the user's.
            let found = sound(find::by_no(tx.sql, scope, memory_no))?;
            let trust = found.as_ref().map_or(Trust::User, |row| row.trust);
            let id = sound(find::id_of(tx.sql, scope, memory_no))?;
            let name = id.map_or_else(|| "a damaged memory".to_owned(), |id| id.to_string());
            check_may_change(tx.by, trust, &name)?;
            if self.memories.contains(&memory_no) {
                for trust in edges::trusts_of(tx.sql, scope, memory_no)? {
                    check_may_change(tx.by, trust, format_args!("an edge of {name}"))?;
                }
            }
        }
        Ok(())
    }

    fn erase(mut self, tx: &mut WriteTx<'_>, scope: &Scope) -> Result<u64> {
        let sql = tx.sql;
        for source in &self.sources {
            sources::remove(sql, scope, source)?;
        }
        let mut seqs = Vec::new();
        self.survivors.retain(|memory_no| !self.memories.contains(memory_no));
        for &memory_no in &self.survivors {
            changes::forget_before(sql, scope, memory_no)?;
            seqs.extend(units::stale_of(sql, scope, memory_no)?);
        }
        let mut left_behind = BTreeMap::new();
        for &memory_no in &self.memories {
            seqs.extend(units::of_memory(sql, scope, memory_no)?);
            for left in find::superseded_by(sql, scope, memory_no)? {
                if !self.memories.contains(&left) {
                    left_behind.insert(left, self.successor(tx, scope, memory_no)?);
                }
            }
        }
        if !seqs.is_empty() {
            take_out(tx, scope, &seqs)?;
        }
        for &memory_no in &self.memories {
            if let Some(id) = sound(find::id_of(sql, scope, memory_no))? {
                erased::insert(sql, scope, erased::id_hash(id))?;
            }
            reviews::forget_other(sql, scope, memory_no)?;
            row::remove(sql, scope, memory_no)?;
        }
        for (memory_no, successor) in left_behind {
            leave(tx, scope, memory_no, successor)?;
        }
        Ok(self.memories.len() as u64)
    }

    /// The first memory that is not erased in the chain of successors of an erased memory.
    fn successor(&self, tx: &WriteTx<'_>, scope: &Scope, memory_no: MemoryNo) -> Result<Option<MemoryNo>> {
        let (mut at, mut walked) = (memory_no, BTreeSet::new());
        while walked.insert(at) {
            match find::successor_of(tx.sql, scope, at)? {
                Some(by) if self.memories.contains(&by) => at = by,
                by => return Ok(by),
            }
        }
        Ok(None)
    }
}

/// Updates a memory that an erased one had superseded: it gets the erased one's successor. If there is none, it gets the
/// status of a memory whose successor is gone.
fn leave(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    memory_no: MemoryNo,
    successor: Option<MemoryNo>,
) -> Result<()> {
    let found = match find::by_no(tx.sql, scope, memory_no) {
        Err(error) if error.kind() == ErrorKind::Corrupt => {
            return row::release(tx.sql, scope, memory_no); // The memory is damaged; doctor reports it.
        }
        found => found?,
    };
    let row = found.ok_or_else(|| Error::not_found("what was superseded is gone"))?;
    let mut operation = MemoryOperation::begin(tx, scope, "erase")?;
    let before = operation.hold(row)?;
    let reason = "what had taken its place was erased";
    let successor = successor.map(|no| find::by_no(operation.tx.sql, scope, no)).transpose();
    match successor {
        Ok(Some(Some(by))) => {
            let mut after = before.clone();
            (after.row.superseded_by, after.superseded_by) = (Some(by.memory_no), Some(by.id));
            let after = operation.change(&before, after, Note { reason, ..Note::of(ChangeOp::Undo) })?;
            operation.succeed(&after, &by)
        }
        Err(error) if error.kind() != ErrorKind::Corrupt => Err(error),
        _ => {
            let after = operation.without_successor(&before)?;
            let (old_value, new_value) = (Some(before.row.status.as_str()), Some(after.row.status.as_str()));
            let note = Note { old_value, new_value, reason, ..Note::of(ChangeOp::Undo) };
            operation.change(&before, after, note)?;
            changes::set_superseding_undone(operation.tx.sql, scope, memory_no, operation.group)
        }
    }
}
