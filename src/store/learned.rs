//! What use has taught of a user, as of one moment.

use crate::{
    compress::learned::LearnedCriticality,
    error::Result,
    store::{rows::uses, scope::Scope, snapshot::Snapshot},
};

impl Snapshot<'_> {
    /// Of the user's rules, and of turns from the one place in the order of recording to the other.
    pub(crate) fn learned(&self, scope: &Scope, places: (i64, i64)) -> Result<LearnedCriticality> {
        self.ask(|sql| uses::learned(sql, scope, places))
    }
}
