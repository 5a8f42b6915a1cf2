//! The index of a user's units: postings of words, and blocks of facts. The index lags behind recording: a job updates it
//! once two blocks of units are missing. Units that it lacks are read from their rows, so recall finds them too.
//!
//! A batch of whole blocks is flushed word by word, in slices that hold the writer briefly. Readers need no record of its
//! progress: for each word they read its postings, and the rows of the units after its last posting. If a flush is cut
//! short, the next one starts over and skips the postings that are already written.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use crate::{
    compress::derived::RuleVersions,
    error::Result,
    index::{BLOCK_UNITS, INDEX_AFTER, block_of, facts::UnitFacts, postings::Posting},
    model::{job::JobKind, place::Seq},
    store::{
        job_tx::JobTx,
        rows::{
            jobs as job_rows, postings, unit_blocks, unit_texts,
            units::{self, Extent},
            users,
        },
        scope::Scope,
        slice_error::{SliceError, SliceResult},
        sql::Sql,
        write_tx::WriteTx,
    },
    text::words::{EncodedWords, Word},
};

/// Blocks per batch. Larger batches cost less per block but more memory.
const BATCH_BLOCKS: u32 = 16;
/// How many rows of postings a slice removes when the whole index is rebuilt.
const DROPPED_AT_ONCE: u32 = 2_000;

/// Whole blocks to flush, which were read and inverted outside any transaction.
#[derive(Debug)]
pub(crate) struct FlushBatch {
    extent: Extent,
    until: Seq,
    facts: Vec<UnitFacts>,
    words: Vec<(Word, Vec<Posting>)>,
}

impl FlushBatch {
    /// The number of distinct words in the batch.
    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    /// The number of units in the batch.
    pub(crate) fn units(&self) -> usize {
        self.facts.len()
    }
}

/// Queues the index job when enough units wait for it. Must be called for each unit that is added; checks once per block.
///
/// If the caller has embedders, every unit queues the embedding job, because no other job computes their vectors.
pub(crate) fn queue_if_due(tx: &mut WriteTx<'_>, scope: &Scope, seq: Seq) -> Result<()> {
    if !tx.config.embedders.is_empty() {
        tx.enqueue_if_none(scope, JobKind::Embed)?;
    }
    if seq.0.is_multiple_of(BLOCK_UNITS) {
        let extent = units::extent(tx.sql, scope)?;
        let waiting = extent.last_seq.since(extent.indexed_seq);
        if waiting >= INDEX_AFTER {
            tx.enqueue(scope, JobKind::Index, None, waiting)?;
            tx.enqueue_if_none(scope, JobKind::Embed)?;
        }
    }
    Ok(())
}

/// A batch that is being read, block by block: each may be read from another snapshot, because what is erased or replaced
/// meanwhile voids the batch.
#[derive(Debug)]
pub(crate) struct BegunBatch {
    extent: Extent,
    until: Seq,
    read: Seq,
    facts: Vec<UnitFacts>,
    postings: BTreeMap<Word, Vec<Posting>>,
}

impl BegunBatch {
    /// Begins a batch with the next whole blocks that are not in the index yet. `None` if there are none.
    pub(crate) fn begin(sql: &dyn Sql, scope: &Scope) -> Result<Option<Self>> {
        let extent = units::extent(sql, scope)?;
        let whole = extent.last_seq.0 / BLOCK_UNITS * BLOCK_UNITS;
        let until = Seq(whole.min(extent.indexed_seq.0.saturating_add(BATCH_BLOCKS * BLOCK_UNITS)));
        let (read, facts, postings) = (extent.indexed_seq, Vec::new(), BTreeMap::new());
        Ok((until > read).then_some(Self { extent, until, read, facts, postings }))
    }

    /// Reads and inverts the next block. Returns `false` if none is left.
    pub(crate) fn read_block(&mut self, sql: &dyn Sql, scope: &Scope) -> Result<bool> {
        let next = Seq(self.read.0.saturating_add(BLOCK_UNITS).min(self.until.0));
        unit_texts::UnitReader::new(sql, scope).for_each((self.read, next), |unit| {
            if let Some(words) = EncodedWords::parse(&unit.words) {
                for (word, counts) in words.iter() {
                    self.postings.entry(word).or_default().push(Posting { seq: unit.facts.seq, counts });
                }
            }
            self.facts.push(unit.facts);
            Ok(())
        })?;
        self.read = next;
        Ok(next < self.until)
    }

    /// Returns the batch, of which every block was read.
    pub(crate) fn whole(self) -> FlushBatch {
        let Self { extent, until, facts, postings, .. } = self;
        FlushBatch { extent, until, facts, words: postings.into_iter().collect() }
    }
}

impl JobTx<'_, '_> {
    /// Removes some postings of a user for whom no unit counts as indexed. They are left by a flush that was cut short, or
    /// by an index that is being rebuilt. Returns whether there may be more.
    pub(crate) fn drop_index_slice(&mut self, scope: &Scope) -> SliceResult<bool> {
        if self.lock(scope)?.indexed_seq > Seq::default() {
            return Ok(false);
        }
        Ok(postings::drop_some(self.tx.sql, scope, DROPPED_AT_ONCE)?)
    }

    /// Flushes some of the batch's words.
    pub(crate) fn flush_postings(
        &mut self,
        scope: &Scope,
        batch: &FlushBatch,
        words: Range<usize>,
    ) -> SliceResult<()> {
        self.expect_unchanged(scope, batch)?;
        Ok(postings::append(self.tx.sql, scope, &batch.words[words])?)
    }

    /// Writes the batch's facts, and marks its units as indexed.
    pub(crate) fn finish_batch(&mut self, scope: &Scope, batch: &FlushBatch) -> SliceResult<()> {
        self.expect_unchanged(scope, batch)?;
        let sql = self.tx.sql;
        for block in batch.facts.chunk_by(|a, b| block_of(a.seq) == block_of(b.seq)) {
            unit_blocks::write(sql, scope, block_of(block[0].seq), block)?;
        }
        units::set_indexed(sql, scope, batch.until)?;
        let units = u32::try_from(batch.facts.len()).unwrap_or(u32::MAX);
        Ok(job_rows::progress(sql, self.lease, units, 1)?)
    }

    /// Fails if anything was erased or replaced since the batch was read, because it must not come back, or if more units
    /// are indexed by now.
    fn expect_unchanged(&self, scope: &Scope, batch: &FlushBatch) -> SliceResult<()> {
        let now = self.lock(scope)?;
        let is_unchanged = (now.epoch, now.indexed_seq) == (batch.extent.epoch, batch.extent.indexed_seq);
        if is_unchanged { Ok(()) } else { Err(SliceError::Changed) }
    }
}

/// Begins to rebuild the user's whole index, and queues the job for it. Recall reads the rows of every unit until that job
/// is done.
pub(crate) fn begin_anew(tx: &mut WriteTx<'_>, scope: &Scope) -> Result<()> {
    let last_seq = tx.lock(scope)?.last_seq;
    units::set_indexed(tx.sql, scope, Seq::default())?;
    users::raise_epoch(tx.sql, scope)?;
    unit_blocks::drop_all(tx.sql, scope)?;
    tx.enqueue(scope, JobKind::Index, None, last_seq.0)
}

/// Like `begin_anew`, but removes all postings at once, because erased words may be anywhere in the index.
pub(crate) fn drop_all(tx: &mut WriteTx<'_>, scope: &Scope) -> Result<()> {
    postings::drop_all(tx.sql, scope)?;
    begin_anew(tx, scope)
}

/// Whether nothing of the user is indexed although postings exist.
pub(crate) fn is_begun_anew(sql: &dyn Sql, scope: &Scope) -> Result<bool> {
    Ok(units::extent(sql, scope)?.indexed_seq == Seq::default() && postings::are_there(sql, scope)?)
}

/// Whether turns are in the index under the words that this build finds in them. The words of older rules are unknown, and
/// an index that is being rebuilt may still have them.
pub(crate) fn has_known_words(tx: &mut WriteTx<'_>, scope: &Scope) -> Result<bool> {
    Ok(tx.lock(scope)?.rules.words == RuleVersions::NOW.words && !is_begun_anew(tx.sql, scope)?)
}

/// Removes erased units from the index, each with its words.
pub(crate) fn forget(sql: &dyn Sql, scope: &Scope, gone: &[(u32, Vec<u8>)]) -> Result<()> {
    let mut by_word: BTreeMap<Word, BTreeSet<u32>> = BTreeMap::new();
    for (seq, words) in gone {
        for (word, _) in EncodedWords::parse(words).into_iter().flat_map(|words| words.iter()) {
            by_word.entry(word).or_default().insert(*seq);
        }
    }
    postings::remove(sql, scope, &by_word)?;
    let blocks: BTreeSet<u32> = gone.iter().map(|(seq, _)| block_of(*seq)).collect();
    for block in blocks {
        if let Some(mut kept) = unit_blocks::of_block(sql, scope, block)? {
            kept.retain(|unit| gone.iter().all(|(seq, _)| *seq != unit.seq));
            unit_blocks::write(sql, scope, block, &kept)?;
        }
    }
    Ok(())
}

/// Replaces the words of a unit in the index, where they differ, because its text was deleted.
pub(crate) fn replace(
    sql: &dyn Sql,
    scope: &Scope,
    seq: u32,
    (old, new): (EncodedWords<'_>, EncodedWords<'_>),
) -> Result<()> {
    let gone = old.iter().filter(|(word, _)| new.field_counts(*word).is_none());
    let gone = gone.map(|(word, _)| (word, BTreeSet::from([seq])));
    postings::remove(sql, scope, &gone.collect())?;
    let added = new.iter().filter(|(word, counts)| old.field_counts(*word) != Some(*counts));
    let mut added: Vec<(Word, Posting)> =
        added.map(|(word, counts)| (word, Posting { seq, counts })).collect();
    if seq > units::extent(sql, scope)?.indexed_seq.0 {
        // This unit is not indexed yet. Readers read the rows of units after a word's last posting, so the unit needs a
        // posting only for words that have a later one.
        let words: Vec<Word> = added.iter().map(|(word, _)| *word).collect();
        let mut lasts = postings::last_seqs(sql, scope, &words)?.into_iter();
        added.retain(|_| lasts.next().is_some_and(|last| seq <= last));
    }
    postings::put(sql, scope, &added)?;
    let block = block_of(seq);
    if let Some(mut units) = unit_blocks::of_block(sql, scope, block)? {
        for unit in units.iter_mut().filter(|unit| unit.seq == seq) {
            *unit = UnitFacts { event: None, ..unit.with_words(new) };
        }
        unit_blocks::write(sql, scope, block, &units)?;
    }
    Ok(())
}
