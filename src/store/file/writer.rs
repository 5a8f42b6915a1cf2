//! The writer: the thread through which an open handle writes to its file.
//!
//! It takes the commands that have queued up, at most [`MAX_BATCH`], runs them in one immediate transaction, commits, and
//! only then answers, so that all waiting callers share one sync. If there are several commands, each has a savepoint, so
//! that a rejected one fails alone. After any disk failure the connection is dropped and reopened.

use std::{
    cell::RefCell,
    collections::HashMap,
    sync::{Arc, Weak},
    time::Duration,
};

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};
use tokio::sync::{mpsc, oneshot, watch};

use crate::{
    clock::{Deadline, Stopwatch},
    config::{Config, Durability},
    error::{Error, ErrorKind, Result},
    event::Event,
    faults::Moment,
    model::turn::Origin,
    store::{
        behind::WriteBehind,
        file::{
            behind::{Next, WrittenLater},
            commits::Commits,
            connect,
            db_file::DbFile,
            errors::poisons_connection,
            log::{self, Growth},
            log_number, schema,
            scrub::{self, PagesToScrub, Scrubbed},
            shrink,
            sqlite::Sqlite,
            watch::{Mark, Watch},
        },
        live::Live,
        rows::jobs::Owed,
        write_tx::{Staged, WriteTx},
    },
};

/// The maximum number of commands in one transaction: eight times what 32 busy sessions queue up during a slow sync.
const MAX_BATCH: usize = 256;

/// How long a write that no caller waits for may wait for another process's lock. Callers who record wait for it meanwhile.
const PATIENCE_BEHIND: Duration = Duration::from_secs(1);

/// The longest time that an order to scrub may take, apart from its first slice. Up to this it may take as long as it has
/// waited for other writes, so that an erase advances however much others write, and they however much is to scrub.
const MOST_OF_A_SCRUB: Duration = Duration::from_millis(200);

/// Work to do in the writer's transaction on behalf of a caller.
pub(super) trait Command: Send {
    /// Runs the command. An error rolls back only this command.
    fn run(&mut self, tx: &mut WriteTx<'_>) -> Result<()>;
    /// Answers the caller, once the commit is durable. `failed` is the error that made the whole transaction fail.
    fn reply(self: Box<Self>, failed: Option<&Error>);
    /// Returns until when the caller waits for another process's lock.
    fn deadline(&self) -> Deadline;
}

/// An order in the writer's queue.
pub(super) enum Order {
    /// Run a command, in a transaction that it may share with others.
    Run(Box<dyn Command>),
    /// Write a receipt or a use later, together with others.
    Behind(WriteBehind),
    /// Write all waiting receipts and uses now, and report when done.
    Flush(oneshot::Sender<()>),
    Scrub(Scrub),
    /// Return some free pages to the file system. The answer is whether more remain.
    Shrink(oneshot::Sender<Result<bool>>),
}

/// An order to empty the write-ahead log, between transactions, and then to overwrite the gaps of these pages.
pub(super) struct Scrub {
    pub(super) owed: Owed,
    pub(super) pages: PagesToScrub,
    /// Runs since the order was given.
    pub(super) waited: Stopwatch,
    pub(super) sender: oneshot::Sender<Result<Scrubbed>>,
}

pub(super) struct WriterThread {
    file: Arc<DbFile>,
    /// `None` after a failure, until the next command reopens the file. Stays `None` if the file is lost.
    conn: Option<Connection>,
    /// The kind of the failure after which the file has not been reopened yet.
    broken_by: Option<ErrorKind>,
    config: Arc<Config>,
    live: Arc<Live>,
    /// A weak reference, because the watch's connection must be closed before the writer's, which tidies the file.
    watch: Weak<Watch>,
    /// Signalled after a commit that queued a job.
    work: watch::Sender<()>,
    commits: Arc<Commits>,
    log: Growth,
    later: WrittenLater,
    /// The data version when the file was last known to be at its path. While it is unchanged, nobody else has committed.
    seen: i64,
    /// The cookie of the schema that was last found to be ours. `None` if this connection has not looked yet.
    schema: Option<i64>,
    /// Whether the next commit may begin a log: then it raises the file's log number.
    begins_log: bool,
}

impl WriterThread {
    pub(super) fn new(
        file: Arc<DbFile>,
        conn: Connection,
        config: Arc<Config>,
        (live, watch): (Arc<Live>, Weak<Watch>),
        (work, commits): (watch::Sender<()>, Arc<Commits>),
    ) -> Result<Self> {
        let (log, later) = (Growth::default(), WrittenLater::default());
        let broken_by = None;
        let mut thread = Self {
            file,
            conn: None,
            broken_by,
            config,
            live,
            watch,
            work,
            commits,
            log,
            later,
            seen: 0,
            schema: None,
            begins_log: true,
        };
        thread.adopt(conn)?;
        Ok(thread)
    }

    /// Serves orders until no sender is left and everything sent is done.
    pub(super) fn run(mut self, mut orders: mpsc::Receiver<Order>) -> Result<()> {
        loop {
            let first = match self.later.next_order(&mut orders) {
                Next::Order(first) => first,
                Next::Due => {
                    self.write_behind();
                    continue;
                }
                Next::Closed => break,
            };
            let (mut batch, mut next): (Vec<Box<dyn Command>>, _) = (Vec::new(), Some(first));
            let (mut scrub, mut flush, mut shrink) = (None, None, None);
            while let Some(order) = next {
                match order {
                    Order::Run(command) => batch.push(command),
                    Order::Behind(entry) => self.later.add([entry]),
                    Order::Flush(sender) => flush = Some(sender),
                    Order::Scrub(order) => scrub = Some(order),
                    Order::Shrink(sender) => shrink = Some(sender),
                }
                let is_full =
                    batch.len() == MAX_BATCH || scrub.is_some() || flush.is_some() || shrink.is_some();
                next = if is_full { None } else { orders.try_recv().ok() };
            }
            if !batch.is_empty() {
                self.run_batch(batch);
            }
            if scrub.is_some() || flush.is_some() || self.later.is_due() {
                self.write_behind();
            }
            if let Some(sender) = flush {
                let _ = sender.send(()); // The caller may have gone.
            }
            if let Some(sender) = shrink {
                let _ = sender.send(self.shrink()); // The caller may have gone.
            }
            match scrub {
                Some(Scrub { owed, pages, waited, sender }) => {
                    let share = waited.elapsed().min(MOST_OF_A_SCRUB);
                    let _ = sender.send(self.scrub(owed, pages, share)); // The caller may have gone.
                }
                None => self.checkpoint_if_due(),
            }
        }
        self.write_behind();
        self.let_go()
    }

    /// Makes sure that there is a connection, and that the file is still at its path.
    fn connect(&mut self) -> Result<()> {
        let connected = match self.conn {
            Some(_) => self.file.check(),
            None => self.file.writer(&self.config).and_then(|conn| self.adopt(conn)),
        };
        if connected.is_ok()
            && let Some(why) = self.broken_by.take()
        {
            self.config.on_event.emit(&Event::WriterReopened { why });
        }
        self.unless_lost(connected)
    }

    /// Drops the connection if it must not be used after `failure`. The next command reopens the file.
    fn drop_if_broken(&mut self, failure: &Error) {
        if poisons_connection(failure) {
            self.conn = None;
            self.broken_by = Some(failure.kind());
            self.live.forget_all();
        }
    }

    /// Empties the write-ahead log, and overwrites the gaps of these pages while it is empty and nobody else writes. Takes
    /// about as long as `share`, or what one slice takes.
    fn scrub(&mut self, owed: Owed, pages: PagesToScrub, share: Duration) -> Result<Scrubbed> {
        let until = Deadline::after(share);
        self.connect()?;
        let conn = self.conn.as_ref().expect("it was just opened");
        (self.log, self.begins_log) = (Growth::default(), true);
        let scrubbed = log::empty_within(conn, share, &self.config).and_then(|is_empty| {
            if !is_empty {
                return Ok(Scrubbed::Nothing);
            }
            scrub::scrub_if_owed(conn, &self.file, owed, pages, until)
        });
        let scrubbed = self.unless_lost(scrubbed.and_then(|scrubbed| self.file.check().map(|()| scrubbed)));
        self.conn = None; // It may have old copies of pages in its cache, and would write them back.
        scrubbed.inspect_err(|error| self.drop_if_broken(error))
    }

    /// Checks the schema if its cookie is not the known one, so that nothing that was planted meanwhile acts in `tx`. Returns
    /// the cookie, or `None` if something was made again, which changes the cookie if `tx` commits.
    fn check_schema(&self, tx: &Transaction<'_>) -> Result<Option<i64>> {
        let cookie = schema::cookie(tx)?;
        let is_known = self.schema == Some(cookie) || self.config.faults.lets_triggers_be();
        let is_whole = is_known || schema::settle(tx, self.file.path())?;
        Ok(is_whole.then_some(cookie))
    }

    /// Returns some free pages to the file system. Returns `true` if more remain.
    fn shrink(&mut self) -> Result<bool> {
        self.connect()?;
        let conn = self.conn.as_ref().expect("it was just opened");
        let shrunk = self.shrink_some(conn);
        let shrunk = self.unless_lost(shrunk.and_then(|has_more| self.file.check().map(|()| has_more)));
        shrunk.inspect_err(|error| self.drop_if_broken(error))
    }

    fn shrink_some(&self, conn: &Connection) -> Result<bool> {
        if shrink::spare_pages(conn)? == 0 {
            return Ok(false); // Returns without taking the write lock.
        }
        let tx = begin(conn, Deadline::after(PATIENCE_BEHIND))?;
        self.check_schema(&tx)?;
        let has_more = shrink::shrink(&tx)?;
        self.config.faults.meet(Moment::Before, "COMMIT")?;
        tx.commit()?;
        Ok(has_more)
    }

    /// Writes the waiting receipts and uses in their own transaction. If it fails, they are lost, as in a crash.
    fn write_behind(&mut self) {
        let entries = self.later.take();
        if !entries.is_empty() {
            let before = self.conn.as_ref().and_then(|_| Some((self.mark()?, self.seen)));
            self.run_batch(vec![Box::new(entries)]);
            if let Some(before) = before {
                self.renew(before);
            }
        }
    }

    /// Returns the current mark of the watch. `None` while the file is being closed.
    fn mark(&self) -> Option<Mark> {
        self.watch.upgrade()?.mark().ok()
    }

    /// Marks the hot tiers that were valid at `mark` as still valid, if nobody else has committed since our commit before
    /// `mark`, whose data version was `seen`. Our own transaction after `mark` wrote receipts and uses, which change no hot
    /// tier.
    fn renew(&self, (mark, seen): (Mark, i64)) {
        let Some(now) = self.mark() else { return };
        // Read after the mark: a commit by another process that `now` includes has changed this version too.
        let version = self.conn.as_ref().and_then(|conn| connect::data_version(conn).ok());
        if self.seen == seen && version == Some(seen) {
            self.live.renew(mark, now);
        }
    }

    /// Runs commands in one transaction and answers all of them.
    fn run_batch(&mut self, mut batch: Vec<Box<dyn Command>>) {
        let mut failed = None;
        let outcome = self.commit(&mut batch, &mut failed);
        let outcome = self.unless_lost(outcome);
        for (at, command) in batch.into_iter().enumerate() {
            match &outcome {
                // Damage that one command found, for example in a receipt, is not the other commands' error.
                Err(error) if error.kind() == ErrorKind::Corrupt && failed.is_some_and(|one| one != at) => {
                    let message =
                        "another command of the same transaction met damage; nothing was written, try again";
                    command.reply(Some(&Error::caused(ErrorKind::Busy, message, error.clone())));
                }
                outcome => command.reply(outcome.as_ref().err()),
            }
        }
        let is_stuck = self.conn.as_ref().is_some_and(|conn| !conn.is_autocommit());
        if is_stuck {
            self.conn = None;
            self.broken_by = Some(ErrorKind::Internal); // `drop_if_broken` may set a more specific kind.
            self.live.forget_all();
        }
        if let Err(failure) = &outcome {
            self.drop_if_broken(failure);
        }
    }

    /// Runs the commands and commits. Afterwards, either everything is on the disk or nothing is. Sets `failed` to the index
    /// of the command whose error made all of them fail.
    fn commit(&mut self, batch: &mut [Box<dyn Command>], failed: &mut Option<usize>) -> Result<()> {
        let (mut has_work, mut behind) = (false, Vec::new());
        self.connect()?;
        let conn = self.conn.as_ref().expect("it was just opened");
        let tx = begin(conn, batch[0].deadline())?;
        self.schema = self.check_schema(&tx)?;
        let sql = Sqlite::new(&tx, &*self.config.clock).with_faults(&self.config.faults);
        let mut staged: Staged = HashMap::new();
        // A savepoint copies each page before the page changes. A single command does not need one.
        let is_shared = batch.len() > 1;
        for (at, command) in batch.iter_mut().enumerate() {
            if is_shared {
                tx.prepare_cached("SAVEPOINT command")?.execute([])?;
            }
            let act = &mut WriteTx {
                sql: &sql,
                config: &self.config,
                live: &self.live,
                staged: &mut staged,
                locked: RefCell::default(),
                has_work: false,
                behind: Vec::new(),
                by: Origin::User,
            };
            let changes = tx.total_changes();
            match command.run(act) {
                Ok(()) => {
                    if tx.total_changes() != changes {
                        act.raise_revisions().inspect_err(|_| *failed = Some(at))?;
                    }
                    has_work |= act.has_work;
                    behind.append(&mut act.behind);
                }
                Err(error) if poisons_connection(&error) => {
                    *failed = Some(at);
                    return Err(error);
                }
                Err(_) if is_shared => {
                    tx.prepare_cached("ROLLBACK TO command")?.execute([])?;
                }
                Err(_) => return Ok(tx.rollback()?),
            }
            if is_shared {
                tx.prepare_cached("RELEASE command")?.execute([])?;
            }
        }
        if self.begins_log {
            log_number::raise(&tx)?;
        }
        let seen = connect::data_version(&tx)?;
        self.config.faults.meet(Moment::Before, "COMMIT")?;
        let begun = Stopwatch::start();
        tx.commit()?;
        self.commits.note(begun.elapsed());
        // Another process may have emptied the log: then the next commit says whose log it is.
        self.begins_log = self.log.has_restarted() && !self.begins_log;
        self.config.faults.meet(Moment::After, "COMMIT")?;
        self.file.check()?; // A commit to a file that is no longer at its path does not count.
        self.seen = seen;
        self.later.add(behind);
        if has_work {
            self.work.send_replace(());
        }
        for (session, state) in staged {
            match state {
                Some((hot, version)) => self.live.put(session, hot, version, None),
                None => self.live.forget(session),
            }
        }
        Ok(())
    }

    fn adopt(&mut self, conn: Connection) -> Result<()> {
        Growth::watch(&conn);
        self.seen = connect::data_version(&conn)?;
        self.begins_log = true;
        self.schema = None; // Somebody may have planted a trigger while we had no connection.
        self.conn = Some(conn);
        Ok(())
    }

    /// Returns `outcome`. If the file is lost, first drops the connection.
    ///
    /// Does not touch the file that is at the path now. Copies the log into the file that we have open, if nobody can lose
    /// data by that ([`DbFile::should_empty_log`]).
    fn unless_lost<T>(&mut self, outcome: Result<T>) -> Result<T> {
        if outcome.is_err()
            && self.file.noticed().is_err()
            && let Some(conn) = self.conn.take()
        {
            self.live.forget_all();
            let is_unshared = connect::data_version(&conn).is_ok_and(|version| version == self.seen);
            if self.file.should_empty_log(is_unshared) {
                let _ = log::empty(&conn); // The caller learns of the loss in any case.
            }
        }
        outcome
    }

    /// Copies the log into the file once the log has grown by 1,000 pages. Runs after the answers, so that no caller waits
    /// for it. Uses the writer's connection, because a loop on another connection does not catch up (the log grew to 300-700
    /// MB in 3 s).
    fn checkpoint_if_due(&mut self) {
        if self.log.is_to_be_told()
            && let Ok(log_bytes) = self.file.log_bytes()
        {
            self.config.on_event.emit(&Event::LogGrows { log_bytes });
        }
        if self.log.is_due()
            && let Some(conn) = &self.conn
        {
            self.begins_log = true; // If all of it could be copied.
            if let Err(failure) = log::copy(conn) {
                self.drop_if_broken(&failure); // The turns are safe in the log.
            }
        }
    }

    /// Empties the log and closes the connection, if the file is still at its path. With full durability everything is
    /// already on the disk, so a failure here loses nothing.
    ///
    /// Does not run `PRAGMA optimize`: it would analyse a backend's own tables, and its samples are copies of keys that
    /// erasing would miss. No statement needs it.
    fn let_go(&mut self) -> Result<()> {
        let is_there = self.file.check();
        self.unless_lost(is_there)?;
        let Some(conn) = self.conn.take() else { return Ok(()) };
        let tidied = log::tidy(&conn);
        match self.config.durability {
            Durability::Full => Ok(()),
            Durability::Relaxed => tidied,
        }
    }
}

impl Command for Vec<WriteBehind> {
    fn run(&mut self, tx: &mut WriteTx<'_>) -> Result<()> {
        tx.write_behind(self)
    }

    fn reply(self: Box<Self>, _: Option<&Error>) {}

    fn deadline(&self) -> Deadline {
        Deadline::after(PATIENCE_BEHIND)
    }
}

/// Begins an immediate transaction. Retries until `deadline` while another process has the lock, because SQLite's busy
/// handler is not fair.
fn begin(conn: &Connection, deadline: Deadline) -> Result<Transaction<'_>> {
    loop {
        match Transaction::new_unchecked(conn, TransactionBehavior::Immediate) {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && !deadline.has_passed() => {}
            begun => return Ok(begun?),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::task::spawn;

    use super::*;
    use crate::{
        event::OnEvent,
        store::file::{
            db_file::beside,
            testing::{all_are_queued, hold, notes, store, write, write_and},
        },
    };

    fn disk_failure() -> Error {
        rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_IOERR), None).into()
    }

    #[tokio::test]
    async fn a_refused_command_fails_alone() {
        let (_folder, store) = store(Config::default()).await;
        let (go_on, held) = hold(&store).await;
        let (first, refused, last) =
            (write(&store, 1), write_and(&store, 2, Err(Error::invalid("no"))), write(&store, 3));
        all_are_queued().await;
        go_on.send(()).unwrap();
        assert!(held.await.unwrap().is_ok() && first.await.unwrap().is_ok() && last.await.unwrap().is_ok());
        assert_eq!(refused.await.unwrap().unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(notes(&store), [1, 3]);
    }

    #[tokio::test]
    async fn after_a_failure_of_the_disk_nobody_in_the_batch_is_acknowledged_and_the_next_one_is_served() {
        let (_folder, store) = store(Config::default()).await;
        store.write(|tx| tx.sql.change("CREATE TEMP TABLE mark(x)", &[])).await.unwrap();
        let (go_on, held) = hold(&store).await;
        let (first, failed) = (write(&store, 1), write_and(&store, 2, Err(disk_failure())));
        let last = write(&store, 3);
        all_are_queued().await;
        go_on.send(()).unwrap();
        held.await.unwrap().unwrap();
        for task in [first, failed, last] {
            assert_eq!(task.await.unwrap().unwrap_err().kind(), ErrorKind::Io);
        }
        assert_eq!(notes(&store), [0_u32; 0]);
        write(&store, 4).await.unwrap().unwrap();
        assert_eq!(notes(&store), [4]);
        let is_same_connection =
            store.write(|tx| Ok(tx.sql.change("DELETE FROM temp.mark", &[]).is_ok())).await.unwrap();
        assert!(!is_same_connection, "a connection under which the disk failed is not used again");
    }

    #[tokio::test]
    async fn that_the_file_was_opened_anew_is_told_once_and_a_hook_that_panics_harms_nobody() {
        let told = Arc::new(std::sync::Mutex::new(Vec::new()));
        let hears = Arc::clone(&told);
        let on_event = OnEvent::new(move |event| {
            hears.lock().unwrap().push(event.clone());
            panic!("on purpose");
        });
        let (_folder, store) = store(Config { on_event, ..Config::default() }).await;
        write_and(&store, 1, Err(disk_failure())).await.unwrap().unwrap_err();
        write(&store, 2).await.unwrap().unwrap();
        write(&store, 3).await.unwrap().unwrap();
        assert_eq!(notes(&store), [2, 3]);
        let told = std::mem::take(&mut *told.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        assert_eq!(told, [Event::WriterReopened { why: ErrorKind::Io }]);
    }

    #[tokio::test]
    async fn a_row_that_cannot_be_read_fails_one_command_and_no_other() {
        let (_folder, store) = store(Config::default()).await;
        let (go_on, held) = hold(&store).await;
        let unreadable = rusqlite::Error::IntegralValueOutOfRange(7, -1).into();
        let (first, failed, last) =
            (write(&store, 1), write_and(&store, 2, Err(unreadable)), write(&store, 3));
        all_are_queued().await;
        go_on.send(()).unwrap();
        held.await.unwrap().unwrap();
        assert!(first.await.unwrap().is_ok() && last.await.unwrap().is_ok());
        assert_eq!(failed.await.unwrap().unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(notes(&store), [1, 3]);
    }

    #[tokio::test]
    async fn another_processes_lock_is_waited_for_no_longer_than_configured() {
        let config = Config { record_timeout: std::time::Duration::from_millis(1), ..Config::default() };
        let (_folder, store) = store(config).await;
        let other = connect::writer(store.path(), &Config::default()).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let waiting: Vec<_> = (1..=10).map(|n| write(&store, n)).collect();
        for task in waiting {
            assert_eq!(task.await.unwrap().unwrap_err().kind(), ErrorKind::Busy);
        }
        other.execute_batch("ROLLBACK").unwrap();
        write(&store, 11).await.unwrap().unwrap();
        assert_eq!(notes(&store), [11]);
    }

    #[tokio::test]
    async fn one_sync_is_shared_by_all_who_wait() {
        let (_folder, store) = store(Config::default()).await;
        let (go_on, held) = hold(&store).await;
        let waiting: Vec<_> = (1..=50).map(|n| write(&store, n)).collect();
        all_are_queued().await;
        let log = beside(store.path(), "-wal");
        let log_bytes = || std::fs::metadata(&log).unwrap().len();
        let before = log_bytes();
        go_on.send(()).unwrap();
        held.await.unwrap().unwrap();
        for task in waiting {
            task.await.unwrap().unwrap();
        }
        // Each commit writes the table's only page to the log.
        assert!((1..3 * 4_096).contains(&(log_bytes() - before)), "{} bytes", log_bytes() - before);
    }

    #[tokio::test]
    #[cfg(unix)]
    async fn a_commit_into_a_file_that_went_away_meanwhile_is_told_to_nobody() {
        for suffix in ["", "-wal", "-shm"] {
            let (_folder, store) = store(Config::default()).await;
            write(&store, 1).await.unwrap().unwrap();
            let gone = beside(store.path(), suffix);
            let (go_on, held) = hold(&store).await;
            let first = write(&store, 2);
            let removing = Arc::clone(&store);
            let removed = spawn(async move {
                let remove = move |_: &mut WriteTx<'_>| {
                    std::fs::remove_file(gone).unwrap();
                    Ok(())
                };
                removing.write(remove).await
            });
            all_are_queued().await;
            go_on.send(()).unwrap();
            held.await.unwrap().unwrap();
            for task in [first, removed, write(&store, 3)] {
                assert_eq!(task.await.unwrap().unwrap_err().kind(), ErrorKind::Io, "{suffix}");
            }
            assert_eq!(store.close().unwrap_err().kind(), ErrorKind::Io, "{suffix}");
        }
    }
}
