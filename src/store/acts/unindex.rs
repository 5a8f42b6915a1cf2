//! Removes units from the index and the vectors.

use crate::{
    error::{ErrorKind, Result},
    store::{acts::index, rows::vectors, scope::Scope, write_tx::WriteTx},
};

/// Removes units from the postings, the blocks of facts and the vectors. Each unit comes with its words; `None` if they are
/// damaged.
pub(super) fn units(tx: &mut WriteTx<'_>, scope: &Scope, units: Vec<(u32, Option<Vec<u8>>)>) -> Result<()> {
    let sql = tx.sql;
    let is_sound = index::has_known_words(tx, scope)? && units.iter().all(|(_, words)| words.is_some());
    let gone: Vec<_> = units.into_iter().map(|(seq, words)| (seq, words.unwrap_or_default())).collect();
    match index::forget(sql, scope, &gone) {
        Ok(()) if is_sound => {}
        // The words under which the units are in the index are unknown, so the whole index is removed and rebuilt from the
        // other units.
        Err(error) if error.kind() != ErrorKind::Corrupt => return Err(error),
        _ => index::drop_all(tx, scope)?,
    }
    vectors::forget(sql, scope, &gone.iter().map(|(seq, _)| *seq).collect())
}
