//! A user's memories as files: a folder of markdown that people read, keep and edit. The formats are pure functions; only
//! `disk` reads and writes the folder, and only `read` and `one` read the store.

pub(crate) mod body;
pub(crate) mod change;
pub(crate) mod claim;
pub(crate) mod compare;
pub(crate) mod continuum;
pub(crate) mod disk;
pub(crate) mod edge_file;
pub(crate) mod edges;
pub(crate) mod entry;
pub(crate) mod export;
pub(crate) mod fields;
pub(crate) mod file;
pub(crate) mod foreign;
pub(crate) mod frontmatter;
#[cfg(test)]
mod fuzz;
pub(crate) mod graves;
pub(crate) mod guard;
pub(crate) mod head;
pub(crate) mod incoming;
pub(crate) mod lineage;
pub(crate) mod links;
pub(crate) mod newer;
pub(crate) mod one;
pub(crate) mod outgoing;
pub(crate) mod pages;
pub(crate) mod places;
pub(crate) mod read;
pub(crate) mod relation;
pub(crate) mod restore;
pub(crate) mod sections;
pub(crate) mod state;
pub(crate) mod ties;
pub(crate) mod versions;
