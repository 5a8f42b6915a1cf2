//! The tables of memories, one file per family.

pub(crate) mod changes;
pub(crate) mod checks;
pub(crate) mod due;
pub(crate) mod edges;
pub(crate) mod episodes;
pub(crate) mod erased;
pub(crate) mod extracted;
pub(crate) mod find;
pub(crate) mod known;
pub(crate) mod lists;
pub(crate) mod looked;
pub(crate) mod pages;
pub(crate) mod quarantine;
pub(crate) mod recalled;
pub(crate) mod reviews;
pub(crate) mod row;
pub(crate) mod sensors;
pub(crate) mod session_state;
pub(crate) mod sources;
pub(crate) mod state;
pub(crate) mod tend;
pub(crate) mod terms;
pub(crate) mod transfer;
pub(crate) mod units;
pub(crate) mod uses;
