//! What recall reads instead of texts: postings of words, and facts of units. Pure encodings; the rows belong to the store.

pub(crate) mod facts;
pub(crate) mod postings;

/// Units per block, by place in the user's order: block 0 contains the units 1 to 64. Files contain blocks of this size:
/// changing it requires a migration that empties `unit_blocks`, `vector_blocks` and `vector_gaps` and sets `indexed_seq` and
/// `embedded_seq` to 0.
pub(crate) const BLOCK_UNITS: u32 = 64;
const _: () = assert!(BLOCK_UNITS <= 256, "a place in a block is one byte");

/// A job is queued when this many units are not yet in the index. If jobs run, recall reads at most this many rows.
pub(crate) const INDEX_AFTER: u32 = 2 * BLOCK_UNITS;

/// The block of a unit.
pub(crate) fn block_of(seq: u32) -> u32 {
    seq.saturating_sub(1) / BLOCK_UNITS
}

/// The last unit of a block.
pub(crate) fn last_of(block: u32) -> u32 {
    (block.saturating_add(1)).saturating_mul(BLOCK_UNITS)
}
