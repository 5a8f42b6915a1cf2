//! Jobs: queueing, taking, giving back, retrying and ending them.

use crate::{
    error::Result,
    model::{
        ids::SessionId,
        job::{JobKind, JobKinds, MAX_ATTEMPTS},
        place::UserNo,
    },
    store::{
        job_tx::JobTx,
        rows::jobs::{self, FoundJob, Lease, LeaseTime, NewJob, Unfinished},
        scope::Scope,
        slice_error::SliceResult,
        sql::missing,
        write_tx::WriteTx,
    },
};

/// The result of taking a job.
pub(crate) enum Taken {
    Lease(Lease),
    /// The job is given up, because all of its tries were cut short.
    GivenUp(Lease),
    /// Another process has taken or ended the job in the meantime.
    Gone,
}

impl WriteTx<'_> {
    /// Queues work, at most once for each kind and subject. If the job is already queued or has failed, it becomes due now
    /// and its tries are counted anew. A running job is left as it is.
    pub(crate) fn enqueue(
        &mut self,
        scope: &Scope,
        kind: JobKind,
        session: Option<SessionId>,
        total_count: u32,
    ) -> Result<()> {
        let job = NewJob { kind, scope, session, priority: kind.priority(), total_count };
        jobs::insert(self.sql, &job, self.now())?;
        self.has_work = true;
        Ok(())
    }

    /// Queues work on a user unless it is already queued; a job that waits for another try keeps waiting.
    pub(crate) fn enqueue_if_none(&mut self, scope: &Scope, kind: JobKind) -> Result<()> {
        if jobs::is_queued(self.sql, scope, kind)? {
            return Ok(());
        }
        self.enqueue(scope, kind, None, 0)
    }

    /// Queues the scrub, which overwrites what erased rows leave in the file. The job belongs to the file, not to a user.
    pub(crate) fn enqueue_scrub(&mut self) -> Result<()> {
        jobs::insert_scrub(self.sql, JobKind::Scrub.priority(), self.now())?;
        self.has_work = true;
        Ok(())
    }

    /// Takes a job, or gives it up if every try so far was cut short.
    pub(crate) fn take_job(&mut self, found: FoundJob) -> Result<Taken> {
        if found.attempts() >= MAX_ATTEMPTS && found.kind().may_be_given_up() {
            let is_ours = jobs::give_up(self.sql, &found)?;
            return Ok(if is_ours { Taken::GivenUp(found.into()) } else { Taken::Gone });
        }
        let lease = jobs::take(self.sql, found, lease_time(self)?)?;
        Ok(lease.map_or(Taken::Gone, Taken::Lease))
    }

    /// Gives a job back for another try, or gives it up. Returns `false` if it was lost in the meantime.
    pub(crate) fn give_back(&mut self, lease: &Lease, unfinished: &Unfinished) -> Result<bool> {
        jobs::give_back(self.sql, lease, unfinished)
    }

    /// Queues failed jobs again, and those that wait for another try: one job, or all. Returns how many.
    pub(crate) fn retry_jobs(&mut self, job_no: Option<i64>) -> Result<u64> {
        let all = match job_no {
            Some(job_no) => vec![(job_no, None)],
            None => jobs::waiting(self.sql, self.now())?,
        };
        self.make_due(all)
    }

    /// Like `retry_jobs`, for jobs of these kinds that wait for a provider's configuration to change, because it may have
    /// changed.
    pub(crate) fn retry_misconfigured(&mut self, kinds: &JobKinds) -> Result<u64> {
        let waiting = jobs::waiting_for_configuration(self.sql, self.now(), kinds)?;
        self.make_due(waiting)
    }

    fn make_due(&mut self, waiting: Vec<(i64, Option<UserNo>)>) -> Result<u64> {
        let (now, mut queued) = (self.now(), 0);
        for (job_no, user_no) in waiting {
            if let Some(user_no) = user_no {
                self.sql.lock_user(user_no)?;
            }
            queued += u64::from(jobs::retry(self.sql, job_no, now)?);
        }
        self.has_work |= queued > 0;
        Ok(queued)
    }
}

impl JobTx<'_, '_> {
    /// Removes the job: its work is done.
    pub(crate) fn finish(&mut self) -> SliceResult<()> {
        Ok(jobs::finish(self.tx.sql, self.lease)?)
    }
}

/// Takes a job that was queued in this transaction.
pub(crate) fn take_of(tx: &WriteTx<'_>, which: (JobKind, &Scope, Option<SessionId>)) -> Result<Lease> {
    let found = jobs::find(tx.sql, which)?.ok_or_else(missing)?;
    jobs::take(tx.sql, found, lease_time(tx)?)?.ok_or_else(missing)
}

fn lease_time(tx: &WriteTx<'_>) -> Result<LeaseTime> {
    Ok((tx.sql.lease_clock()?, tx.config.lease))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use chrono::TimeDelta;

    use super::*;
    use crate::{
        Config, ManualClock,
        store::{Store, scope::UserKey, slice_error::SliceError},
    };

    /// The result of a slice of this job's work.
    async fn slice(store: &Store, lease: &Lease) -> SliceResult<()> {
        store.write_slice(Arc::new(lease.clone()), |_| Ok(())).await
    }

    #[tokio::test]
    async fn who_was_slow_has_lost_the_job_and_so_has_whose_user_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::new("2026-03-01T12:00:00Z".parse().unwrap()));
        let config = Config { clock: Arc::clone(&clock) as _, ..Config::default() };
        let lease = config.lease;
        let store = Store::open(&folder.path().join("m.db"), config).unwrap();
        let all = JobKinds::only(None);
        let take = || store.take_job(&all);
        let scope = store
            .write(|tx| {
                let scope = tx.add_user(&UserKey::Name("alex".into()))?;
                tx.queue_mending(&scope)?;
                Ok(scope)
            })
            .await
            .unwrap();
        let slow = take().await.unwrap().unwrap();
        assert!(slice(&store, &slow).await.is_ok() && take().await.unwrap().is_none());
        clock.advance(TimeDelta::from_std(lease).unwrap() + TimeDelta::milliseconds(1));
        let quick = take().await.unwrap().unwrap();
        assert_eq!((quick.job_no, quick.attempts, quick.scope), (slow.job_no, 2, Some(scope)));
        assert!(matches!(slice(&store, &slow).await, Err(SliceError::Lost)));
        assert!(slice(&store, &quick).await.is_ok());
        store.write(move |tx| crate::store::rows::users::remove(tx.sql, &scope)).await.unwrap();
        assert!(matches!(slice(&store, &quick).await, Err(SliceError::Lost)));
    }

    #[tokio::test]
    async fn one_job_is_tried_again_at_once_or_all_that_wait() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("m.db"), Config::default()).unwrap();
        let (all, mut jobs) = (JobKinds::only(None), Vec::new());
        for name in ["alex", "blake", "charlie"] {
            let queue = |tx: &mut WriteTx<'_>| {
                let scope = tx.add_user(&UserKey::Name(name.into()))?;
                tx.queue_mending(&scope)
            };
            store.write(queue).await.unwrap();
        }
        while let Some(lease) = store.take_job(&all).await.unwrap() {
            let (job_no, is_given_up) = (lease.job_no, jobs.len() == 1);
            let give_back = move |tx: &mut WriteTx<'_>| {
                let next_run_at = (!is_given_up).then(|| tx.now() + TimeDelta::minutes(1));
                tx.give_back(&lease, &Unfinished { next_run_at, reason: None, interrupted: false })
            };
            store.write(give_back).await.unwrap();
            jobs.push(job_no);
        }
        let retry = |job_no| store.write(move |tx| tx.retry_jobs(job_no));
        assert_eq!(jobs.len(), 3);
        assert_eq!(retry(Some(jobs[0])).await.unwrap(), 1);
        assert_eq!(retry(Some(jobs[0])).await.unwrap(), 0, "it is due");
        assert_eq!(retry(None).await.unwrap(), 2);
        assert_eq!(store.snapshot().unwrap().due_jobs(&all).unwrap().0, 3);
    }
}
