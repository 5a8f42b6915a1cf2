//! The user for whom something is kept: one whom a handle has found, or one whom the call names.

use crate::{
    error::Result,
    store::{
        scope::{Scope, UserKey},
        snapshot::Snapshot,
        write_tx::WriteTx,
    },
    text::measure::check_name,
};

/// The user for whom something is kept.
#[derive(Clone)]
pub(super) enum Owner {
    /// A user whom a handle has found.
    Known(Scope),
    /// A user who is added with what is kept, if new.
    Wanted(UserKey),
}

impl Owner {
    /// Returns the user with this name or id. Errors: `InvalidInput` for an impossible name.
    pub(super) fn named(user: UserKey) -> Result<Self> {
        if let UserKey::Name(name) = &user {
            check_name("user's name", Some(name))?;
        }
        Ok(Self::Wanted(user))
    }

    pub(super) fn find(&self, snapshot: &Snapshot<'_>) -> Result<Option<Scope>> {
        match self {
            Self::Known(scope) => Ok(Some(*scope)),
            Self::Wanted(user) => snapshot.user(user),
        }
    }

    pub(super) fn find_or_add(&self, tx: &mut WriteTx<'_>) -> Result<Scope> {
        match self {
            Self::Known(scope) => Ok(*scope),
            Self::Wanted(user) => tx.add_user(user),
        }
    }
}
