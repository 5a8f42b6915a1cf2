//! A message comes in, a context goes out: what is relevant, and how it is packed into a budget.

pub(crate) mod anchors_leg;
pub(crate) mod context;
pub(crate) mod pack;
pub(crate) mod query;
pub(crate) mod search;
