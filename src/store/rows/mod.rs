//! The tables, one file per family. Only this folder has SQL about our rows, except for the SQL about their checksums. It is
//! in the dialect that SQLite and `PostgreSQL` share.

pub(crate) mod all_users;
pub(crate) mod anchor_reads;
pub(crate) mod anchors;
pub(crate) mod aside;
pub(crate) mod checks;
pub(crate) mod cold;
pub(crate) mod doomed_sessions;
pub(crate) mod embedding;
pub(crate) mod erase;
pub(crate) mod history;
pub(crate) mod jobs;
pub(crate) mod memories;
pub(crate) mod originals;
pub(crate) mod postings;
pub(crate) mod receipts;
pub(crate) mod row_check;
pub(crate) mod session_words;
pub(crate) mod sessions;
pub(crate) mod stats;
pub(crate) mod summaries;
pub(crate) mod transfer;
pub(crate) mod turn_row;
pub(crate) mod turns;
pub(crate) mod unit_blocks;
pub(crate) mod unit_texts;
pub(crate) mod units;
pub(crate) mod users;
pub(crate) mod uses;
pub(crate) mod vectors;
