//! Acts: the operations that change what is stored. Each runs in one transaction, some as a slice of a job's work.

pub(crate) mod anchors;
pub(crate) mod derive;
pub(crate) mod erase;
pub(crate) mod erase_turn;
pub(crate) mod erased;
pub(crate) mod import;
pub(crate) mod index;
pub(crate) mod inserted;
pub(crate) mod jobs;
pub(crate) mod lifecycle;
pub(crate) mod memories;
pub(crate) mod mend;
pub(crate) mod prune;
pub(crate) mod receipts;
pub(crate) mod record;
pub(crate) mod reload;
pub(crate) mod replace;
pub(crate) mod restore;
pub(crate) mod swap;
mod unindex;
pub(crate) mod vectors;
