//! The tables of memories, a file for each family of them.

pub(crate) mod row;
pub(crate) mod terms;
pub(crate) mod units;
