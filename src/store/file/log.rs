//! The write-ahead log: copies it into the file once it has grown, and empties it for a scrub, on closing, and when the file
//! is lost.

use std::{cell::Cell, time::Duration};

use rusqlite::{Connection, hooks::Wal};

use crate::{
    config::Config,
    error::{ErrorKind, Result},
    store::file::connect,
};

/// By how many pages the log grows before it is copied again: 4 MB, SQLite's own default.
const CHECKPOINT_PAGES: i32 = 1_000;

/// How many pages are in the log when an operator is told that it grows: 32 MB, eight times what it has without a reader.
const LARGE_PAGES: i32 = 8 * CHECKPOINT_PAGES;

/// How long closing waits for readers, so that the log can be emptied into the file.
const CLOSING_PATIENCE: Duration = Duration::from_millis(100);

thread_local! {
    /// The number of pages in the log after this thread's last commit.
    static PAGES: Cell<i32> = const { Cell::new(0) };
}

/// How far the log has grown since it was last copied.
#[derive(Debug, Default)]
pub(super) struct Growth {
    /// The number of pages in the log when a copy was last due.
    copied: i32,
    /// The number of pages in the log after the last commit that was looked at.
    pages: i32,
    /// Whether the operator was told of this log.
    is_told: bool,
}

impl Growth {
    /// Tracks the log's size after each commit by `conn`, which must stay on this thread.
    pub(super) fn watch(conn: &Connection) {
        conn.wal_hook(Some(|_: &Wal, pages| {
            PAGES.set(pages);
            Ok(())
        }));
    }

    /// Returns whether the last commit began the log anew. Call it after each commit.
    pub(super) fn has_restarted(&mut self) -> bool {
        let pages = PAGES.get();
        pages < std::mem::replace(&mut self.pages, pages)
    }

    /// Returns whether the log has become large since it began, although it was copied. Returns `true` once for each log.
    pub(super) fn is_to_be_told(&mut self) -> bool {
        let is_large = PAGES.get() >= LARGE_PAGES && self.copied > 0;
        is_large && !std::mem::replace(&mut self.is_told, true)
    }

    /// Returns whether the log should be copied now: once for every [`CHECKPOINT_PAGES`] pages.
    pub(super) fn is_due(&mut self) -> bool {
        let pages = PAGES.get();
        if pages < self.copied {
            (self.copied, self.is_told) = (0, false); // The log was restarted.
        }
        let is_due = pages - self.copied >= CHECKPOINT_PAGES;
        if is_due {
            self.copied = pages;
        }
        is_due
    }
}

/// Copies as much of the log into the file as is possible without waiting for readers.
pub(super) fn copy(conn: &Connection) -> Result<()> {
    checkpoint(conn, "PASSIVE").map(drop)
}

/// Copies the log into the file and truncates the log to zero bytes. Returns `false` if another connection prevents it.
pub(super) fn empty(conn: &Connection) -> Result<bool> {
    checkpoint(conn, "TRUNCATE")
}

/// Like `empty`, but waits for readers only so long, because other writes are queued. If it returns `true`, no page of the
/// log contains erased data.
///
/// Readers that begin meanwhile are not waited for: once the whole log is copied, they read the file.
pub(super) fn empty_within(conn: &Connection, patience: Duration, config: &Config) -> Result<bool> {
    conn.busy_timeout(patience)?;
    let is_empty = empty(conn);
    conn.busy_timeout(connect::writers_patience(config))?;
    match is_empty {
        Err(error) if error.kind() == ErrorKind::Busy => Ok(false),
        is_empty => is_empty,
    }
}

/// Empties the log into the file if readers allow it, and lets the last connection remove the log and its index.
pub(super) fn tidy(conn: &Connection) -> Result<()> {
    conn.busy_timeout(CLOSING_PATIENCE)?;
    empty(conn)?;
    Ok(connect::tidies_on_close(conn)?)
}

/// Runs a checkpoint. Returns `false` if another connection kept it from completing.
fn checkpoint(conn: &Connection, mode: &str) -> Result<bool> {
    let is_busy: bool = conn.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| row.get(0))?;
    Ok(!is_busy)
}
