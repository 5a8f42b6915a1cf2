//! Runs jobs: takes a due job, works on it in slices, and ends it or gives it back.

mod attempt;
mod compress;
mod derive;
mod embed;
mod erase;
mod extract;
mod index;
mod job;
mod lanes;
mod mend;
mod provider;
mod prune;
mod silence;
mod sweep;
mod tend;
mod validate;
mod worker;

use tokio::sync::watch;

pub use self::job::{JobProgress, JobsReport, RunJobs};
pub(crate) use self::{
    erase::{erase, erase_memory, erase_turn},
    tend::tend_by_hand,
    validate::validate,
    worker::Worker,
};
use crate::{
    error::Result,
    jobs::{job::Run, lanes::Until},
    model::job::JobKind,
    store::Store,
};

/// Ends sessions that have ended by silence, then runs jobs until none is due. Options may exclude some of this.
pub(crate) async fn run(store: &Store, options: RunJobs, stop: watch::Receiver<bool>) -> Result<JobsReport> {
    store.check_writable()?;
    let run = Run::with(store, stop, options);
    store.flush().await?; // Uses must be counted before sessions are compressed.
    if !store.config().embedders.is_empty() || store.snapshot()?.has_stale_rules()? {
        // Waits until the jobs are queued that opening the file has posted for a new model or new rules.
        store.write_background(|_| Ok(())).await?;
    }
    store.take_over_inserted().await?;
    let ended_sessions =
        if run.only.is_none() && run.user.is_none() { silence::end_silent(&run).await? } else { 0 };
    if run.user.is_none() && run.only.is_none_or(|only| only == JobKind::Tend) {
        tend::queue_due(&run).await?;
    }
    loop {
        let before = run.begun();
        lanes::work(&run, Until::AllAreIdle).await?;
        if run.begun() == before {
            return Ok(JobsReport { ended_sessions, ..run.report() });
        }
        // The last job of one lane may have queued work for a lane that had already ended.
    }
}

/// Runs jobs as they become due, and ends sessions that have ended by silence, until told to stop.
async fn serve(store: &Store, stop: watch::Receiver<bool>) {
    let run = Run::new(store, stop);
    // No caller waits here. Failed jobs have the reason in their rows, and other errors occur again in calls of the library.
    let _ = tokio::join!(lanes::work(&run, Until::Stopped), silence::watch(&run));
}
