//! A user as a scope, which limits the rows that a statement may touch.

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
pub(crate) enum UserKey {
    Id(UserId),
    Name(String),
}
