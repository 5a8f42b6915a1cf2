//! What is done to what is kept: each act is one transaction, or a slice of a job's work.

pub(crate) mod anchors;
pub(crate) mod erase;
pub(crate) mod index;
pub(crate) mod jobs;
pub(crate) mod lifecycle;
pub(crate) mod mend;
pub(crate) mod receipts;
pub(crate) mod record;
pub(crate) mod reload;
pub(crate) mod restore;
pub(crate) mod swap;
pub(crate) mod vectors;

// Until each stands where it is done.
use chrono::{DateTime, Utc};

use crate::{
    error::Result,
    model::{ids::SessionId, job::JobKind, session::SessionInfo, tier::MemoryTier, turn::Recorded},
    store::{
        acts::{restore::Unpacked, swap::Swap},
        job_tx::JobTx,
        rows::{
            sessions::{self, SessionRow, no_session},
            users,
        },
        scope::{Scope, UserKey},
        transfer::{
            Transferred,
            import::{self, Import},
        },
        write_tx::WriteTx,
    },
    text::measure::MeasuredTurn,
};

impl WriteTx<'_> {
    pub(crate) fn add_user(&mut self, key: &UserKey) -> Result<Scope> {
        users::find_or_add(self.sql, key, self.now())
    }
    pub(crate) fn import(&mut self, key: &UserKey, import: Import) -> Result<Transferred> {
        import::write(self, key, import)
    }
    pub(crate) fn resume_session(&mut self, scope: &Scope) -> Result<SessionRow> {
        lifecycle::resume_or_start(self, scope)
    }
    pub(crate) fn open_session(&mut self, scope: &Scope, key: &str) -> Result<SessionRow> {
        lifecycle::named(self, scope, key)
    }
    pub(crate) fn start_session(&mut self, scope: &Scope) -> Result<SessionRow> {
        lifecycle::start_new(self, scope)
    }
    pub(crate) fn end_session(
        &mut self,
        scope: &Scope,
        session: SessionId,
        ended_at: Option<DateTime<Utc>>,
    ) -> Result<SessionInfo> {
        lifecycle::end_by_call(self, scope, session, ended_at)
    }
    pub(crate) fn end_if_silent(&mut self, scope: &Scope, session: SessionId) -> Result<bool> {
        lifecycle::end_if_silent(self, scope, session)
    }
    pub(crate) fn set_project(
        &mut self,
        scope: &Scope,
        session: SessionId,
        project: Option<&str>,
    ) -> Result<()> {
        if sessions::set_project(self.sql, scope, session, project)? { Ok(()) } else { Err(no_session()) }
    }
    pub(crate) fn queue_compression(&mut self, scope: &Scope, session: SessionId) -> Result<()> {
        let info = sessions::existing(self.sql, scope, session)?.info;
        if info.memory_tier == MemoryTier::Warm {
            jobs::enqueue(self, scope, JobKind::Compress, Some(session), info.turn_count)?;
        }
        Ok(())
    }
    pub(crate) fn record(
        &mut self,
        scope: &Scope,
        session: SessionId,
        measured: MeasuredTurn,
    ) -> Result<Recorded> {
        record::record(self, scope, session, measured)
    }
    pub(crate) fn restore_slice(
        &mut self,
        scope: &Scope,
        session: SessionId,
        unpacked: Option<Unpacked>,
    ) -> Result<u32> {
        restore::slice(self, scope, session, unpacked)
    }
}

impl JobTx<'_, '_> {
    pub(crate) fn swap_slice(&mut self, scope: &Scope, swap: &Swap) -> Result<()> {
        swap::swap(self.tx, scope, self.lease, swap)
    }
    pub(crate) fn finish_compression(&mut self, scope: &Scope, session: SessionId) -> Result<bool> {
        swap::finish(self.tx, scope, self.lease, session)
    }
}
