//! Rows of `jobs`: a durable queue with leases.
//!
//! Whoever takes a job raises its fence and holds it until the lease ends. Every write of its work first holds the
//! job again, in the same transaction, by that fence: of two who think that they have it, one writes.

use chrono::{DateTime, TimeDelta, Utc};
use rusqlite::{OptionalExtension, Row, params};

use crate::{
    error::{Error, ErrorKind, Result},
    model::{
        ids::SessionId,
        job::{JobInfo, JobKind},
    },
    store::{
        columns::{Instant, instant_at},
        scope::Scope,
        sql::Sql,
        write_tx::WriteTx,
    },
};

/// Tries without any progress before a job is given up: with the waits between them about a day.
pub(crate) const MAX_ATTEMPTS: u32 = 30;
/// The longest wait between tries.
pub(crate) const LONGEST_WAIT_MS: u64 = 3_600_000;

/// A job that this process holds.
#[derive(Clone, Debug)]
pub(crate) struct Lease {
    pub(crate) job_no: i64,
    pub(crate) kind: JobKind,
    /// Whose data it works on; `None`: the file.
    pub(crate) scope: Option<Scope>,
    pub(crate) session_id: Option<SessionId>,
    /// This try, from 1.
    pub(crate) attempts: u32,
    fence: i64,
}

/// What becomes of a job that was not finished.
#[derive(Clone, Debug)]
pub(crate) struct Unfinished {
    /// When to try again; `None`: it is given up.
    pub(crate) next_run_at: Option<DateTime<Utc>>,
    /// Why; never what was said.
    pub(crate) reason: Option<String>,
    /// The try was cut short, not used up.
    pub(crate) interrupted: bool,
}

/// Queues work, once: what is queued already keeps its place, what has failed starts anew.
pub(crate) fn enqueue(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    kind: JobKind,
    session: Option<SessionId>,
    total_count: u32,
) -> Result<()> {
    let now = Instant(tx.now());
    let subject = session.map_or(scope.user_id.to_string(), |id| id.to_string()).replace('-', "");
    tx.sql
        .prepare_cached(
            "INSERT INTO jobs (kind, user_id, subject_id, dedupe_key, priority, next_run_at, total_count, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?6)
             ON CONFLICT (dedupe_key) DO UPDATE SET state = 'queued', attempts = 0, next_run_at = excluded.next_run_at
             WHERE state <> 'running'",
        )?
        .execute(params![
            kind,
            scope.user_id,
            session,
            format!("{}:{subject}", kind.as_str()),
            priority(kind),
            now,
            total_count
        ])?;
    tx.has_work = true;
    Ok(())
}

/// Queues work on a user unless it is queued: what waits for another try goes on waiting.
pub(crate) fn enqueue_if_none(tx: &mut WriteTx<'_>, scope: &Scope, kind: JobKind) -> Result<()> {
    let mut stmt = tx.sql.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM jobs WHERE user_id = ?1 AND kind = ?2 AND state <> 'failed')",
    )?;
    if stmt.query_row(params![scope.user_id, kind], |row| row.get(0))? {
        return Ok(());
    }
    enqueue(tx, scope, kind, None, 0)
}

/// Queues the overwriting of what erased rows leave in the file, which is the file's work, not a user's.
pub(crate) fn enqueue_scrub(tx: &mut WriteTx<'_>) -> Result<()> {
    let now = Instant(tx.now());
    tx.sql
        .prepare_cached(
            "INSERT INTO jobs (kind, user_id, dedupe_key, priority, next_run_at, created_at)
             VALUES ('scrub', NULL, 'scrub', ?1, ?2, ?2)
             -- Whoever scrubs already began before this: it is begun anew.
             ON CONFLICT (dedupe_key) DO UPDATE
               SET state = 'queued', attempts = 0, fence = fence + 1, next_run_at = excluded.next_run_at",
        )?
        .execute(params![priority(JobKind::Scrub), now])?;
    tx.has_work = true;
    Ok(())
}

/// What somebody waits for goes first.
fn priority(kind: JobKind) -> i64 {
    match kind {
        JobKind::Index | JobKind::Embed | JobKind::Mend => -1,
        JobKind::Compress => 0,
        JobKind::Erase | JobKind::Scrub => 1,
    }
}

/// Takes the next job that is due: one whose holder is gone, else the one that has waited longest.
pub(crate) fn take(
    tx: &dyn Sql,
    now: DateTime<Utc>,
    lease_ms: u64,
    only: Option<JobKind>,
) -> Result<Option<Lease>> {
    let beyond = beyond(now, lease_ms);
    for state in ["running", "queued"] {
        loop {
            let mut stmt = tx.prepare_cached(
                "SELECT job_no, attempts, kind FROM jobs
                 WHERE state = ?1 AND (next_run_at <= ?2 OR next_run_at > ?3) AND (?4 IS NULL OR kind = ?4)
                 ORDER BY priority DESC, next_run_at, job_no LIMIT 1",
            )?;
            let found = stmt
                .query_row(params![state, Instant(now), Instant(beyond), only], |row| {
                    Ok((row.get("job_no")?, row.get::<_, u32>("attempts")?, row.get("kind")?))
                })
                .optional()?;
            match found {
                None => break,
                Some((job_no, attempts, kind)) if attempts >= MAX_ATTEMPTS && may_be_given_up(kind) => {
                    give_up(tx, job_no)?;
                }
                Some((job_no, _, _)) => return lease(tx, job_no, now, lease_ms).map(Some),
            }
        }
    }
    Ok(None)
}

/// Nobody set a time further ahead than this: the clock stood there and came back, and the job is due.
fn beyond(now: DateTime<Utc>, lease_ms: u64) -> DateTime<Utc> {
    after_ms(now, lease_ms.max(LONGEST_WAIT_MS + LONGEST_WAIT_MS / 10))
}

/// What was erased must go from the bytes, however long a reader is in the way; what is not indexed or embedded would be
/// missing for ever, without a word.
pub(crate) fn may_be_given_up(kind: JobKind) -> bool {
    match kind {
        JobKind::Compress => true,
        JobKind::Erase | JobKind::Scrub | JobKind::Index | JobKind::Embed | JobKind::Mend => false,
    }
}

/// Takes a job that was queued in this transaction.
pub(crate) fn take_of(
    tx: &WriteTx<'_>,
    (kind, scope, session): (JobKind, &Scope, Option<SessionId>),
) -> Result<Lease> {
    let job_no = tx
        .sql
        .prepare_cached("SELECT job_no FROM jobs WHERE kind = ?1 AND user_id = ?2 AND subject_id IS ?3")?
        .query_row(params![kind, scope.user_id, session], |row| row.get("job_no"))?;
    lease(tx.sql, job_no, tx.now(), tx.config.lease_ms)
}

fn lease(tx: &dyn Sql, job_no: i64, now: DateTime<Utc>, lease_ms: u64) -> Result<Lease> {
    tx.prepare_cached(
        "UPDATE jobs SET state = 'running', fence = fence + 1, attempts = attempts + 1, next_run_at = ?2
         WHERE job_no = ?1",
    )?
    .execute(params![job_no, Instant(after_ms(now, lease_ms))])?;
    let mut stmt = tx.prepare_cached(
        "SELECT j.kind AS kind, j.user_id AS user_id, u.user_no AS user_no, j.subject_id AS subject_id,
                j.attempts AS attempts, j.fence AS fence
         FROM jobs AS j LEFT JOIN user_scopes AS u ON u.user_id = j.user_id WHERE j.job_no = ?1",
    )?;
    Ok(stmt.query_row([job_no], |row| {
        let user_no: Option<i64> = row.get("user_no")?;
        let user_id: Option<_> = row.get("user_id")?;
        Ok(Lease {
            job_no,
            kind: row.get("kind")?,
            scope: user_id.zip(user_no).map(|(user_id, user_no)| Scope { user_id, user_no }),
            session_id: row.get("subject_id")?,
            attempts: row.get("attempts")?,
            fence: row.get("fence")?,
        })
    })?)
}

fn give_up(tx: &dyn Sql, job_no: i64) -> Result<()> {
    tx.prepare_cached(
        "UPDATE jobs SET state = 'failed', last_error = coalesce(last_error, 'every try was cut short')
         WHERE job_no = ?1",
    )?
    .execute([job_no])?;
    Ok(())
}

/// Holds the job for another lease, or says that it is lost.
pub(crate) fn hold(tx: &WriteTx<'_>, lease: &Lease) -> Result<()> {
    let until = after_ms(tx.now(), tx.config.lease_ms);
    let held = tx
        .sql
        .prepare_cached(
            "UPDATE jobs SET next_run_at = ?3
             WHERE job_no = ?1 AND fence = ?2 AND state = 'running'",
        )?
        .execute(params![lease.job_no, lease.fence, Instant(until)])?;
    if held == 1 { Ok(()) } else { Err(lost()) }
}

/// Notes how many turns are still to be done.
pub(crate) fn expect(tx: &dyn Sql, lease: &Lease, turns: u32) -> Result<()> {
    tx.prepare_cached("UPDATE jobs SET total_count = done_count + ?3 WHERE job_no = ?1 AND fence = ?2")?
        .execute(params![lease.job_no, lease.fence, turns])?;
    Ok(())
}

/// Counts turns that are done. A job that gets on is not given up for having been interrupted often.
pub(crate) fn progress(tx: &dyn Sql, lease: &Lease, turns: u32, max_tries: u32) -> Result<()> {
    tx.prepare_cached(
        "UPDATE jobs SET done_count = min(done_count + ?3, max(total_count, done_count)),
                         attempts = min(attempts, ?4)
         WHERE job_no = ?1 AND fence = ?2",
    )?
    .execute(params![lease.job_no, lease.fence, turns, max_tries])?;
    Ok(())
}

/// The work is done: the row goes.
pub(crate) fn finish(tx: &dyn Sql, lease: &Lease) -> Result<()> {
    let gone = tx
        .prepare_cached("DELETE FROM jobs WHERE job_no = ?1 AND fence = ?2 AND state = 'running'")?
        .execute(params![lease.job_no, lease.fence])?;
    if gone == 1 { Ok(()) } else { Err(lost()) }
}

/// A scrub that is owed, as of one moment. Whoever erases later raises the fence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owed {
    job_no: i64,
    fence: i64,
}

/// The scrub that is owed.
pub(crate) fn owed_scrub(conn: &dyn Sql) -> Result<Option<Owed>> {
    let mut stmt = conn.prepare_cached("SELECT job_no, fence FROM jobs WHERE kind = 'scrub'")?;
    let read = |row: &Row<'_>| Ok(Owed { job_no: row.get("job_no")?, fence: row.get("fence")? });
    Ok(stmt.query_row([], read).optional()?)
}

/// Counts pages that are overwritten, on the job for it; by that other connections see that the file has changed.
/// False: the job is gone, since somebody else has scrubbed the file meanwhile, and nothing was written.
pub(crate) fn count_scrubbed(tx: &dyn Sql, owed: Owed, pages: usize) -> Result<bool> {
    let counted = tx
        .prepare_cached("UPDATE jobs SET done_count = done_count + ?2 WHERE job_no = ?1")?
        .execute(params![owed.job_no, pages])?;
    Ok(counted == 1)
}

/// The file is scrubbed as it was owed: the job goes, unless somebody has erased more since, or works on it.
pub(crate) fn finish_scrub(tx: &dyn Sql, owed: Owed) -> Result<()> {
    tx.prepare_cached("DELETE FROM jobs WHERE job_no = ?1 AND fence = ?2")?
        .execute(params![owed.job_no, owed.fence])?;
    Ok(())
}

/// Gives the job back for another try, or gives it up.
pub(crate) fn give_back(tx: &WriteTx<'_>, lease: &Lease, unfinished: &Unfinished) -> Result<()> {
    let state = if unfinished.next_run_at.is_some() { "queued" } else { "failed" };
    tx.sql
        .prepare_cached(
            "UPDATE jobs SET state = ?3, next_run_at = coalesce(?4, next_run_at),
                             last_error = coalesce(?5, last_error), attempts = attempts - ?6
             WHERE job_no = ?1 AND fence = ?2 AND state = 'running'",
        )?
        .execute(params![
            lease.job_no,
            lease.fence,
            state,
            unfinished.next_run_at.map(Instant),
            unfinished.reason,
            unfinished.interrupted
        ])?;
    Ok(())
}

/// Queues failed jobs again, and those that wait for another try: one, or all. Returns how many.
pub(crate) fn retry(tx: &mut WriteTx<'_>, job_no: Option<i64>) -> Result<u64> {
    let now = Instant(tx.now());
    let queued = tx
        .sql
        .prepare_cached(
            "UPDATE jobs SET state = 'queued', attempts = 0, next_run_at = ?2
             WHERE (job_no = ?1 OR ?1 IS NULL) AND (state = 'failed' OR state = 'queued' AND next_run_at > ?2)",
        )?
        .execute(params![job_no, now])?;
    tx.has_work |= queued > 0;
    Ok(queued as u64)
}

/// Whether a user, or all of one of its sessions, is being erased.
pub(crate) fn is_erasing(conn: &dyn Sql, scope: &Scope, session: Option<SessionId>) -> Result<bool> {
    let mut stmt = conn.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM jobs WHERE user_id = ?1 AND kind = 'erase'
                        AND (subject_id IS NULL OR subject_id = ?2))",
    )?;
    Ok(stmt.query_row(params![scope.user_id, session], |row| row.get(0))?)
}

/// Takes away the compression of a session, whoever is at it: who was writes nothing more.
pub(crate) fn remove_compression(tx: &dyn Sql, scope: &Scope, session: SessionId) -> Result<()> {
    tx.prepare_cached("DELETE FROM jobs WHERE user_id = ?1 AND subject_id = ?2 AND kind = 'compress'")?
        .execute(params![scope.user_id, session])?;
    Ok(())
}

/// Takes away the jobs of a session, or all of a user, whoever holds them: what held one writes nothing more.
pub(crate) fn remove(
    tx: &dyn Sql,
    scope: &Scope,
    session: Option<SessionId>,
    but: Option<&Lease>,
) -> Result<u64> {
    let removed = tx
        .prepare_cached(
            "DELETE FROM jobs WHERE user_id = ?1 AND (subject_id = ?2 OR ?2 IS NULL) AND job_no IS NOT ?3",
        )?
        .execute(params![scope.user_id, session, but.map(|lease| lease.job_no)])?;
    Ok(removed as u64)
}

/// All jobs, in the order in which they will run. They name users and sessions by their ids alone.
pub(crate) fn list(conn: &dyn Sql) -> Result<Vec<JobInfo>> {
    let mut stmt = conn.prepare_cached(
        "SELECT job_no, kind, state, user_id, subject_id, attempts, next_run_at, done_count, total_count, last_error
         FROM jobs ORDER BY state = 'failed', priority DESC, next_run_at, job_no",
    )?;
    let rows = stmt.query_map([], read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// How many jobs, of one kind only if that is said, are due at this instant, and when the next of the others is.
pub(crate) fn due(
    conn: &dyn Sql,
    now: DateTime<Utc>,
    lease_ms: u64,
    only: Option<JobKind>,
) -> Result<(u64, Option<DateTime<Utc>>)> {
    let mut stmt = conn.prepare_cached(
        "SELECT (SELECT count(*) FROM jobs
                 WHERE state <> 'failed' AND (next_run_at <= ?1 OR next_run_at > ?2)
                   AND (?3 IS NULL OR kind = ?3)) AS due,
                (SELECT min(next_run_at) FROM jobs WHERE state <> 'failed' AND next_run_at > ?1) AS later",
    )?;
    Ok(stmt.query_row(params![Instant(now), Instant(beyond(now, lease_ms)), only], |row| {
        Ok((row.get("due")?, row.get::<_, Option<Instant>>("later")?.map(|at| at.0)))
    })?)
}

fn read(row: &Row<'_>) -> rusqlite::Result<JobInfo> {
    Ok(JobInfo {
        job_no: row.get("job_no")?,
        kind: row.get("kind")?,
        state: row.get("state")?,
        user_id: row.get("user_id")?,
        session_id: row.get("subject_id")?,
        attempts: row.get("attempts")?,
        next_run_at: instant_at(row, "next_run_at")?,
        done_count: row.get("done_count")?,
        total_count: row.get("total_count")?,
        last_error: row.get("last_error")?,
    })
}

fn after_ms(now: DateTime<Utc>, ms: u64) -> DateTime<Utc> {
    let delta = i64::try_from(ms).ok().and_then(TimeDelta::try_milliseconds).unwrap_or(TimeDelta::MAX);
    crate::model::instant::clamped(now.checked_add_signed(delta).unwrap_or(DateTime::<Utc>::MAX_UTC))
}

fn lost() -> Error {
    Error::new(
        ErrorKind::Conflict,
        "somebody else works on this job now, or it is gone; this try wrote nothing more",
    )
}
