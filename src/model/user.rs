//! Users, as they are listed.

use serde::Serialize;

use crate::model::ids::UserId;

/// A user of the file, with counts; contains nothing that was said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct UserInfo {
    /// Their id.
    pub id: UserId,
    /// The caller's name for them. `None` if only the id is known, if the `users` table belongs to a backend, or if the user
    /// is being erased.
    pub name: Option<String>,
    /// How many sessions they have.
    pub session_count: u64,
    /// How many turns were ever recorded in those.
    pub turn_count: u64,
    /// The tokens of those turns, as they were said.
    pub total_tokens: u64,
}
