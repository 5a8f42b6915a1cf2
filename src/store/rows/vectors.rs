//! Rows of `embedding_spaces`, of `user_spaces` (how far each user is embedded), of `vector_blocks` and of `vector_gaps`.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    embed::{EmbeddingSpace, pieces::TEXT_FORM},
    error::{Error, ErrorKind, Result},
    index::{BLOCK_UNITS, block_of, last_of},
    model::place::Seq,
    store::{
        rows::row_check,
        scope::Scope,
        sql::{Flow, RowExpectation, Sql, SqlRow, SqlValue, bytes as bytes_of, values},
    },
};

/// A space of vectors in this file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Space {
    pub(crate) space_no: i64,
    pub(crate) dims: usize,
}

/// The number of a space that the file does not have yet. No vectors are stored under it.
pub(crate) const NOT_IN_FILE: i64 = 0;

/// A stored vector of one piece of a unit.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) seq: u32,
    pub(crate) piece: u8,
    pub(crate) bytes: Vec<u8>,
}

/// The space of a model, if the file has it.
pub(crate) fn space(sql: &dyn Sql, wanted: &EmbeddingSpace) -> Result<Option<Space>> {
    let EmbeddingSpace { model, revision, dims } = wanted;
    let space_no = sql.one(
        "SELECT space_no FROM embedding_spaces WHERE model = ?1 AND revision = ?2 AND dims = ?3 AND text_form = ?4",
        values![model, revision, dims, TEXT_FORM],
        |row| row.get(0),
    )?;
    Ok(space_no.map(|space_no| Space { space_no, dims: *dims as usize }))
}

/// The space of a model, added to the file if missing.
pub(crate) fn find_or_add_space(sql: &dyn Sql, wanted: &EmbeddingSpace) -> Result<Space> {
    if let Some(found) = space(sql, wanted)? {
        return Ok(found);
    }
    let EmbeddingSpace { model, revision, dims } = wanted;
    let space_no = sql.scalar(
        // If another process has just added the same space, its number is returned.
        "INSERT INTO embedding_spaces (model, revision, dims, text_form) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (model, revision, dims, text_form) DO UPDATE SET text_form = excluded.text_form
         RETURNING space_no",
        values![model, revision, dims, TEXT_FORM],
    )?;
    Ok(Space { space_no, dims: *dims as usize })
}

/// All spaces of the file. A file has only a few.
fn all_spaces(sql: &dyn Sql) -> Result<Vec<Space>> {
    sql.list("SELECT space_no, dims FROM embedding_spaces ORDER BY space_no", values![], |row| {
        Ok(Space { space_no: row.get(0)?, dims: row.get(1)? })
    })
}

/// All spaces with their models.
pub(crate) fn all_models(sql: &dyn Sql) -> Result<Vec<(Space, EmbeddingSpace)>> {
    sql.list(
        "SELECT space_no, model, revision, dims FROM embedding_spaces ORDER BY space_no",
        values![],
        |row| {
            let model = EmbeddingSpace { model: row.get(1)?, revision: row.get(2)?, dims: row.get(3)? };
            Ok((Space { space_no: row.get(0)?, dims: model.dims as usize }, model))
        },
    )
}

/// Removes a space in which no user has any rows.
pub(crate) fn remove_space(sql: &dyn Sql, space: Space) -> Result<()> {
    sql.put("DELETE FROM embedding_spaces WHERE space_no = ?1", values![space.space_no], RowExpectation::Any)
}

/// The last unit of a user that is embedded in a space.
pub(crate) fn embedded_seq(sql: &dyn Sql, scope: &Scope, space: Space) -> Result<Seq> {
    let found = sql.one(
        "SELECT embedded_seq FROM user_spaces WHERE user_no = ?1 AND space_no = ?2",
        values![scope.user_no, space.space_no],
        |row| row.get(0),
    )?;
    Ok(found.unwrap_or_default())
}

/// Resets how far a user is embedded in a space, and removes the user's gaps there.
pub(crate) fn forget_progress(sql: &dyn Sql, scope: &Scope, space: Space) -> Result<()> {
    for text in [
        "DELETE FROM user_spaces WHERE user_no = ?1 AND space_no = ?2",
        "DELETE FROM vector_gaps WHERE user_no = ?1 AND space_no = ?2",
    ] {
        sql.put(text, values![scope.user_no, space.space_no], RowExpectation::Any)?;
    }
    Ok(())
}

/// The size in bytes of a user's blocks from number `first` on.
pub(crate) fn bytes(sql: &dyn Sql, scope: &Scope, space: Space, first: u32) -> Result<usize> {
    sql.scalar(
        "SELECT coalesce(CAST(sum(length(body)) AS BIGINT), 0) FROM vector_blocks
         WHERE user_no = ?1 AND space_no = ?2 AND block_no >= ?3",
        values![scope.user_no, space.space_no, first],
    )
}

/// Selects the columns covered by a row's checksum, in the table's order, then the checksum.
macro_rules! select {
    ($which:literal) => {
        concat!(
            "SELECT user_no, space_no, block_no, body, row_check FROM vector_blocks
             WHERE user_no = ?1 AND space_no = ?2 AND block_no ",
            $which
        )
    };
}
/// How many of these columns the checksum covers.
const CHECKED_COLUMNS: usize = 4;
const OF_BLOCK: &str = select!("= ?3");

/// The parameters of [`OF_BLOCK`].
fn key(scope: &Scope, space_no: i64, block: i64) -> Vec<SqlValue<'static>> {
    [scope.user_no.0, space_no, block].map(SqlValue::Integer).to_vec()
}

/// Passes a user's blocks from number `first` on to `each`. Skips damaged ones, and returns their number.
pub(crate) fn for_each_block(
    sql: &dyn Sql,
    scope: &Scope,
    space: Space,
    first: u32,
    mut each: impl FnMut(VectorBlock<'_>),
) -> Result<usize> {
    let mut damaged = 0;
    sql.query(
        select!(">= ?3 ORDER BY block_no"),
        values![scope.user_no, space.space_no, first],
        &mut |row| {
            match sound_block(row, space.dims)? {
                Some(block) => each(block),
                None => damaged += 1,
            }
            Ok(Flow::Next)
        },
    )?;
    Ok(damaged)
}

/// A row as a block. `None` if it is damaged.
fn sound_block<'r>(row: &SqlRow<'r>, dims: usize) -> Result<Option<VectorBlock<'r>>> {
    let body = bytes_of(row.value(3)?).unwrap_or_default();
    let block = row.get(2).ok().and_then(|block| VectorBlock::parse(block, dims, body));
    Ok(if row_check::holds(row, CHECKED_COLUMNS)? { block } else { None })
}

/// The damaged blocks of a user's vectors, each by the numbers of its space and of itself, as the row gives them.
pub(crate) fn damaged_blocks(sql: &dyn Sql, scope: &Scope) -> Result<Vec<(i64, i64)>> {
    let keys: Vec<(i64, i64)> = sql.list(
        "SELECT space_no, block_no FROM vector_blocks WHERE user_no = ?1 ORDER BY space_no, block_no",
        values![scope.user_no],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let sets: Vec<_> = keys.iter().map(|(space_no, block)| key(scope, *space_no, *block)).collect();
    let mut damaged = Vec::new();
    sql.query_many(OF_BLOCK, &sets, &mut |at, row| {
        if !row_check::holds(row, CHECKED_COLUMNS).unwrap_or(false) {
            damaged.push(keys[at]);
        }
        Ok(())
    })?;
    Ok(damaged)
}

/// A block as its row stores it: the number of vectors (`u16`, little-endian); for each vector, its unit's index in the
/// block and the piece of its turn (one byte each); then the vectors, `dims` bytes each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VectorBlock<'a> {
    first: u32,
    dims: usize,
    places: &'a [[u8; 2]],
    /// The vectors, one after the other.
    pub(crate) vectors: &'a [u8],
}

impl<'a> VectorBlock<'a> {
    /// Parses the body of block number `block`. `None` if it is not a valid block.
    fn parse(block: u32, dims: usize, body: &'a [u8]) -> Option<Self> {
        let (count, rest) = body.split_first_chunk()?;
        let count = usize::from(u16::from_le_bytes(*count));
        let (places, vectors) = rest.split_at_checked(2 * count)?;
        let first = block.checked_mul(BLOCK_UNITS)?.checked_add(1)?;
        let is_whole = vectors.len() == count * dims;
        is_whole.then_some(Self { first, dims, places: places.as_chunks().0, vectors })
    }

    /// The unit and the piece of each vector.
    pub(crate) fn owners(self) -> impl Iterator<Item = (u32, u8)> + use<'a> {
        self.places.iter().map(move |[place, piece]| (self.first.saturating_add(u32::from(*place)), *piece))
    }

    fn entries(self) -> impl Iterator<Item = Stored> + use<'a> {
        self.owners().zip(self.vectors.chunks_exact(self.dims)).map(|((seq, piece), bytes)| Stored {
            seq,
            piece,
            bytes: bytes.to_vec(),
        })
    }
}

fn body_of(vectors: &[Stored]) -> Result<Vec<u8>> {
    let count = u16::try_from(vectors.len())
        .map_err(|_| Error::new(ErrorKind::Corrupt, "a block has too many vectors"))?;
    let mut body = count.to_le_bytes().to_vec();
    for vector in vectors {
        let place = (vector.seq - 1) % BLOCK_UNITS;
        body.extend_from_slice(&[u8::try_from(place).expect("a block has 64 units"), vector.piece]);
    }
    for vector in vectors {
        body.extend_from_slice(&vector.bytes);
    }
    Ok(body)
}

/// Writes the vectors of units, replacing any that these units have, and records up to which unit the user is embedded now.
pub(crate) fn add(
    sql: &dyn Sql,
    scope: &Scope,
    space: Space,
    vectors: &[Stored],
    embedded_seq: u32,
) -> Result<()> {
    let mut by_block: BTreeMap<u32, Vec<&Stored>> = BTreeMap::new();
    for vector in vectors {
        by_block.entry(block_of(vector.seq)).or_default().push(vector);
    }
    let is_new: BTreeSet<u32> = vectors.iter().map(|vector| vector.seq).collect();
    let places: Vec<(Space, u32)> = by_block.keys().map(|block| (space, *block)).collect();
    for ((block, added), mut all) in by_block.into_iter().zip(without(sql, scope, &places, &is_new)?) {
        all.extend(added.into_iter().cloned());
        all.sort_by_key(|vector| (vector.seq, vector.piece));
        write(sql, scope, space, block, &all)?;
    }
    sql.put(
        "INSERT INTO user_spaces (user_no, space_no, embedded_seq) VALUES (?1, ?2, ?3)
         ON CONFLICT (user_no, space_no) DO UPDATE SET embedded_seq = excluded.embedded_seq
         WHERE user_spaces.embedded_seq < excluded.embedded_seq",
        values![scope.user_no, space.space_no, embedded_seq],
        RowExpectation::Any,
    )
}

/// Removes the vectors of units from every space of the file, not only from the user's `user_spaces`: in a space that is
/// being dropped, a user may have blocks but no such row.
pub(crate) fn forget(sql: &dyn Sql, scope: &Scope, gone: &BTreeSet<u32>) -> Result<()> {
    let blocks: BTreeSet<u32> = gone.iter().map(|seq| block_of(*seq)).collect();
    let spaces = all_spaces(sql)?;
    let places: Vec<(Space, u32)> =
        spaces.iter().flat_map(|space| blocks.iter().map(|block| (*space, *block))).collect();
    for ((space, block), kept) in places.iter().zip(without(sql, scope, &places, gone)?) {
        write(sql, scope, *space, *block, &kept)?;
    }
    for seq in gone {
        sql.put(
            "DELETE FROM vector_gaps WHERE user_no = ?1 AND seq = ?2",
            values![scope.user_no, seq],
            RowExpectation::Any,
        )?;
    }
    Ok(())
}

/// The vectors of each block, except those of the units `gone`. A damaged block yields no vectors: the caller overwrites it,
/// and its units are recorded as gaps, so that they are embedded again.
fn without(
    sql: &dyn Sql,
    scope: &Scope,
    places: &[(Space, u32)],
    gone: &BTreeSet<u32>,
) -> Result<Vec<Vec<Stored>>> {
    let sets: Vec<_> =
        places.iter().map(|(space, block)| key(scope, space.space_no, i64::from(*block))).collect();
    let (mut found, mut damaged) = (vec![Vec::new(); places.len()], Vec::new());
    sql.query_many(OF_BLOCK, &sets, &mut |at, row| {
        match sound_block(row, places[at].0.dims)? {
            Some(block) => found[at] = block.entries().filter(|vector| !gone.contains(&vector.seq)).collect(),
            None => damaged.push(places[at]),
        }
        Ok(())
    })?;
    for (space, block) in damaged {
        reopen_block(sql, scope, space.space_no, block)?;
    }
    Ok(found)
}

/// Writes a block, replacing the existing one. An empty block is removed.
fn write(sql: &dyn Sql, scope: &Scope, space: Space, block: u32, vectors: &[Stored]) -> Result<()> {
    if vectors.is_empty() {
        return remove_block(sql, scope, (space.space_no, block.into()));
    }
    sql.put(
        "INSERT INTO vector_blocks (user_no, space_no, block_no, body) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (user_no, space_no, block_no) DO UPDATE SET body = excluded.body",
        values![scope.user_no, space.space_no, block, body_of(vectors)?],
        RowExpectation::Any,
    )
}

/// Removes a block.
pub(crate) fn remove_block(sql: &dyn Sql, scope: &Scope, (space_no, block): (i64, i64)) -> Result<()> {
    sql.put(
        "DELETE FROM vector_blocks WHERE user_no = ?1 AND space_no = ?2 AND block_no = ?3",
        values![scope.user_no, space_no, block],
        RowExpectation::Any,
    )
}

/// Removes at most `limit` of the user's blocks, and returns how many were removed.
pub(crate) fn remove_some_blocks(sql: &dyn Sql, scope: &Scope, space: Space, limit: u64) -> Result<u64> {
    sql.change(
        "DELETE FROM vector_blocks WHERE user_no = ?1 AND space_no = ?2 AND block_no IN
           (SELECT block_no FROM vector_blocks WHERE user_no = ?1 AND space_no = ?2 LIMIT ?3)",
        values![scope.user_no, space.space_no, limit],
    )
}

/// Records that the embedder refused a unit, so that it is tried again.
pub(crate) fn note_gap(sql: &dyn Sql, scope: &Scope, space: Space, seq: u32, why: &str) -> Result<()> {
    sql.put(
        "INSERT INTO vector_gaps (user_no, space_no, seq, tries, last_error) VALUES (?1, ?2, ?3, 1, ?4)
         ON CONFLICT (user_no, space_no, seq)
           DO UPDATE SET tries = vector_gaps.tries + 1, last_error = excluded.last_error",
        values![scope.user_no, space.space_no, seq, why],
        RowExpectation::Any,
    )
}

/// Records that the text of an embedded unit has changed, so that it is embedded again in every space. Returns `false` if it
/// was not embedded in any.
pub(crate) fn reopen(sql: &dyn Sql, scope: &Scope, seq: u32) -> Result<bool> {
    let reopened = sql.change(
        "INSERT INTO vector_gaps (user_no, space_no, seq, tries, last_error)
         SELECT r.user_no, s.space_no, r.seq, 0, 'its original was deleted, its summary is to be embedded'
         FROM recall_units AS r JOIN user_spaces AS s ON s.user_no = r.user_no AND s.embedded_seq >= r.seq
         WHERE r.user_no = ?1 AND r.seq = ?2
         ON CONFLICT (user_no, space_no, seq)
           DO UPDATE SET tries = vector_gaps.tries + 1, last_error = excluded.last_error",
        values![scope.user_no, seq],
    )?;
    Ok(reopened > 0)
}

/// Records that every unit of a damaged block must be embedded again in its space.
pub(crate) fn reopen_block(sql: &dyn Sql, scope: &Scope, space_no: i64, block: u32) -> Result<()> {
    let (first, last) = (last_of(block).saturating_sub(BLOCK_UNITS - 1), last_of(block));
    sql.put(
        "INSERT INTO vector_gaps (user_no, space_no, seq, tries, last_error)
         SELECT r.user_no, e.space_no, r.seq, 0, 'its vectors were damaged'
         FROM embedding_spaces AS e JOIN recall_units AS r ON r.user_no = ?1 AND r.seq BETWEEN ?3 AND ?4
         WHERE e.space_no = ?2
         ON CONFLICT (user_no, space_no, seq) DO NOTHING",
        values![scope.user_no, space_no, first, last],
        RowExpectation::Any,
    )
}

/// The user's gaps in the space that were tried fewer than `max_tries` times, ascending.
pub(crate) fn gaps(sql: &dyn Sql, scope: &Scope, space: Space, max_tries: u32) -> Result<Vec<u32>> {
    sql.list(
        "SELECT seq FROM vector_gaps WHERE user_no = ?1 AND space_no = ?2 AND tries < ?3 ORDER BY seq",
        values![scope.user_no, space.space_no, max_tries],
        |row| row.get(0),
    )
}

/// How many of the user's units are gaps in the space: refused, or to be embedded again.
pub(crate) fn gap_count(sql: &dyn Sql, scope: &Scope, space: Space) -> Result<u32> {
    sql.scalar(
        "SELECT count(*) FROM vector_gaps WHERE user_no = ?1 AND space_no = ?2",
        values![scope.user_no, space.space_no],
    )
}

/// Removes a gap that is filled.
pub(crate) fn close_gap(sql: &dyn Sql, scope: &Scope, space: Space, seq: u32) -> Result<()> {
    sql.put(
        "DELETE FROM vector_gaps WHERE user_no = ?1 AND space_no = ?2 AND seq = ?3",
        values![scope.user_no, space.space_no, seq],
        RowExpectation::Any,
    )
}
