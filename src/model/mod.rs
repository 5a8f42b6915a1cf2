//! Plain data: turns, sessions, tiers, anchors, memories, receipts, jobs, and their ids and words. Knows nothing about
//! files, clocks or tokenizers.

pub(crate) mod anchor;
pub(crate) mod change;
pub(crate) mod chat;
pub(crate) mod critical;
pub(crate) mod edge;
pub(crate) mod episode;
mod explain;
pub(crate) mod filter;
pub(crate) mod hex;
pub(crate) mod history;
pub(crate) mod ids;
pub(crate) mod job;
pub(crate) mod memory;
pub(crate) mod metadata;
pub(crate) mod origin;
pub(crate) mod page;
pub(crate) mod place;
pub(crate) mod profile;
pub(crate) mod receipt;
pub(crate) mod receipt_texts;
pub(crate) mod review;
pub(crate) mod sensor;
pub(crate) mod session;
pub(crate) mod stored_time;
pub(crate) mod summary;
pub(crate) mod tier;
pub(crate) mod turn;
pub(crate) mod user;
pub(crate) mod uses;
#[cfg(feature = "files")]
pub(crate) mod vault;
pub(crate) mod word_enum;
