//! The rules for memories: how they begin, fade, settle, go stale and rank. Pure functions over plain facts; nothing here
//! reads a file or a clock.
//!
//! The rules come from four papers, which comments call the continuum paper (frequencies), the information paper
//! (volatility and checks), the cognitive paper (a graph of memories that fade) and the entry paper.

pub(crate) mod beginning;
pub(crate) mod bounds;
pub(crate) mod checking;
pub(crate) mod copies;
pub(crate) mod core;
pub(crate) mod decay;
pub(crate) mod deciding;
pub(crate) mod entities;
pub(crate) mod extract;
pub(crate) mod facts;
pub(crate) mod frequency;
pub(crate) mod page;
pub(crate) mod rank;
pub(crate) mod reflection;
pub(crate) mod resurface;
pub(crate) mod similar;
pub(crate) mod slot;
pub(crate) mod slug;
pub(crate) mod tend;
pub(crate) mod terms;
pub(crate) mod validity;

#[cfg(test)]
mod cases {
    /// Compares a number with four digits of the expected one. A fifth digit of 5 may be rounded either way.
    #[track_caller]
    pub(super) fn check_digits(found: f64, expected: f64, what: &str) {
        assert!((found - expected).abs() < 5.1e-5, "{what}: {found}, not {expected}");
    }
}
