//! The state that the commands of one transaction share.

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

/// Hot tiers as the open transaction leaves them, published once it is committed. `None` if no longer known.
pub(crate) type Staged = HashMap<SessionId, Option<(Arc<HotTier>, Version)>>;

/// The state that the commands of one transaction share.
pub(crate) struct WriteTx<'a> {
    pub(crate) sql: &'a dyn Sql,
    pub(crate) config: &'a Config,
    pub(crate) live: &'a Live,
    pub(crate) staged: &'a mut Staged,
    /// The users that the act changes.
    pub(crate) locked: RefCell<Vec<Scope>>,
    /// Whether a job was queued. The workers are told once this transaction is committed.
    pub(crate) has_work: bool,
    /// Follow-up writes that may wait until after the acknowledgement.
    pub(crate) behind: Vec<WriteBehind>,
}

impl WriteTx<'_> {
    /// The time by the system clock.
    pub(crate) fn now(&self) -> DateTime<Utc> {
        instant::clamped(self.config.clock.now())
    }

    /// Locks the user's row against changes by others until this transaction ends. Every act on a user begins with this.
    pub(crate) fn lock(&self, scope: &Scope) -> Result<UserRow> {
        self.try_lock(scope)?.ok_or_else(users::gone)
    }

    /// Like `lock`, but `None` if the user is gone. First takes over what another program inserted.
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

    /// Takes over some of what another program inserted for a user, so that others can write in between.
    pub(crate) fn take_over_some(&self, scope: &Scope) -> Result<()> {
        self.on(scope);
        let user = self.sql.lock_user(scope.user_no)?.filter(|row| row.user_id == scope.user_id);
        let of = (self.sql, self.config, self.now());
        user.map_or(Ok(()), |user| inserted::take_over(of, scope, &user, inserted::SLICE_UNITS))
    }

    /// Notes that the act changes this user. Receipts and use counts lock the row without this: they make no new revision.
    fn on(&self, scope: &Scope) {
        let mut locked = self.locked.borrow_mut();
        if !locked.contains(scope) {
            locked.push(*scope);
        }
    }

    /// Raises the revision of the act's users. Called once the act has written something.
    pub(crate) fn raise_revisions(&self) -> Result<()> {
        self.locked.borrow().iter().try_for_each(|scope| users::raise_revision(self.sql, scope))
    }

    /// The session's hot tier: as this transaction left it, otherwise from the cache if the row says it is still valid,
    /// otherwise from the rows.
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
