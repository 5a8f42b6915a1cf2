//! Memories: what is known in addition to what was said, and how it is saved, edited and listed.

pub(crate) mod core;
pub(crate) mod due;
pub(crate) mod edit;
pub(crate) mod filter;
pub(crate) mod forgotten;
pub(crate) mod known;
pub(crate) mod merged;
pub(crate) mod new;
pub(crate) mod procedure;
pub(crate) mod quarantined;
pub(crate) mod recalled;
pub(crate) mod reflected;
pub(crate) mod saved;
pub(crate) mod session_state;
pub(crate) mod source;
pub(crate) mod standing;
pub(crate) mod state;
pub(crate) mod tended;
pub(crate) mod term;
pub(crate) mod trust;
pub(crate) mod words;
