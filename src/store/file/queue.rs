//! The queue of the writer thread, through which callers send commands and wait for the results.
//!
//! The queue is bounded in commands and in bytes of text. A caller that finds it full waits for room, at most until its
//! deadline. Entries that nobody waits for, such as receipts, are dropped if there is no room.

use std::{
    sync::{Arc, Mutex, Weak, mpsc as std_mpsc},
    thread::{self, JoinHandle},
    time::Duration,
};

use rusqlite::Connection;
use tokio::sync::{
    OwnedSemaphorePermit, Semaphore,
    mpsc::{self, error::TrySendError},
    oneshot, watch,
};

use crate::{
    clock::{Deadline, Stopwatch},
    config::Config,
    error::{Error, ErrorKind, Result},
    store::{
        behind::WriteBehind,
        file::{
            commits::Commits,
            db_file::DbFile,
            scrub::{PagesToScrub, Scrubbed},
            watch::Watch,
            writer::{Command, Order, Scrub, WriterThread},
        },
        live::Live,
        rows::jobs::Owed,
        write_tx::WriteTx,
    },
};

/// A command whose caller waits for its answer.
struct WaitingCommand<T, W> {
    work: Option<W>,
    done: Option<T>,
    failed: Option<Error>,
    sender: oneshot::Sender<Result<T>>,
    deadline: Deadline,
    /// The command's share of the bytes that may be queued. Released before the answer is sent, so that the share is free
    /// when the caller gets its answer.
    room: Option<OwnedSemaphorePermit>,
}

impl<T: Send, W: FnOnce(&mut WriteTx<'_>) -> Result<T> + Send> Command for WaitingCommand<T, W> {
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
            (None, None) => return, // It never ran. The dropped sender reports that the thread is gone.
        };
        drop(self.room);
        let _ = self.sender.send(answer); // The caller may have stopped waiting.
    }

    fn deadline(&self) -> Deadline {
        self.deadline
    }
}

/// The handle of the writer thread, through which callers queue commands.
#[derive(Debug)]
pub(crate) struct Writer {
    /// `None` once closed.
    queue: Mutex<Option<mpsc::Sender<Order>>>,
    thread: Mutex<Option<JoinHandle<Result<()>>>>,
    /// Disconnects when the thread has ended.
    ended: Mutex<std_mpsc::Receiver<()>>,
    /// How many more kibibytes of text may be queued.
    room: Arc<Semaphore>,
    commits: Arc<Commits>,
    queue_kib: u32,
    timeout: Duration,
    close_timeout: Duration,
}

impl Writer {
    pub(crate) fn start(
        file: Arc<DbFile>,
        conn: Connection,
        config: Arc<Config>,
        shared: (Arc<Live>, Weak<Watch>),
        work: watch::Sender<()>,
    ) -> Result<Self> {
        let (queue, orders) = mpsc::channel(config.queue_len);
        let (alive, ended) = std_mpsc::channel();
        let commits = Arc::<Commits>::default();
        let counted = Arc::clone(&commits);
        let (timeout, close_timeout) = (config.record_timeout, config.close_timeout);
        let queue_kib = u32::try_from(config.queue_bytes / 1_024).unwrap_or(u32::MAX).max(1);
        let thread = thread::Builder::new()
            .name("thermocline-writer".into())
            .spawn(move || {
                let _alive: std_mpsc::Sender<()> = alive; // Dropped last.
                // A panic drops the receiver, so that waiting and later callers get an error.
                WriterThread::new(file, conn, config, shared, (work, counted))?.run(orders)
            })
            .map_err(|error| Error::caused(ErrorKind::Io, "the writer thread could not be started", error))?;
        Ok(Self {
            queue: Mutex::new(Some(queue)),
            thread: Mutex::new(Some(thread)),
            ended: Mutex::new(ended),
            room: Arc::new(Semaphore::new(queue_kib as usize)),
            commits,
            queue_kib,
            timeout,
            close_timeout,
        })
    }

    /// Queues `work`, which holds `bytes` bytes of text, and waits until its writes are durable.
    ///
    /// Dropping the future does not cancel a queued command.
    pub(crate) async fn write_sized<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce(&mut WriteTx<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (sender, receiver) = oneshot::channel();
        let deadline = Deadline::after(self.timeout);
        let room = self.room_for(bytes, deadline).await?;
        let work = Some(work);
        let command = WaitingCommand { work, done: None, failed: None, sender, deadline, room };
        self.send(Order::Run(Box::new(command)), deadline).await?;
        receiver.await.unwrap_or_else(|_| Err(poisoned()))
    }

    /// Queues `work` if there is room. Does not wait.
    pub(crate) fn try_post(&self, work: impl FnOnce(&mut WriteTx<'_>) -> Result<()> + Send + 'static) {
        let (sender, _) = oneshot::channel();
        let deadline = Deadline::after(self.timeout);
        let command =
            WaitingCommand { work: Some(work), done: None, failed: None, sender, deadline, room: None };
        self.try_send(Order::Run(Box::new(command)));
    }

    /// Returns how many commands are queued. `None` if the writer no longer accepts commands.
    pub(crate) fn queued(&self) -> Option<usize> {
        let queue = self.queue.lock().expect("no one panics while holding the queue");
        let queue = queue.as_ref().filter(|queue| !queue.is_closed())?;
        Some(queue.max_capacity() - queue.capacity())
    }

    /// Returns the counters of the writer's commits.
    pub(crate) fn commits(&self) -> &Commits {
        &self.commits
    }

    /// Waits until everything posted so far is in the file or lost.
    pub(crate) async fn flush(&self) -> Result<()> {
        let (sender, receiver) = oneshot::channel();
        self.send(Order::Flush(sender), Deadline::after(self.timeout)).await?;
        receiver.await.map_err(|_| poisoned())
    }

    /// Queues a receipt or a use, if there is room. Does not wait.
    pub(crate) fn post_behind(&self, entry: WriteBehind) {
        self.try_send(Order::Behind(entry));
    }

    fn try_send(&self, order: Order) {
        if let Some(queue) = &*self.queue.lock().expect("no one panics while holding the queue") {
            let _ = queue.try_send(order);
        }
    }

    /// Empties the write-ahead log and overwrites the gaps in some of these pages.
    pub(crate) async fn scrub(&self, owed: Owed, pages: PagesToScrub) -> Result<Scrubbed> {
        let (sender, receiver) = oneshot::channel();
        let order = Scrub { owed, pages, waited: Stopwatch::start(), sender };
        self.send(Order::Scrub(order), Deadline::after(self.timeout)).await?;
        receiver.await.unwrap_or_else(|_| Err(poisoned()))
    }

    /// Returns some free pages to the file system. Returns `true` if more remain.
    pub(crate) async fn shrink(&self) -> Result<bool> {
        let (sender, receiver) = oneshot::channel();
        self.send(Order::Shrink(sender), Deadline::after(self.timeout)).await?;
        receiver.await.unwrap_or_else(|_| Err(poisoned()))
    }

    /// Waits until the queue has room for `bytes` more bytes. Commands of less than 1 KiB need no room.
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

    /// Stops accepting commands, waits until everything queued is durable, and ends the thread. Blocks.
    pub(crate) fn close(&self) -> Result<()> {
        self.queue.lock().expect("no one panics while holding the queue").take();
        // Concurrent callers of `close` wait here.
        let mut thread = self.thread.lock().expect("no one panics while holding the thread");
        thread.take().map_or(Ok(()), |thread| thread.join().unwrap_or_else(|_| Err(poisoned())))
    }
}

fn queue_stayed_full() -> Error {
    Error::new(ErrorKind::Busy, "the writer's queue stayed full; nothing was written, try again")
}

fn poisoned() -> Error {
    Error::new(
        ErrorKind::Poisoned,
        "the writer thread panicked; what was acknowledged is safe, open the file again",
    )
}

impl Drop for Writer {
    /// Waits until the thread has finished the queue, at most for `close_timeout`.
    fn drop(&mut self) {
        if let Ok(queue) = self.queue.get_mut() {
            queue.take();
        }
        let wait = self.close_timeout;
        let ended = self.ended.get_mut().map(|ended| ended.recv_timeout(wait));
        if matches!(ended, Ok(Err(std_mpsc::RecvTimeoutError::Disconnected))) {
            let _ = self.close(); // Does not block: the thread has ended. Waiting callers know of a panic already.
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
    use tokio::task::spawn;

    use super::*;
    use crate::store::file::testing::{all_are_queued, hold, insert, notes, store, write};

    #[tokio::test]
    async fn what_is_queued_is_bounded_in_bytes_too() {
        let mut config = Config::default();
        (config.queue_bytes, config.record_timeout) = (1 << 20, Duration::ZERO);
        let (_folder, store) = store(config).await;
        let (go_on, held) = hold(&store).await;
        let large = |n: u32| {
            let store = Arc::clone(&store);
            spawn(async move { store.write_sized(600 << 10, move |tx| insert(tx, n)).await })
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
    async fn a_full_queue_makes_callers_wait_and_then_says_so() {
        let mut config = Config::default();
        (config.queue_len, config.record_timeout) = (2, Duration::ZERO);
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
        while !store.writer().unwrap().is_closed() {
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
}
