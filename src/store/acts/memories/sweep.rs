//! Removes units of memories from the index, the vectors and all tables: units with texts that memories no longer have, and
//! units of erased memories.

use crate::{
    error::Result,
    model::place::Seq,
    store::{
        acts::unindex,
        job_tx::JobTx,
        rows::{
            erase::{self as erase_rows, USER_TABLES},
            memories::units,
            users,
        },
        scope::Scope,
        slice_error::SliceResult,
        write_tx::WriteTx,
    },
};

/// Units per slice. A slice holds the writer for about 3 ms.
const SLICE_UNITS: u32 = 32;

impl JobTx<'_, '_> {
    /// Removes some of the units that do not have a memory's current text from the index, the vectors and all tables.
    /// Returns `false` if there are none.
    pub(crate) fn sweep_memory_units(&mut self, scope: &Scope) -> SliceResult<bool> {
        self.lock(scope)?;
        let stale = units::stale(self.tx.sql, scope, SLICE_UNITS)?;
        if stale.is_empty() {
            return Ok(false);
        }
        take_out(self.tx, scope, &stale)?;
        // Readers that have the units cached must read again.
        users::raise_epoch(self.tx.sql, scope)?;
        Ok(true)
    }
}

/// Removes units of memories from the index, the vectors and all tables.
pub(super) fn take_out(tx: &mut WriteTx<'_>, scope: &Scope, seqs: &[Seq]) -> Result<()> {
    let sql = tx.sql;
    let mut gone = Vec::with_capacity(seqs.len());
    for &seq in seqs {
        gone.push((seq.0, units::sound_words(sql, scope, seq)?));
    }
    unindex::units(tx, scope, gone)?;
    for &seq in seqs {
        for table in USER_TABLES {
            erase_rows::of_unit(sql, scope, table, seq)?;
        }
    }
    Ok(())
}
