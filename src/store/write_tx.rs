//! What the commands of one transaction work with.

use std::{cell::RefCell, collections::HashMap, sync::Arc};

use chrono::{DateTime, Utc};

use crate::{
    config::Config,
    error::Result,
    model::{ids::SessionId, instant},
    store::{
        acts::{inserted, reload},
        behind::WriteBehind,
        live::Live,
        rows::{
            sessions::{SessionRow, Version},
            users,
        },
        scope::Scope,
        sql::{Sql, UserRow},
    },
    tier::hot::HotTier,
};

/// Hot tiers as the open transaction leaves them, to be published once it is committed. `None`: no longer known.
pub(crate) type Staged = HashMap<SessionId, Option<(Arc<HotTier>, Version)>>;

/// What the commands of a transaction work with.
pub(crate) struct WriteTx<'a> {
    pub(crate) sql: &'a dyn Sql,
    pub(crate) config: &'a Config,
    pub(crate) live: &'a Live,
    pub(crate) staged: &'a mut Staged,
    /// The users on whom the act is.
    pub(crate) locked: RefCell<Vec<Scope>>,
    /// A job was queued: whoever runs them is told once this is committed.
    pub(crate) has_work: bool,
    /// What follows from this and may wait: it is written behind the acknowledgement.
    pub(crate) behind: Vec<WriteBehind>,
}

impl WriteTx<'_> {
    /// The system clock.
    pub(crate) fn now(&self) -> DateTime<Utc> {
        instant::clamped(self.config.clock.now())
    }

    /// The user's row, which nobody else changes until this transaction ends: every act on a user begins with it.
    pub(crate) fn lock(&self, scope: &Scope) -> Result<UserRow> {
        self.try_lock(scope)?.ok_or_else(users::gone)
    }

    /// The same, or nothing if the user is gone. What another program inserted is taken over first.
    pub(crate) fn try_lock(&self, scope: &Scope) -> Result<Option<UserRow>> {
        let locked = || {
            let found = self.sql.lock_user(scope.user_no)?;
            Ok(found.filter(|row| row.user_id == scope.user_id))
        };
        self.on(scope);
        match locked()? {
            Some(user) if user.inserted_seq.is_some() => {
                inserted::take_over((self.sql, self.config, self.now()), scope, &user, u32::MAX)?;
                locked()
            }
            found => Ok(found),
        }
    }

    /// Takes over some of what another program inserted for a user: others write meanwhile.
    pub(crate) fn take_over_some(&self, scope: &Scope) -> Result<()> {
        self.on(scope);
        let user = self.sql.lock_user(scope.user_no)?.filter(|row| row.user_id == scope.user_id);
        let of = (self.sql, self.config, self.now());
        user.map_or(Ok(()), |user| inserted::take_over(of, scope, &user, inserted::SLICE_UNITS))
    }

    /// Notes that the act is on this user. Receipts and counts of use lock the row without this: they are no revision.
    fn on(&self, scope: &Scope) {
        let mut locked = self.locked.borrow_mut();
        if !locked.contains(scope) {
            locked.push(*scope);
        }
    }

    /// Once the act has written something: its users have another revision.
    pub(crate) fn raise_revisions(&self) -> Result<()> {
        self.locked.borrow().iter().try_for_each(|scope| users::raise_revision(self.sql, scope))
    }

    /// The session's hot tier: as this transaction left it, else as it is cached if the row says that this still
    /// holds, else from the rows.
    pub(crate) fn hot(&self, scope: &Scope, session: &SessionRow) -> Result<HotTier> {
        let known = match self.staged.get(&session.info.id) {
            Some(staged) => staged.clone(),
            None => self.live.known(session.info.id),
        };
        match known {
            Some((hot, version)) if version == session.version() => Ok(HotTier::clone(&hot)),
            _ => reload::hot(self.sql, scope, session.info.id, self.config),
        }
    }
}
