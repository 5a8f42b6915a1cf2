//! Ends sessions that have fallen silent. At intervals it also takes over turns that other programs have inserted, and
//! queues the daily tending of memories.

use chrono::TimeDelta;

use crate::{
    error::Result,
    jobs::{
        job::{Run, now, timed},
        tend,
    },
    model::{place::SessionNo, stored_time::StoredTime},
    store::write_tx::WriteTx,
};

/// How many silent sessions one snapshot reads.
const SILENT_AT_ONCE: u32 = 64;

/// Checks at intervals for inserted turns, silent sessions and memories to tend, until the run is told to stop.
pub(super) async fn watch(run: &Run<'_>) {
    let interval = run.store.config().worker_interval;
    while !run.is_stopped() {
        // Errors are ignored, because they occur again in calls of the library.
        let _ = run.store.take_over_inserted().await;
        let _ = end_silent(run).await;
        let _ = tend::queue_due(run).await;
        tokio::select! {
            () = run.stopped() => {}
            () = tokio::time::sleep(interval) => {}
        }
    }
}

/// Ends the silent sessions, and returns how many it has ended.
pub(super) async fn end_silent(run: &Run<'_>) -> Result<u64> {
    let store = run.store;
    let timeout = TimeDelta::from_std(store.config().session_timeout).ok();
    let Some(cutoff) = timeout.and_then(|timeout| now(store).checked_sub_signed(timeout)) else {
        return Ok(0);
    };
    let (mut ended, mut after) = (0, SessionNo::default());
    while !run.is_stopped() {
        let silent = store.snapshot()?.silent_sessions(StoredTime::clamped(cutoff), after, SILENT_AT_ONCE)?;
        let Some((last, _, _)) = silent.last() else { break };
        after = *last;
        for (_, scope, session) in silent {
            // A session that cannot be read is skipped, so that other sessions end and jobs run. Doctor reports it.
            let before = store.foreground_writes();
            let end = move |tx: &mut WriteTx<'_>| timed(|| tx.end_if_silent(&scope, session));
            if let Ok((is_ended, took)) = store.write_background(end).await {
                ended += u64::from(is_ended);
                run.rest(took, before).await;
            }
        }
    }
    Ok(ended)
}
