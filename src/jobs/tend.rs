//! Tends one user's active memories, once a day as a job, or by hand. First finds which of them are due to settle, fall
//! back, be archived or be asked about, then carries this out for a few of them at a time. Then deletes old unrated uses,
//! and the earlier states that old edits keep for undo.

use crate::{
    error::{Error, ErrorKind, Result},
    jobs::job::{Job, JobEnd, Run, now, timed},
    memory::tend::Move,
    model::{
        memory::tended::{TendCounts, TendMove, TendOptions, Tended},
        place::MemoryNo,
        stored_time::StoredTime,
    },
    store::{
        Store,
        acts::memories::tend::{MOVED_AT_ONCE, PlannedMove, Tending, trimmed_at_once},
        scope::Scope,
        slice_error::SliceResult,
        write_tx::WriteTx,
    },
};

/// How many users one snapshot reads.
const USERS_AT_ONCE: u32 = 64;
/// From this many memories on, a plan that would archive or lower more than half of them is rejected.
const MANY: u64 = 100;

/// Queues a `tend` job for each user who is due today.
pub(super) async fn queue_due(run: &Run<'_>) -> Result<()> {
    let (store, today) = (run.store, now(run.store).date_naive());
    let mut last = None;
    while !run.is_stopped() {
        let due = store.snapshot()?.users_to_tend(today, last.as_ref(), USERS_AT_ONCE)?;
        let Some(behind) = due.last().cloned() else { break };
        last = Some(behind);
        for user in due {
            let before = store.foreground_writes();
            let queue = move |tx: &mut WriteTx<'_>| timed(|| tx.queue_tending(&user));
            // A user who cannot be read does not keep the others from being queued.
            if let Ok(((), took)) = store.write_background(queue).await {
                run.rest(took, before).await;
            }
        }
    }
    Ok(())
}

/// The moves for which a user's memories are due.
struct TendPlan {
    tending: Tending,
    seen: u64,
    found: Vec<PlannedMove>,
}

impl TendPlan {
    /// Looks at all of the user's active memories. `None` if the run is told to stop.
    async fn of(
        store: &Store,
        scope: &Scope,
        now: StoredTime,
        is_stopped: impl Fn() -> bool,
    ) -> Result<Option<Self>> {
        let mut plan = Self { tending: Tending::begun(now), seen: 0, found: Vec::new() };
        let mut next = Some(MemoryNo::default());
        while let Some(after) = next {
            if is_stopped() {
                return Ok(None);
            }
            // Each portion has its own snapshot, so that others can work in between.
            let looked = store.snapshot()?.look_at_some(scope, now, after)?;
            plan.seen += looked.seen;
            plan.found.extend(looked.found);
            next = looked.next;
            tokio::task::yield_now().await;
        }
        Ok(Some(plan))
    }

    /// Rejects an implausible plan: a clock that has jumped ahead makes everything old at once.
    fn check_is_likely(&self) -> Result<()> {
        let count =
            |is_it: fn(Move) -> bool| self.found.iter().filter(|each| is_it(each.what)).count() as u64;
        let archived = count(|what| what == Move::Archive);
        let lowered = count(|what| matches!(what, Move::FallBack(_)));
        if self.seen < MANY || (archived + lowered) * 2 <= self.seen {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Conflict,
            format!(
                "would archive {archived} and lower {lowered} of {} memories on {}: the clock may have \
                 jumped; if it is right, run memory tend by hand",
                self.seen,
                self.tending.day()
            ),
        ))
    }
}

/// Works on a `tend` job.
pub(super) async fn tend(job: &Job<'_, '_>) -> SliceResult<JobEnd> {
    let (store, scope) = (job.store(), job.scope);
    let now = now(store);
    let Some(plan) = TendPlan::of(store, &scope, now, || job.run.is_stopped()).await? else {
        return Ok(JobEnd::Stopped);
    };
    let (run, day) = (plan.tending, plan.tending.day());
    if let Err(why) = plan.check_is_likely() {
        // The user counts as tended today, so the next look is due tomorrow.
        job.slice(move |tx| tx.end_tending(&scope, day)).await?;
        return Ok(JobEnd::GivenUp(why));
    }
    for some in plan.found.chunks(MOVED_AT_ONCE) {
        let some = some.to_vec();
        job.slice(move |tx| tx.tend_some(&scope, run, &some)).await?;
        if job.run.is_stopped() {
            return Ok(JobEnd::Stopped);
        }
    }
    let (has_old_uses, edited) = store.snapshot()?.what_is_old(&scope, now)?;
    if has_old_uses {
        while job.slice(move |tx| tx.drop_unrated_uses(&scope, now)).await? > 0 {
            if job.run.is_stopped() {
                return Ok(JobEnd::Stopped);
            }
        }
    }
    for some in trimmed_at_once(&edited) {
        let some = some.to_vec();
        job.slice(move |tx| tx.forget_older_edits(&scope, &some)).await?;
    }
    job.slice(move |tx| {
        tx.end_tending(&scope, day)?;
        tx.finish()
    })
    .await?;
    Ok(JobEnd::Done)
}

/// Tends a user's memories while the caller waits, even if it archives or lowers more than half of them.
pub(crate) async fn tend_by_hand(store: &Store, scope: Scope, options: TendOptions) -> Result<Tended> {
    let now = now(store);
    let plan = TendPlan::of(store, &scope, now, || false).await?.expect("nobody stops it");
    let (run, day, memories) = (plan.tending, plan.tending.day(), plan.seen);
    if options.dry_run {
        let moves: Vec<TendMove> = plan.found.into_iter().map(|each| each.shown).collect();
        let counts = TendCounts::of(&moves);
        return Ok(Tended { dry_run: true, memories, moved: counts, moves, ..Tended::default() });
    }
    let mut moves = Vec::with_capacity(plan.found.len());
    for some in plan.found.chunks(MOVED_AT_ONCE) {
        let some = some.to_vec();
        moves.extend(store.write(move |tx| tx.tend_some(&scope, run, &some)).await?);
    }
    let (has_old_uses, edited) = store.snapshot()?.what_is_old(&scope, now)?;
    let (mut dropped_uses, mut forgotten_edits) = (0, 0);
    if has_old_uses {
        loop {
            match store.write(move |tx| tx.drop_unrated_uses(&scope, now)).await? {
                0 => break,
                some => dropped_uses += some,
            }
        }
    }
    for some in trimmed_at_once(&edited) {
        let some = some.to_vec();
        forgotten_edits += store.write(move |tx| tx.forget_older_edits(&scope, &some)).await?;
    }
    store.write(move |tx| tx.end_tending(&scope, day)).await?;
    let counts = TendCounts::of(&moves);
    // Moves that only open a review change no memory, so they have no group.
    let has_group = counts.consolidated + counts.downgraded + counts.archived > 0;
    let group = has_group.then_some(run.group);
    Ok(Tended { group, dry_run: false, memories, moved: counts, moves, dropped_uses, forgotten_edits })
}
