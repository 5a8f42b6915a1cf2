//! Tending: finds which of a user's memories settle, fall back, are archived or need a person, carries this out for some
//! of them at a time, and deletes old unrated uses and the earlier states that old edits keep for undo.
//!
//! Each write reads the memory again and decides again. If the decision is no longer the planned one, the memory stays
//! as it is.

use chrono::{NaiveDate, TimeDelta};

use crate::{
    error::Result,
    memory::{
        facts::MemoryFacts,
        tend::{Move, look, may_move},
    },
    model::{
        change::ChangeOp,
        ids::GroupId,
        job::JobKind,
        memory::{tended::TendMove, words::MemoryStatus},
        place::MemoryNo,
        stored_time::StoredTime,
    },
    store::{
        acts::memories::operation::{MemoryOperation, Note},
        job_tx::JobTx,
        rows::memories::{
            known, looked,
            reviews::{self, QuestionState},
            tend as rows, uses,
        },
        scope::Scope,
        slice_error::SliceResult,
        snapshot::Snapshot,
        sql::Sql,
        write_tx::WriteTx,
    },
};

/// The name used in the history.
const TEND: &str = "tend";
/// How many memories are looked at in one snapshot.
const LOOKED_AT_ONCE: u32 = 256;
/// Moves per slice. A slice holds the writer for about 3 ms.
pub(crate) const MOVED_AT_ONCE: usize = 8;
const DROPPED_AT_ONCE: u32 = 256;
const TRIMMED_AT_ONCE: usize = 16;
/// How long a use waits for somebody to say whether it helped.
const UNRATED: TimeDelta = TimeDelta::days(7);
/// How many of a memory's newest edits keep the state before them.
const KEPT_EDITS: u32 = 20;

/// One run over a user's memories. Its moves are one group of the history, decided as of one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tending {
    pub(crate) group: GroupId,
    pub(crate) now: StoredTime,
}

impl Tending {
    pub(crate) fn begun(now: StoredTime) -> Self {
        Self { group: GroupId::new(*now), now }
    }

    /// The day of the run.
    pub(crate) fn day(&self) -> NaiveDate {
        self.now.date_naive()
    }
}

/// The result of looking at some memories.
#[derive(Debug)]
pub(crate) struct TendFindings {
    pub(crate) seen: u64,
    pub(crate) found: Vec<PlannedMove>,
    /// Where to continue. `None` if these were the last.
    pub(crate) next: Option<MemoryNo>,
}

/// A move to carry out.
#[derive(Clone, Debug)]
pub(crate) struct PlannedMove {
    memory_no: MemoryNo,
    pub(crate) what: Move,
    pub(crate) shown: TendMove,
}

impl Snapshot<'_> {
    /// Looks at some of a user's active memories after the given one, and finds their moves.
    pub(crate) fn look_at_some(
        &self,
        scope: &Scope,
        now: StoredTime,
        after: MemoryNo,
    ) -> Result<TendFindings> {
        self.ask(|sql| {
            let some = looked::some_active(sql, scope, after, LOOKED_AT_ONCE)?;
            let is_last = some.len() < LOOKED_AT_ONCE as usize;
            let next = some.last().map(|(memory_no, _)| *memory_no).filter(|_| !is_last);
            let mut found = Vec::new();
            for (memory_no, _) in some.iter().filter(|(_, facts)| may_move(facts, *now)) {
                found.extend(looked_at(sql, scope, *memory_no, now)?);
            }
            Ok(TendFindings { seen: some.len() as u64, found, next })
        })
    }

    /// What no longer has to be kept: whether there are unrated uses that are too old, and the memories with more than
    /// [`KEPT_EDITS`] edits that keep earlier states.
    pub(crate) fn what_is_old(&self, scope: &Scope, now: StoredTime) -> Result<(bool, Vec<MemoryNo>)> {
        self.ask(|sql| {
            let mut edited = Vec::new();
            loop {
                let after = edited.last().copied().unwrap_or_default();
                let some = rows::often_edited(sql, scope, after, KEPT_EDITS)?;
                if some.is_empty() {
                    break;
                }
                edited.extend(some);
            }
            Ok((rows::has_unrated(sql, scope, now - UNRATED)?, edited))
        })
    }

    /// At most `limit` users whose memories should be tended today, after the given one.
    pub(crate) fn users_to_tend(
        &self,
        today: NaiveDate,
        after: Option<&rows::UserToTend>,
        limit: u32,
    ) -> Result<Vec<rows::UserToTend>> {
        self.ask(|sql| rows::due(sql, today, after, limit))
    }
}

/// The move of one memory, if there is one. The memory is read completely and checked against its checksum. A memory that
/// cannot be read has no move; doctor reports it.
fn looked_at(
    sql: &dyn Sql,
    scope: &Scope,
    memory_no: MemoryNo,
    now: StoredTime,
) -> Result<Option<PlannedMove>> {
    let memory = known::readable(sql, scope, memory_no, now)?;
    let Some(memory) = memory.filter(|memory| memory.status == MemoryStatus::Active && !memory.is_volatile())
    else {
        return Ok(None);
    };
    let facts = MemoryFacts::from(&memory);
    let past = rows::past(sql, scope, memory_no, StoredTime::clamped(facts.frequency_since))?;
    let left_high = past.has_moved && rows::has_left_high(sql, scope, memory_no)?;
    let Some((what, why)) = look(&facts, (past, left_high), *now) else { return Ok(None) };
    let is_due = match what {
        Move::Ask(kind) => {
            let has_news = |decided_at| uses::has_news_since(sql, scope, memory_no, decided_at);
            reviews::question(sql, scope, kind, (memory_no, None), (now, has_news))? == QuestionState::Free
        }
        _ => !rows::was_moved(sql, scope, memory_no, now.date_naive())?,
    };
    let shown = TendMove {
        memory_id: memory.id,
        title: memory.title,
        action: what.action(),
        from: facts.frequency,
        to: what.frequency(facts.frequency),
        why,
    };
    Ok(is_due.then_some(PlannedMove { memory_no, what, shown }))
}

impl WriteTx<'_> {
    /// Carries out those of the moves that would still be found, and returns them.
    pub(crate) fn tend_some(
        &mut self,
        scope: &Scope,
        tending: Tending,
        planned: &[PlannedMove],
    ) -> Result<Vec<TendMove>> {
        let mut operation = MemoryOperation::begin(self, scope, TEND)?;
        operation.group = tending.group;
        let mut done = Vec::with_capacity(planned.len());
        for plan in planned {
            let again = looked_at(operation.tx.sql, scope, plan.memory_no, tending.now)?;
            if let Some(again) = again.filter(|again| again.what == plan.what) {
                operation.move_memory(&again, tending)?;
                done.push(again.shown);
            }
        }
        Ok(done)
    }

    /// Removes some uses that were not rated in time, and returns how many. 0 if there are no more.
    pub(crate) fn drop_unrated_uses(&mut self, scope: &Scope, now: StoredTime) -> Result<u64> {
        self.lock(scope)?;
        rows::drop_unrated(self.sql, scope, now - UNRATED, DROPPED_AT_ONCE)
    }

    /// Deletes the states before all but the newest [`KEPT_EDITS`] edits of each memory, and returns how many it deleted.
    pub(crate) fn forget_older_edits(&mut self, scope: &Scope, memories: &[MemoryNo]) -> Result<u64> {
        self.lock(scope)?;
        memories.iter().map(|memory_no| rows::forget_older(self.sql, scope, *memory_no, KEPT_EDITS)).sum()
    }

    /// Records that a user's memories were tended on a day, so that no job is queued for that day, and removes a failed one.
    pub(crate) fn end_tending(&mut self, scope: &Scope, today: NaiveDate) -> Result<()> {
        self.lock(scope)?;
        rows::remove_failed(self.sql, scope)?;
        rows::set_tended(self.sql, scope, today)
    }

    /// Queues a tend job for a user's memories, unless they were tended in the meantime.
    pub(crate) fn queue_tending(&mut self, (known, scope): &rows::UserToTend) -> Result<()> {
        self.lock(scope)?;
        if rows::tended_on(self.sql, scope)?.as_ref() == Some(known) {
            self.enqueue_if_none(scope, JobKind::Tend)?;
        }
        Ok(())
    }
}

/// Splits memories into slices for [`WriteTx::forget_older_edits`].
pub(crate) fn trimmed_at_once(memories: &[MemoryNo]) -> impl Iterator<Item = &[MemoryNo]> {
    memories.chunks(TRIMMED_AT_ONCE)
}

impl MemoryOperation<'_, '_> {
    fn move_memory(&mut self, planned: &PlannedMove, tending: Tending) -> Result<()> {
        let shown = &planned.shown;
        if let Move::Ask(kind) = planned.what {
            let of = (planned.memory_no, None);
            return self.ask(kind, of, &shown.why).map(drop);
        }
        let before = self.memory(shown.memory_id)?;
        let mut after = before.clone();
        let (old_value, new_value, op) = if planned.what == Move::Archive {
            after.row.status = MemoryStatus::Archived;
            (before.row.status.as_str(), after.row.status.as_str(), ChangeOp::Status)
        } else {
            (after.row.frequency, after.row.frequency_since) = (shown.to, tending.now);
            (shown.from.as_str(), shown.to.as_str(), ChangeOp::Frequency)
        };
        let note = Note {
            old_value: Some(old_value),
            new_value: Some(new_value),
            reason: &shown.why,
            ..Note::of(op)
        };
        self.change(&before, after, note).map(drop)
    }
}

impl JobTx<'_, '_> {
    /// See [`WriteTx::tend_some`].
    pub(crate) fn tend_some(
        &mut self,
        scope: &Scope,
        tending: Tending,
        planned: &[PlannedMove],
    ) -> SliceResult<Vec<TendMove>> {
        self.lock(scope)?;
        Ok(self.tx.tend_some(scope, tending, planned)?)
    }

    /// See [`WriteTx::drop_unrated_uses`].
    pub(crate) fn drop_unrated_uses(&mut self, scope: &Scope, now: StoredTime) -> SliceResult<u64> {
        self.lock(scope)?;
        Ok(self.tx.drop_unrated_uses(scope, now)?)
    }

    /// See [`WriteTx::forget_older_edits`].
    pub(crate) fn forget_older_edits(&mut self, scope: &Scope, memories: &[MemoryNo]) -> SliceResult<u64> {
        self.lock(scope)?;
        Ok(self.tx.forget_older_edits(scope, memories)?)
    }

    /// See [`WriteTx::end_tending`].
    pub(crate) fn end_tending(&mut self, scope: &Scope, today: NaiveDate) -> SliceResult<()> {
        self.lock(scope)?;
        Ok(self.tx.end_tending(scope, today)?)
    }
}
