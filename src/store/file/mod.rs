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
mod log_number;
pub(crate) mod migrate;
pub(crate) mod open;
mod page_one;
pub(crate) mod paper;
mod place;
pub(crate) mod put_back;
pub(crate) mod queue;
pub(crate) mod readers;
pub(crate) mod row_check;
pub(crate) mod schema;
pub(crate) mod scrub;
mod shrink;
mod sql_words;
pub(crate) mod sqlite;
#[cfg(test)]
pub(crate) mod testing;
mod unreadable;
pub(crate) mod watch;
mod writer;
