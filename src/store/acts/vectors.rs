//! Vectors: what the job that makes them writes, having all of them made anew, and letting go those of other models.

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

/// Blocks, and users, of one slice of what is let go.
const DROPPED_AT_ONCE: u32 = 64;

/// What became of some units that were embedded.
#[derive(Debug)]
pub(crate) struct Embedded {
    /// The user's, when their texts were read.
    pub(crate) epoch: i64,
    pub(crate) after: u32,
    pub(crate) until: u32,
    pub(crate) vectors: Vec<Stored>,
    /// Units that the embedder refused, and why.
    pub(crate) refused: Vec<(u32, String)>,
    /// The one unit was refused before.
    pub(crate) is_gap: bool,
    /// These units are what the job is there for, and its progress.
    pub(crate) counts: bool,
}

impl JobTx<'_, '_> {
    /// The space of a model, with a place made for it.
    pub(crate) fn open_space(&mut self, wanted: &EmbeddingSpace) -> SliceResult<Space> {
        Ok(vectors::find_or_add_space(self.tx.sql, wanted)?)
    }

    /// Notes how many units are to be embedded, one counting for each model.
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

    /// Writes what was embedded, unless its texts have changed since.
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

    /// Makes void whatever any process has cached of the user's vectors.
    pub(crate) fn void_cached_vectors(&mut self, scope: &Scope) -> SliceResult<()> {
        self.lock(scope)?;
        Ok(users::raise_epoch(self.tx.sql, scope)?)
    }

    /// Ends the job, unless a unit came in since: who recorded that saw the job at work, and queued none.
    pub(crate) fn finish_embedding(&mut self, scope: &Scope, spaces: &[Space]) -> SliceResult<bool> {
        let (sql, last_seq) = (self.tx.sql, self.lock(scope)?.last_seq);
        for &space in spaces {
            let is_behind = vectors::embedded_seq(sql, scope, space)? < last_seq;
            // A gap that nobody has tried came in since, too: a summary in the place of a deleted turn.
            if is_behind || !vectors::gaps(sql, scope, space, 1)?.is_empty() {
                return Ok(false);
            }
        }
        self.finish()?;
        Ok(true)
    }
}

impl WriteTx<'_> {
    /// Forgets how far everybody is embedded by the configured embedders, or else by the built-in one, so that their
    /// vectors are made anew, each over the one that is there. Returns how many users that are.
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

    /// Queues the making of vectors for everybody who is behind in the space of a configured embedder: the model was
    /// changed, or others have recorded and run jobs without it.
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

    /// Takes away the vectors of spaces that are not among `kept`, some blocks at a time. False: there are none.
    pub(crate) fn drop_other_vectors(&mut self, kept: &[EmbeddingSpace]) -> Result<bool> {
        let mut known = vectors::all_models(self.sql)?.into_iter();
        let Some((space, _)) = known.find(|(_, model)| !kept.contains(model)) else { return Ok(false) };
        let mut room = u64::from(DROPPED_AT_ONCE);
        let some = all_users::some_in(self.sql, space.space_no, DROPPED_AT_ONCE)?;
        for scope in &some {
            self.lock(scope)?;
            // First of all the user is not embedded there any more: cut short, it is all to be made again.
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

    /// Vectors of so many blocks, one of each.
    fn vectors(blocks: u32) -> Vec<Stored> {
        (0..blocks).map(|block| Stored { seq: 64 * block + 1, piece: 0, bytes: vec![1, 2] }).collect()
    }

    /// Everybody's vectors, rows of progress, and models in the file.
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
        // Alex' first, then the rest of them, Blake's, and some of Charlie's.
        for left in [[218, 5, 2], [154, 3, 2], [141, 3, 2], [141, 3, 1]] {
            assert!(drop_some().await.unwrap());
            assert_eq!(counts(), left);
        }
        assert!(!drop_some().await.unwrap());
        assert_eq!(counts(), [141, 3, 1]);
    }
}
