//! Taking out rows that older versions kept for ever.

use crate::{
    model::place::SessionNo,
    store::{job_tx::JobTx, rows::turns, scope::Scope, slice_error::SliceResult},
};

impl JobTx<'_, '_> {
    /// Takes promotions out of the moves of the next session behind `after` that has any, and says which that is.
    pub(crate) fn prune_moves(&mut self, scope: &Scope, after: SessionNo) -> SliceResult<Option<SessionNo>> {
        self.lock(scope)?;
        Ok(turns::prune_moves(self.tx.sql, scope, after)?)
    }
}
