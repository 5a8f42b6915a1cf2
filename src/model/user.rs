//! A user as lists show it.

use serde::Serialize;

use crate::model::ids::UserId;

/// A user of the file, with counts; contains nothing that was said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct UserInfo {
    /// The user's id.
    pub id: UserId,
    /// The caller's name for the user. `None` if only the id is known, if the `users` table belongs to a backend, or if
    /// the user is being erased.
    pub name: Option<String>,
    /// The number of the user's sessions.
    pub session_count: u64,
    /// The number of turns in the user's sessions: the sum of each [`turn_count`](crate::SessionInfo::turn_count).
    pub turn_count: u64,
    /// The tokens of the user's sessions: the sum of each [`total_tokens`](crate::SessionInfo::total_tokens).
    pub total_tokens: u64,
}
