//! The SQLite file: opens and migrates it, writes with one thread, reads with a pool of connections, and scrubs, shrinks and
//! copies it. Only this module uses rusqlite and SQL that is specific to SQLite.

pub(crate) mod backup;
mod behind;
mod commits;
pub(crate) mod connect;
pub(crate) mod db_file;
pub(crate) mod errors;
pub(crate) mod facts;
mod held;
mod image;
mod log;
pub(crate) mod migrate;
pub(crate) mod open;
pub(crate) mod paper;
pub(crate) mod queue;
pub(crate) mod readers;
pub(crate) mod row_check;
pub(crate) mod scrub;
mod shrink;
pub(crate) mod sqlite;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod watch;
mod writer;
