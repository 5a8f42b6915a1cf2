//! A message comes in, a context goes out: what is relevant, and how it is packed into a budget.

pub(crate) mod context;
pub(crate) mod pack;
pub(crate) mod refers_back;
pub(crate) mod search;
pub(crate) mod answer;
pub(crate) mod embedders;
mod find;
mod query;
pub(crate) mod score;
mod user_index;
pub(crate) mod user_indexes;
mod words_leg;
