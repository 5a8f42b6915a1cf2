//! The write-ahead log: copied into the file when it has grown, emptied for a scrub and at the end.

use std::{cell::Cell, time::Duration};

use rusqlite::{Connection, hooks::Wal};

use crate::{
    config::Config,
    error::{ErrorKind, Result},
    store::file::connect,
};

/// Pages that the log grows by before it is copied: 4 MB, as SQLite's own default.
const CHECKPOINT_PAGES: i32 = 1_000;

/// How long closing waits for readers, so that everything is in the one file afterwards.
const CLOSING_PATIENCE: Duration = Duration::from_millis(100);

thread_local! {
    /// Pages in the log after this thread's last commit.
    static PAGES: Cell<i32> = const { Cell::new(0) };
}

/// How far the log has grown since it was last copied.
#[derive(Debug, Default)]
pub(super) struct Growth {
    /// Pages in the log when copying it was last due.
    copied: i32,
}

impl Growth {
    /// Counts the pages of what this connection, which stays on this thread, commits.
    pub(super) fn watch(conn: &Connection) {
        conn.wal_hook(Some(|_: &Wal, pages| {
            PAGES.set(pages);
            Ok(())
        }));
    }

    /// Whether the log is to be copied now. True once for each time that it has grown.
    pub(super) fn is_due(&mut self) -> bool {
        let pages = PAGES.get();
        if pages < self.copied {
            self.copied = 0; // The log began anew.
        }
        let is_due = pages - self.copied >= CHECKPOINT_PAGES;
        if is_due {
            self.copied = pages;
        }
        is_due
    }
}

/// Copies into the file as much of the log as no reader needs.
pub(super) fn copy(conn: &Connection) -> Result<()> {
    checkpoint(conn, "PASSIVE").map(drop)
}

/// Copies the log into the file and cuts it to no bytes. False: somebody was in the way.
pub(super) fn empty(conn: &Connection) -> Result<bool> {
    checkpoint(conn, "TRUNCATE")
}

/// The same without waiting for readers, since others want to write: what was erased is in no page of the log
/// afterwards.
pub(super) fn empty_at_once(conn: &Connection, config: &Config) -> Result<bool> {
    conn.busy_timeout(Duration::ZERO)?;
    let is_empty = empty(conn);
    conn.busy_timeout(connect::writers_patience(config))?;
    match is_empty {
        Err(error) if error.kind() == ErrorKind::Busy => Ok(false),
        is_empty => is_empty,
    }
}

/// Leaves everything in the one file if readers let it, and has the last connection remove the files beside it.
pub(super) fn tidy(conn: &Connection) -> Result<()> {
    conn.busy_timeout(CLOSING_PATIENCE)?;
    empty(conn)?;
    Ok(connect::tidies_on_close(conn)?)
}

/// Whether nobody was in the way.
fn checkpoint(conn: &Connection, mode: &str) -> Result<bool> {
    let is_busy: bool = conn.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| row.get(0))?;
    Ok(!is_busy)
}
