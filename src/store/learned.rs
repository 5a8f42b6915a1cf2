//! What use has taught about a user, as of one moment.

use crate::{
    compress::learned::LearnedCriticality,
    error::Result,
    store::{rows::uses, scope::Scope, snapshot::Snapshot},
};

impl Snapshot<'_> {
    /// What was learned about the user's rules, and about the turns between two places in the order of recording.
    pub(crate) fn learned(&self, scope: &Scope, places: (i64, i64)) -> Result<LearnedCriticality> {
        self.ask(|sql| uses::learned(sql, scope, places))
    }
}
