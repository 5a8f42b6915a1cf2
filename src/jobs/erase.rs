//! Erasing, slice by slice, until nothing is left; then the write-ahead log.

use std::time::Duration;

use tokio::sync::watch;

use crate::{
    error::Result,
    jobs::{Ended, JobProgress, Run},
    model::ids::SessionId,
    store::{
        Store,
        erase::{self, Erased},
        jobs::{self, Lease},
        users::Scope,
    },
};

/// Reads of this process end within milliseconds; what holds the log longer is another process, or a long read.
const LOOKS: u32 = 20;
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// Erases a session, or all of a user, while the caller waits.
pub(crate) async fn erase(store: &Store, scope: Scope, session: Option<SessionId>) -> Result<Erased> {
    let (begun, lease) = store.write(move |desk| erase::begin(desk, &scope, session)).await?;
    // Nobody stops this run but its caller's runtime.
    let (_stop, stopped) = watch::channel(false);
    let mut run = Run { store, stop: stopped, tell: None, progress: JobProgress::default() };
    let erased = go_on(&mut run, &lease).await?;
    let is_pending = !empty_log(store).await?;
    Ok(Erased { is_pending, ..begun.and(erased) })
}

/// Erases what is left of the job's work.
pub(super) async fn go_on(run: &mut Run<'_>, lease: &Lease) -> Result<Erased> {
    let mut erased = Erased::default();
    let Some(scope) = lease.scope else { return Ok(erased) };
    loop {
        let (held, session) = (lease.clone(), lease.session_id);
        let (slice, is_last) = run
            .slice(move |desk| match session {
                Some(session) => erase::session_slice(desk, &scope, &held, session),
                None => erase::user_slice(desk, &scope, &held),
            })
            .await?;
        erased = erased.and(slice);
        run.advance(usize::try_from(slice.turns).unwrap_or(usize::MAX));
        if is_last {
            run.store.forget_all();
            return Ok(erased);
        }
    }
}

/// The job behind an erase: empties the log, once nobody holds it.
pub(super) async fn truncate(store: &Store, lease: &Lease) -> Result<Ended> {
    if !empty_log_once(store).await? {
        return Ok(Ended::Later("a reader holds the write-ahead log".to_owned()));
    }
    let lease = lease.clone();
    store.write_slice(move |desk| jobs::finish(desk.tx, &lease)).await?;
    Ok(Ended::Done)
}

/// Empties the log now, and ends the job for it; false: that job will.
async fn empty_log(store: &Store) -> Result<bool> {
    for _ in 0..LOOKS {
        if empty_log_once(store).await? {
            store.write(|desk| jobs::finish_truncate(desk.tx)).await?;
            return Ok(true);
        }
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
    Ok(false)
}

async fn empty_log_once(store: &Store) -> Result<bool> {
    store.truncate_log().await
}
