//! What is done to memories: each act is one operation, and a group of the history.

mod before;
mod edges;
mod edit;
pub(crate) mod erase;
pub(crate) mod forget;
pub(super) mod import;
mod known;
pub(crate) mod measured;
mod notes;
mod operation;
mod save;
mod supersede;
mod sweep;
mod undo;
mod voices;
