//! Detects commits by any process and reads sessions' versions, on a connection that never writes.

use std::sync::{Arc, Mutex, MutexGuard};

use rusqlite::Connection;

use crate::{
    clock::Clock,
    error::Result,
    model::ids::SessionId,
    store::{
        file::{connect, db_file::DbFile, sqlite::Sqlite},
        rows::sessions::{self, Version},
        scope::Scope,
    },
};

/// A connection that only detects commits and reads sessions' versions. After any failure the next check opens another one,
/// because SQLite promises little for a connection under which a disk has failed.
///
/// Once the connection has read, another process that closes the file cannot remove the log, even while the writer has no
/// connection.
#[derive(Debug)]
pub(crate) struct Watch {
    file: Arc<DbFile>,
    clock: Arc<dyn Clock>,
    watching: Mutex<Watching>,
}

#[derive(Debug)]
struct Watching {
    /// `None` after a failure.
    conn: Option<Connection>,
    /// How many connections have been opened so far.
    openings: u32,
}

/// The state of the file's commits at one moment. Two marks are equal only if no process has committed between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Which of the watch's connections was asked. Data versions of different connections cannot be compared.
    openings: u32,
    data_version: i64,
}

impl Mark {
    /// Returns the mark as one number. Two numbers are equal if and only if the marks are.
    pub(crate) fn number(self) -> u64 {
        // SQLite's data version has 32 bits.
        u64::from(self.openings) << 32 | u64::try_from(self.data_version).unwrap_or(0) & u64::from(u32::MAX)
    }

    #[cfg(test)]
    pub(crate) fn sample(data_version: i64) -> Self {
        Self { openings: 1, data_version }
    }
}

impl Watch {
    pub(crate) fn new(file: Arc<DbFile>, clock: Arc<dyn Clock>) -> Result<Self> {
        let watching = Watching { conn: Some(file.reader()?), openings: 1 };
        let watch = Self { file, clock, watching: Mutex::new(watching) };
        watch.mark()?;
        Ok(watch)
    }

    /// Returns the current mark.
    pub(crate) fn mark(&self) -> Result<Mark> {
        self.ask(|conn, openings| Ok(Mark { openings, data_version: connect::data_version(conn)? }))
    }

    /// Reads the session's version. `None` if the session does not exist.
    pub(crate) fn version(&self, scope: &Scope, session: SessionId) -> Result<Option<Version>> {
        self.ask(|conn, _| sessions::version(&Sqlite::new(conn, &*self.clock), scope, session))
    }

    fn ask<T>(&self, ask: impl FnOnce(&Connection, u32) -> Result<T>) -> Result<T> {
        self.file.noticed()?;
        let mut watching = self.lock();
        let conn = if let Some(conn) = watching.conn.take() {
            conn
        } else {
            watching.openings = watching.openings.wrapping_add(1);
            self.file.reader()?
        };
        let answer = ask(&conn, watching.openings)?;
        watching.conn = Some(conn); // Not reached after a failure, which drops the connection.
        Ok(answer)
    }

    /// Drops the connection. The next check opens another one.
    pub(crate) fn let_go(&self) {
        self.lock().conn = None;
    }

    fn lock(&self) -> MutexGuard<'_, Watching> {
        self.watching.lock().expect("no one panics while holding the watch")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{config::Config, store::file::open};

    #[test]
    fn after_a_failed_look_the_next_one_uses_another_connection_and_believes_nothing_seen_before() {
        let folder = tempfile::tempdir().unwrap();
        let (file, _conn) = open::open(&folder.path().join("memory.db"), &Config::default()).unwrap();
        let watch = Watch::new(Arc::new(file), Arc::clone(&Config::default().clock)).unwrap();
        let before = watch.mark().unwrap();
        assert_eq!(watch.mark().unwrap(), before);

        let stop = || true; // Fails every statement of this connection only.
        watch.lock().conn.as_ref().unwrap().progress_handler(1, Some(stop)).unwrap();
        watch.mark().unwrap_err();
        let after = watch.mark().unwrap();
        assert_ne!(after, before);
        assert_eq!(watch.mark().unwrap(), after);
    }
}
