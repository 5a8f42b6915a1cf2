//! What is done to memories: each act is one operation, and a group of the history.

mod before;
mod edges;
mod edit;
pub(crate) mod erase;
pub(crate) mod forget;
pub(super) mod import;
pub(crate) mod measured;
mod merge;
mod notes;
mod operation;
mod propose;
mod quarantine;
mod save;
mod supersede;
mod sweep;
pub(crate) mod tend;
mod undo;
