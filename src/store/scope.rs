//! A user as a scope, which limits the rows that a statement may touch. Also the key by which a caller identifies a user.

use crate::model::{ids::UserId, place::UserNo};

/// A user who has a row in this file. Every statement about a user's rows takes a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Scope {
    pub(crate) user_id: UserId,
    /// The short key of the user in internal tables.
    pub(crate) user_no: UserNo,
}

/// The id or the name by which a caller identifies a user.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a user has an id and a name, and nothing else to be found by")]
pub enum UserKey {
    /// The user's id.
    Id(UserId),
    /// The user's name: 1 to 256 bytes, without NUL. Not for a file whose users table is a backend's own.
    Name(String),
}

impl From<UserId> for UserKey {
    fn from(id: UserId) -> Self {
        Self::Id(id)
    }
}

impl From<&str> for UserKey {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}
