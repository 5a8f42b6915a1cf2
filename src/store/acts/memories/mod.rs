//! What is done to memories: each act is one operation, and a group of the history.

mod answered;
mod ask;
mod before;
pub(crate) mod check;
mod decide;
mod edges;
mod edit;
pub(crate) mod erase;
pub(crate) mod forget;
pub(super) mod import;
mod known;
pub(crate) mod measured;
mod merge;
mod notes;
mod operation;
mod propose;
mod quarantine;
pub(crate) mod resurface;
mod save;
pub(crate) mod session_state;
mod supersede;
mod sweep;
pub(crate) mod tend;
mod undo;
mod used;
mod voices;
pub(crate) mod watch;
