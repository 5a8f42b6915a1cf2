//! What a report of a use does to a memory's numbers, whose report may do that, and how undo takes it back.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    error::{Error, ErrorKind, Result},
    memory::beginning::OutcomeRecord,
    model::{
        change::{Change, ChangeOp},
        episode::{EpisodeRole, Use},
        ids::{EpisodeId, MemoryId},
        memory::{state::MemoryState, trust::Trust, words::Outcome},
        profile::rounded,
        receipt::{ItemKind, Receipt, ReceiptItem},
        stored_time::StoredTime,
    },
    store::{
        acts::memories::operation::{MemoryOperation, Note, conflict},
        rows::memories::{
            changes, episodes,
            row::{self, MemoryRow},
            state, uses,
        },
    },
};

/// A use that rates a memory.
pub(super) struct RatedUse {
    pub(super) id: EpisodeId,
    pub(super) outcome: Outcome,
    /// Whether this report also counted as an access: no answered context had counted it.
    pub(super) is_access: bool,
}

/// What the history keeps of a memory's numbers before a use rated it.
#[derive(Serialize, Deserialize)]
struct NumbersBefore {
    episode_id: EpisodeId,
    confidence: f64,
    usage_count: u32,
    success_rate: Option<f64>,
    #[serde(flatten)]
    access: Option<AccessBefore>,
}

#[derive(Serialize, Deserialize)]
struct AccessBefore {
    access_count: u32,
    last_used_at: Option<DateTime<Utc>>,
}

impl MemoryOperation<'_, '_> {
    /// Whether a report moves the memory's numbers. That of somebody who is trusted at least as far does; for a memory that
    /// a person approved, the user's trust is enough. Anybody else needs a receipt that shows the memory. It counts once,
    /// and such a reporter rates a memory once a day. The key of somebody who is trusted less can make as many receipts as
    /// it likes.
    pub(super) fn counts(
        &self,
        memory: &MemoryRow,
        (report, receipt): (&Use, Option<&Receipt>),
        reporter: Trust,
    ) -> Result<bool> {
        if reporter >= memory.trust.min(Trust::User) {
            return Ok(true);
        }
        let Some(receipt) = receipt.filter(|receipt| shows(receipt, memory.id)) else { return Ok(false) };
        let (sql, scope, memory_no) = (self.tx.sql, &self.scope, memory.memory_no);
        if episodes::by_receipt(sql, scope, (memory_no, receipt.id), EpisodeRole::Report)?.is_some() {
            return Ok(false);
        }
        let rates = report.outcome.and_then(Outcome::helped).is_some();
        Ok(!rates || !changes::was_rated(sql, scope, (memory_no, &self.made_by), self.now.date_naive())?)
    }

    /// Adjusts confidence and success rate by a use's outcome, counts again in how many sessions and projects the memory
    /// helped, and records the numbers before and after in the history. `was` is the memory's state before the use.
    pub(super) fn rate(&self, memory: &MemoryRow, was: &MemoryState, rated: &RatedUse) -> Result<()> {
        let RatedUse { id, outcome, is_access } = *rated;
        if outcome.helped().is_none() {
            return Ok(());
        }
        let (sql, scope, memory_no) = (self.tx.sql, &self.scope, memory.memory_no);
        let (confidence, usage_count, success_rate) = (memory.confidence, was.usage_count, was.success_rate);
        let after = OutcomeRecord { confidence, usage_count, success_rate }.after_outcome(outcome);
        row::set_confidence(sql, scope, memory_no, after.confidence)?;
        state::set_rated(sql, scope, memory_no, (after.usage_count, after.success_rate))?;
        state::recount(sql, scope, memory_no)?;
        let access = is_access
            .then_some(AccessBefore { access_count: was.access_count, last_used_at: was.last_used_at });
        let before = NumbersBefore { episode_id: id, confidence, usage_count, success_rate, access };
        let before = serde_json::to_string(&before)
            .map_err(|error| Error::caused(ErrorKind::Corrupt, "a use cannot be written as JSON", error))?;
        let [old, new] = [confidence, after.confidence].map(|number| number.to_string());
        let rate = after.success_rate.unwrap_or_default();
        let reason =
            format!("{}: success rate {rate:.2}, rated uses {}", outcome.as_str(), after.usage_count);
        let note = Note { op: ChangeOp::Use, old_value: Some(&old), new_value: Some(&new), reason: &reason };
        self.note(memory_no, note, Some(before))
    }

    /// Takes back what a use did to a memory's numbers, except its confidence. The use stays, as a report that counts
    /// nothing.
    pub(super) fn uncount(&self, memory: &MemoryRow, change: &Change) -> Result<()> {
        let (sql, scope, memory_no) = (self.tx.sql, &self.scope, memory.memory_no);
        let before = numbers_before(memory, change)?;
        if !uses::uncount(sql, scope, (before.episode_id, memory_no))? {
            return Err(conflict(format!("the use of {} is no longer kept", memory.id)));
        }
        let (rated, helped) = uses::rated(sql, scope, memory_no)?;
        let success_rate = (rated > 0).then(|| rounded(f64::from(helped) / f64::from(rated)));
        state::set_rated(sql, scope, memory_no, (rated, success_rate))?;
        if let Some(access) = before.access {
            state::uncount_access(
                sql,
                scope,
                memory_no,
                (change.made_at.try_into()?, StoredTime::stated("last_used_at", access.last_used_at)?),
            )?;
        }
        state::recount(sql, scope, memory_no)
    }
}

/// The confidence that a memory gets when the change by a use is undone: that before it. If a check or an edit has stated
/// another one since, that one stays.
pub(super) fn confidence_before(memory: &MemoryRow, change: &Change) -> Result<f64> {
    let stands = change.new_value.as_deref() != Some(memory.confidence.to_string().as_str());
    Ok(if stands { memory.confidence } else { numbers_before(memory, change)?.confidence })
}

fn numbers_before(memory: &MemoryRow, change: &Change) -> Result<NumbersBefore> {
    let before = change.before.clone().and_then(|before| serde_json::from_value(before).ok());
    before.ok_or_else(|| conflict(format!("what {} was before the use is not kept", memory.id)))
}

/// Whether a receipt shows a memory: a recall returned it, or a context had room for it.
fn shows(receipt: &Receipt, memory: MemoryId) -> bool {
    let is_shown = |item: &ReceiptItem| item.packed_as.is_some() || receipt.budget_tokens.is_none();
    receipt.items.iter().any(|item| is_memory(memory, item.kind, &item.owner_id) && is_shown(item))
}

/// Whether an item of a receipt is this memory.
pub(super) fn is_memory(memory: MemoryId, kind: ItemKind, owner_id: &Uuid) -> bool {
    kind == ItemKind::Memory && owner_id == memory.as_uuid()
}
