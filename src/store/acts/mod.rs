//! What is done to what is kept: each act is one transaction, or a slice of a job's work.

pub(crate) mod erase;
mod import;
pub(crate) mod index;
pub(crate) mod lifecycle;
pub(crate) mod mend;
pub(crate) mod record;
pub(crate) mod reload;
pub(crate) mod restore;
pub(crate) mod swap;

// Until each stands where it is done.
use std::ops::Range;

use crate::{
    embed::EmbeddingSpace,
    error::Result,
    model::{
        anchor::FoundAnchor,
        ids::{AnchorId, SessionId},
        job::JobKind,
    },
    store::{
        acts::index::Batch,
        job_tx::JobTx,
        rows::{
            anchors,
            jobs::{self, Lease, Owed, Unfinished},
            receipts::{self, NewReceipt},
            users,
            vectors::{self, Space},
        },
        scope::{Scope, UserKey},
        write_tx::WriteTx,
    },
};

impl WriteTx<'_> {
<<<<<<< HEAD
    pub(crate) fn add_user(&mut self, key: &UserKey) -> Result<Scope> {
        users::find_or_add(self.sql, key, self.now())
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
=======
    pub(crate) fn import(&mut self, key: &UserKey, import: Import) -> Result<Transferred> {
        import::write(self, key, import)
>>>>>>> wip-door1
    }
    pub(crate) fn set_anchor(&mut self, scope: &Scope, found: &FoundAnchor) -> Result<AnchorId> {
        anchors::set(self.sql, scope, found, self.now())
    }
    pub(crate) fn retract_anchor(&mut self, scope: &Scope, id: AnchorId) -> Result<()> {
        anchors::retract(self.sql, scope, id, self.now())
    }
    pub(crate) fn keep_receipt(&mut self, scope: &Scope, receipt: &NewReceipt) -> Result<()> {
        receipts::insert(self, scope, receipt)
    }
    pub(crate) fn begin_erase(
        &mut self,
        scope: &Scope,
        session: Option<SessionId>,
    ) -> Result<(erase::Erased, Lease)> {
        erase::begin(self, scope, session)
    }
    pub(crate) fn take_job(&mut self, only: Option<JobKind>) -> Result<Option<Lease>> {
        jobs::take(self.sql, self.now(), self.config.lease_ms, only)
    }
    pub(crate) fn renew(&mut self, lease: &Lease) -> Result<()> {
        jobs::hold(self, lease)
    }
    pub(crate) fn give_back(&mut self, lease: &Lease, unfinished: &Unfinished) -> Result<()> {
        jobs::give_back(self, lease, unfinished)
    }
    pub(crate) fn retry_jobs(&mut self, job_no: Option<i64>) -> Result<u64> {
        jobs::retry(self, job_no)
    }
    pub(crate) fn finish_scrub(&mut self, owed: Owed) -> Result<()> {
        jobs::finish_scrub(self.sql, owed)
    }
    pub(crate) fn queue_mending(&mut self, scope: &Scope) -> Result<()> {
        mend::queue(self, scope)
    }
    pub(crate) fn queue_mending_of_all(&mut self) -> Result<()> {
        mend::queue_all(self)
    }
    pub(crate) fn queue_stale_spaces(&mut self) -> Result<()> {
        vectors::queue_behind(self)
    }
    pub(crate) fn rebuild_vectors(&mut self) -> Result<u64> {
        vectors::begin_anew(self)
    }
    pub(crate) fn drop_other_vectors(&mut self, kept: &[EmbeddingSpace]) -> Result<bool> {
        vectors::drop_others(self.sql, kept)
    }
}

impl JobTx<'_, '_> {
    pub(crate) fn finish(&mut self) -> Result<()> {
        jobs::finish(self.tx.sql, self.lease)
    }
    pub(crate) fn erase_slice(&mut self, scope: &Scope) -> Result<erase::Slice> {
        match self.lease.session_id {
            Some(session) => erase::session_slice(self.tx, scope, self.lease, session),
            None => erase::user_slice(self.tx, scope, self.lease),
        }
    }
    pub(crate) fn drop_index_slice(&mut self, scope: &Scope) -> Result<bool> {
        index::drop_slice(self.tx, scope, self.lease)
    }
    pub(crate) fn flush_postings(&mut self, scope: &Scope, batch: &Batch, words: Range<usize>) -> Result<()> {
        index::flush(self.tx, scope, self.lease, batch, words)
    }
    pub(crate) fn finish_batch(&mut self, scope: &Scope, batch: &Batch) -> Result<()> {
        index::finish(self.tx, scope, self.lease, batch)
    }
    pub(crate) fn mend(&mut self, scope: &Scope, damage: &mend::Damage) -> Result<()> {
        mend::mend(self.tx, scope, self.lease, damage)
    }
    pub(crate) fn open_space(&mut self, wanted: &EmbeddingSpace) -> Result<Space> {
        vectors::find_or_add_space(self.tx.sql, wanted)
    }
    pub(crate) fn expect_embedding(&mut self, scope: &Scope, wanted: &[EmbeddingSpace]) -> Result<()> {
        vectors::expect(self.tx, scope, self.lease, wanted)
    }
    pub(crate) fn add_vectors(
        &mut self,
        scope: &Scope,
        space: Space,
        embedded: &vectors::Embedded,
    ) -> Result<()> {
        vectors::add_embedded(self.tx, scope, self.lease, space, embedded)
    }
    pub(crate) fn void_cached_vectors(&mut self, scope: &Scope) -> Result<()> {
        users::raise_epoch(self.tx.sql, scope)
    }
    pub(crate) fn finish_embedding(&mut self, scope: &Scope, spaces: &[Space]) -> Result<bool> {
        vectors::finish(self.tx, scope, self.lease, spaces)
    }
}
