//! The worker: the library's thread that runs jobs when they are due.

use std::{
    panic::{self, AssertUnwindSafe},
    sync::{Arc, Mutex, mpsc},
    thread::{self, JoinHandle},
    time::Duration,
};

use tokio::sync::watch;

use crate::{
    error::{Error, ErrorKind, Result},
    jobs,
    store::Store,
};

/// The pause between a panic and the next run.
const REST: Duration = Duration::from_millis(50);

/// The handle of the running worker. Dropping it stops the worker, as `stop` does.
#[derive(Debug)]
pub(crate) struct Worker {
    stop: watch::Sender<bool>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// Disconnects when the thread has ended.
    ended: Mutex<mpsc::Receiver<()>>,
    timeout: Duration,
}

impl Worker {
    pub(crate) fn start(store: Arc<Store>) -> Result<Self> {
        let (stop, stopped) = watch::channel(false);
        let (alive, ended) = mpsc::channel();
        let timeout = store.config().close_timeout;
        let thread = thread::Builder::new()
            .name("thermocline-worker".into())
            .spawn(move || {
                let _alive: mpsc::Sender<()> = alive; // Dropped last.
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let Ok(runtime) = runtime else { return };
                // After a panic, the job's lease expires and the try counts. Other jobs are worked on.
                let mut work = || runtime.block_on(jobs::serve(&store, stopped.clone()));
                while panic::catch_unwind(AssertUnwindSafe(&mut work)).is_err() {
                    thread::sleep(REST);
                }
            })
            .map_err(|error| Error::caused(ErrorKind::Io, "the worker thread could not be started", error))?;
        Ok(Self { stop, thread: Mutex::new(Some(thread)), ended: Mutex::new(ended), timeout })
    }

    /// Tells the worker to stop, which it does at the end of the slice that it is writing. Waits for that, at most for
    /// `Config::close_timeout`.
    pub(crate) fn stop(&self) {
        let _ = self.stop.send(true);
        let ended = self.ended.lock().map(|ended| ended.recv_timeout(self.timeout));
        if matches!(ended, Ok(Err(mpsc::RecvTimeoutError::Disconnected)))
            && let Some(thread) = self.thread.lock().ok().and_then(|mut thread| thread.take())
        {
            let _ = thread.join();
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.stop();
    }
}
