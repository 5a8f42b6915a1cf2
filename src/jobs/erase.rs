//! Erases sessions, users, turns and memories, then scrubs the file.

use std::{sync::Arc, time::Duration};

use tokio::sync::watch;

use crate::{
    clock::Deadline,
    error::{Error, ErrorKind, Result},
    event::Event,
    jobs::job::{Job, JobEnd, Run, Worked},
    model::{
        ids::{MemoryId, SessionId, TurnId},
        turn::Origin,
    },
    store::{
        Store,
        acts::erased::Erased,
        file::scrub::{PagesToScrub, Scrubbed},
        rows::jobs::{Lease, Owed},
        scope::Scope,
        slice_error::SliceResult,
    },
};

/// How many times to try to empty the log, at most for [`PATIENCE`]. Most reads of this process end within milliseconds. A
/// log that cannot be emptied for longer is held by another process or by a long read.
const LOOKS: u32 = 20;
const PATIENCE: Duration = Duration::from_secs(2);
/// The time between two tries.
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// Erases a session, or a whole user if `session` is `None`, while the caller waits. `by` is who asks for it.
pub(crate) async fn erase(
    store: &Store,
    (scope, by): (Scope, Origin),
    session: Option<SessionId>,
) -> Result<Erased> {
    let (begun, lease) = store.write_as(by, move |tx| tx.begin_erase(&scope, session)).await?;
    // The run is never told to stop. It ends early only if the caller drops the future.
    let (_stop, stopped) = watch::channel(false);
    let run = Run::new(store, stopped);
    let (lease, worked) = (Arc::new(lease), &Worked::default());
    let erased = go_on(&Job { run: &run, lease, scope, worked }).await?;
    let is_pending = !scrub(store).await?;
    Ok(Erased { is_pending, ..begun.and(erased) })
}

/// Erases one turn, while the caller waits.
pub(crate) async fn erase_turn(store: &Store, (scope, by): (Scope, Origin), id: TurnId) -> Result<Erased> {
    let erased = loop {
        // Done outside the transaction, because packing a frame takes as long as recording several turns.
        let repacked = store.snapshot()?.repacked_without(&scope, id)?;
        if let Some(erased) = store.write_as(by, move |tx| tx.erase_turn(&scope, id, repacked)).await? {
            break erased;
        }
    };
    let is_pending = !scrub(store).await?;
    Ok(Erased { is_pending, ..erased })
}

/// Erases one memory and what jobs made from it, while the caller waits.
pub(crate) async fn erase_memory(
    store: &Store,
    (scope, by): (Scope, Origin),
    id: MemoryId,
) -> Result<Erased> {
    let erased = store.write_as(by, move |tx| tx.erase_memory(&scope, id)).await?;
    let is_pending = !scrub(store).await?;
    Ok(Erased { is_pending, ..erased })
}

/// Erases the rest of the job's session or user, slice by slice.
pub(super) async fn go_on(job: &Job<'_, '_>) -> SliceResult<Erased> {
    let (mut erased, scope) = (Erased::default(), job.scope);
    loop {
        let (slice, is_last) = job.slice(move |tx| tx.erase_slice(&scope)).await?;
        erased = erased.and(slice);
        job.advance(usize::try_from(slice.turns).unwrap_or(usize::MAX));
        if is_last {
            job.store().forget_all();
            return Ok(erased);
        }
    }
}

/// Works on a scrub job, which an erase leaves if it could not scrub the file itself.
pub(super) async fn scrub_as_job(run: &Run<'_>, lease: Arc<Lease>) -> SliceResult<JobEnd> {
    run.store.write_slice(lease, |_| Ok(())).await?;
    Ok(if scrub(run.store).await? {
        JobEnd::Done
    } else {
        JobEnd::Later(Error::new(ErrorKind::Busy, "a reader holds the write-ahead log"))
    })
}

/// Empties the log, overwrites the copies that erased rows left in the file, and ends the scrub job. Returns `false` if this
/// is left to the job.
async fn scrub(store: &Store) -> Result<bool> {
    // If no scrub is owed, another process has scrubbed the file since these rows were deleted.
    let Some((owed, pages)) = store.pages_to_scrub()? else { return Ok(true) };
    scrub_listed(store, owed, pages).await
}

async fn scrub_listed(store: &Store, owed: Owed, mut pages: PagesToScrub) -> Result<bool> {
    let (mut looks, mut patience) = (0, Deadline::after(PATIENCE));
    loop {
        match store.scrub(owed, pages.clone()).await? {
            Scrubbed::All => return Ok(true),
            Scrubbed::Left(left) => (pages, looks, patience) = (left, 0, Deadline::after(PATIENCE)),
            Scrubbed::Nothing => {
                looks += 1;
                if looks == LOOKS || patience.has_passed() {
                    store.config().on_event.emit(&Event::ScrubPending);
                    return Ok(false);
                }
                tokio::time::sleep(BETWEEN_LOOKS).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{config::Config, model::job::JobKind, store::scope::UserKey};

    /// Erases a user but does not scrub, like a process that is killed before its scrub.
    async fn erase_but_for_the_scrub(store: &Store, name: &str) {
        let key = UserKey::Name(name.to_owned());
        let scope = store.write(move |tx| tx.add_user(&key)).await.unwrap();
        let (_, lease) = store.write(move |tx| tx.begin_erase(&scope, None)).await.unwrap();
        let (_stop, stopped) = watch::channel(false);
        let run = &Run::new(store, stopped);
        go_on(&Job { run, lease: Arc::new(lease), scope, worked: &Worked::default() }).await.unwrap();
    }

    fn is_owed(store: &Store) -> bool {
        store.snapshot().unwrap().jobs(0, 1_000).unwrap().iter().any(|job| job.kind == JobKind::Scrub)
    }

    #[tokio::test]
    async fn the_end_of_one_erase_leaves_the_scrub_that_another_one_owes() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("m.db"), Config::default()).unwrap();
        erase_but_for_the_scrub(&store, "alex").await;
        let (owed, pages) = store.pages_to_scrub().unwrap().unwrap();
        erase_but_for_the_scrub(&store, "blake").await;
        assert!(scrub_listed(&store, owed, pages).await.unwrap());
        assert!(is_owed(&store), "blake's rows may have lain in pages that were not listed");
        assert!(scrub(&store).await.unwrap());
        assert!(!is_owed(&store));
    }

    #[tokio::test]
    async fn a_scrub_that_somebody_else_has_finished_is_done() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("m.db"), Config::default()).unwrap();
        erase_but_for_the_scrub(&store, "alex").await;
        let (owed, pages) = store.pages_to_scrub().unwrap().unwrap();
        assert!(scrub(&store).await.unwrap());
        assert!(scrub_listed(&store, owed, pages).await.unwrap());
        assert!(scrub(&store).await.unwrap());
        assert!(!is_owed(&store));
    }
}
