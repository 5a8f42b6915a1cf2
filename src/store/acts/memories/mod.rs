//! What is done to memories: each act is one operation, and a group of the history.

mod before;
pub(crate) mod check;
mod edges;
mod edit;
pub(crate) mod erase;
pub(crate) mod forget;
pub(super) mod import;
pub(crate) mod measured;
mod notes;
mod operation;
mod save;
mod supersede;
mod sweep;
mod undo;
pub(crate) mod watch;
