//! Removes rows that older versions kept for ever.

use crate::{
    model::place::SessionNo,
    store::{job_tx::JobTx, rows::turns, scope::Scope, slice_error::SliceResult},
};

impl JobTx<'_, '_> {
    /// Removes promotions from the transitions of the next session after `after` that has any, and returns that session.
    pub(crate) fn prune_moves(&mut self, scope: &Scope, after: SessionNo) -> SliceResult<Option<SessionNo>> {
        self.lock(scope)?;
        Ok(turns::prune_moves(self.tx.sql, scope, after)?)
    }
}
