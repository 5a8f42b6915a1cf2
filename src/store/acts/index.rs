//! The index of a user's units: postings of words, and blocks of facts. Behind recording by up to a few blocks; what
//! comes after is read from the rows, so that nothing is ever missing.
//!
//! A batch of whole blocks is flushed word by word, in slices that hold the writer briefly. Readers need no
//! bookkeeping for that: of a word they take the units in its postings, and then those behind its last posting from the
//! rows. Cut short, a flush is begun again; what is there already is left alone.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use rusqlite::{OptionalExtension, params};

use crate::{
    error::{Error, ErrorKind, Result},
    index::{
        BLOCK_UNITS, block_of,
        facts::{self, Facts},
        inverted::Inverted,
        last_of,
        postings::Posting,
    },
    model::job::JobKind,
    store::{
        file::row_check,
        rows::{
            jobs::{self, Lease},
            postings,
            units::{self, Extent},
            users,
        },
        scope::Scope,
        sql::Sql,
        write_tx::WriteTx,
    },
    text::words::{EncodedWords, Word},
};

/// Blocks of one batch: more at once cost less each, and more memory.
const BATCH_BLOCKS: u32 = 16;
/// Units behind the index from which on it is worth a job. Recall reads so many rows at most, if jobs run.
const INDEX_AFTER: u32 = 2 * BLOCK_UNITS;

/// Some blocks to be flushed, read and turned around outside of any transaction.
#[derive(Debug)]
pub(crate) struct Batch {
    extent: Extent,
    until: u32,
    facts: Vec<Facts>,
    words: Vec<(Word, Vec<Posting>)>,
}

impl Batch {
    /// How many different words it has.
    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    /// How many units it has.
    pub(crate) fn units(&self) -> usize {
        self.facts.len()
    }
}

/// Queues the job when enough units wait for it; looks once a block. To be called for each unit that is added.
///
/// An embedder of the caller's is told of every unit: nobody makes its vectors by the way.
pub(crate) fn queue_if_due(tx: &mut WriteTx<'_>, scope: &Scope, seq: i64) -> Result<()> {
    if !tx.config.embedders.is_empty() {
        jobs::enqueue_if_none(tx, scope, JobKind::Embed)?;
    }
    if seq % i64::from(BLOCK_UNITS) == 0 {
        let extent = units::extent(tx.sql, scope)?;
        let waiting = extent.last_seq.saturating_sub(extent.indexed_seq);
        if waiting >= INDEX_AFTER {
            jobs::enqueue(tx, scope, JobKind::Index, None, waiting)?;
            jobs::enqueue_if_none(tx, scope, JobKind::Embed)?;
        }
    }
    Ok(())
}

/// The next whole blocks that are not in the index; `None`: there is none.
pub(crate) fn next_batch(conn: &dyn Sql, scope: &Scope) -> Result<Option<Batch>> {
    let extent = units::extent(conn, scope)?;
    let whole = extent.last_seq / BLOCK_UNITS * BLOCK_UNITS;
    let until = whole.min(extent.indexed_seq.saturating_add(BATCH_BLOCKS * BLOCK_UNITS));
    if until <= extent.indexed_seq {
        return Ok(None);
    }
    let (mut facts, mut inverted) = (Vec::new(), Inverted::default());
    units::for_each(conn, scope, (extent.indexed_seq, until), |unit| {
        if let Some(words) = EncodedWords::parse(&unit.words) {
            inverted.add(unit.facts.seq, words);
        }
        facts.push(unit.facts);
        Ok(())
    })?;
    Ok(Some(Batch { extent, until, facts, words: inverted.into_words().collect() }))
}

/// Flushes some of the batch's words.
pub(crate) fn flush(
    tx: &WriteTx<'_>,
    scope: &Scope,
    lease: &Lease,
    batch: &Batch,
    words: Range<usize>,
) -> Result<()> {
    expect_unchanged(tx.sql, scope, batch)?;
    for (word, added) in &batch.words[words] {
        postings::append(tx.sql, scope, *word, added)?;
    }
    Ok(())
}

/// Writes the batch's facts, and says that its units are indexed.
pub(crate) fn finish(tx: &WriteTx<'_>, scope: &Scope, lease: &Lease, batch: &Batch) -> Result<()> {
    expect_unchanged(tx.sql, scope, batch)?;
    for block in batch.facts.chunk_by(|a, b| block_of(a.seq) == block_of(b.seq)) {
        write_block(tx.sql, scope, block_of(block[0].seq), block)?;
    }
    units::set_indexed(tx.sql, scope, batch.until)?;
    jobs::progress(tx.sql, lease, u32::try_from(batch.facts.len()).unwrap_or(u32::MAX), 1)
}

/// What was erased or replaced meanwhile must not come back.
fn expect_unchanged(tx: &dyn Sql, scope: &Scope, batch: &Batch) -> Result<()> {
    let now = units::extent(tx, scope)?;
    if (now.epoch, now.indexed_seq) == (batch.extent.epoch, batch.extent.indexed_seq) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Conflict, "the user's units changed meanwhile; nothing was written"))
}

/// Shows the facts of every indexed unit, ascending; those of a damaged block are read from the rows. Returns how many
/// blocks are damaged.
pub(crate) fn for_each_facts(conn: &dyn Sql, scope: &Scope, mut each: impl FnMut(Facts)) -> Result<usize> {
    let mut stmt = conn.prepare_cached(
        "SELECT user_no, block_no, body, row_check FROM unit_blocks WHERE user_no = ?1 ORDER BY block_no",
    )?;
    let mut rows = stmt.query([scope.user_no])?;
    let mut damaged = 0;
    while let Some(row) = rows.next()? {
        let body = row.get_ref(2)?.as_blob().unwrap_or_default();
        match row.get(1).map(|block| (block, facts::decode(block, body))) {
            Ok((_, Some(facts))) if row_check::holds(row, 3)? => facts.into_iter().for_each(&mut each),
            Err(_) => damaged += 1,
            Ok((block, _)) => {
                damaged += 1;
                units::for_each(conn, scope, (last_of(block) - BLOCK_UNITS, last_of(block)), |unit| {
                    each(unit.facts);
                    Ok(())
                })?;
            }
        }
    }
    Ok(damaged)
}

/// Units' rows that a slice takes away, when all of the index is made anew.
const DROPPED_AT_ONCE: u32 = 2_000;

/// Has all of the user's index made anew: from here on recall reads the rows of every unit, until the job is done.
pub(crate) fn begin_anew(tx: &mut WriteTx<'_>, scope: &Scope) -> Result<()> {
    units::set_indexed(tx.sql, scope, 0)?;
    users::raise_epoch(tx.sql, scope)?;
    tx.sql.prepare_cached("DELETE FROM unit_blocks WHERE user_no = ?1")?.execute([scope.user_no])?;
    jobs::enqueue(tx, scope, JobKind::Index, None, units::extent(tx.sql, scope)?.last_seq)
}

/// The same, at once: what is erased may stand anywhere in it.
pub(crate) fn drop_all(tx: &mut WriteTx<'_>, scope: &Scope) -> Result<()> {
    tx.sql.prepare_cached("DELETE FROM postings WHERE user_no = ?1")?.execute([scope.user_no])?;
    begin_anew(tx, scope)
}

/// Whether nothing of the user is indexed, and yet there are postings.
pub(crate) fn is_begun_anew(conn: &dyn Sql, scope: &Scope) -> Result<bool> {
    let mut stmt = conn.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM user_scopes WHERE user_no = ?1 AND user_id = ?2 AND indexed_seq = 0)
            AND EXISTS (SELECT 1 FROM postings WHERE user_no = ?1)",
    )?;
    Ok(stmt.query_row(params![scope.user_no, scope.user_id], |row| row.get(0))?)
}

/// Takes away postings of a user of whom nothing is indexed: of a flush that was cut short, or of an index that is made
/// anew. Returns whether there may be more.
pub(crate) fn drop_slice(tx: &WriteTx<'_>, scope: &Scope, lease: &Lease) -> Result<bool> {
    if units::extent(tx.sql, scope)?.indexed_seq > 0 {
        return Ok(false);
    }
    let dropped = tx
        .sql
        .prepare_cached(
            "DELETE FROM postings WHERE user_no = ?1 AND (word, first_seq) IN
               (SELECT word, first_seq FROM postings WHERE user_no = ?1 LIMIT ?2)",
        )?
        .execute(params![scope.user_no, DROPPED_AT_ONCE])?;
    Ok(dropped > 0)
}

/// Takes units that are erased out of the index: each with its words.
pub(crate) fn forget(tx: &dyn Sql, scope: &Scope, gone: &[(u32, Vec<u8>)]) -> Result<()> {
    let mut by_word: BTreeMap<Word, BTreeSet<u32>> = BTreeMap::new();
    for (seq, words) in gone {
        for (word, _) in EncodedWords::parse(words).into_iter().flat_map(|words| words.iter()) {
            by_word.entry(word).or_default().insert(*seq);
        }
    }
    for (word, seqs) in &by_word {
        postings::remove(tx, scope, *word, seqs)?;
    }
    let blocks: BTreeSet<u32> = gone.iter().map(|(seq, _)| block_of(*seq)).collect();
    for block in blocks {
        if let Some(mut kept) = block_facts(tx, scope, block)? {
            kept.retain(|unit| gone.iter().all(|(seq, _)| *seq != unit.seq));
            write_block(tx, scope, block, &kept)?;
        }
    }
    Ok(())
}

/// Replaces the words of a unit whose original is deleted by those of its summary.
pub(crate) fn replace(
    tx: &dyn Sql,
    scope: &Scope,
    seq: u32,
    (old, new): (EncodedWords<'_>, EncodedWords<'_>),
) -> Result<()> {
    for (word, _) in old.iter() {
        postings::remove(tx, scope, word, &BTreeSet::from([seq]))?;
    }
    let indexed_seq = units::extent(tx, scope)?.indexed_seq;
    for (word, counts) in new.iter() {
        // Behind the index, readers look at the rows from a word's last posting on.
        if seq <= indexed_seq || seq < postings::last_seq(tx, scope, word)? {
            postings::put(tx, scope, word, Posting { seq, counts })?;
        }
    }
    let block = block_of(seq);
    if let Some(mut units) = block_facts(tx, scope, block)? {
        for unit in units.iter_mut().filter(|unit| unit.seq == seq) {
            *unit = unit.with_words(new);
        }
        write_block(tx, scope, block, &units)?;
    }
    Ok(())
}

fn block_facts(conn: &dyn Sql, scope: &Scope, block: u32) -> Result<Option<Vec<Facts>>> {
    let mut stmt =
        conn.prepare_cached("SELECT body FROM unit_blocks WHERE user_no = ?1 AND block_no = ?2")?;
    let body: Option<Vec<u8>> =
        stmt.query_row(params![scope.user_no, block], |row| row.get("body")).optional()?;
    body.map(|body| facts::decode(block, &body).ok_or_else(unreadable)).transpose()
}

/// Writes a block over the one that is there; an empty one goes.
fn write_block(tx: &dyn Sql, scope: &Scope, block: u32, units: &[Facts]) -> Result<()> {
    debug_assert!(units.iter().all(|unit| unit.seq <= last_of(block)), "a unit of another block");
    if units.is_empty() {
        tx.prepare_cached("DELETE FROM unit_blocks WHERE user_no = ?1 AND block_no = ?2")?
            .execute(params![scope.user_no, block])?;
        return Ok(());
    }
    tx.prepare_cached(
        "INSERT INTO unit_blocks (user_no, block_no, body) VALUES (?1, ?2, ?3)
         ON CONFLICT (user_no, block_no) DO UPDATE SET body = excluded.body",
    )?
    .execute(params![scope.user_no, block, facts::encode(units)])?;
    Ok(())
}

fn unreadable() -> Error {
    Error::new(ErrorKind::Corrupt, "a block of units cannot be read; run doctor")
}
