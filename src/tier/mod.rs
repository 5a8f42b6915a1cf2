//! The rules that decide which turn is in which tier, as pure data and functions. The store writes what they decide.

pub(crate) mod hot;
pub(crate) mod warm;
