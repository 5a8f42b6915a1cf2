//! The health check: whether the file can be read and written now. It is called often, so it is cheap, waits only briefly,
//! and does not disturb the writer.

use std::time::Duration;

use serde::Serialize;

/// The time limit of a health check. A later answer is no better than none.
pub(crate) const BOUND: Duration = Duration::from_millis(50);

/// The result of a health check: whether the file can be read and written now.
///
/// A value of this type exists only if the file could be read within 50 ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Health {
    /// Whether the writer thread accepts commands. `false` after it panicked, once the file is closed, and if the file is
    /// open read-only.
    pub is_writer_alive: bool,
    /// Whether the file is open read-only ([`Config::read_only`](crate::Config::read_only)).
    pub is_read_only: bool,
    /// Commands and receipts in the writer's queue, at most [`Config::queue_len`](crate::Config::queue_len).
    pub queued_commands: usize,
    /// Commits of commands by this handle's writer since the file was opened. Scrubbing and shrinking the file are not
    /// counted.
    pub commits: u64,
    /// Total duration of these commits, in microseconds. With full durability, each commit waits for the disk.
    pub commit_us: u64,
    /// Size of the write-ahead log in bytes. The log grows while a long read keeps it from being emptied.
    pub log_bytes: u64,
    /// Free bytes on the disk. `None` if the system does not report them or the feature `files` is off.
    pub free_bytes: Option<u64>,
    /// Version of the file's schema.
    pub schema_version: i64,
}

#[cfg(test)]
mod tests {
    use crate::{config::Config, error::ErrorKind, store::Store};

    #[test]
    fn who_finds_all_connections_in_use_hears_so_soon() {
        let folder = tempfile::tempdir().unwrap();
        let config = Config { readers: 1, ..Config::default() };
        let store = Store::open(&folder.path().join("m.db"), config).unwrap();
        assert!(store.health().unwrap().is_writer_alive);
        let held = store.snapshot().unwrap();
        assert_eq!(store.health().unwrap_err().kind(), ErrorKind::TimedOut);
        drop(held);
        store.health().unwrap();
    }
}
