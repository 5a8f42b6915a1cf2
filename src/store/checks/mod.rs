//! Reads all of a file: whether it is sound, and what is in it.

pub(crate) mod doctor;
pub(crate) mod health;
pub(crate) mod index_checks;
mod memory_checks;
pub(crate) mod stats;
