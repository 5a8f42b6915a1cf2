//! Whether the file can be read and written now: asked often, so it costs little, waits briefly, and bothers no writer.

use std::time::Duration;

use serde::Serialize;

/// How long a look may take: what answers later is no better than what does not.
pub(crate) const BOUND: Duration = Duration::from_millis(50);

/// Whether the file can be read and written now. That a connection answers within 50 ms is said by there being one of
/// these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Health {
    /// Whether the thread that writes takes commands: not behind a panic in it, once the file is closed, and where the file
    /// is only looked at.
    pub is_writer_alive: bool,
    /// Whether the file is only looked at: [`Config::read_only`](crate::Config::read_only).
    pub is_read_only: bool,
    /// Commands that wait for the writer, of at most [`Config::queue_len`](crate::Config::queue_len).
    pub queued_commands: usize,
    /// Commits of this handle's writer since the file was opened.
    pub commits: u64,
    /// How long they took together, in microseconds: each waits for the disk, if it is to be durable.
    pub commit_us: u64,
    /// Size of the write-ahead log. It grows while a reader holds an old moment of the file.
    pub log_bytes: u64,
    /// Bytes that are free on the disk; none: the system does not say, or the feature `files` is off.
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
