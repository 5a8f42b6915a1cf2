//! What is done to memories: each act is one operation, and a group of the history.

mod answered;
mod ask;
mod before;
mod decide;
mod edges;
mod edit;
pub(crate) mod erase;
pub(crate) mod extract;
pub(crate) mod forget;
pub(super) mod import;
pub(crate) mod measured;
mod notes;
mod operation;
pub(crate) mod resurface;
mod save;
pub(crate) mod session_state;
mod supersede;
mod sweep;
mod undo;
mod used;
