//! A user's memories as files: a folder of markdown that people read, keep and edit. The formats of three papers, as pure
//! functions; only `disk` reads and writes the folder.

pub(crate) mod file;
pub(crate) mod frontmatter;
