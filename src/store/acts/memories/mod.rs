//! What is done to memories: each act is one operation, and a group of the history.

mod before;
mod edit;
pub(crate) mod measured;
mod operation;
mod save;
