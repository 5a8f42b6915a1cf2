//! Rows of `jobs`: a durable queue with leases.
//!
//! A process that takes a job raises the job's fence, a counter, and holds the job until the lease ends. Each transaction
//! that writes the job's work first extends the lease, which fails if the fence has changed. So if two processes believe
//! that they hold the job, only one of them can write.

use std::time::Duration;

use chrono::TimeDelta;

use crate::{
    error::{Error, Result},
    event::JobRef,
    model::{
        ids::{SessionId, UserId},
        job::{FOR_CONFIGURATION, JobInfo, JobKind, JobKinds, LONGEST_WAIT},
        place::UserNo,
        stored_time::StoredTime,
    },
    store::{
        scope::Scope,
        slice_error::SliceError,
        sql::{RowExpectation, Sql, SqlRow, missing, values},
    },
};

/// The current time, and the length of a lease that begins now.
pub(crate) type LeaseTime = (StoredTime, Duration);

/// When a lease that begins now ends.
pub(crate) fn lease_end((now, lease): LeaseTime) -> StoredTime {
    after(now, lease)
}

/// The latest due time that is ever set. A job that is due later was queued while the clock was wrong, and counts as due
/// now.
fn beyond((now, lease): LeaseTime) -> StoredTime {
    after(now, lease.max(LONGEST_WAIT + LONGEST_WAIT / 10))
}

fn after(now: StoredTime, span: Duration) -> StoredTime {
    now + TimeDelta::from_std(span).unwrap_or(TimeDelta::MAX)
}

/// A job that this process holds.
#[derive(Clone, Debug)]
pub(crate) struct Lease {
    pub(crate) job_no: i64,
    pub(crate) kind: JobKind,
    /// The user whose data the job works on. `None` if it works on the whole file.
    pub(crate) scope: Option<Scope>,
    pub(crate) session_id: Option<SessionId>,
    /// The number of this try, from 1.
    pub(crate) attempts: u32,
    fence: i64,
}

/// What happens to a job that was not finished.
#[derive(Clone, Debug)]
pub(crate) struct Unfinished {
    /// When to try again. `None` if the job is given up.
    pub(crate) next_run_at: Option<StoredTime>,
    /// Why the job was not finished. Never contains what was said.
    pub(crate) reason: Option<String>,
    /// Whether the try was cut short and does not count.
    pub(crate) interrupted: bool,
}

/// Work to queue.
pub(crate) struct NewJob<'a> {
    pub(crate) kind: JobKind,
    pub(crate) scope: &'a Scope,
    /// The session that the job works on. `None` for all of the user's data.
    pub(crate) session: Option<SessionId>,
    pub(crate) priority: i64,
    pub(crate) total_count: u32,
}

/// Queues work, at most once for each kind and subject. If the job is already queued or has failed, it becomes due now and
/// its tries are counted anew. A running job is left as it is.
pub(crate) fn insert(sql: &dyn Sql, job: &NewJob<'_>, now: StoredTime) -> Result<()> {
    let NewJob { kind, scope, session, priority, total_count } = job;
    let subject = session.map_or(scope.user_id.to_string(), |id| id.to_string()).replace('-', "");
    let dedupe_key = format!("{}:{subject}", kind.as_str());
    sql.put(
        "INSERT INTO jobs (kind, user_id, subject_id, dedupe_key, priority, next_run_at, total_count, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?6)
         ON CONFLICT (dedupe_key) DO UPDATE SET state = 'queued', attempts = 0, next_run_at = excluded.next_run_at
         WHERE jobs.state <> 'running'",
        values![kind, scope.user_id, session, dedupe_key, priority, now, total_count],
        RowExpectation::Any,
    )
}

/// Queues the scrub. There is at most one such job. If it is already queued or in progress, it starts over, because it began
/// before this call.
pub(crate) fn insert_scrub(sql: &dyn Sql, priority: i64, now: StoredTime) -> Result<()> {
    sql.put(
        "INSERT INTO jobs (kind, user_id, dedupe_key, priority, next_run_at, created_at)
         VALUES ('scrub', NULL, 'scrub', ?1, ?2, ?2)
         ON CONFLICT (dedupe_key) DO UPDATE
           SET state = 'queued', attempts = 0, fence = jobs.fence + 1, next_run_at = excluded.next_run_at",
        values![priority, now],
        RowExpectation::Any,
    )
}

/// Whether work of this kind on the user is queued or in progress.
pub(crate) fn is_queued(sql: &dyn Sql, scope: &Scope, kind: JobKind) -> Result<bool> {
    sql.scalar(
        "SELECT EXISTS (SELECT 1 FROM jobs WHERE user_id = ?1 AND kind = ?2 AND state <> 'failed')",
        values![scope.user_id, kind],
    )
}

impl Lease {
    /// The job, as events name it.
    pub(crate) fn job(&self) -> JobRef {
        let &Self { job_no, kind, scope, session_id, attempts: attempt, .. } = self;
        JobRef { job_no, kind, user_id: scope.map(|scope| scope.user_id), session_id, attempt }
    }
}

/// A job as it was read, before this process has taken it.
pub(crate) struct FoundJob(Lease);

impl FoundJob {
    pub(crate) fn kind(&self) -> JobKind {
        self.0.kind
    }

    /// How many tries have begun so far.
    pub(crate) fn attempts(&self) -> u32 {
        self.0.attempts
    }
}

impl From<FoundJob> for Lease {
    fn from(FoundJob(lease): FoundJob) -> Self {
        lease
    }
}

macro_rules! find {
    ($which:literal) => {
        concat!(
            "SELECT j.job_no, j.kind, j.user_id, u.user_no, j.subject_id, j.attempts, j.fence
             FROM jobs AS j LEFT JOIN user_scopes AS u ON u.user_id = j.user_id WHERE ",
            $which
        )
    };
}

/// The next due job of these kinds: first jobs whose lease has ended, then queued ones; among these, those of higher
/// priority first, then those that have been due longer.
pub(crate) fn next_due(sql: &dyn Sql, time: LeaseTime, kinds: &JobKinds) -> Result<Option<FoundJob>> {
    for state in ["running", "queued"] {
        let found = sql.one(
            find!(
                "j.state = ?1 AND (j.next_run_at <= ?2 OR j.next_run_at > ?3) AND ?4 LIKE '% ' || j.kind || ' %'
                 AND coalesce(?5, j.user_id) IS NOT DISTINCT FROM j.user_id ORDER BY j.priority DESC, j.next_run_at, j.job_no LIMIT 1"
            ),
            values![state, time.0, beyond(time), kinds.as_words(), kinds.user],
            read_found,
        )?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The job of a kind on a user, or on one of its sessions.
pub(crate) fn find(
    sql: &dyn Sql,
    (kind, scope, session): (JobKind, &Scope, Option<SessionId>),
) -> Result<Option<FoundJob>> {
    sql.one(
        find!("j.user_id = ?1 AND j.kind = ?2 AND j.subject_id IS NOT DISTINCT FROM ?3"),
        values![scope.user_id, kind, session],
        read_found,
    )
}

fn read_found(row: &SqlRow<'_>) -> Result<FoundJob> {
    let (user_id, user_no): (Option<UserId>, Option<UserNo>) = (row.get(2)?, row.get(3)?);
    Ok(FoundJob(Lease {
        job_no: row.get(0)?,
        kind: row.get(1)?,
        scope: user_id.zip(user_no).map(|(user_id, user_no)| Scope { user_id, user_no }),
        session_id: row.get(4)?,
        attempts: row.get(5)?,
        fence: row.get(6)?,
    }))
}

/// Takes a job, and begins its lease. `None` if another process has taken or ended the job since it was read.
pub(crate) fn take(sql: &dyn Sql, FoundJob(found): FoundJob, time: LeaseTime) -> Result<Option<Lease>> {
    let lease = Lease { attempts: found.attempts.saturating_add(1), fence: found.fence + 1, ..found };
    let taken = sql.change(
        "UPDATE jobs SET state = 'running', fence = ?3, attempts = ?4, next_run_at = ?5
         WHERE job_no = ?1 AND fence = ?2",
        values![lease.job_no, found.fence, lease.fence, lease.attempts, lease_end(time)],
    )?;
    Ok((taken == 1).then_some(lease))
}

/// Gives up a job whose tries were all cut short. Returns `false` if another process has taken or ended it since it was
/// read.
pub(crate) fn give_up(sql: &dyn Sql, FoundJob(found): &FoundJob) -> Result<bool> {
    let changed = sql.change(
        "UPDATE jobs SET state = 'failed', last_error = coalesce(last_error, 'every try was cut short')
         WHERE job_no = ?1 AND fence = ?2",
        values![found.job_no, found.fence],
    )?;
    Ok(changed > 0)
}

fn lost() -> Error {
    SliceError::Lost.into()
}

/// Extends the job's lease. Errors: the job is lost.
pub(crate) fn hold(sql: &dyn Sql, lease: &Lease, time: LeaseTime) -> Result<()> {
    sql.put(
        "UPDATE jobs SET next_run_at = ?3 WHERE job_no = ?1 AND fence = ?2 AND state = 'running'",
        values![lease.job_no, lease.fence, lease_end(time)],
        RowExpectation::One(lost),
    )
}

/// Sets how many turns are still to be done.
pub(crate) fn expect(sql: &dyn Sql, lease: &Lease, turns: u32) -> Result<()> {
    sql.put(
        "UPDATE jobs SET total_count = done_count + ?3 WHERE job_no = ?1 AND fence = ?2",
        values![lease.job_no, lease.fence, turns],
        RowExpectation::Any,
    )
}

/// Adds finished turns to the job's count, up to the total. Lowers the count of tries to at most `max_tries`, so that a job
/// that makes progress is not given up because it was often interrupted.
pub(crate) fn progress(sql: &dyn Sql, lease: &Lease, turns: u32, max_tries: u32) -> Result<()> {
    sql.put(
        "UPDATE jobs SET done_count = CASE WHEN done_count + ?3 <= total_count THEN done_count + ?3
                                           WHEN done_count < total_count THEN total_count ELSE done_count END,
                         attempts = CASE WHEN attempts > ?4 THEN ?4 ELSE attempts END
         WHERE job_no = ?1 AND fence = ?2",
        values![lease.job_no, lease.fence, turns, max_tries],
        RowExpectation::Any,
    )
}

/// Records up to which of a user's units the work is done. Lowers the count of tries to at most 1, so that a job that makes
/// progress is not given up because it was often interrupted.
pub(crate) fn set_done(sql: &dyn Sql, lease: &Lease, done_seq: u32, last_seq: u32) -> Result<()> {
    sql.put(
        "UPDATE jobs SET done_count = ?3, total_count = ?4, attempts = CASE WHEN attempts > 1 THEN 1 ELSE attempts END
         WHERE job_no = ?1 AND fence = ?2",
        values![lease.job_no, lease.fence, done_seq, last_seq],
        RowExpectation::Any,
    )
}

/// Up to which of a user's units the work is done.
pub(crate) fn done_seq(sql: &dyn Sql, lease: &Lease) -> Result<u32> {
    sql.scalar(
        "SELECT done_count FROM jobs WHERE job_no = ?1 AND fence = ?2",
        values![lease.job_no, lease.fence],
    )
}

/// Removes the job, because its work is done. Errors: the job is lost.
pub(crate) fn finish(sql: &dyn Sql, lease: &Lease) -> Result<()> {
    sql.put(
        "DELETE FROM jobs WHERE job_no = ?1 AND fence = ?2 AND state = 'running'",
        values![lease.job_no, lease.fence],
        RowExpectation::One(lost),
    )
}

/// The job of a scrub that is owed, with its fence when it was read. A later erase raises the fence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owed {
    job_no: i64,
    fence: i64,
}

/// The scrub that is owed.
pub(crate) fn owed_scrub(sql: &dyn Sql) -> Result<Option<Owed>> {
    sql.one("SELECT job_no, fence FROM jobs WHERE kind = 'scrub'", values![], |row| {
        Ok(Owed { job_no: row.get(0)?, fence: row.get(1)? })
    })
}

/// Whether an erase is in progress, or its scrub is owed.
pub(crate) fn is_anything_erased(sql: &dyn Sql) -> Result<bool> {
    sql.scalar("SELECT EXISTS (SELECT 1 FROM jobs WHERE kind IN ('erase', 'scrub'))", values![])
}

/// Counts overwritten pages on the scrub job, which also shows other connections that the file has changed. Returns `false`
/// if the job is gone because another process has scrubbed the file in the meantime; nothing was written then.
pub(crate) fn count_scrubbed(sql: &dyn Sql, owed: Owed, pages: usize) -> Result<bool> {
    let counted = sql.change(
        "UPDATE jobs SET done_count = done_count + ?2 WHERE job_no = ?1",
        values![owed.job_no, pages],
    )?;
    Ok(counted == 1)
}

/// Removes the scrub job once it is done, unless more was erased since the job was read, or another process has taken it.
pub(crate) fn finish_scrub(sql: &dyn Sql, owed: Owed) -> Result<()> {
    sql.put(
        "DELETE FROM jobs WHERE job_no = ?1 AND fence = ?2",
        values![owed.job_no, owed.fence],
        RowExpectation::Any,
    )
}

/// Gives the job back for another try, or gives it up. Returns `false` if the job was lost in the meantime; it is then left
/// to its holder.
pub(crate) fn give_back(sql: &dyn Sql, lease: &Lease, unfinished: &Unfinished) -> Result<bool> {
    let Unfinished { next_run_at, reason, interrupted } = unfinished;
    let state = if next_run_at.is_some() { "queued" } else { "failed" };
    let changed = sql.change(
        "UPDATE jobs SET state = ?3, next_run_at = coalesce(?4, next_run_at), last_error = coalesce(?5, last_error),
                         attempts = attempts - ?6
         WHERE job_no = ?1 AND fence = ?2 AND state = 'running'",
        values![lease.job_no, lease.fence, state, next_run_at, reason, interrupted],
    )?;
    Ok(changed > 0)
}

/// Jobs that have failed or wait for another try, with their users' numbers.
pub(crate) fn waiting(sql: &dyn Sql, now: StoredTime) -> Result<Vec<(i64, Option<UserNo>)>> {
    sql.list(
        "SELECT j.job_no, u.user_no FROM jobs AS j LEFT JOIN user_scopes AS u ON u.user_id = j.user_id
         WHERE j.state = 'failed' OR j.state = 'queued' AND j.next_run_at > ?1 ORDER BY j.job_no",
        values![now],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// Jobs of these kinds that wait for a provider's configuration to change, with their users' numbers.
pub(crate) fn waiting_for_configuration(
    sql: &dyn Sql,
    now: StoredTime,
    kinds: &JobKinds,
) -> Result<Vec<(i64, Option<UserNo>)>> {
    sql.list(
        "SELECT j.job_no, u.user_no FROM jobs AS j LEFT JOIN user_scopes AS u ON u.user_id = j.user_id
         WHERE j.state = 'queued' AND j.next_run_at > ?1 AND ?2 LIKE '% ' || j.kind || ' %' AND j.last_error LIKE ?3
         ORDER BY j.job_no",
        values![now, kinds.as_words(), format!("{FOR_CONFIGURATION}%")],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// Postpones the queued compression of a session until the given time. A running compression is not affected.
pub(crate) fn put_off_compression(
    sql: &dyn Sql,
    scope: &Scope,
    session: SessionId,
    until: StoredTime,
) -> Result<()> {
    sql.put(
        "UPDATE jobs SET next_run_at = ?3
         WHERE user_id = ?1 AND subject_id = ?2 AND kind = 'compress' AND state = 'queued'",
        values![scope.user_id, session, until],
        RowExpectation::Any,
    )
}

/// Makes a job due now if it has failed or waits for another try. Returns `false` if neither is the case.
pub(crate) fn retry(sql: &dyn Sql, job_no: i64, now: StoredTime) -> Result<bool> {
    let queued = sql.change(
        "UPDATE jobs SET state = 'queued', attempts = 0, next_run_at = ?2
         WHERE job_no = ?1 AND (state = 'failed' OR state = 'queued' AND next_run_at > ?2)",
        values![job_no, now],
    )?;
    Ok(queued == 1)
}

/// Whether a user, or the given session of the user, is being erased.
pub(crate) fn is_erasing(sql: &dyn Sql, scope: &Scope, session: Option<SessionId>) -> Result<bool> {
    sql.scalar(
        "SELECT EXISTS (SELECT 1 FROM jobs WHERE user_id = ?1 AND kind = 'erase'
                        AND (subject_id IS NULL OR subject_id = ?2))",
        values![scope.user_id, session],
    )
}

/// Whether the extraction of a session is still pending: its job is queued or in progress.
pub(crate) fn is_extracting(sql: &dyn Sql, scope: &Scope, session: SessionId) -> Result<bool> {
    sql.scalar(
        "SELECT EXISTS (SELECT 1 FROM jobs WHERE user_id = ?1 AND subject_id = ?2 AND kind = 'extract' AND state <> 'failed')",
        values![scope.user_id, session],
    )
}

/// Removes the compression job of a session, even if a process holds it. The holder can then write nothing more.
pub(crate) fn remove_compression(sql: &dyn Sql, scope: &Scope, session: SessionId) -> Result<()> {
    sql.put(
        "DELETE FROM jobs WHERE user_id = ?1 AND subject_id = ?2 AND kind = 'compress'",
        values![scope.user_id, session],
        RowExpectation::Any,
    )
}

/// Removes the jobs of a session or of a whole user, except one, even if processes hold them. The holders can then write
/// nothing more.
pub(crate) fn remove(
    sql: &dyn Sql,
    scope: &Scope,
    session: Option<SessionId>,
    but: Option<&Lease>,
) -> Result<u64> {
    let but = but.map_or(0, |lease| lease.job_no); // Jobs are numbered from 1.
    match session {
        Some(session) => sql.change(
            "DELETE FROM jobs WHERE user_id = ?1 AND job_no <> ?2 AND subject_id = ?3",
            values![scope.user_id, but, session],
        ),
        None => {
            sql.change("DELETE FROM jobs WHERE user_id = ?1 AND job_no <> ?2", values![scope.user_id, but])
        }
    }
}

/// At most `limit` jobs after a number, by number. They contain ids of users and sessions, but nothing that was said.
pub(crate) fn page(sql: &dyn Sql, after: i64, limit: u32) -> Result<Vec<JobInfo>> {
    sql.list(
        "SELECT job_no, kind, state, user_id, subject_id, attempts, next_run_at, done_count, total_count, last_error
         FROM jobs WHERE job_no > ?1 ORDER BY job_no LIMIT ?2",
        values![after, limit],
        |row| {
            Ok(JobInfo {
                job_no: row.get(0)?,
                kind: row.get(1)?,
                state: row.get(2)?,
                user_id: row.get(3)?,
                session_id: row.get(4)?,
                attempts: row.get(5)?,
                next_run_at: row.get(6)?,
                done_count: row.get(7)?,
                total_count: row.get(8)?,
                last_error: row.get(9)?,
            })
        },
    )
}

/// How many jobs of these kinds are due now, and when the next one that is not due yet will be.
pub(crate) fn due(sql: &dyn Sql, time: LeaseTime, kinds: &JobKinds) -> Result<(u64, Option<StoredTime>)> {
    let found = sql.one(
        "SELECT (SELECT count(*) FROM jobs WHERE state <> 'failed' AND (next_run_at <= ?1 OR next_run_at > ?2)
                                           AND ?3 LIKE '% ' || kind || ' %' AND coalesce(?4, user_id) IS NOT DISTINCT FROM user_id),
                (SELECT min(next_run_at) FROM jobs WHERE state <> 'failed' AND next_run_at > ?1
                                                     AND ?3 LIKE '% ' || kind || ' %'
                                                     AND coalesce(?4, user_id) IS NOT DISTINCT FROM user_id)",
        values![time.0, beyond(time), kinds.as_words(), kinds.user],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    found.ok_or_else(missing)
}
