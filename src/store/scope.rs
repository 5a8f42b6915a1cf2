//! Users: which rows a statement may touch.

use crate::model::{ids::UserId, place::UserNo};

/// A user with a place in this file. Every statement about a user's rows takes a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Scope {
    pub(crate) user_id: UserId,
    /// Stands for the user in internal tables.
    pub(crate) user_no: UserNo,
}

/// How a caller names a user.
#[derive(Clone, Debug)]
pub(crate) enum UserKey {
    Id(UserId),
    Name(String),
}
