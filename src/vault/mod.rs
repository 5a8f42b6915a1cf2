//! A user's memories as files: a folder of markdown that people read, keep and edit. The formats are pure functions; only
//! `disk` reads and writes the folder, and only `read` asks the store.

pub(crate) mod disk;
pub(crate) mod export;
pub(crate) mod file;
pub(crate) mod foreign;
pub(crate) mod frontmatter;
pub(crate) mod incoming;
pub(crate) mod outgoing;
pub(crate) mod pages;
pub(crate) mod places;
pub(crate) mod read;
pub(crate) mod state;
pub(crate) mod ties;
