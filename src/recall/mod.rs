//! A message comes in, a context goes out: what is relevant, and how it is packed into a budget.

#[cfg_attr(not(test), expect(dead_code, reason = "the search over all that was said will use it"))]
pub(crate) mod anchors_leg;
pub(crate) mod context;
pub(crate) mod pack;
#[cfg_attr(not(test), expect(dead_code, reason = "the search over all that was said will use it"))]
pub(crate) mod query;
pub(crate) mod search;
