//! What recall reads instead of texts: postings of words, and facts about units. This module only encodes and decodes them.
//! The store reads and writes the rows.

pub(crate) mod facts;
pub(crate) mod postings;

/// The number of units per block, by their place in the user's order: block 0 contains the units 1 to 64.
///
/// Files contain blocks of this size. Changing it requires a migration that empties `unit_blocks`, `vector_blocks` and
/// `vector_gaps`, and sets `indexed_seq` and `embedded_seq` to 0.
pub(crate) const BLOCK_UNITS: u32 = 64;
const _: () = assert!(BLOCK_UNITS <= 256, "a place in a block is one byte");

/// The number of units outside the index at which an `index` job is queued. If jobs run, recall reads at most this many
/// rows.
pub(crate) const INDEX_AFTER: u32 = 2 * BLOCK_UNITS;

/// Returns the block of a unit.
pub(crate) fn block_of(seq: u32) -> u32 {
    seq.saturating_sub(1) / BLOCK_UNITS
}

/// Returns the last unit of a block.
pub(crate) fn last_of(block: u32) -> u32 {
    (block.saturating_add(1)).saturating_mul(BLOCK_UNITS)
}
