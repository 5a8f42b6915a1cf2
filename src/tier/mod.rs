//! Who lives where: the rules of the tiers, as pure data and functions. The store makes them durable.

pub(crate) mod hot;
pub(crate) mod warm;
