//! A run of jobs, and a job that it works on.

use std::{future::Future, pin::pin, sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use serde::Serialize;
use tokio::sync::watch;

use crate::{
    clock::Stopwatch,
    model::instant,
    store::{
        Store,
        job_tx::JobTx,
        rows::jobs::Lease,
        scope::Scope,
        slice_error::{SliceError, SliceResult},
    },
};

/// While others write, a job writes for one part in so many of the time.
const SHARE_BESIDE_OTHERS: u32 = 20;
/// It does not rest longer than this: a slice may have waited for another process's lock.
const LONGEST_REST: Duration = Duration::from_millis(250);

pub(super) type ProgressFn = Box<dyn FnMut(&JobProgress) + Send>;

/// How far a run of jobs is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct JobProgress {
    /// Jobs that were due when the run began or came since.
    pub jobs_due: u64,
    /// Jobs ended, one way or the other.
    pub jobs_ended: u64,
    /// Turns compressed, erased, indexed or embedded; one that has several jobs counts for each.
    pub turns: u64,
}

/// How a job's work ended.
#[derive(Debug)]
pub(crate) enum Ended {
    Done,
    /// It is to be tried again, for this reason.
    Later(String),
    /// Another try would do no more, for this reason.
    GivenUp(String),
    /// The run was told to stop.
    Stopped,
}

/// One run of jobs.
pub(crate) struct Run<'a> {
    pub(crate) store: &'a Store,
    /// Becomes true when the run is to stop.
    pub(super) stop: watch::Receiver<bool>,
    tell: Option<ProgressFn>,
    pub(super) progress: JobProgress,
}

impl<'a> Run<'a> {
    pub(super) fn new(store: &'a Store, stop: watch::Receiver<bool>, tell: Option<ProgressFn>) -> Self {
        Self { store, stop, tell, progress: JobProgress::default() }
    }

    /// Rests after a slice that took so long, if others wrote meanwhile: they find the writer free.
    pub(super) async fn rest(&self, took: Duration, foreground_before: u64) {
        if self.store.foreground_writes() != foreground_before {
            let rest = (took * (SHARE_BESIDE_OTHERS - 1)).min(LONGEST_REST);
            tokio::select! {
                () = tokio::time::sleep(rest) => {}
                () = self.stopped() => {}
            }
        }
    }

    /// Counts turns that are done, and tells whoever wants to know.
    pub(crate) fn advance(&mut self, turns: usize) {
        self.progress.turns += turns as u64;
        if let Some(tell) = &mut self.tell {
            tell(&self.progress);
        }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        *self.stop.borrow()
    }

    /// Returns when the run is told to stop, else never.
    pub(crate) async fn stopped(&self) {
        let mut stop = self.stop.clone();
        if stop.wait_for(|stop| *stop).await.is_err() {
            std::future::pending::<()>().await; // Nobody can tell it any more.
        }
    }
}

/// A job of a user's, held by this run. Whatever it writes holds the job's lease first, in the same transaction.
pub(crate) struct Job<'j, 's> {
    pub(crate) run: &'j mut Run<'s>,
    pub(crate) lease: Arc<Lease>,
    pub(crate) scope: Scope,
}

impl<'s> Job<'_, 's> {
    pub(crate) fn store(&self) -> &'s Store {
        self.run.store
    }

    /// Writes a slice. If others write too, waits a while afterwards, so that they find the writer free.
    pub(crate) async fn slice<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut JobTx<'_, '_>) -> SliceResult<T> + Send + 'static,
    ) -> SliceResult<T> {
        let before = self.store().foreground_writes();
        let timed = move |tx: &mut JobTx<'_, '_>| timed(|| work(tx));
        let (done, took) = self.store().write_slice(Arc::clone(&self.lease), timed).await?;
        self.run.rest(took, before).await;
        Ok(done)
    }

    /// Waits for an answer that may take longer than a lease, and holds the job meanwhile. `None`: told to stop. Fails if
    /// the job is lost; a renewal that fails for another reason is no reason to throw an answer away: whoever writes
    /// what it says holds the job again.
    pub(crate) async fn holding<T>(&self, answer: impl Future<Output = T>) -> SliceResult<Option<T>> {
        let mut answer = pin!(answer);
        let renewal = Duration::from_millis(self.store().config().lease_ms / 3);
        loop {
            tokio::select! {
                biased;
                answer = &mut answer => return Ok(Some(answer)),
                () = self.run.stopped() => return Ok(None),
                () = tokio::time::sleep(renewal) => {
                    let held = self.store().write_slice(Arc::clone(&self.lease), |_| Ok(())).await;
                    if let Err(SliceError::Lost) = held {
                        return Err(SliceError::Lost);
                    }
                }
            }
        }
    }

    /// Ends it: its work is done, or there is none.
    pub(crate) async fn finish(&self) -> SliceResult<Ended> {
        self.slice(|tx| tx.finish()).await?;
        Ok(Ended::Done)
    }
}

/// Does it, and says how long that took.
pub(super) fn timed<T, E>(
    work: impl FnOnce() -> std::result::Result<T, E>,
) -> std::result::Result<(T, Duration), E> {
    let watch = Stopwatch::start();
    let done = work()?;
    Ok((done, watch.elapsed()))
}

/// The system clock.
pub(super) fn now(store: &Store) -> DateTime<Utc> {
    instant::clamped(store.config().clock.now())
}
