//! Reads what compression has learned from the uses of a user's turns.

use crate::{
    compress::learned::LearnedCriticality,
    error::Result,
    store::{rows::uses, scope::Scope, snapshot::Snapshot},
};

impl Snapshot<'_> {
    /// Returns which rules have stopped for this user, and which turns between two places in the order of recording were
    /// used often enough to be kept verbatim.
    pub(crate) fn learned(&self, scope: &Scope, places: (i64, i64)) -> Result<LearnedCriticality> {
        self.ask(|sql| uses::learned(sql, scope, places))
    }
}
