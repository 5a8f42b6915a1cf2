//! Rows of `postings`: which units of a user have a word.

use std::collections::BTreeSet;

use rusqlite::{Row, params};

use crate::{
    error::{Error, ErrorKind, Result},
    index::postings::{self, Chunk, Posting},
    store::{file::row_check, scope::Scope, sql::Sql},
    text::words::{FieldCounts, Word},
};

/// A last row with more bytes than this is full: what comes next begins another.
const FULL_BYTES: usize = 800;

/// What was found of a word's postings.
pub(crate) struct Shown {
    /// The last unit; 0: there is none.
    pub(crate) last: u32,
    /// A row could not be read, and its units were not shown.
    pub(crate) is_damaged: bool,
}

/// Shows every posting of a word that can be read, ascending.
pub(crate) fn for_each(
    conn: &dyn Sql,
    scope: &Scope,
    word: Word,
    mut each: impl FnMut(u32, FieldCounts),
) -> Result<Shown> {
    let mut stmt = conn.prepare_cached(
        "SELECT user_no, word, first_seq, last_seq, unit_count, data, row_check FROM postings
         WHERE user_no = ?1 AND word = ?2 ORDER BY first_seq",
    )?;
    let mut rows = stmt.query(params![scope.user_no, word])?;
    let mut shown = Shown { last: 0, is_damaged: false };
    while let Some(row) = rows.next()? {
        let data = row.get_ref(5)?.as_blob().unwrap_or_default();
        match (row.get(2), row.get(3)) {
            (Ok(first), Ok(last)) if row_check::holds(row, 6)? => {
                postings::for_each(first, data, &mut each);
                shown.last = last;
            }
            _ => shown.is_damaged = true,
        }
    }
    Ok(shown)
}

/// Adds postings behind those that are there. What is there already is left out, so that a flush that was cut short
/// can be begun again.
pub(crate) fn append(tx: &dyn Sql, scope: &Scope, word: Word, added: &[Posting]) -> Result<()> {
    let last = last_chunk(tx, scope, word, u32::MAX)?;
    let known = last.as_ref().map_or(0, |chunk| chunk.last);
    let added = &added[added.partition_point(|posting| posting.seq <= known)..];
    if added.is_empty() {
        return Ok(());
    }
    match last.filter(|chunk| chunk.data.len() < FULL_BYTES) {
        None => insert(tx, scope, word, &postings::encode(added)),
        Some(chunk) => {
            let mut all = decoded(&chunk)?;
            all.extend_from_slice(added);
            // The first one begins where the old row did, and is written over it in place.
            insert(tx, scope, word, &postings::encode(&all))
        }
    }
}

/// Takes units out of a word's postings.
pub(crate) fn remove(tx: &dyn Sql, scope: &Scope, word: Word, gone: &BTreeSet<u32>) -> Result<()> {
    let (Some(&first), Some(&last)) = (gone.first(), gone.last()) else { return Ok(()) };
    for chunk in overlapping(tx, scope, word, (first, last))? {
        let mut kept = decoded(&chunk)?;
        kept.retain(|posting| !gone.contains(&posting.seq));
        replace(tx, scope, word, &chunk, &kept)?;
    }
    Ok(())
}

/// Puts one unit into a word's postings, in its place among those that are there.
pub(crate) fn put(tx: &dyn Sql, scope: &Scope, word: Word, posting: Posting) -> Result<()> {
    let Some(chunk) = last_chunk(tx, scope, word, posting.seq)? else {
        return insert(tx, scope, word, &postings::encode(&[posting]));
    };
    let mut all = decoded(&chunk)?;
    all.retain(|other| other.seq != posting.seq);
    all.insert(all.partition_point(|other| other.seq < posting.seq), posting);
    replace(tx, scope, word, &chunk, &all)
}

/// The last unit in a word's postings; 0: there is none.
pub(crate) fn last_seq(conn: &dyn Sql, scope: &Scope, word: Word) -> Result<u32> {
    Ok(last_chunk(conn, scope, word, u32::MAX)?.map_or(0, |chunk| chunk.last))
}

/// The last row of a word that begins at `until` or before.
fn last_chunk(conn: &dyn Sql, scope: &Scope, word: Word, until: u32) -> Result<Option<Chunk>> {
    let mut stmt = conn.prepare_cached(
        "SELECT user_no, word, first_seq, last_seq, unit_count, data, row_check FROM postings
         WHERE user_no = ?1 AND word = ?2 AND first_seq <= ?3 ORDER BY first_seq DESC LIMIT 1",
    )?;
    let mut rows = stmt.query(params![scope.user_no, word, until])?;
    rows.next()?.map(read).transpose()
}

fn overlapping(conn: &dyn Sql, scope: &Scope, word: Word, (first, last): (u32, u32)) -> Result<Vec<Chunk>> {
    let mut stmt = conn.prepare_cached(
        "SELECT user_no, word, first_seq, last_seq, unit_count, data, row_check FROM postings
         WHERE user_no = ?1 AND word = ?2 AND first_seq <= ?4 AND last_seq >= ?3",
    )?;
    let mut rows = stmt.query(params![scope.user_no, word, first, last])?;
    let mut chunks = Vec::new();
    while let Some(row) = rows.next()? {
        chunks.push(read(row)?);
    }
    Ok(chunks)
}

fn replace(tx: &dyn Sql, scope: &Scope, word: Word, old: &Chunk, new: &[Posting]) -> Result<()> {
    tx.prepare_cached("DELETE FROM postings WHERE user_no = ?1 AND word = ?2 AND first_seq = ?3")?
        .execute(params![scope.user_no, word, old.first])?;
    insert(tx, scope, word, &postings::encode(new))
}

fn insert(tx: &dyn Sql, scope: &Scope, word: Word, chunks: &[Chunk]) -> Result<()> {
    let mut stmt = tx.prepare_cached(
        "INSERT INTO postings (user_no, word, first_seq, last_seq, unit_count, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (user_no, word, first_seq) DO UPDATE
           SET last_seq = excluded.last_seq, unit_count = excluded.unit_count, data = excluded.data",
    )?;
    for chunk in chunks {
        stmt.execute(params![scope.user_no, word, chunk.first, chunk.last, chunk.units, chunk.data])?;
    }
    Ok(())
}

fn decoded(chunk: &Chunk) -> Result<Vec<Posting>> {
    postings::decode(chunk.first, &chunk.data).ok_or_else(unreadable)
}

fn read(row: &Row<'_>) -> Result<Chunk> {
    if !row_check::holds(row, 6)? {
        return Err(unreadable()); // Written again it would pass for sound.
    }
    Ok(Chunk {
        first: row.get("first_seq")?,
        last: row.get("last_seq")?,
        units: row.get("unit_count")?,
        data: row.get("data")?,
    })
}

fn unreadable() -> Error {
    Error::new(ErrorKind::Corrupt, "a word's postings cannot be read; run doctor")
}
