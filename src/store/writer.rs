//! The writer: one thread, the only one that writes.
//!
//! Callers queue commands. The thread takes what has queued up, runs it in one immediate transaction, commits,
//! and only then answers: one sync is shared by all who wait. Each command has a savepoint, so that a refused one
//! fails alone. After any failure of the disk the connection is dropped and opened anew.

use std::{
    cell::Cell,
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc as std_mpsc,
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior, hooks::Wal};
use tokio::sync::{
    mpsc::{self, error::TrySendError},
    oneshot,
};

use crate::{
    clock::Deadline,
    config::Config,
    error::{Error, ErrorKind, Result},
    store::{
        connect::{self, CHECKPOINT_PAGES},
        errors::poisons_connection,
        live::Live,
        record::{Desk, Staged},
    },
};

/// The most commands of one transaction: what 32 busy sessions queue up during a slow sync, eight times over.
const MAX_BATCH: usize = 256;

/// Something to do inside the writer's transaction, and somebody who waits for it.
trait Command: Send {
    /// Does it. An error rolls back this command alone.
    fn run(&mut self, desk: &mut Desk<'_>) -> Result<()>;
    /// Answers: once the commit is durable, or with what made the transaction fail.
    fn reply(self: Box<Self>, failed: Option<&Error>);
}

struct Waiting<T, W> {
    work: Option<W>,
    done: Option<T>,
    failed: Option<Error>,
    sender: oneshot::Sender<Result<T>>,
}

impl<T: Send, W: FnOnce(&mut Desk<'_>) -> Result<T> + Send> Command for Waiting<T, W> {
    fn run(&mut self, desk: &mut Desk<'_>) -> Result<()> {
        let work = self.work.take().expect("a command runs once");
        match work(desk) {
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
}

/// The callers' end of the queue.
#[derive(Debug)]
pub(crate) struct Writer {
    /// `None` once closed.
    queue: Mutex<Option<mpsc::Sender<Message>>>,
    poisoned: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// Hangs up when the thread has ended.
    ended: Mutex<std_mpsc::Receiver<()>>,
    queue_timeout_ms: u64,
    close_timeout_ms: u64,
}

enum Message {
    Command(Box<dyn Command>),
    /// Answers once everything queued before it is durable, and ends the thread.
    Close(oneshot::Sender<()>),
}

impl Writer {
    pub(crate) fn start(
        path: PathBuf,
        conn: Connection,
        config: Arc<Config>,
        live: Arc<Live>,
    ) -> Result<Self> {
        let (queue, commands) = mpsc::channel(config.queue_len);
        let (alive, ended) = std_mpsc::channel();
        let poisoned = Arc::new(AtomicBool::new(false));
        let (queue_timeout_ms, close_timeout_ms) = (config.record_timeout_ms, config.close_timeout_ms);
        let flag = Arc::clone(&poisoned);
        let thread = thread::Builder::new()
            .name("thermocline-writer".into())
            .spawn(move || {
                let _alive = alive; // Dropped last: whoever waits for the end hears of it.
                let mut thread = WriterThread { path, conn: None, config, live, last_checkpoint: 0 };
                thread.adopt(conn);
                // A panic drops the queue: those who wait, and all who come later, are told.
                if catch_unwind(AssertUnwindSafe(|| thread.run(commands))).is_err() {
                    flag.store(true, Ordering::SeqCst);
                }
            })
            .map_err(|error| Error::caused(ErrorKind::Io, "the writer thread could not be started", error))?;
        Ok(Self {
            queue: Mutex::new(Some(queue)),
            poisoned,
            thread: Mutex::new(Some(thread)),
            ended: Mutex::new(ended),
            queue_timeout_ms,
            close_timeout_ms,
        })
    }

    /// Queues `work`, and waits until what it did is durable.
    ///
    /// Dropping the future does not take a queued command back.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Desk<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (sender, receiver) = oneshot::channel();
        let command = Waiting { work: Some(work), done: None, failed: None, sender };
        self.send(Message::Command(Box::new(command))).await?;
        receiver.await.unwrap_or_else(|_| Err(self.gone()))
    }

    /// Waits until everything queued is durable and the thread has let go of the file.
    pub(crate) async fn close(&self) -> Result<()> {
        let (sender, receiver) = oneshot::channel();
        match self.send(Message::Close(sender)).await {
            Err(error) if error.kind() == ErrorKind::Closed => return Ok(()),
            sent => sent?,
        }
        self.queue.lock().expect("no one panics while holding the queue").take();
        receiver.await.map_err(|_| self.gone())
    }

    async fn send(&self, message: Message) -> Result<()> {
        let queue = self.queue.lock().expect("no one panics while holding the queue").clone();
        let queue = queue.ok_or_else(|| self.gone())?;
        match queue.try_send(message) {
            Ok(()) => Ok(()),
            Err(TrySendError::Closed(_)) => Err(self.gone()),
            Err(TrySendError::Full(message)) => {
                let wait = Duration::from_millis(self.queue_timeout_ms);
                match tokio::time::timeout(wait, queue.send(message)).await {
                    Ok(sent) => sent.map_err(|_| self.gone()),
                    Err(_) => Err(Error::new(
                        ErrorKind::Busy,
                        "the queue of the writer stayed full; nothing was written, try again",
                    )),
                }
            }
        }
    }

    fn gone(&self) -> Error {
        // A caller may see the queue hang up a moment before the thread has said why.
        if self.thread_has_ended(Duration::from_secs(1)) && !self.poisoned.load(Ordering::SeqCst) {
            return Error::new(ErrorKind::Closed, "the file was closed; open it again");
        }
        Error::new(
            ErrorKind::Poisoned,
            "the writer thread panicked; what was acknowledged is safe, open the file again",
        )
    }

    fn thread_has_ended(&self, wait: Duration) -> bool {
        let ended = self.ended.lock().expect("no one panics while holding the signal");
        ended.recv_timeout(wait) == Err(std_mpsc::RecvTimeoutError::Disconnected)
    }
}

impl Drop for Writer {
    /// Lets the thread finish what is queued, for a bounded time.
    fn drop(&mut self) {
        if let Ok(queue) = self.queue.get_mut() {
            queue.take();
        }
        if self.thread_has_ended(Duration::from_millis(self.close_timeout_ms))
            && let Ok(thread) = self.thread.get_mut()
            && let Some(thread) = thread.take()
        {
            let _ = thread.join(); // It caught its own panic.
        }
    }
}

thread_local! {
    /// Pages in the WAL after this thread's last commit.
    static WAL_PAGES: Cell<i32> = const { Cell::new(0) };
}

struct WriterThread {
    path: PathBuf,
    /// `None` after a failure, until it is opened anew.
    conn: Option<Connection>,
    config: Arc<Config>,
    live: Arc<Live>,
    /// Pages in the WAL when the last checkpoint was tried.
    last_checkpoint: i32,
}

impl WriterThread {
    fn run(&mut self, mut commands: mpsc::Receiver<Message>) {
        let mut closing = None;
        while closing.is_none() {
            let Some(first) = commands.blocking_recv() else { break };
            let mut batch = Vec::new();
            let mut next = Some(first);
            while let Some(message) = next {
                match message {
                    Message::Command(command) => batch.push(command),
                    Message::Close(sender) => closing = Some(sender),
                }
                next = if batch.len() < MAX_BATCH { commands.try_recv().ok() } else { None };
            }
            self.run_batch(batch);
            if closing.is_some() {
                commands.close();
            } else {
                self.checkpoint_if_due();
            }
        }
        // Closed to newcomers; whoever got in before is still served.
        let mut rest = Vec::new();
        while let Some(message) = commands.blocking_recv() {
            if let Message::Command(command) = message {
                rest.push(command);
            }
        }
        self.run_batch(rest);
        self.let_go();
        if let Some(sender) = closing {
            let _ = sender.send(()); // The caller may have stopped waiting.
        }
    }

    /// Runs commands in one transaction and answers all of them.
    fn run_batch(&mut self, mut batch: Vec<Box<dyn Command>>) {
        if batch.is_empty() {
            return;
        }
        let outcome = self.commit(&mut batch);
        for command in batch {
            command.reply(outcome.as_ref().err());
        }
        if outcome.is_err_and(|error| poisons_connection(&error)) {
            self.conn = None;
            self.live.forget_all();
        }
    }

    /// Once this returns, all is on the disk, or nothing.
    fn commit(&mut self, batch: &mut [Box<dyn Command>]) -> Result<()> {
        if self.conn.is_none() {
            self.adopt(connect::writer(&self.path, self.config.durability)?);
        }
        let conn = self.conn.as_ref().expect("it was just opened");
        let tx = begin(conn, Deadline::after_ms(self.config.record_timeout_ms))?;
        let mut staged: Staged = HashMap::new();
        for command in batch {
            tx.prepare_cached("SAVEPOINT command")?.execute([])?;
            let desk = &mut Desk { tx: &tx, config: &self.config, live: &self.live, staged: &mut staged };
            match command.run(desk) {
                Ok(()) => {}
                Err(error) if poisons_connection(&error) => return Err(error),
                Err(_) => {
                    tx.prepare_cached("ROLLBACK TO command")?.execute([])?;
                }
            }
            tx.prepare_cached("RELEASE command")?.execute([])?;
        }
        tx.commit()?;
        for (session, state) in staged {
            match state {
                Some((hot, version)) => self.live.put(session, hot, version, None),
                None => self.live.forget(session),
            }
        }
        Ok(())
    }

    fn adopt(&mut self, conn: Connection) {
        conn.wal_hook(Some(|_: &Wal, pages| {
            WAL_PAGES.set(pages);
            Ok(())
        }));
        self.conn = Some(conn);
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
            && let Err(error) = conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
            && poisons_connection(&error.into())
        {
            self.conn = None; // The turns are safe in the WAL; the next command opens the file anew.
        }
    }

    /// Leaves the file tidy. Everything is durable already, so a failure here loses nothing.
    fn let_go(&mut self) {
        if let Some(conn) = self.conn.take() {
            let _ = conn.execute_batch("PRAGMA optimize; PRAGMA wal_checkpoint(TRUNCATE);");
        }
    }
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
