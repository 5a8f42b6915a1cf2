//! Records a reported use of a memory. A use is counted once and rated once, if its reporter may move the memory's numbers;
//! otherwise the report is stored and counts nothing.
//!
//! A use does not raise the memory's revision. If it rates the memory, it is a change in the history, which undo takes back.
//! An unrated use is not: every answered context makes some. That an archived memory becomes active again is a change of
//! its own.

use crate::{
    error::{ErrorKind, Result},
    model::{
        episode::{EpisodeRole, Use},
        ids::{EpisodeId, MemoryId, SessionId},
        memory::{
            known::Memory,
            state::MemoryState,
            trust::Trust,
            words::{MemoryStatus, Outcome},
        },
        place::{MemoryNo, SessionNo},
        receipt::{Receipt, ReceiptItem},
        turn::Origin,
    },
    store::{
        acts::memories::{
            edges::check_is_seen,
            operation::{MemoryOperation, conflict, no_memory},
            rated::{RatedUse, is_memory},
            voices::check_may_change_words,
        },
        rows::{
            memories::{
                episodes::{self, EpisodeRow},
                find, reviews,
                row::MemoryRow,
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
        let receipt = operation.receipt(&row, report)?;
        let counts = operation.counts(&row, (report, receipt.as_ref()), Trust::of(by))?;
        let helps = match operation.known_use(row.memory_no, report, counts)? {
            Some(known) if counts => operation.rate_known(&row, &known, report)?,
            Some(_) => false,
            None if counts => operation.add_use(&row, report, receipt.as_ref())?,
            None => {
                operation.add_episode(&row, report, EpisodeRole::Report)?;
                false
            }
        };
        if helps && check_may_change_words(&row, Trust::of(by)).is_ok() {
            operation.restore_used(&row)?;
        }
        operation.shown(row.memory_no)
    }
}

impl MemoryOperation<'_, '_> {
    /// The receipt that a report names; `None` if it names none, or one that is not kept. Errors: the receipt does not list
    /// the memory.
    fn receipt(&self, row: &MemoryRow, report: &Use) -> Result<Option<Receipt>> {
        let Some(id) = report.receipt_id else { return Ok(None) };
        let receipt = receipts::by_id(self.tx.sql, &self.scope, id)?;
        receipt.as_ref().map_or(Ok(()), |receipt| check_names(receipt, row.id))?;
        Ok(receipt)
    }

    /// The use that a report is about, if it was reported or noted before. For a report that does not count, also an earlier
    /// one that did not.
    fn known_use(&self, memory_no: MemoryNo, report: &Use, counts: bool) -> Result<Option<EpisodeRow>> {
        let (sql, scope) = (self.tx.sql, &self.scope);
        if let Some(caller_id) = &report.caller_id
            && let Some(known) = episodes::by_caller_id(sql, scope, caller_id)?
        {
            let is_use = matches!(known.role, EpisodeRole::Use | EpisodeRole::Report);
            if !is_use || known.memory_no != Some(memory_no) {
                return Err(conflict(
                    "an episode with this caller's id is about something else; use another id",
                ));
            }
            if counts && known.role == EpisodeRole::Report {
                return Err(conflict(
                    "a report with this caller's id is kept and counts nothing, because its reporter was trusted \
                     less than the memory or it was undone; use another id",
                ));
            }
            return Ok(Some(known));
        }
        let Some(receipt) = report.receipt_id else { return Ok(None) };
        let of_role = |role| episodes::by_receipt(sql, scope, (memory_no, receipt), role);
        match of_role(EpisodeRole::Use)? {
            Some(known) if counts || is_rated(known.outcome) => Ok(Some(known)),
            _ if counts => Ok(None),
            _ => of_role(EpisodeRole::Report),
        }
    }

    /// Rates a noted use by the user's own words, unless it already has an outcome, or the memory is gone, forgotten or
    /// quarantined, or trusted more than those words are. Returns whether it did.
    pub(super) fn rate_heard(&mut self, id: MemoryId, (report, trust): (&Use, Trust)) -> Result<bool> {
        let (sql, scope) = (self.tx.sql, self.scope);
        let is_rated = |row: &MemoryRow| check_is_seen(row).is_ok() && trust.may_change(row.trust);
        let Some(row) = find::by_id(sql, &scope, id)?.filter(is_rated) else {
            return Ok(false);
        };
        let known = self.known_use(row.memory_no, report, true)?;
        let Some(known) = known.filter(|known| known.outcome.is_none()) else { return Ok(false) };
        if self.rate_known(&row, &known, report)? {
            self.restore_used(&row)?;
        }
        Ok(true)
    }

    /// Counts a use. Returns whether it makes an archived memory active again: unless it did not help.
    fn add_use(&mut self, row: &MemoryRow, report: &Use, receipt: Option<&Receipt>) -> Result<bool> {
        let (sql, scope, memory_no) = (self.tx.sql, self.scope, row.memory_no);
        let was = self.state(memory_no)?;
        let id = self.add_episode(row, report, EpisodeRole::Use)?;
        let is_access = !receipt.is_some_and(|receipt| was_counted(receipt, row.id));
        if is_access {
            state::count_access(sql, &scope, memory_no, 1, self.now)?;
        }
        if let Some(outcome) = report.outcome {
            self.rate(row, &was, &RatedUse { id, outcome, is_access })?;
        }
        Ok(report.outcome.and_then(Outcome::helped) != Some(false))
    }

    fn add_episode(&self, row: &MemoryRow, report: &Use, role: EpisodeRole) -> Result<EpisodeId> {
        let (sql, scope) = (self.tx.sql, &self.scope);
        let of_receipt = match report.receipt_id {
            Some(receipt) => uses::session_of(sql, scope, receipt)?,
            None => None,
        };
        let (session_no, filed) = self.used_in(report.session_id.or(of_receipt))?;
        let project = report.project.as_deref().or(filed.as_deref());
        let id = EpisodeId::new(self.now);
        let of = (id, row.memory_no, role);
        uses::insert_reported(sql, scope, of, (report, session_no, project), self.now)?;
        Ok(id)
    }

    fn state(&self, memory_no: MemoryNo) -> Result<MemoryState> {
        state::of_many(self.tx.sql, &self.scope, &[memory_no])?.pop().ok_or_else(no_memory)
    }

    /// The number and the project of the session in which something was used.
    fn used_in(&self, session: Option<SessionId>) -> Result<(Option<SessionNo>, Option<String>)> {
        let session = self.session(session)?;
        let session_no = session.as_ref().map(|session| session.session_no);
        Ok((session_no, session.and_then(|session| session.info.project)))
    }

    /// Rates a known use, unless it is already rated. An outcome that is no rating is only recorded if there is none yet.
    /// Returns whether the use is now known to have helped.
    fn rate_known(&mut self, row: &MemoryRow, known: &EpisodeRow, report: &Use) -> Result<bool> {
        let Some(outcome) = report.outcome else { return Ok(false) };
        if is_rated(known.outcome) || (known.outcome.is_some() && !is_rated(report.outcome)) {
            return Ok(false);
        }
        uses::rate(self.tx.sql, &self.scope, known.episode_no, (outcome, report))?;
        let rated = RatedUse { id: known.id, outcome, is_access: false };
        self.rate(row, &self.state(row.memory_no)?, &rated)?;
        Ok(outcome.helped() == Some(true))
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

/// Whether an outcome says whether a use helped.
fn is_rated(outcome: Option<Outcome>) -> bool {
    outcome.and_then(Outcome::helped).is_some()
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
