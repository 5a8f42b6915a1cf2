//! Records a reported use of a memory. A use is counted once and rated once.
//!
//! A use is not a change in the history and does not raise the memory's revision: its numbers are facts, which undo leaves
//! alone. But an archived memory that is used becomes active again, and that is a change.

use uuid::Uuid;

use crate::{
    error::{ErrorKind, Result},
    memory::beginning::OutcomeRecord,
    model::{
        episode::{EpisodeRole, Use},
        ids::{EpisodeId, MemoryId, SessionId},
        memory::{
            known::Memory,
            words::{MemoryStatus, Outcome},
        },
        place::{MemoryNo, SessionNo},
        receipt::{ItemKind, Receipt, ReceiptItem},
        turn::Origin,
    },
    store::{
        acts::memories::{
            edges::check_is_seen,
            operation::{MemoryOperation, conflict, no_memory},
        },
        rows::{
            memories::{
                episodes::{self, EpisodeRow},
                find, reviews,
                row::{self, MemoryRow},
                state, uses,
            },
            receipts,
        },
        scope::Scope,
        write_tx::WriteTx,
    },
};

impl WriteTx<'_> {
    /// Counts a use of a memory, unless it is already known by the report's own id or by the context that showed the memory.
    /// If a known use has no rating, a report that says whether it helped rates it.
    pub(crate) fn use_memory(
        &mut self,
        scope: &Scope,
        id: MemoryId,
        report: &Use,
        by: Origin,
    ) -> Result<Memory> {
        let mut operation = MemoryOperation::begin(self, scope, by.as_str())?;
        let row = find::by_id(operation.tx.sql, scope, id)?.ok_or_else(no_memory)?;
        check_is_seen(&row)?;
        let memory_no = row.memory_no;
        match operation.known_use(memory_no, report)? {
            Some(known) => operation.rate_known(&row, &known, report)?,
            None => operation.add_use(&row, report)?,
        }
        operation.shown(memory_no)
    }
}

impl MemoryOperation<'_, '_> {
    /// The use that a report is about, if it was reported or noted before.
    fn known_use(&self, memory_no: MemoryNo, report: &Use) -> Result<Option<EpisodeRow>> {
        let (sql, scope) = (self.tx.sql, &self.scope);
        if let Some(caller_id) = &report.caller_id
            && let Some(known) = episodes::by_caller_id(sql, scope, caller_id)?
        {
            if known.role != EpisodeRole::Use || known.memory_no != Some(memory_no) {
                return Err(conflict(
                    "an episode with this caller's id is about something else; use another id",
                ));
            }
            return Ok(Some(known));
        }
        match report.receipt_id {
            Some(receipt) => episodes::by_receipt(sql, scope, (memory_no, receipt)),
            None => Ok(None),
        }
    }

    /// Rates a noted use, unless it already has an outcome, or the memory is gone, forgotten or quarantined. Returns whether
    /// it did.
    pub(super) fn rate_heard(&mut self, id: MemoryId, report: &Use) -> Result<bool> {
        let (sql, scope) = (self.tx.sql, self.scope);
        let Some(row) = find::by_id(sql, &scope, id)?.filter(|row| check_is_seen(row).is_ok()) else {
            return Ok(false);
        };
        let Some(known) = self.known_use(row.memory_no, report)?.filter(|known| known.outcome.is_none())
        else {
            return Ok(false);
        };
        self.rate_known(&row, &known, report)?;
        Ok(true)
    }

    fn add_use(&mut self, row: &MemoryRow, report: &Use) -> Result<()> {
        let (sql, scope, memory_no) = (self.tx.sql, self.scope, row.memory_no);
        let of_receipt = match report.receipt_id {
            Some(receipt) => uses::session_of(sql, &scope, receipt)?,
            None => None,
        };
        let receipt = report.receipt_id.map(|id| receipts::by_id(sql, &scope, id)).transpose()?.flatten();
        if let Some(receipt) = &receipt {
            check_names(receipt, row.id)?;
        }
        let (session_no, filed) = self.used_in(report.session_id.or(of_receipt))?;
        let project = report.project.as_deref().or(filed.as_deref());
        let id = EpisodeId::new(self.now);
        uses::insert_reported(sql, &scope, (id, memory_no), (report, session_no, project), self.now)?;
        if !receipt.is_some_and(|receipt| was_counted(&receipt, row.id)) {
            state::count_access(sql, &scope, memory_no, 1, self.now)?;
        }
        if let Some(outcome) = report.outcome {
            self.rate(row, outcome)?;
        }
        // A use that did not help does not make the memory active again.
        if report.outcome.and_then(Outcome::helped) == Some(false) {
            return Ok(());
        }
        self.restore_used(row)
    }

    /// The number and the project of the session in which something was used.
    fn used_in(&self, session: Option<SessionId>) -> Result<(Option<SessionNo>, Option<String>)> {
        let session = self.session(session)?;
        let session_no = session.as_ref().map(|session| session.session_no);
        Ok((session_no, session.and_then(|session| session.info.project)))
    }

    /// Rates a known use, unless it is already rated. An outcome that is no rating is only recorded if there is none yet.
    fn rate_known(&mut self, row: &MemoryRow, known: &EpisodeRow, report: &Use) -> Result<()> {
        let Some(outcome) = report.outcome else { return Ok(()) };
        let is_rated = |outcome: Option<Outcome>| outcome.and_then(Outcome::helped).is_some();
        if is_rated(known.outcome) || (known.outcome.is_some() && !is_rated(report.outcome)) {
            return Ok(());
        }
        uses::rate(self.tx.sql, &self.scope, known.episode_no, (outcome, report))?;
        self.rate(row, outcome)?;
        if outcome.helped() == Some(true) { self.restore_used(row) } else { Ok(()) }
    }

    /// Adjusts confidence and success rate by a use's outcome, and counts again in how many sessions and projects the memory
    /// helped.
    fn rate(&self, memory: &MemoryRow, outcome: Outcome) -> Result<()> {
        if outcome.helped().is_none() {
            return Ok(());
        }
        let (sql, scope, memory_no) = (self.tx.sql, &self.scope, memory.memory_no);
        let state = state::of_many(sql, scope, &[memory_no])?.pop().ok_or_else(no_memory)?;
        let (confidence, usage_count, success_rate) =
            (memory.confidence, state.usage_count, state.success_rate);
        let after = OutcomeRecord { confidence, usage_count, success_rate }.after_outcome(outcome);
        row::set_confidence(sql, scope, memory_no, after.confidence)?;
        state::set_rated(sql, scope, memory_no, (after.usage_count, after.success_rate))?;
        state::recount(sql, scope, memory_no)
    }

    /// Makes an archived memory that was used active again, unless it waits for a person or another memory says the same or
    /// has the slot.
    pub(super) fn restore_used(&mut self, row: &MemoryRow) -> Result<()> {
        let (sql, scope) = (self.tx.sql, self.scope);
        if row.status != MemoryStatus::Archived || reviews::is_waiting(sql, &scope, row.memory_no)? {
            return Ok(());
        }
        match self.check_free(&MemoryRow { status: MemoryStatus::Active, ..row.clone() }) {
            Err(error) if error.kind() == ErrorKind::Conflict => return Ok(()),
            free => free?,
        }
        let before = self.memory(row.id)?; // Read again, because its confidence may have changed.
        self.restore(&before, "used").map(drop)
    }
}

/// Fails if a receipt does not list the memory.
fn check_names(receipt: &Receipt, memory: MemoryId) -> Result<()> {
    let names = |item: &ReceiptItem| {
        is_memory(memory, item.kind, &item.owner_id)
            || item.same_source.iter().any(|other| is_memory(memory, other.kind, &other.owner_id))
    };
    if receipt.items.iter().any(names) {
        return Ok(());
    }
    Err(conflict(format!(
        "receipt {} does not contain {memory}; report the use without the receipt",
        receipt.id
    )))
}

/// Whether a turn answered the context that showed a memory. That use was counted even if the session has been extracted
/// since and the unrated use was removed.
fn was_counted(receipt: &Receipt, memory: MemoryId) -> bool {
    let shows = |item: &ReceiptItem| is_memory(memory, item.kind, &item.owner_id) && item.packed_as.is_some();
    receipt.used_at.is_some() && receipt.items.iter().any(shows)
}

/// Whether an item of a receipt is this memory.
fn is_memory(memory: MemoryId, kind: ItemKind, owner_id: &Uuid) -> bool {
    kind == ItemKind::Memory && owner_id == memory.as_uuid()
}
