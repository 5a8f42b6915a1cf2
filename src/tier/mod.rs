//! Which turn is in which tier: the rules, as pure data and functions. The store makes them durable.

pub(crate) mod hot;
pub(crate) mod warm;
