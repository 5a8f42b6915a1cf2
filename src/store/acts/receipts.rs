//! Receipts: keeping them, counting what was of use, and what is warm in a session for it was of use there.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    error::Result,
    model::{
        ids::ReceiptId,
        place::SessionNo,
        receipt::Receipt,
        tier::{MemoryTier, MoveReason},
    },
    store::{
        rows::{
            jobs,
            receipts::{self, Shown, Used},
            sessions::SessionRow,
            turns,
        },
        scope::Scope,
        write_tx::WriteTx,
    },
};

/// A receipt to be kept, and the user's epoch at the recall.
#[derive(Debug)]
pub(crate) struct NewReceipt {
    pub(crate) receipt: Receipt,
    pub(crate) epoch: i64,
}

impl WriteTx<'_> {
    /// Writes a receipt, and lets the oldest of the user go. Nothing if the user is gone or being erased, or if anything
    /// of it was erased since: that must not come back in a receipt, and a query may repeat it.
    pub(crate) fn keep_receipt(&mut self, scope: &Scope, new: &NewReceipt) -> Result<()> {
        let NewReceipt { receipt, epoch } = new;
        let user = self.sql.lock_user(scope.user_no)?;
        let is_as_it_was = user.is_some_and(|row| row.user_id == scope.user_id && row.epoch == *epoch);
        if !is_as_it_was || jobs::is_erasing(self.sql, scope, None)? {
            return Ok(());
        }
        receipts::insert(self.sql, scope, receipt)?;
        receipts::prune(self.sql, scope, self.config.receipts)
    }
}

/// A turn says what it answers: what the receipt's context showed was of use. Counts it once; cold turns become warm in
/// the session until that ends. A receipt that is gone counts nothing.
pub(crate) fn count_use(tx: &WriteTx<'_>, scope: &Scope, session: &SessionRow, id: ReceiptId) -> Result<()> {
    let now = tx.now();
    let Some(Used { receipt_no, profile }) = receipts::set_used(tx.sql, scope, id, now)? else {
        return Ok(());
    };
    let shown = receipts::shown(tx.sql, scope, receipt_no)?;
    let mut counts: BTreeMap<(&str, &str), u32> = BTreeMap::from([(("profile", profile.as_str()), 1)]);
    for shown in &shown {
        let tier = shown.memory_tier.map(|tier| ("tier", tier.as_str()));
        let rule = shown.rule.map(|rule| ("rule", rule.as_str()));
        for counted in [Some(("packed_as", shown.packed_as.as_str())), tier, rule].into_iter().flatten() {
            *counts.entry(counted).or_default() += 1;
        }
        if let Some(seq) = shown.seq {
            receipts::count_unit(tx.sql, scope, seq, now)?;
        }
    }
    for (counted, hits) in counts {
        receipts::count(tx.sql, scope, counted, hits)?;
    }
    promote(tx, scope, session.session_no, &shown)
}

/// Makes what was cold warm in the session that used it.
fn promote(tx: &WriteTx<'_>, scope: &Scope, session_no: SessionNo, shown: &[Shown]) -> Result<()> {
    let cold = shown.iter().filter(|shown| shown.memory_tier == Some(MemoryTier::Cold));
    let cold: Vec<_> = cold.filter_map(|shown| shown.seq.zip(shown.place)).collect();
    if cold.is_empty() {
        return Ok(());
    }
    let now = tx.now();
    let mut known = BTreeSet::from_iter(receipts::promoted(tx.sql, scope, session_no, u32::MAX)?);
    for (seq, place) in cold {
        if known.insert(seq) {
            receipts::promote(tx.sql, scope, session_no, seq, now)?;
            turns::record_move(tx.sql, scope, place, ("cold", "warm"), MoveReason::Recall, now)?;
        }
    }
    Ok(())
}

/// The session ends: what was warm in it for its use is cold again.
pub(crate) fn end_promotions(tx: &WriteTx<'_>, scope: &Scope, session_no: SessionNo) -> Result<()> {
    for place in receipts::promoted_places(tx.sql, scope, session_no)? {
        turns::record_move(tx.sql, scope, place, ("warm", "cold"), MoveReason::RecallEnd, tx.now())?;
    }
    receipts::remove_promotions(tx.sql, scope, session_no)
}
