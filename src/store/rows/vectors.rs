//! Rows of vectors: which spaces there are, how far each user's units are embedded, and the vectors, block by block.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{OptionalExtension, Params, Row, params};

use crate::{
    embed::{BuiltIn, Embedder, EmbeddingSpace, pieces::TEXT_FORM},
    error::{Error, ErrorKind, Result},
    index::{BLOCK_UNITS, block_of, last_of},
    model::job::JobKind,
    store::{
        file::row_check,
        rows::{
            jobs::{self, Lease},
            units,
        },
        scope::Scope,
        sql::Sql,
        write_tx::WriteTx,
    },
};

/// A space of vectors in this file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Space {
    pub(crate) space_no: i64,
    pub(crate) dims: usize,
}

/// The number of a space that has no place in the file yet: none of its vectors do.
pub(crate) const NOT_IN_FILE: i64 = 0;

/// A vector of one piece of a unit, as it is stored.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) seq: u32,
    pub(crate) piece: u8,
    pub(crate) bytes: Vec<u8>,
}

/// The space of a model, if it has a place in the file.
pub(crate) fn space(conn: &dyn Sql, space: &EmbeddingSpace) -> Result<Option<Space>> {
    let mut stmt = conn.prepare_cached(
        "SELECT space_no FROM embedding_spaces WHERE model = ?1 AND revision = ?2 AND dims = ?3 AND text_form = ?4",
    )?;
    let found = stmt
        .query_row(params![space.model, space.revision, space.dims, TEXT_FORM], |row| row.get("space_no"))
        .optional()?;
    Ok(found.map(|space_no| Space { space_no, dims: space.dims as usize }))
}

/// A model, as its columns name it.
pub(crate) fn read_space(row: &Row<'_>) -> rusqlite::Result<EmbeddingSpace> {
    Ok(EmbeddingSpace { model: row.get("model")?, revision: row.get("revision")?, dims: row.get("dims")? })
}

/// The same, with a place made for it.
pub(crate) fn find_or_add_space(tx: &dyn Sql, wanted: &EmbeddingSpace) -> Result<Space> {
    if let Some(found) = space(tx, wanted)? {
        return Ok(found);
    }
    tx.prepare_cached(
        "INSERT INTO embedding_spaces (model, revision, dims, text_form) VALUES (?1, ?2, ?3, ?4)",
    )?
    .execute(params![wanted.model, wanted.revision, wanted.dims, TEXT_FORM])?;
    Ok(Space { space_no: tx.last_insert_rowid(), dims: wanted.dims as usize })
}

/// Up to which unit a user is embedded in a space.
pub(crate) fn embedded_seq(conn: &dyn Sql, scope: &Scope, space: Space) -> Result<u32> {
    let mut stmt =
        conn.prepare_cached("SELECT embedded_seq FROM user_spaces WHERE user_no = ?1 AND space_no = ?2")?;
    let found = stmt.query_row(params![scope.user_no, space.space_no], |row| row.get("embedded_seq"));
    Ok(found.optional()?.unwrap_or(0))
}

/// Bytes of a user's vectors from a block on, their places included.
pub(crate) fn bytes(conn: &dyn Sql, scope: &Scope, space: Space, first: u32) -> Result<usize> {
    let mut stmt = conn.prepare_cached(
        "SELECT coalesce(sum(length(body)), 0) AS bytes FROM vector_blocks
         WHERE user_no = ?1 AND space_no = ?2 AND block_no >= ?3",
    )?;
    Ok(stmt.query_row(params![scope.user_no, space.space_no, first], |row| row.get("bytes"))?)
}

/// Shows the blocks of a user's vectors from a block on. Returns how many cannot be read.
pub(crate) fn for_each_block(
    conn: &dyn Sql,
    scope: &Scope,
    space: Space,
    first: u32,
    mut each: impl FnMut(Block<'_>),
) -> Result<usize> {
    let mut stmt = conn.prepare_cached(
        "SELECT user_no, space_no, block_no, body, row_check FROM vector_blocks
         WHERE user_no = ?1 AND space_no = ?2 AND block_no >= ?3 ORDER BY block_no",
    )?;
    let mut rows = stmt.query(params![scope.user_no, space.space_no, first])?;
    let mut damaged = 0;
    while let Some(row) = rows.next()? {
        let body = row.get_ref(3)?.as_blob().unwrap_or_default();
        match row.get(2).ok().and_then(|block| Block::parse(block, space.dims, body)) {
            Some(block) if row_check::holds(row, 4)? => each(block),
            _ => damaged += 1,
        }
    }
    Ok(damaged)
}

/// The vectors of a block, as a row holds them: how many there are (u16), for each the unit's place in the block and the
/// piece of its turn (a byte each), then the vectors, `dims` bytes each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'a> {
    first: u32,
    dims: usize,
    places: &'a [[u8; 2]],
    /// One vector after the other.
    pub(crate) vectors: &'a [u8],
}

impl<'a> Block<'a> {
    /// `None`: these bytes are no block.
    fn parse(block: u32, dims: usize, body: &'a [u8]) -> Option<Self> {
        let (count, rest) = body.split_first_chunk()?;
        let count = usize::from(u16::from_le_bytes(*count));
        let (places, vectors) = rest.split_at_checked(2 * count)?;
        let first = block.checked_mul(BLOCK_UNITS)?.checked_add(1)?;
        let is_whole = vectors.len() == count * dims;
        is_whole.then_some(Self { first, dims, places: places.as_chunks().0, vectors })
    }

    /// For each vector its unit and the piece of its turn.
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

/// Adds vectors of units that have none yet, and says up to which unit the user is embedded now.
pub(crate) fn add(
    tx: &dyn Sql,
    scope: &Scope,
    space: Space,
    vectors: &[Stored],
    embedded_seq: u32,
) -> Result<()> {
    let mut by_block: BTreeMap<u32, Vec<&Stored>> = BTreeMap::new();
    for vector in vectors {
        by_block.entry(block_of(vector.seq)).or_default().push(vector);
    }
    for (block, added) in by_block {
        let is_new = |seq| added.iter().any(|vector| vector.seq == seq);
        let mut all = without(tx, scope, space, block, is_new)?;
        all.extend(added.into_iter().cloned());
        all.sort_by_key(|vector| (vector.seq, vector.piece));
        write(tx, scope, space, block, &all)?;
    }
    tx.prepare_cached(
        "INSERT INTO user_spaces (user_no, space_no, embedded_seq) VALUES (?1, ?2, ?3)
         ON CONFLICT (user_no, space_no) DO UPDATE SET embedded_seq = max(embedded_seq, excluded.embedded_seq)",
    )?
    .execute(params![scope.user_no, space.space_no, embedded_seq])?;
    Ok(())
}

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

/// Notes how many units are to be embedded, one counting for each model.
pub(crate) fn expect(
    tx: &WriteTx<'_>,
    scope: &Scope,
    lease: &Lease,
    wanted: &[EmbeddingSpace],
) -> Result<()> {
    let (mut units, last_seq) = (0, units::extent(tx.sql, scope)?.last_seq);
    for wanted in wanted {
        let space = space(tx.sql, wanted)?;
        let embedded_seq = space.map_or(Ok(0), |space| embedded_seq(tx.sql, scope, space))?;
        units += last_seq.saturating_sub(embedded_seq);
    }
    jobs::expect(tx.sql, lease, units)
}

/// Ends the job, unless a unit came in since: who recorded that saw the job at work, and queued none.
pub(crate) fn finish(tx: &WriteTx<'_>, scope: &Scope, lease: &Lease, spaces: &[Space]) -> Result<bool> {
    let last_seq = units::extent(tx.sql, scope)?.last_seq;
    for &space in spaces {
        let is_behind = embedded_seq(tx.sql, scope, space)? < last_seq;
        // A gap that nobody has tried came in since, too: a summary in the place of a deleted turn.
        if is_behind || !gaps(tx.sql, scope, space, 1)?.is_empty() {
            return Ok(false);
        }
    }
    jobs::finish(tx.sql, lease)?;
    Ok(true)
}

/// Writes what was embedded, unless its texts have changed since.
pub(crate) fn add_embedded(
    tx: &WriteTx<'_>,
    scope: &Scope,
    lease: &Lease,
    space: Space,
    embedded: &Embedded,
) -> Result<()> {
    let Embedded { epoch, after, until, vectors, refused, is_gap, counts } = embedded;
    if units::extent(tx.sql, scope)?.epoch != *epoch {
        return Err(Error::new(
            ErrorKind::Provider,
            "what was embedded changed meanwhile; nothing was written",
        ));
    }
    add(tx.sql, scope, space, vectors, if *is_gap { 0 } else { *until })?;
    let gaps: BTreeSet<u32> = refused.iter().map(|(seq, _)| *seq).collect();
    for (seq, why) in refused {
        note_gap(tx.sql, scope, space, (*seq, 1), why)?;
    }
    if *is_gap && gaps.is_empty() {
        close_gap(tx.sql, scope, space, *until)?;
    }
    if *counts {
        jobs::progress(tx.sql, lease, until - after, 1)?;
    }
    Ok(())
}

/// Takes the vectors of units out of every space.
pub(crate) fn forget(tx: &dyn Sql, scope: &Scope, gone: &BTreeSet<u32>) -> Result<()> {
    let blocks: BTreeSet<u32> = gone.iter().map(|seq| block_of(*seq)).collect();
    for space in all_spaces(tx)? {
        for &block in &blocks {
            let kept = without(tx, scope, space, block, |seq| gone.contains(&seq))?;
            write(tx, scope, space, block, &kept)?;
        }
    }
    for seq in gone {
        tx.prepare_cached("DELETE FROM vector_gaps WHERE user_no = ?1 AND seq = ?2")?
            .execute(params![scope.user_no, seq])?;
    }
    Ok(())
}

/// Notes that a unit has no vector in the space, so that it is tried again.
pub(crate) fn note_gap(
    tx: &dyn Sql,
    scope: &Scope,
    space: Space,
    (seq, tries): (u32, u32),
    why: &str,
) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO vector_gaps (user_no, space_no, seq, tries, last_error) VALUES (?1, ?2, ?3, ?5, ?4)
         ON CONFLICT (user_no, space_no, seq) DO UPDATE SET tries = tries + 1, last_error = excluded.last_error",
    )?
    .execute(params![scope.user_no, space.space_no, seq, why, tries])?;
    Ok(())
}

/// Takes note of a unit that was embedded, and whose text has changed: it is to be embedded anew in every space. False:
/// it has not been embedded in any.
pub(crate) fn reopen(tx: &dyn Sql, scope: &Scope, seq: u32) -> Result<bool> {
    let mut is_reopened = false;
    for space in all_spaces(tx)? {
        if seq <= embedded_seq(tx, scope, space)? {
            note_gap(tx, scope, space, (seq, 0), "its original was deleted, its summary is to be embedded")?;
            is_reopened = true;
        }
    }
    Ok(is_reopened)
}

/// The same of every unit of a block that is damaged.
pub(crate) fn reopen_block(tx: &dyn Sql, scope: &Scope, space_no: i64, block: u32) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO vector_gaps (user_no, space_no, seq, tries, last_error)
         SELECT user_no, ?2, seq, 0, 'its vectors were damaged' FROM recall_units
         WHERE user_no = ?1 AND seq BETWEEN ?3 AND ?4
         ON CONFLICT (user_no, space_no, seq) DO NOTHING",
    )?
    .execute(params![
        scope.user_no,
        space_no,
        last_of(block).saturating_sub(BLOCK_UNITS - 1),
        last_of(block)
    ])?;
    Ok(())
}

/// Forgets how far everybody is embedded by the configured embedders, or else by the built-in one, so that their vectors
/// are made anew, each over the one that is there. Returns how many users that are.
pub(crate) fn begin_anew(tx: &mut WriteTx<'_>) -> Result<u64> {
    let mut wanted: Vec<EmbeddingSpace> =
        tx.config.embedders.iter().map(|embedder| embedder.space()).collect();
    if wanted.is_empty() {
        wanted.push(BuiltIn::default().space());
    }
    for wanted in &wanted {
        if let Some(known) = space(tx.sql, wanted)? {
            for sql in [
                "UPDATE user_spaces SET embedded_seq = 0 WHERE space_no = ?1",
                "DELETE FROM vector_gaps WHERE space_no = ?1",
            ] {
                tx.sql.prepare_cached(sql)?.execute([known.space_no])?;
            }
        }
    }
    tx.sql.prepare_cached("UPDATE user_scopes SET epoch = epoch + 1")?.execute([])?;
    queue(tx, "SELECT user_id, user_no FROM user_scopes WHERE last_seq > 0 ORDER BY user_no", [])
}

/// Queues the making of vectors for everybody who is behind in the space of a configured embedder: the model was changed,
/// or others have recorded and run jobs without it.
pub(crate) fn queue_behind(tx: &mut WriteTx<'_>) -> Result<()> {
    for embedder in tx.config.embedders.clone() {
        let wanted = embedder.space();
        wanted.check()?;
        let space = find_or_add_space(tx.sql, &wanted)?;
        queue(
            tx,
            "SELECT u.user_id AS user_id, u.user_no AS user_no FROM user_scopes AS u
             LEFT JOIN user_spaces AS s ON s.user_no = u.user_no AND s.space_no = ?1
             WHERE u.last_seq > coalesce(s.embedded_seq, 0) ORDER BY u.user_no",
            [space.space_no],
        )?;
    }
    Ok(())
}

/// Queues the making of vectors for the users that a query gives, and returns how many they are.
fn queue(tx: &mut WriteTx<'_>, sql: &str, params: impl Params) -> Result<u64> {
    let mut stmt = tx.sql.prepare_cached(sql)?;
    let read = |row: &Row<'_>| Ok(Scope { user_id: row.get("user_id")?, user_no: row.get("user_no")? });
    let users: Vec<Scope> = stmt.query_map(params, read)?.collect::<rusqlite::Result<_>>()?;
    drop(stmt);
    for scope in &users {
        jobs::enqueue_if_none(tx, scope, JobKind::Embed)?;
    }
    Ok(users.len() as u64)
}

/// Takes away the vectors of spaces that are not among `kept`, a block at a time. False: there are none.
pub(crate) fn drop_others(tx: &dyn Sql, kept: &[EmbeddingSpace]) -> Result<bool> {
    let mut stmt = tx.prepare_cached("SELECT space_no, model, revision, dims FROM embedding_spaces")?;
    let known = stmt.query_map([], |row| Ok((row.get("space_no")?, read_space(row)?)))?;
    let known: Vec<(i64, EmbeddingSpace)> = known.collect::<rusqlite::Result<_>>()?;
    for (space_no, space) in known {
        if kept.contains(&space) {
            continue;
        }
        // First of all nobody is embedded there any more: cut short, it is all to be made again.
        for sql in
            ["DELETE FROM user_spaces WHERE space_no = ?1", "DELETE FROM vector_gaps WHERE space_no = ?1"]
        {
            tx.prepare_cached(sql)?.execute([space_no])?;
        }
        let gone = tx
            .prepare_cached(
                "DELETE FROM vector_blocks WHERE rowid IN
                   (SELECT rowid FROM vector_blocks WHERE space_no = ?1 LIMIT 64)",
            )?
            .execute([space_no])?;
        if gone == 0 {
            tx.prepare_cached("DELETE FROM embedding_spaces WHERE space_no = ?1")?.execute([space_no])?;
        }
        return Ok(true);
    }
    Ok(false)
}

/// Units without a vector in the space, which were tried less than `max_tries` times.
pub(crate) fn gaps(conn: &dyn Sql, scope: &Scope, space: Space, max_tries: u32) -> Result<Vec<u32>> {
    let mut stmt = conn.prepare_cached(
        "SELECT seq FROM vector_gaps WHERE user_no = ?1 AND space_no = ?2 AND tries < ?3 ORDER BY seq",
    )?;
    let rows = stmt.query_map(params![scope.user_no, space.space_no, max_tries], |row| row.get("seq"))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// How many units the embedder of the space refused.
pub(crate) fn gap_count(conn: &dyn Sql, scope: &Scope, space: Space) -> Result<u32> {
    let mut stmt =
        conn.prepare_cached("SELECT count(*) AS gaps FROM vector_gaps WHERE user_no = ?1 AND space_no = ?2")?;
    Ok(stmt.query_row(params![scope.user_no, space.space_no], |row| row.get("gaps"))?)
}

/// A gap that is filled.
pub(crate) fn close_gap(tx: &dyn Sql, scope: &Scope, space: Space, seq: u32) -> Result<()> {
    tx.prepare_cached("DELETE FROM vector_gaps WHERE user_no = ?1 AND space_no = ?2 AND seq = ?3")?
        .execute(params![scope.user_no, space.space_no, seq])?;
    Ok(())
}

/// All spaces of the file: few. Of one that is being dropped a user may have blocks, and no row that says so.
fn all_spaces(conn: &dyn Sql) -> Result<Vec<Space>> {
    let mut stmt = conn.prepare_cached("SELECT space_no, dims FROM embedding_spaces ORDER BY space_no")?;
    let read = |row: &Row<'_>| Ok(Space { space_no: row.get("space_no")?, dims: row.get("dims")? });
    let rows = stmt.query_map([], read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The vectors of a block without those of some units.
fn without(
    conn: &dyn Sql,
    scope: &Scope,
    space: Space,
    block: u32,
    is_gone: impl Fn(u32) -> bool,
) -> Result<Vec<Stored>> {
    let mut stmt = conn.prepare_cached(
        "SELECT user_no, space_no, block_no, body, row_check FROM vector_blocks
         WHERE user_no = ?1 AND space_no = ?2 AND block_no = ?3",
    )?;
    let mut rows = stmt.query(params![scope.user_no, space.space_no, block])?;
    let Some(row) = rows.next()? else { return Ok(Vec::new()) };
    let body = row.get_ref("body")?.as_blob().unwrap_or_default();
    let is_sound = row_check::holds(row, 4)?;
    let Some(known) = Block::parse(block, space.dims, body).filter(|_| is_sound) else {
        reopen_block(conn, scope, space.space_no, block)?; // It is written over.
        return Ok(Vec::new());
    };
    Ok(known.entries().filter(|vector| !is_gone(vector.seq)).collect())
}

/// Writes a block over the one that is there; an empty one goes.
fn write(tx: &dyn Sql, scope: &Scope, space: Space, block: u32, vectors: &[Stored]) -> Result<()> {
    if vectors.is_empty() {
        tx.prepare_cached(
            "DELETE FROM vector_blocks WHERE user_no = ?1 AND space_no = ?2 AND block_no = ?3",
        )?
        .execute(params![scope.user_no, space.space_no, block])?;
        return Ok(());
    }
    tx.prepare_cached(
        "INSERT INTO vector_blocks (user_no, space_no, block_no, body) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (user_no, space_no, block_no) DO UPDATE SET body = excluded.body",
    )?
    .execute(params![scope.user_no, space.space_no, block, body_of(vectors)?])?;
    Ok(())
}
