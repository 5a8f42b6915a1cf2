//! Writes the vectors that jobs compute, queues the computing of missing vectors or of all vectors of the configured models,
//! and removes the vectors of other models.

use std::collections::BTreeSet;

use crate::{
    embed::{BuiltIn, Embedder, EmbeddingSpace},
    error::Result,
    model::{job::JobKind, place::Seq},
    store::{
        job_tx::JobTx,
        rows::{
            all_users, jobs as job_rows, users,
            vectors::{self, Space, Stored},
        },
        scope::Scope,
        slice_error::{SliceError, SliceResult},
        write_tx::WriteTx,
    },
};

/// The most blocks, and the most users, per slice that removes vectors.
const DROPPED_AT_ONCE: u32 = 64;

/// The results of embedding some units.
#[derive(Debug)]
pub(crate) struct Embedded {
    /// The user's epoch when the texts were read.
    pub(crate) epoch: i64,
    pub(crate) after: u32,
    pub(crate) until: u32,
    pub(crate) vectors: Vec<Stored>,
    /// Units that the embedder refused, and why.
    pub(crate) refused: Vec<(u32, String)>,
    /// Whether this is a single unit that was a gap before.
    pub(crate) is_gap: bool,
    /// Whether these units count as the job's progress.
    pub(crate) counts: bool,
}

impl JobTx<'_, '_> {
    /// The space of a model, added to the file if missing.
    pub(crate) fn open_space(&mut self, wanted: &EmbeddingSpace) -> SliceResult<Space> {
        Ok(vectors::find_or_add_space(self.tx.sql, wanted)?)
    }

    /// Sets how many units the job will embed. Each counts once per model.
    pub(crate) fn expect_embedding(&mut self, scope: &Scope, wanted: &[EmbeddingSpace]) -> SliceResult<()> {
        let (sql, last_seq) = (self.tx.sql, self.lock(scope)?.last_seq);
        let mut units = 0;
        for wanted in wanted {
            let space = vectors::space(sql, wanted)?;
            let embedded_seq =
                space.map_or(Ok(Seq::default()), |space| vectors::embedded_seq(sql, scope, space))?;
            units += last_seq.since(embedded_seq);
        }
        Ok(job_rows::expect(sql, self.lease, units)?)
    }

    /// Writes the vectors, unless something was erased or replaced since the texts were read.
    pub(crate) fn add_vectors(
        &mut self,
        scope: &Scope,
        space: Space,
        embedded: &Embedded,
    ) -> SliceResult<()> {
        let Embedded { epoch, after, until, vectors, refused, is_gap, counts } = embedded;
        if self.lock(scope)?.epoch != *epoch {
            return Err(SliceError::Changed);
        }
        let sql = self.tx.sql;
        vectors::add(sql, scope, space, vectors, if *is_gap { 0 } else { *until })?;
        let gaps: BTreeSet<u32> = refused.iter().map(|(seq, _)| *seq).collect();
        for (seq, why) in refused {
            vectors::note_gap(sql, scope, space, *seq, why)?;
        }
        if *is_gap && gaps.is_empty() {
            vectors::close_gap(sql, scope, space, *until)?;
        }
        if *counts {
            job_rows::progress(sql, self.lease, until - after, 1)?;
        }
        Ok(())
    }

    /// Invalidates what any process has cached of the user's vectors.
    pub(crate) fn void_cached_vectors(&mut self, scope: &Scope) -> SliceResult<()> {
        self.lock(scope)?;
        Ok(users::raise_epoch(self.tx.sql, scope)?)
    }

    /// Ends the job. Returns `false` and does not end it if a unit was added in the meantime: its act queued no job, because
    /// this one was running.
    pub(crate) fn finish_embedding(&mut self, scope: &Scope, spaces: &[Space]) -> SliceResult<bool> {
        let (sql, last_seq) = (self.tx.sql, self.lock(scope)?.last_seq);
        for &space in spaces {
            let is_behind = vectors::embedded_seq(sql, scope, space)? < last_seq;
            // A gap that was not tried yet counts too, such as the summary of a turn whose original was deleted.
            if is_behind || !vectors::gaps(sql, scope, space, 1)?.is_empty() {
                return Ok(false);
            }
        }
        self.finish()?;
        Ok(true)
    }
}

impl WriteTx<'_> {
    /// Resets the progress of all users for the configured embedders, or for the built-in one if there are none, so that
    /// their vectors are computed again, each overwriting the old one. Returns the number of users.
    pub(crate) fn rebuild_vectors(&mut self) -> Result<u64> {
        let embedders = self.config.embedders.iter();
        let mut wanted: Vec<EmbeddingSpace> = embedders.map(|embedder| embedder.space()).collect();
        if wanted.is_empty() {
            wanted.push(BuiltIn::default().space());
        }
        let spaces = wanted.iter().map(|wanted| vectors::space(self.sql, wanted));
        let spaces: Vec<Space> = spaces.filter_map(Result::transpose).collect::<Result<_>>()?;
        let all = all_users::with_units(self.sql)?;
        all.iter().try_for_each(|scope| self.rebuild_vectors_of(scope, &spaces))?;
        Ok(all.len() as u64)
    }

    fn rebuild_vectors_of(&mut self, scope: &Scope, spaces: &[Space]) -> Result<()> {
        self.lock(scope)?;
        for &space in spaces {
            vectors::forget_progress(self.sql, scope, space)?;
        }
        users::raise_epoch(self.sql, scope)?;
        self.enqueue_if_none(scope, JobKind::Embed)
    }

    /// Queues embedding for all users who are behind in the space of a configured embedder: the model was changed, or other
    /// processes have recorded and run jobs without it.
    pub(crate) fn queue_stale_spaces(&mut self) -> Result<()> {
        for embedder in self.config.embedders.clone() {
            let wanted = embedder.space();
            wanted.check()?;
            let space = vectors::find_or_add_space(self.sql, &wanted)?;
            for scope in all_users::behind_in(self.sql, space.space_no)? {
                self.lock(&scope)?;
                self.enqueue_if_none(&scope, JobKind::Embed)?;
            }
        }
        Ok(())
    }

    /// Removes the vectors of spaces other than `kept`, some blocks at a time. Returns `false` if there are none.
    pub(crate) fn drop_other_vectors(&mut self, kept: &[EmbeddingSpace]) -> Result<bool> {
        let mut known = vectors::all_models(self.sql)?.into_iter();
        let Some((space, _)) = known.find(|(_, model)| !kept.contains(model)) else { return Ok(false) };
        let mut room = u64::from(DROPPED_AT_ONCE);
        let some = all_users::some_in(self.sql, space.space_no, DROPPED_AT_ONCE)?;
        for scope in &some {
            self.lock(scope)?;
            // Reset the progress first, so that if this is cut short everything is computed again.
            vectors::forget_progress(self.sql, scope, space)?;
            room = room.saturating_sub(vectors::remove_some_blocks(self.sql, scope, space, room)?);
            if room == 0 {
                break;
            }
        }
        if some.is_empty() {
            vectors::remove_space(self.sql, space)?;
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Config,
        store::{Store, scope::UserKey, sql::Sql},
    };

    fn model(name: &str) -> EmbeddingSpace {
        EmbeddingSpace { model: name.into(), revision: "1".into(), dims: 2 }
    }

    /// One vector for each of this many blocks.
    fn vectors(blocks: u32) -> Vec<Stored> {
        (0..blocks).map(|block| Stored { seq: 64 * block + 1, piece: 0, bytes: vec![1, 2] }).collect()
    }

    /// The numbers of vector blocks, rows of `user_spaces`, and models in the file.
    fn counts(sql: &dyn Sql) -> Result<[u64; 3]> {
        Ok([
            sql.scalar("SELECT count(*) FROM vector_blocks", &[])?,
            sql.scalar("SELECT count(*) FROM user_spaces", &[])?,
            sql.scalar("SELECT count(*) FROM embedding_spaces", &[])?,
        ])
    }

    #[tokio::test]
    async fn vectors_of_other_models_go_some_blocks_at_a_time_and_everybody_keeps_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("m.db"), Config::default()).unwrap();
        store
            .write(|tx| {
                for name in ["old", "new"] {
                    let space = vectors::find_or_add_space(tx.sql, &model(name))?;
                    for (user, blocks) in [("alex", 70), ("blake", 1), ("charlie", 70)] {
                        let scope = tx.add_user(&UserKey::Name(user.into()))?;
                        vectors::add(tx.sql, &scope, space, &vectors(blocks), 64 * blocks)?;
                    }
                }
                Ok(())
            })
            .await
            .unwrap();
        let drop_some = || store.write(|tx| tx.drop_other_vectors(&[model("new")]));
        let counts = || store.snapshot().unwrap().look(counts).unwrap();
        // The first slice removes blocks of Alex's, the second the rest of these, Blake's, and some of Charlie's.
        for left in [[218, 5, 2], [154, 3, 2], [141, 3, 2], [141, 3, 1]] {
            assert!(drop_some().await.unwrap());
            assert_eq!(counts(), left);
        }
        assert!(!drop_some().await.unwrap());
        assert_eq!(counts(), [141, 3, 1]);
    }
}
