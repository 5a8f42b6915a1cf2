//! Finds damage in a user's index and vectors, and has the damaged parts rebuilt. All of them can be computed again from the
//! texts of the units.

use crate::{
    error::Result,
    model::job::JobKind,
    store::{
        acts::index,
        job_tx::JobTx,
        rows::{all_users, postings, unit_blocks, users, vectors},
        scope::Scope,
        slice_error::SliceResult,
        sql::Sql,
        write_tx::WriteTx,
    },
};

/// The tables whose rows can be computed again.
pub(crate) const TABLES: &[&str] = &["postings", "unit_blocks", "vector_blocks"];

/// What should be rebuilt for one user.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct MendPlan {
    /// Whether rows of postings, or blocks of facts, are damaged.
    index: bool,
    /// Damaged blocks of vectors, each by the numbers of its space and of itself.
    vectors: Vec<(i64, i64)>,
}

/// Checks every row of the user's index and vectors, and returns what is damaged.
pub(crate) fn damage(sql: &dyn Sql, scope: &Scope) -> Result<MendPlan> {
    Ok(MendPlan {
        index: postings::are_damaged(sql, scope)? || unit_blocks::are_damaged(sql, scope)?,
        vectors: vectors::damaged_blocks(sql, scope)?,
    })
}

impl JobTx<'_, '_> {
    /// Begins a damaged index anew, removes damaged vectors, queues the jobs that rebuild them, and ends this job.
    pub(crate) fn mend(&mut self, scope: &Scope, damage: &MendPlan) -> SliceResult<()> {
        self.lock(scope)?;
        if damage.index {
            index::begin_anew(self.tx, scope)?;
        }
        for &(space_no, block) in &damage.vectors {
            vectors::remove_block(self.tx.sql, scope, (space_no, block))?;
            if let Ok(block) = u32::try_from(block) {
                vectors::reopen_block(self.tx.sql, scope, space_no, block)?;
            }
        }
        if !damage.vectors.is_empty() {
            users::raise_epoch(self.tx.sql, scope)?;
            self.tx.enqueue_if_none(scope, JobKind::Embed)?;
        }
        self.finish()
    }
}

impl WriteTx<'_> {
    /// Queues the job for a user whose index or vectors were found damaged.
    pub(crate) fn queue_mending(&mut self, scope: &Scope) -> Result<()> {
        self.lock(scope)?;
        users::check_is_there(self.sql, scope)?;
        self.enqueue_if_none(scope, JobKind::Mend)
    }

    /// Queues the job for every user, because damage was found in somebody's index or vectors.
    pub(crate) fn queue_mending_of_all(&mut self) -> Result<()> {
        for scope in all_users::list(self.sql)? {
            self.lock(&scope)?;
            self.enqueue_if_none(&scope, JobKind::Mend)?;
        }
        Ok(())
    }
}
