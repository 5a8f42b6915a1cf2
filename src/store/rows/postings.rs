//! Rows of `postings`: which of a user's units contain a word.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    error::{Error, ErrorKind, Result},
    index::postings::{self, Posting, PostingsChunk},
    store::{
        rows::row_check,
        scope::Scope,
        sql::{Flow, RowExpectation, Sql, SqlRow, SqlValue, bytes, values},
    },
    text::words::{FieldCounts, Word},
};

/// A word's last row with at least this many bytes is full: further postings start a new row.
const FULL_BYTES: usize = 800;

/// Selects the columns covered by a row's checksum, in the table's order, then the checksum.
macro_rules! select {
    ($which:literal) => {
        concat!(
            "SELECT user_no, word, first_seq, last_seq, unit_count, data, row_check FROM postings WHERE user_no = ?1",
            $which
        )
    };
}
/// How many of these columns the checksum covers.
const CHECKED_COLUMNS: usize = 6;

/// The result of reading a word's postings.
pub(crate) struct PostingsSummary {
    /// The last unit that was read. 0 if there is none.
    pub(crate) last: u32,
    /// Whether a row is damaged, so that its units were skipped.
    pub(crate) is_damaged: bool,
}

/// Passes every readable posting of a word to `each`, ascending.
pub(crate) fn for_each(
    sql: &dyn Sql,
    scope: &Scope,
    word: Word,
    mut each: impl FnMut(u32, FieldCounts),
) -> Result<PostingsSummary> {
    let mut shown = PostingsSummary { last: 0, is_damaged: false };
    sql.query(select!(" AND word = ?2 ORDER BY first_seq"), values![scope.user_no, word], &mut |row| {
        let data = bytes(row.value(5)?).unwrap_or_default();
        match (row.get(2), row.get(3)) {
            (Ok(first), Ok(last)) if row_check::holds(row, CHECKED_COLUMNS)? => {
                postings::for_each(first, data, &mut each);
                shown.last = last;
            }
            _ => shown.is_damaged = true,
        }
        Ok(Flow::Next)
    })?;
    Ok(shown)
}

/// Appends postings to those of each word. Skips those that the word already has, so that a flush that was cut short can be
/// restarted.
pub(crate) fn append(sql: &dyn Sql, scope: &Scope, words: &[(Word, Vec<Posting>)]) -> Result<()> {
    let lasts = last_chunks(sql, scope, words.iter().map(|(word, _)| (*word, u32::MAX)))?;
    for ((word, added), last) in words.iter().zip(lasts) {
        let known = last.as_ref().map_or(0, |chunk| chunk.last);
        let added = &added[added.partition_point(|posting| posting.seq <= known)..];
        if added.is_empty() {
            continue;
        }
        match last.filter(|chunk| chunk.data.len() < FULL_BYTES) {
            None => insert(sql, scope, *word, &postings::encode(added))?,
            Some(chunk) => {
                let mut all = decoded(&chunk)?;
                all.extend_from_slice(added);
                // The first chunk begins with the same unit as the old row, and so overwrites it.
                insert(sql, scope, *word, &postings::encode(&all))?;
            }
        }
    }
    Ok(())
}

/// Removes units from their words' postings.
pub(crate) fn remove(sql: &dyn Sql, scope: &Scope, gone: &BTreeMap<Word, BTreeSet<u32>>) -> Result<()> {
    let (mut words, mut sets) = (Vec::new(), Vec::new());
    for (word, seqs) in gone {
        if let (Some(first), Some(last)) = (seqs.first(), seqs.last()) {
            words.push((*word, seqs));
            sets.push(key(scope, &[*word, *first, *last]));
        }
    }
    let overlapping = select!(" AND word = ?2 AND first_seq <= ?4 AND last_seq >= ?3");
    let mut found = Vec::new();
    sql.query_many(overlapping, &sets, &mut |at, row| {
        found.push((words[at], read(row)?));
        Ok(())
    })?;
    for ((word, seqs), chunk) in found {
        let mut kept = decoded(&chunk)?;
        kept.retain(|posting| !seqs.contains(&posting.seq));
        replace(sql, scope, word, &chunk, &kept)?;
    }
    Ok(())
}

/// Inserts one unit into its words' postings, at its place among the existing ones.
pub(crate) fn put(sql: &dyn Sql, scope: &Scope, words: &[(Word, Posting)]) -> Result<()> {
    let chunks = last_chunks(sql, scope, words.iter().map(|(word, posting)| (*word, posting.seq)))?;
    for ((word, posting), chunk) in words.iter().zip(chunks) {
        let Some(chunk) = chunk else {
            insert(sql, scope, *word, &postings::encode(&[*posting]))?;
            continue;
        };
        let mut all = decoded(&chunk)?;
        all.retain(|other| other.seq != posting.seq);
        all.insert(all.partition_point(|other| other.seq < posting.seq), *posting);
        replace(sql, scope, *word, &chunk, &all)?;
    }
    Ok(())
}

/// The last unit in the postings of each of these words. 0 if there is none.
pub(crate) fn last_seqs(sql: &dyn Sql, scope: &Scope, words: &[Word]) -> Result<Vec<u32>> {
    let lasts = last_chunks(sql, scope, words.iter().map(|word| (*word, u32::MAX)))?;
    Ok(lasts.into_iter().map(|chunk| chunk.map_or(0, |chunk| chunk.last)).collect())
}

/// For each word, its last row that begins at or before the given unit.
fn last_chunks(
    sql: &dyn Sql,
    scope: &Scope,
    words: impl Iterator<Item = (Word, u32)>,
) -> Result<Vec<Option<PostingsChunk>>> {
    let sets: Vec<_> = words.map(|(word, until)| key(scope, &[word, until])).collect();
    let last = select!(" AND word = ?2 AND first_seq <= ?3 ORDER BY first_seq DESC LIMIT 1");
    let mut found = vec![None; sets.len()];
    sql.query_many(last, &sets, &mut |at, row| {
        found[at] = Some(read(row)?);
        Ok(())
    })?;
    Ok(found)
}

/// The parameters of a statement: the user's number, then these numbers.
fn key(scope: &Scope, numbers: &[u32]) -> Vec<SqlValue<'static>> {
    let numbers = numbers.iter().map(|number| i64::from(*number));
    std::iter::once(scope.user_no.0).chain(numbers).map(SqlValue::Integer).collect()
}

fn replace(sql: &dyn Sql, scope: &Scope, word: Word, old: &PostingsChunk, new: &[Posting]) -> Result<()> {
    sql.put(
        "DELETE FROM postings WHERE user_no = ?1 AND word = ?2 AND first_seq = ?3",
        values![scope.user_no, word, old.first],
        RowExpectation::Any,
    )?;
    insert(sql, scope, word, &postings::encode(new))
}

fn insert(sql: &dyn Sql, scope: &Scope, word: Word, chunks: &[PostingsChunk]) -> Result<()> {
    for chunk in chunks {
        sql.put(
            "INSERT INTO postings (user_no, word, first_seq, last_seq, unit_count, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (user_no, word, first_seq) DO UPDATE
               SET last_seq = excluded.last_seq, unit_count = excluded.unit_count, data = excluded.data",
            values![scope.user_no, word, chunk.first, chunk.last, chunk.units, chunk.data],
            RowExpectation::Any,
        )?;
    }
    Ok(())
}

fn decoded(chunk: &PostingsChunk) -> Result<Vec<Posting>> {
    postings::decode(chunk.first, &chunk.data).ok_or_else(unreadable)
}

fn read(row: &SqlRow<'_>) -> Result<PostingsChunk> {
    if !row_check::holds(row, CHECKED_COLUMNS)? {
        return Err(unreadable()); // If it were written again, it would get a valid checksum.
    }
    Ok(PostingsChunk { first: row.get(2)?, last: row.get(3)?, units: row.get(4)?, data: row.get(5)? })
}

fn unreadable() -> Error {
    Error::new(ErrorKind::Corrupt, "a word's postings cannot be read; run doctor")
}

/// Whether the user has any postings.
pub(crate) fn are_there(sql: &dyn Sql, scope: &Scope) -> Result<bool> {
    sql.scalar("SELECT EXISTS (SELECT 1 FROM postings WHERE user_no = ?1)", values![scope.user_no])
}

/// Whether one of the user's rows is damaged.
pub(crate) fn are_damaged(sql: &dyn Sql, scope: &Scope) -> Result<bool> {
    let mut is_damaged = false;
    sql.query(select!(""), values![scope.user_no], &mut |row| {
        is_damaged = !row_check::holds(row, CHECKED_COLUMNS).unwrap_or(false);
        Ok(if is_damaged { Flow::Stop } else { Flow::Next })
    })?;
    Ok(is_damaged)
}

/// Removes at most `rows` rows of the user. Returns `false` if there are none.
pub(crate) fn drop_some(sql: &dyn Sql, scope: &Scope, rows: u32) -> Result<bool> {
    let dropped = sql.change(
        "DELETE FROM postings WHERE user_no = ?1 AND (word, first_seq) IN
           (SELECT word, first_seq FROM postings WHERE user_no = ?1 LIMIT ?2)",
        values![scope.user_no, rows],
    )?;
    Ok(dropped > 0)
}

/// Removes all of the user's rows.
pub(crate) fn drop_all(sql: &dyn Sql, scope: &Scope) -> Result<()> {
    sql.put("DELETE FROM postings WHERE user_no = ?1", values![scope.user_no], RowExpectation::Any)
}
