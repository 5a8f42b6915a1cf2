//! A message comes in, a context goes out: what is relevant, and how it is packed into a budget.

pub(crate) mod context;
pub(crate) mod pack;
pub(crate) mod refers_back;
pub(crate) mod search;
