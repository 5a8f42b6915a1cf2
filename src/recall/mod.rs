//! A message comes in, a context goes out: what is relevant, and how it is packed into a budget.

mod anchors_leg;
pub(crate) mod answer;
mod candidates;
pub(crate) mod context;
pub(crate) mod context_options;
pub(crate) mod embedders;
mod expand;
mod find;
mod graph;
mod later;
mod memories_leg;
pub(crate) mod message;
pub(crate) mod of;
pub(crate) mod pack;
mod pieces;
pub(crate) mod plans;
mod queries;
pub(crate) mod rerank;
pub(crate) mod score;
pub(crate) mod search;
pub(crate) mod session_turns;
pub(crate) mod sieve;
mod tail;
pub(crate) mod user_index;
pub(crate) mod user_indexes;
pub(crate) mod wishes;
mod words_leg;
