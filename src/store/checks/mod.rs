//! Doctor, health and stats: whether the file is damaged, whether it can be used now, and how much is in it.

pub(crate) mod doctor;
pub(crate) mod health;
pub(crate) mod index_checks;
mod memory_checks;
pub(crate) mod stats;
mod unreadable_rows;
