//! The writer: one thread, the only one that writes.
//!
//! Callers queue commands. The thread takes what has queued up, runs it in one immediate transaction, commits,
//! and only then answers: one sync is shared by all who wait. Each command has a savepoint, so that a refused one
//! fails alone. After any failure of the disk the connection is dropped and opened anew.

use std::{
    cell::Cell,
    collections::HashMap,
    sync::{Arc, Mutex, mpsc as std_mpsc},
    thread::{self, JoinHandle},
    time::Duration,
};

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior, hooks::Wal};
use tokio::sync::{
    Notify, OwnedSemaphorePermit, Semaphore,
    mpsc::{self, error::TrySendError},
    oneshot,
};

use crate::{
    clock::{Deadline, SystemClock},
    config::{Config, Durability},
    error::{Error, ErrorKind, Result},
    store::{
        file::{
            connect::{self, CHECKPOINT_PAGES},
            db_file::DbFile,
            errors::poisons_connection,
            scrub,
            sqlite::Sqlite,
        },
        live::Live,
        rows::jobs::{self, Owed},
        write_tx::{Staged, WriteTx},
    },
};

/// The most commands of one transaction: what 32 busy sessions queue up during a slow sync, eight times over.
const MAX_BATCH: usize = 256;

/// Something to do inside the writer's transaction, and somebody who waits for it.
trait Command: Send {
    /// Does it. An error rolls back this command alone.
    fn run(&mut self, tx: &mut WriteTx<'_>) -> Result<()>;
    /// Answers: once the commit is durable, or with what made the transaction fail.
    fn reply(self: Box<Self>, failed: Option<&Error>);
    /// How long its caller is ready to wait for another process's lock.
    fn deadline(&self) -> Deadline;
}

/// How long closing waits for who still reads, so that all is in the one file then.
const CLOSING_PATIENCE: Duration = Duration::from_millis(100);

/// What is queued.
enum Order {
    /// Something to do in a transaction, with others.
    Run(Box<dyn Command>),
    Scrub(Scrub),
}

/// Empty the write-ahead log, between transactions, and then overwrite the gaps of these pages; the answer: whether no
/// reader held the log.
struct Scrub {
    owed: Owed,
    pages: Vec<u32>,
    sender: oneshot::Sender<Result<bool>>,
}

struct Waiting<T, W> {
    work: Option<W>,
    done: Option<T>,
    failed: Option<Error>,
    sender: oneshot::Sender<Result<T>>,
    deadline: Deadline,
    /// Its part of the bytes that may wait; given back with the answer.
    _room: Option<OwnedSemaphorePermit>,
}

impl<T: Send, W: FnOnce(&mut WriteTx<'_>) -> Result<T> + Send> Command for Waiting<T, W> {
    fn run(&mut self, tx: &mut WriteTx<'_>) -> Result<()> {
        let work = self.work.take().expect("a command runs once");
        match work(tx) {
            Ok(done) => {
                self.done = Some(done);
                Ok(())
            }
            Err(error) => {
                self.failed = Some(error.clone());
                Err(error)
            }
        }
    }

    fn reply(self: Box<Self>, failed: Option<&Error>) {
        let answer = match (failed.cloned().or(self.failed), self.done) {
            (None, Some(done)) => Ok(done),
            (Some(error), _) => Err(error),
            (None, None) => return, // Never ran, and nothing failed: the caller hears that the thread is gone.
        };
        let _ = self.sender.send(answer); // The caller may have stopped waiting.
    }

    fn deadline(&self) -> Deadline {
        self.deadline
    }
}

/// The callers' end of the queue.
#[derive(Debug)]
pub(crate) struct Writer {
    /// `None` once closed.
    queue: Mutex<Option<mpsc::Sender<Order>>>,
    thread: Mutex<Option<JoinHandle<Result<()>>>>,
    /// Hangs up when the thread has ended.
    ended: Mutex<std_mpsc::Receiver<()>>,
    /// Kibibytes of text that may still be queued.
    room: Arc<Semaphore>,
    queue_kib: u32,
    timeout_ms: u64,
    close_timeout_ms: u64,
}

impl Writer {
    pub(crate) fn start(
        file: Arc<DbFile>,
        conn: Connection,
        config: Arc<Config>,
        live: Arc<Live>,
        work: Arc<Notify>,
    ) -> Result<Self> {
        let (queue, orders) = mpsc::channel(config.queue_len);
        let (alive, ended) = std_mpsc::channel();
        let (timeout_ms, close_timeout_ms) = (config.record_timeout_ms, config.close_timeout_ms);
        let queue_kib = u32::try_from(config.queue_bytes / 1_024).unwrap_or(u32::MAX).max(1);
        let thread = thread::Builder::new()
            .name("thermocline-writer".into())
            .spawn(move || {
                let _alive: std_mpsc::Sender<()> = alive; // Dropped last.
                let mut thread =
                    WriterThread { file, conn: None, config, live, work, last_checkpoint: 0, seen: 0 };
                thread.adopt(conn)?;
                // A panic drops the queue: those who wait, and all who come later, hear of it.
                thread.run(orders)
            })
            .map_err(|error| Error::caused(ErrorKind::Io, "the writer thread could not be started", error))?;
        Ok(Self {
            queue: Mutex::new(Some(queue)),
            thread: Mutex::new(Some(thread)),
            ended: Mutex::new(ended),
            room: Arc::new(Semaphore::new(queue_kib as usize)),
            queue_kib,
            timeout_ms,
            close_timeout_ms,
        })
    }

    /// Queues `work`, which holds so many bytes of text, and waits until what it did is durable.
    ///
    /// Dropping the future does not take a queued command back.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce(&mut WriteTx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (sender, receiver) = oneshot::channel();
        let deadline = Deadline::after_ms(self.timeout_ms);
        let room = self.room_for(bytes, deadline).await?;
        let command = Waiting { work: Some(work), done: None, failed: None, sender, deadline, _room: room };
        self.send(Order::Run(Box::new(command)), deadline).await?;
        receiver.await.unwrap_or_else(|_| Err(poisoned()))
    }

    /// Queues `work` if there is room, and waits for nothing.
    pub(crate) fn post(&self, work: impl FnOnce(&mut WriteTx<'_>) -> Result<()> + Send + 'static) {
        let (sender, _) = oneshot::channel();
        let deadline = Deadline::after_ms(self.timeout_ms);
        let command = Waiting { work: Some(work), done: None, failed: None, sender, deadline, _room: None };
        if let Some(queue) = &*self.queue.lock().expect("no one panics while holding the queue") {
            let _ = queue.try_send(Order::Run(Box::new(command)));
        }
    }

    /// Empties the write-ahead log and overwrites the gaps of these pages, or says that some reader holds the log.
    pub(crate) async fn scrub(&self, owed: Owed, pages: Vec<u32>) -> Result<bool> {
        let (sender, receiver) = oneshot::channel();
        self.send(Order::Scrub(Scrub { owed, pages, sender }), Deadline::after_ms(self.timeout_ms)).await?;
        receiver.await.unwrap_or_else(|_| Err(poisoned()))
    }

    /// Waits until the bytes that are queued leave room for so many more. Small commands need none.
    async fn room_for(&self, bytes: usize, deadline: Deadline) -> Result<Option<OwnedSemaphorePermit>> {
        let kib = u32::try_from(bytes / 1_024).unwrap_or(u32::MAX).min(self.queue_kib);
        if kib == 0 {
            return Ok(None);
        }
        let room = Arc::clone(&self.room);
        if let Ok(permit) = Arc::clone(&room).try_acquire_many_owned(kib) {
            return Ok(Some(permit));
        }
        match tokio::time::timeout(deadline.remaining(), room.acquire_many_owned(kib)).await {
            Ok(permit) => Ok(permit.ok()),
            Err(_) => Err(queue_stayed_full()),
        }
    }

    async fn send(&self, order: Order, deadline: Deadline) -> Result<()> {
        let queue = self.queue.lock().expect("no one panics while holding the queue").clone();
        let Some(queue) = queue else {
            return Err(Error::new(ErrorKind::Closed, "the file was closed; open it again"));
        };
        match queue.try_send(order) {
            Ok(()) => Ok(()),
            Err(TrySendError::Closed(_)) => Err(poisoned()),
            Err(TrySendError::Full(order)) => {
                match tokio::time::timeout(deadline.remaining(), queue.send(order)).await {
                    Ok(sent) => sent.map_err(|_| poisoned()),
                    Err(_) => Err(queue_stayed_full()),
                }
            }
        }
    }

    /// Takes no more commands, waits until everything queued is durable, and ends the thread. Blocks.
    pub(crate) fn close(&self) -> Result<()> {
        self.queue.lock().expect("no one panics while holding the queue").take();
        // Whoever closes at the same time waits here.
        let mut thread = self.thread.lock().expect("no one panics while holding the thread");
        thread.take().map_or(Ok(()), |thread| thread.join().unwrap_or_else(|_| Err(poisoned())))
    }
}

fn queue_stayed_full() -> Error {
    Error::new(ErrorKind::Busy, "the queue of the writer stayed full; nothing was written, try again")
}

fn poisoned() -> Error {
    Error::new(
        ErrorKind::Poisoned,
        "the writer thread panicked; what was acknowledged is safe, open the file again",
    )
}

impl Drop for Writer {
    /// Lets the thread finish what is queued, for a bounded time.
    fn drop(&mut self) {
        if let Ok(queue) = self.queue.get_mut() {
            queue.take();
        }
        let wait = Duration::from_millis(self.close_timeout_ms);
        let ended = self.ended.get_mut().map(|ended| ended.recv_timeout(wait));
        if matches!(ended, Ok(Err(std_mpsc::RecvTimeoutError::Disconnected))) {
            let _ = self.close(); // At once now; a panic was told to those who waited.
        }
    }
}

thread_local! {
    /// Pages in the WAL after this thread's last commit.
    static WAL_PAGES: Cell<i32> = const { Cell::new(0) };
}

struct WriterThread {
    file: Arc<DbFile>,
    /// `None` after a failure, until it is opened anew; for good if the file is lost.
    conn: Option<Connection>,
    config: Arc<Config>,
    live: Arc<Live>,
    /// Told when a job was queued.
    work: Arc<Notify>,
    /// Pages in the WAL when the last checkpoint was tried.
    last_checkpoint: i32,
    /// The data version when the file was last seen in its place: while it stays, nobody else has committed.
    seen: i64,
}

impl WriterThread {
    /// Serves until nobody can send any more, and everything sent is done.
    fn run(&mut self, mut orders: mpsc::Receiver<Order>) -> Result<()> {
        while let Some(first) = orders.blocking_recv() {
            let (mut batch, mut next) = (Vec::new(), Some(first));
            let mut scrub = None;
            while let Some(order) = next {
                match order {
                    Order::Run(command) => batch.push(command),
                    Order::Scrub(order) => scrub = Some(order),
                }
                let is_full = batch.len() == MAX_BATCH || scrub.is_some();
                next = if is_full { None } else { orders.try_recv().ok() };
            }
            if !batch.is_empty() {
                self.run_batch(batch);
            }
            match scrub {
                Some(Scrub { owed, pages, sender }) => drop(sender.send(self.scrub(owed, &pages))), // The caller may have gone.
                None => self.checkpoint_if_due(),
            }
        }
        self.let_go()
    }

    /// Makes sure that there is a connection, and that it is to the file that lies where it was opened.
    fn connect(&mut self) -> Result<()> {
        let connected = match self.conn {
            Some(_) => self.file.check(),
            None => self.file.writer(&self.config).and_then(|conn| self.adopt(conn)),
        };
        self.unless_lost(connected)
    }

    /// Empties the write-ahead log, and overwrites the gaps of these pages while it is empty and nobody else writes.
    fn scrub(&mut self, owed: Owed, pages: &[u32]) -> Result<bool> {
        self.connect()?;
        let conn = self.conn.as_ref().expect("it was just opened");
        self.last_checkpoint = 0;
        let is_done = empty_log(conn, &self.config).and_then(|is_empty| {
            Ok(is_empty && (pages.is_empty() || scrub_pages(conn, &self.file, owed, pages)?))
        });
        let is_done = self.unless_lost(is_done.and_then(|is_done| self.file.check().map(|()| is_done)));
        let is_broken = is_done.as_ref().is_err_and(poisons_connection);
        if is_broken || !pages.is_empty() {
            self.conn = None; // It may keep pages as they were, and would write them back.
        }
        is_done
    }

    /// Runs commands in one transaction and answers all of them.
    fn run_batch(&mut self, mut batch: Vec<Box<dyn Command>>) {
        let mut failed = None;
        let outcome = self.commit(&mut batch, &mut failed);
        let outcome = self.unless_lost(outcome);
        for (at, command) in batch.into_iter().enumerate() {
            match &outcome {
                // What is damaged for one is nothing to the others: a receipt of somebody else, say.
                Err(error) if error.kind() == ErrorKind::Corrupt && failed.is_some_and(|one| one != at) => {
                    let message = "what was written with it met damage; nothing was written, try again";
                    command.reply(Some(&Error::caused(ErrorKind::Busy, message, error.clone())));
                }
                outcome => command.reply(outcome.as_ref().err()),
            }
        }
        if outcome.is_err_and(|error| poisons_connection(&error)) {
            self.conn = None;
            self.live.forget_all();
        }
    }

    /// Once this returns, all is on the disk, or nothing. `failed`: the command that made all of it fail.
    fn commit(&mut self, batch: &mut [Box<dyn Command>], failed: &mut Option<usize>) -> Result<()> {
        let mut has_work = false;
        self.connect()?;
        let conn = self.conn.as_ref().expect("it was just opened");
        let tx = begin(conn, batch[0].deadline())?;
        let sql = Sqlite::new(&tx, &*self.config.clock);
        let mut staged: Staged = HashMap::new();
        // A savepoint copies each page before it changes; a command that is alone needs none.
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
                has_work: false,
            };
            match command.run(act) {
                Ok(()) => has_work |= act.has_work,
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
        let seen = connect::data_version(&tx)?;
        tx.commit()?;
        self.file.check()?; // A commit into a file that nobody will find is none.
        self.seen = seen;
        if has_work {
            self.work.notify_one();
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
        conn.wal_hook(Some(|_: &Wal, pages| {
            WAL_PAGES.set(pages);
            Ok(())
        }));
        self.seen = connect::data_version(&conn)?;
        self.conn = Some(conn);
        Ok(())
    }

    /// Passes `outcome` on; if it came about because the file is lost, the connection goes first.
    ///
    /// Whatever lies at the path now is not touched. The log goes home into the file that we have open, if that cannot
    /// take anything from anybody ([`DbFile::should_empty_log`]).
    fn unless_lost<T>(&mut self, outcome: Result<T>) -> Result<T> {
        if outcome.is_err()
            && self.file.noticed().is_err()
            && let Some(conn) = self.conn.take()
        {
            self.live.forget_all();
            let is_unshared = connect::data_version(&conn).is_ok_and(|version| version == self.seen);
            if self.file.should_empty_log(is_unshared) {
                let _ = checkpoint(&conn, "TRUNCATE"); // The caller hears of the loss in any case.
            }
        }
        outcome
    }

    /// Copies the WAL into the file when it has grown by 1,000 pages. After the answers, so that nobody waits for
    /// it; on this connection, since a loop on another one never catches up (the WAL grew to 300-700 MB in 3 s).
    fn checkpoint_if_due(&mut self) {
        let pages = WAL_PAGES.get();
        if pages < self.last_checkpoint {
            self.last_checkpoint = 0; // The WAL began anew.
        }
        if pages - self.last_checkpoint < CHECKPOINT_PAGES {
            return;
        }
        self.last_checkpoint = pages;
        if let Some(conn) = &self.conn
            && let Err(error) = checkpoint(conn, "PASSIVE")
            && poisons_connection(&error)
        {
            self.conn = None; // The turns are safe in the WAL; the next command opens the file anew.
        }
    }

    /// Leaves the file tidy, if it is still where it was opened. With full durability everything is on the disk already,
    /// and a failure here loses nothing.
    ///
    /// No `PRAGMA optimize`: it would analyse a backend's own tables, and its samples are copies of keys that
    /// erasing would miss. No statement needs it.
    fn let_go(&mut self) -> Result<()> {
        let is_there = self.file.check();
        self.unless_lost(is_there)?;
        let Some(conn) = self.conn.take() else { return Ok(()) };
        let tidied = conn
            .busy_timeout(CLOSING_PATIENCE)
            .map_err(Error::from)
            .and_then(|()| checkpoint(&conn, "TRUNCATE"))
            .and_then(|_| Ok(connect::tidies_on_close(&conn)?));
        match self.config.durability {
            Durability::Full => Ok(()),
            Durability::Relaxed => tidied,
        }
    }
}

/// Copies the log into the file, and says whether somebody was in the way.
fn checkpoint(conn: &Connection, mode: &str) -> Result<bool> {
    Ok(conn.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| row.get(0))?)
}

/// Empties the write-ahead log: what was erased is in no page of it any more. False: some reader holds it.
fn empty_log(conn: &Connection, config: &Config) -> Result<bool> {
    conn.busy_timeout(Duration::ZERO)?; // Who still reads is not waited for: others want to write.
    let is_busy = checkpoint(conn, "TRUNCATE");
    conn.busy_timeout(connect::writers_patience(config))?;
    match is_busy {
        Ok(is_busy) => Ok(!is_busy),
        Err(error) if error.kind() == ErrorKind::Busy => Ok(false),
        Err(error) => Err(error),
    }
}

/// Overwrites the gaps of these pages, if nobody has written since the log was emptied. The commit makes every other
/// connection read its pages again.
///
/// While we have the write lock, a log without bytes gets none, and there is nothing that anybody could copy into the
/// file meanwhile. That says nothing of another log, so the log must be the one that we have open.
fn scrub_pages(conn: &Connection, file: &DbFile, owed: Owed, pages: &[u32]) -> Result<bool> {
    let tx = Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
    file.check()?;
    if file.log_bytes()? > 0 {
        return Ok(false);
    }
    if !jobs::count_scrubbed(&Sqlite::new(&tx, &SystemClock), owed, pages.len())? {
        return Ok(true); // Somebody else has done it.
    }
    scrub::scrub(&tx, file, pages)?;
    tx.commit()?;
    Ok(true)
}

/// Waits for other processes longer than SQLite's busy handler does, which is not fair.
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
impl Writer {
    fn is_closed(&self) -> bool {
        self.queue.lock().unwrap().is_none()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use tempfile::TempDir;
    use tokio::task::{JoinHandle, spawn};

    use super::*;
    use crate::store::Store;

    /// A file with a table to write to, beside the real ones.
    async fn store(config: Config) -> (TempDir, Arc<Store>) {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::open(&folder.path().join("w.db"), config).unwrap());
        store.write(|tx| Ok(tx.sql.execute_batch("CREATE TABLE notes(n)")?)).await.unwrap();
        (folder, store)
    }

    fn write(store: &Arc<Store>, n: u32) -> JoinHandle<Result<()>> {
        write_and(store, n, Ok(()))
    }

    /// Writes a note, then gives `outcome`.
    fn write_and(store: &Arc<Store>, n: u32, outcome: Result<()>) -> JoinHandle<Result<()>> {
        let store = Arc::clone(store);
        spawn(async move {
            store
                .write(move |tx| {
                    tx.sql.execute("INSERT INTO notes(n) VALUES (?1)", [n])?;
                    outcome
                })
                .await
        })
    }

    fn disk_failure() -> Error {
        rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_IOERR), None).into()
    }

    /// Keeps the writer busy with a first batch until told to go on, so that what follows shares a batch.
    async fn hold(store: &Arc<Store>) -> (Sender<()>, JoinHandle<Result<()>>) {
        let (go_on, wait): (Sender<()>, Receiver<()>) = channel();
        let (started, is_held) = oneshot::channel();
        let store = Arc::clone(store);
        let held = spawn(async move {
            store
                .write(move |_| {
                    let _ = started.send(());
                    let _ = wait.recv();
                    Ok(())
                })
                .await
        });
        is_held.await.unwrap();
        (go_on, held)
    }

    fn notes(store: &Store) -> Vec<u32> {
        store
            .snapshot()
            .unwrap()
            .look(|conn| {
                let mut stmt = conn.prepare("SELECT n FROM notes ORDER BY n")?;
                let rows = stmt.query_map([], |row| row.get(0))?;
                Ok(rows.collect::<rusqlite::Result<_>>()?)
            })
            .unwrap()
    }

    /// Lets tasks run until each of them waits for the writer.
    async fn all_are_queued() {
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
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
        store.write(|tx| Ok(tx.sql.execute_batch("CREATE TEMP TABLE mark(x)")?)).await.unwrap();
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
            store.write(|tx| Ok(tx.sql.execute_batch("SELECT 1 FROM temp.mark").is_ok())).await.unwrap();
        assert!(!is_same_connection, "a connection under which the disk failed is not used again");
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
    async fn what_is_queued_is_bounded_in_bytes_too() {
        let mut config = Config::default();
        (config.queue_bytes, config.record_timeout_ms) = (1 << 20, 0);
        let (_folder, store) = store(config).await;
        let (go_on, held) = hold(&store).await;
        let large = |n: u32| {
            let store = Arc::clone(&store);
            spawn(async move {
                let work = move |tx: &mut WriteTx<'_>| {
                    Ok(tx.sql.execute("INSERT INTO notes(n) VALUES (?1)", [n])?)
                };
                store.write_sized(600 << 10, work).await
            })
        };
        let queued = large(1);
        all_are_queued().await;
        assert_eq!(large(2).await.unwrap().unwrap_err().kind(), ErrorKind::Busy);
        go_on.send(()).unwrap();
        held.await.unwrap().unwrap();
        queued.await.unwrap().unwrap();
        large(3).await.unwrap().unwrap();
        assert_eq!(notes(&store), [1, 3]);
    }

    #[tokio::test]
    async fn another_processes_lock_is_waited_for_no_longer_than_configured() {
        let config = Config { record_timeout_ms: 1, ..Config::default() };
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
    async fn a_panic_tells_those_who_wait_and_those_who_come_later() {
        let (_folder, store) = store(Config::default()).await;
        let (go_on, held) = hold(&store).await;
        let panicking = Arc::clone(&store);
        let panicked =
            spawn(async move { panicking.write(|_| -> Result<()> { panic!("on purpose") }).await });
        let waiting = write(&store, 1);
        all_are_queued().await;
        go_on.send(()).unwrap();
        held.await.unwrap().unwrap();
        for task in [panicked, waiting, write(&store, 2)] {
            assert_eq!(task.await.unwrap().unwrap_err().kind(), ErrorKind::Poisoned);
        }
        assert_eq!(notes(&store), [0_u32; 0], "what was not acknowledged was rolled back; reading goes on");
    }

    #[tokio::test]
    async fn a_full_queue_makes_callers_wait_and_then_says_so() {
        let mut config = Config::default();
        (config.queue_len, config.record_timeout_ms) = (2, 0);
        let (_folder, store) = store(config).await;
        let (go_on, held) = hold(&store).await;
        let queued = [write(&store, 1), write(&store, 2)];
        all_are_queued().await;
        assert_eq!(write(&store, 3).await.unwrap().unwrap_err().kind(), ErrorKind::Busy);
        go_on.send(()).unwrap();
        held.await.unwrap().unwrap();
        for task in queued {
            task.await.unwrap().unwrap();
        }
        assert_eq!(notes(&store), [1, 2]);
    }

    #[tokio::test]
    async fn closing_serves_what_is_queued_and_refuses_what_comes_later() {
        let (_folder, store) = store(Config::default()).await;
        let (go_on, held) = hold(&store).await;
        let queued: Vec<_> = (1..=20).map(|n| write(&store, n)).collect();
        all_are_queued().await;
        let closing = Arc::clone(&store);
        let closed = tokio::task::spawn_blocking(move || closing.close());
        while !store.writer.is_closed() {
            tokio::task::yield_now().await;
        }
        let late = write(&store, 21);
        go_on.send(()).unwrap();
        held.await.unwrap().unwrap();
        closed.await.unwrap().unwrap();
        for task in queued {
            task.await.unwrap().unwrap();
        }
        assert_eq!(late.await.unwrap().unwrap_err().kind(), ErrorKind::Closed);
        assert_eq!(notes(&store), (1..=20).collect::<Vec<u32>>());
        store.close().unwrap();
    }

    #[tokio::test]
    async fn a_caller_who_stops_waiting_does_not_take_the_turn_back() {
        let (_folder, store) = store(Config::default()).await;
        let (go_on, held) = hold(&store).await;
        let impatient = write(&store, 1);
        all_are_queued().await;
        impatient.abort();
        go_on.send(()).unwrap();
        held.await.unwrap().unwrap();
        write(&store, 2).await.unwrap().unwrap();
        assert_eq!(notes(&store), [1, 2]);
    }

    #[tokio::test]
    async fn one_sync_is_shared_by_all_who_wait() {
        let (_folder, store) = store(Config::default()).await;
        let (go_on, held) = hold(&store).await;
        let waiting: Vec<_> = (1..=50).map(|n| write(&store, n)).collect();
        all_are_queued().await;
        let before = data_version(&store);
        go_on.send(()).unwrap();
        held.await.unwrap().unwrap();
        for task in waiting {
            task.await.unwrap().unwrap();
        }
        // The held batch wrote nothing, so the fifty notes are the only change.
        assert_eq!(data_version(&store) - before, 1);
    }

    #[tokio::test]
    #[cfg(unix)]
    async fn a_commit_into_a_file_that_went_away_meanwhile_is_told_to_nobody() {
        for suffix in ["", "-wal", "-shm"] {
            let (_folder, store) = store(Config::default()).await;
            write(&store, 1).await.unwrap().unwrap();
            let gone = crate::store::file::db_file::beside(store.path(), suffix);
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

    /// A file opened by `name`, whose log has turns that nobody has copied into the file: it is not overwritten.
    #[cfg(unix)]
    #[track_caller]
    fn check_scrub(name: &std::path::Path) {
        let (file, conn) = crate::store::file::open::open(name, &Config::default()).unwrap();
        let job =
            "INSERT INTO jobs (kind, dedupe_key, next_run_at, created_at) VALUES ('scrub', 'scrub', '', '')";
        conn.execute(job, []).unwrap();
        let owed = jobs::owed_scrub(&Sqlite::new(&conn, &SystemClock)).unwrap().unwrap();
        assert!(!scrub_pages(&conn, &file, owed, &[1]).unwrap(), "{}", name.display());
        assert!(empty_log(&conn, &Config::default()).unwrap());
        assert!(scrub_pages(&conn, &file, owed, &[1]).unwrap(), "{}", name.display());

        let log = crate::store::file::db_file::beside(file.path(), "-wal");
        assert!(empty_log(&conn, &Config::default()).unwrap());
        std::fs::remove_file(&log).unwrap();
        let error = scrub_pages(&conn, &file, owed, &[1]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io, "a log that cannot be found is not an empty one");
    }

    #[test]
    #[cfg(unix)]
    fn the_file_is_not_scrubbed_beside_a_log_that_is_not_empty_whatever_name_it_was_opened_by() {
        use std::os::unix::{ffi::OsStrExt, fs::symlink};
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &[u8]| folder.path().join(std::ffi::OsStr::from_bytes(name));
        check_scrub(&path(b"plain.db"));
        symlink("real.db", path(b"link.db")).unwrap();
        std::fs::write(path(b"real.db"), "").unwrap();
        check_scrub(&path(b"link.db"));
        if cfg!(target_os = "linux") {
            check_scrub(&path(b"m\xff.db")); // Others refuse such names.
        }
    }

    fn data_version(store: &Store) -> i64 {
        store.watch.data_version().unwrap()
    }
}
