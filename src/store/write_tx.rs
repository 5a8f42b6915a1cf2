//! A write transaction as its commands see it, and the locking of a user's row, with which an act on the user begins.

use std::{cell::RefCell, collections::HashMap, sync::Arc};

use crate::{
    config::Config,
    error::{ErrorKind, Result},
    model::{ids::SessionId, memory::trust::check_may_change, stored_time::StoredTime, turn::Origin},
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

/// The hot tiers as the open transaction leaves them, by session. They go into the cache after the commit. `None` removes a
/// session from the cache.
pub(crate) type Staged = HashMap<SessionId, Option<(Arc<HotTier>, Version)>>;

/// A write transaction, with the state that its commands share.
pub(crate) struct WriteTx<'a> {
    pub(crate) sql: &'a dyn Sql,
    pub(crate) config: &'a Config,
    pub(crate) live: &'a Live,
    pub(crate) staged: &'a mut Staged,
    /// The users that the current act changes. Their revisions rise if the act writes something.
    pub(crate) locked: RefCell<Vec<Scope>>,
    /// Whether the act queued a job. Workers are notified after the commit.
    pub(crate) has_work: bool,
    /// Writes that follow from this transaction, and are queued once callers have their answers.
    pub(crate) behind: Vec<WriteBehind>,
    /// Who asks for the act. The host and its jobs act for the user; a handle may act for somebody who is trusted less.
    pub(crate) by: Origin,
}

impl WriteTx<'_> {
    /// Returns the current time of the configured clock.
    pub(crate) fn now(&self) -> StoredTime {
        StoredTime::clamped(self.config.clock.now())
    }

    /// Fails if the act would change a session that is trusted more than who asks for it.
    pub(crate) fn check_may_change_session(&self, session: &SessionRow) -> Result<()> {
        check_may_change(self.by, session.info.trust, format_args!("session {}", session.info.id))
    }

    /// Locks the user's row against changes by others until this transaction ends. Every act on a user begins with this
    /// call. Fails if the user is gone.
    pub(crate) fn lock(&self, scope: &Scope) -> Result<UserRow> {
        self.try_lock(scope)?.ok_or_else(users::gone)
    }

    /// Like `lock`, but returns `None` if the user is gone. Both take over the turns that other programs inserted for the
    /// user.
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

    /// Like `try_lock`, for a user who is erased completely: returns whether the user is there, whatever else the damaged row
    /// holds.
    pub(crate) fn lock_doomed(&self, scope: &Scope) -> Result<bool> {
        match self.try_lock(scope) {
            Err(error) if error.kind() == ErrorKind::Corrupt => users::is_there(self.sql, scope),
            found => Ok(found?.is_some()),
        }
    }

    /// Takes over a portion of the turns that other programs inserted for a user, so that others can write between portions.
    pub(crate) fn take_over_some(&self, scope: &Scope) -> Result<()> {
        self.on(scope);
        let user = self.sql.lock_user(scope.user_no)?.filter(|row| row.user_id == scope.user_id);
        let of = (self.sql, self.config, self.now());
        user.map_or(Ok(()), |user| inserted::take_over(of, scope, &user, inserted::SLICE_UNITS))
    }

    /// Notes that the act changes this user. Receipts and use counts lock the row without this call, because they do not
    /// raise the revision.
    fn on(&self, scope: &Scope) {
        let mut locked = self.locked.borrow_mut();
        if !locked.contains(scope) {
            locked.push(*scope);
        }
    }

    /// Raises the revision of the users that the act changes. Called if the act has written something.
    pub(crate) fn raise_revisions(&self) -> Result<()> {
        self.locked.borrow().iter().try_for_each(|scope| users::raise_revision(self.sql, scope))
    }

    /// Returns the session's hot tier: the one that this transaction left or, if it left none, the cached one, provided that
    /// its version is the session's. Otherwise reads it from the rows.
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
