//! Users, as a list of them shows them.

use serde::Serialize;

use crate::model::ids::UserId;

/// A user of the file, and how much there is of them; nothing of what was said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct UserInfo {
    /// Their id.
    pub id: UserId,
    /// What the caller calls them. None if only the id is known, if the `users` table is a backend's own, or if the user is
    /// being erased.
    pub name: Option<String>,
    /// Their sessions.
    pub session_count: u64,
    /// Turns ever recorded in those.
    pub turn_count: u64,
    /// Their tokens, as they were said.
    pub total_tokens: u64,
}
