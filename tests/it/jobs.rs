//! Jobs outlive a process: they are queued together with what causes them, held by one process, retried, and never lost.

use std::time::Duration;

use std::sync::{
    Arc, Mutex,
    mpsc::{Receiver, Sender, channel},
};

use chrono::{DateTime, TimeDelta, Utc};
use rusqlite::Connection;
use thermocline::{
    Clock, Error, JobInfo, JobKind, JobProgress, JobState, MemoryTier, Result, RunJobs, Summarizer,
    Summarizing, Turn, Verdict,
    blocking::{Session, Thermocline},
};

use crate::{
    dump::{DRAWN, ask, assert_same, dump_without},
    scripted::{Scripted, failure, first_words},
    support::{Cut, Fixture, long_turn},
};

/// Records a session of long turns, and ends it.
fn ended(memory: &Thermocline, key: &str, turns: usize) -> Session {
    let session = memory.user("alex").unwrap().session_named(key).unwrap();
    for n in 1..=turns {
        session.record(long_turn(n).caller_id(format!("{key}/{n}"))).unwrap();
    }
    session.end().unwrap();
    session
}

fn the_job(memory: &Thermocline) -> JobInfo {
    let jobs = memory.jobs(None, 1_000).unwrap();
    assert_eq!(jobs.len(), 1, "{jobs:?}");
    jobs.into_iter().next().unwrap()
}

#[test]
fn ending_a_session_queues_its_compression_in_the_same_transaction() {
    let mut fixture = Fixture::new();
    let cut = Cut::of(&mut fixture.config);
    let memory = fixture.open();
    let session = memory.user("alex").unwrap().session().unwrap();
    session.record(long_turn(1)).unwrap();
    cut.after(0, "INSERT INTO jobs");
    session.end().unwrap_err();
    assert!(session.info().unwrap().ended_at.is_none(), "without its job it does not end");
    cut.mend();
    session.end().unwrap();
    let job = the_job(&memory);
    assert_eq!(
        (job.kind, job.state, job.session_id),
        (JobKind::Compress, JobState::Queued, Some(session.id()))
    );
    assert_eq!((job.attempts, job.done_count, job.total_count), (0, 0, 1));
    session.end().unwrap();
    the_job(&memory);
}

#[test]
fn a_session_without_turns_queues_nothing() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    memory.user("alex").unwrap().session().unwrap().end().unwrap();
    assert_eq!(memory.jobs(None, 1_000).unwrap(), []);
}

#[test]
fn running_jobs_notices_silence_that_nobody_else_has_noticed() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let session = memory.user("alex").unwrap().session().unwrap();
    session.record(long_turn(1)).unwrap();
    fixture.clock.advance(TimeDelta::hours(23));
    assert_eq!(memory.run_jobs(RunJobs::default()).unwrap(), thermocline::JobsReport::default());
    fixture.clock.advance(TimeDelta::hours(1));
    let report = memory.run_jobs(RunJobs::default()).unwrap();
    assert_eq!((report.ended_sessions, report.done, report.turns), (1, 1, 1));
    assert_eq!(session.info().unwrap().memory_tier, MemoryTier::Cold);
    assert_eq!(memory.jobs(None, 1_000).unwrap(), []);
}

#[test]
fn a_run_does_all_that_is_due_or_as_many_as_it_was_told_and_says_how_far_it_is() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let turns = [10, 20, 40];
    for turns in turns {
        ended(&memory, &turns.to_string(), turns);
    }
    let report = memory.run_jobs(RunJobs::default().max_jobs(1)).unwrap();
    assert_eq!(
        (report.done, report.turns, memory.jobs(None, 1_000).unwrap().len()),
        (1, 10, 2),
        "the oldest first"
    );

    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = Arc::clone(&told);
    let on_progress = move |progress: &JobProgress| tell.lock().unwrap().push(*progress);
    let report = memory.run_jobs(RunJobs::default().on_progress(on_progress)).unwrap();
    assert_eq!((report.done, report.later, report.failed, report.turns), (2, 0, 0, 60));
    let told = told.lock().unwrap();
    assert!(told.is_sorted_by_key(|progress| (progress.jobs_ended, progress.turns)));
    assert!(told.len() >= 5, "after every slice: {told:?}");
    let JobProgress { jobs_due, jobs_ended, turns, .. } = told.last().unwrap();
    assert_eq!((jobs_due, jobs_ended, turns), (&2, &2, &60));
}

/// A summarizer that reports when it is asked, and answers when told to.
#[derive(Debug)]
struct Waits {
    asked: Sender<()>,
    go_on: Mutex<Receiver<()>>,
}

impl Waits {
    fn new() -> (Arc<Self>, Receiver<()>, Sender<()>) {
        let ((asked, is_asked), (go_on, told)) = (channel(), channel());
        (Arc::new(Self { asked, go_on: Mutex::new(told) }), is_asked, go_on)
    }
}

impl Summarizer for Waits {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn summarize<'a>(&'a self, turns: &'a [Turn]) -> Summarizing<'a> {
        Box::pin(async move {
            self.asked.send(()).unwrap();
            self.go_on.lock().unwrap().recv().unwrap();
            Ok(turns.iter().map(first_words).collect())
        })
    }
}

#[test]
fn two_openings_of_a_file_never_work_on_the_same_job_and_who_lost_it_writes_nothing() {
    let mut fixture = Fixture::new();
    fixture.config.summarizer = Some(Scripted::each(first_words));
    fixture.config.lease = Duration::from_hours(1); // Nobody renews it while this test runs.
    let other = fixture.open();
    let session = ended(&other, "chat", 40);
    let undisturbed = fixture.copy();
    undisturbed.open().run_jobs(RunJobs::default()).unwrap();

    let (waits, is_asked, go_on) = Waits::new();
    fixture.config.summarizer = Some(waits);
    let first = fixture.open();
    let running = std::thread::spawn({
        let first = first.clone();
        move || first.run_jobs(RunJobs::default()).unwrap()
    });
    is_asked.recv().unwrap();
    assert_eq!(the_job(&other).state, JobState::Running);
    assert_eq!(other.run_jobs(RunJobs::default()).unwrap(), thermocline::JobsReport::default(), "it is held");
    assert_eq!(other.retry_jobs(None).unwrap(), 0, "a running job is not queued again");

    fixture.clock.advance(TimeDelta::hours(2)); // The lease has run out.
    let report = other.run_jobs(RunJobs::default()).unwrap();
    assert_eq!((report.done, report.turns), (1, 40));
    let after = dump_without(&fixture.path(), &[]);
    go_on.send(()).unwrap();
    let report = running.join().unwrap();
    assert_eq!((report.done, report.turns), (0, 0), "its answers came too late");
    assert_same(&dump_without(&fixture.path(), &[]), &after, "who lost the job");
    assert_same(
        &dump_without(&fixture.path(), DRAWN),
        &dump_without(&undisturbed.path(), DRAWN),
        "undisturbed",
    );
    assert_eq!(session.info().unwrap().memory_tier, MemoryTier::Cold);
    assert!(other.doctor().unwrap().is_healthy());
}

/// Returns when a job will be retried, in seconds from now.
fn wait_s(job: &JobInfo, now: DateTime<Utc>) -> i64 {
    (job.next_run_at - now).num_seconds()
}

#[test]
fn tries_that_fail_wait_ever_longer_up_to_an_hour_then_the_job_stays_with_its_reason_until_it_is_retried() {
    let mut fixture = Fixture::new();
    let cut = Cut::of(&mut fixture.config);
    let memory = fixture.open();
    let session = ended(&memory, "chat", 20);
    cut.after(0, "INSERT INTO conversation_summaries");
    let mut waits = Vec::new();
    loop {
        let report = memory.run_jobs(RunJobs::default()).unwrap();
        let job = the_job(&memory);
        assert!(job.last_error.is_some() && waits.len() < 40);
        if job.state == JobState::Failed {
            assert_eq!((report.failed, report.later, job.attempts), (1, 0, 30));
            break;
        }
        assert_eq!((report.failed, report.later), (0, 1));
        let early = memory.run_jobs(RunJobs::default()).unwrap();
        assert_eq!(early, thermocline::JobsReport::default(), "not before its time");
        waits.push(wait_s(&job, fixture.clock.now()));
        fixture.clock.advance(TimeDelta::seconds(waits[waits.len() - 1] + 1));
    }
    assert!(waits.is_sorted() && waits.iter().all(|wait| (60..=3_960).contains(wait)), "{waits:?}");
    assert!(waits[1] >= 2 * 60 && waits[28] >= 3_600, "{waits:?}");
    cut.mend();
    fixture.clock.advance(TimeDelta::days(9));
    assert_eq!(memory.run_jobs(RunJobs::default()).unwrap(), thermocline::JobsReport::default());
    assert_eq!(session.turn(20).unwrap().unwrap().memory_tier, MemoryTier::Warm);

    assert_eq!(memory.retry_jobs(Some(the_job(&memory).job_no + 1)).unwrap(), 0, "another number");
    assert_eq!(memory.retry_jobs(Some(the_job(&memory).job_no)).unwrap(), 1);
    assert_eq!(memory.run_jobs(RunJobs::default()).unwrap().done, 1);
    assert_eq!(session.info().unwrap().memory_tier, MemoryTier::Cold);
}

#[test]
fn a_job_that_waits_for_its_next_try_can_be_run_at_once() {
    let mut fixture = Fixture::new();
    let answer = |call: usize, turns: &[Turn]| -> Result<Vec<Verdict>> {
        if call == 1 { Err(failure()) } else { Ok(turns.iter().map(first_words).collect()) }
    };
    fixture.config.summarizer = Some(Scripted::new(answer));
    let memory = fixture.open();
    ended(&memory, "chat", 20);
    assert_eq!(memory.run_jobs(RunJobs::default()).unwrap().later, 1);
    assert_eq!(memory.retry_jobs(None).unwrap(), 1);
    assert_eq!(memory.run_jobs(RunJobs::default()).unwrap().done, 1);
}

#[test]
fn the_reason_on_a_job_never_contains_what_was_said() {
    let mut fixture = Fixture::new();
    fixture.config.summarizer = Some(Scripted::new(|_, turns| panic!("{}", turns[0].said.user_message)));
    let memory = fixture.open();
    ended(&memory, "chat", 20);
    memory.run_jobs(RunJobs::default()).unwrap();
    assert_eq!(the_job(&memory).last_error.as_deref(), Some("the summarizer panicked"));
}

#[test]
fn a_run_that_was_cut_short_goes_on_where_it_was() {
    let mut fixture = Fixture::new();
    let cut = Cut::of(&mut fixture.config);
    let memory = fixture.open();
    ended(&memory, "chat", 40);
    cut.after(1, "UPDATE jobs SET done_count = CASE");
    assert_eq!(memory.run_jobs(RunJobs::default()).unwrap().turns, 16);
    cut.mend();
    fixture.clock.advance(TimeDelta::hours(1));
    let report = memory.run_jobs(RunJobs::default()).unwrap();
    assert_eq!((report.done, report.turns), (1, 24));
}

#[test]
fn sessions_that_ended_before_there_were_jobs_are_queued_when_the_file_is_upgraded() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = Fixture::new();
    let memory = fixture.open();
    let old = ended(&memory, "old", 10);
    memory.user("alex").unwrap().session_named("empty").unwrap().end().unwrap();
    memory.user("alex").unwrap().session_named("open").unwrap().record(long_turn(99)).unwrap();
    memory.close().unwrap();

    // The file as it was before: the schema up to the second migration, and the rows of its tables.
    let path = folder.path().join("old.db");
    let conn = Connection::open_with_flags(&path, rusqlite::OpenFlags::default()).unwrap();
    conn.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    for migration in ["V1__sessions_and_turns", "V2__views_for_people"] {
        let file = format!("{}/migrations/{migration}.sql", env!("CARGO_MANIFEST_DIR"));
        conn.execute_batch(&std::fs::read_to_string(file).unwrap()).unwrap();
    }
    conn.execute("ATTACH ?1 AS new", [fixture.path().to_str().unwrap()]).unwrap();
    for table in [
        "users",
        "user_scopes",
        "conversation_sessions",
        "conversation_turns",
        "recall_units",
        "memory_tier_transitions",
        "thermocline_settings",
        "thermocline_schema_history",
    ] {
        if table == "thermocline_schema_history" {
            let made: String =
                ask(&fixture.path(), &format!("SELECT sql FROM sqlite_schema WHERE name = '{table}'"));
            conn.execute_batch(&format!("{made}; ALTER TABLE {table} DROP COLUMN row_check")).unwrap();
        }
        let which = if table == "thermocline_schema_history" { "version <= 2" } else { "true" };
        let columns = format!("SELECT group_concat(name, ', ') FROM pragma_table_info('{table}')");
        let columns: String = conn.query_row(&columns, [], |row| row.get(0)).unwrap();
        conn.execute_batch(&format!(
            "DELETE FROM {table}; INSERT INTO {table} SELECT {columns} FROM new.{table} WHERE {which}"
        ))
        .unwrap();
    }
    // At that version, promotions were rows of the table of moves.
    conn.execute_batch(
        "INSERT INTO memory_tier_transitions
           (user_no, session_no, turn_number, move_number, from_tier, to_tier, reason, moved_at)
         SELECT user_no, session_no, turn_number, 7, 'cold', 'warm', 'recall', moved_at FROM memory_tier_transitions",
    )
    .unwrap();
    let id: i32 = ask(&fixture.path(), "SELECT application_id FROM pragma_application_id");
    conn.execute_batch(&format!("DETACH new; PRAGMA application_id = {id}")).unwrap();
    drop(conn);

    let memory = Thermocline::open_with(&path, fixture.config.clone()).unwrap();
    let promotions = "SELECT count(*) FROM memory_tier_transitions WHERE reason = 'recall'";
    assert!(ask::<u32>(&path, promotions) > 0);
    let moves =
        memory.user("alex").unwrap().session_by_id(old.id()).unwrap().transitions(None, 1_000).unwrap();
    assert!(moves.iter().all(|moved| moved.move_number < 7), "they are shown no longer");
    assert_eq!(memory.run_jobs(RunJobs::default().only(JobKind::Prune)).unwrap().done, 1);
    assert_eq!(ask::<u32>(&path, promotions), 0);
    let jobs = memory.jobs(None, 1_000).unwrap();
    let [job] = &jobs.iter().filter(|job| job.kind == JobKind::Compress).collect::<Vec<_>>()[..] else {
        panic!("{jobs:?}")
    };
    assert_eq!((job.session_id, job.total_count), (Some(old.id()), 10));
    assert!(memory.doctor().unwrap().is_healthy(), "and all rows have been given their checksums");
    assert_eq!(memory.run_jobs(RunJobs::default().only(JobKind::Compress)).unwrap().turns, 10);
    let diagnosis = memory.doctor().unwrap();
    assert!(diagnosis.is_healthy(), "{diagnosis:?}");
}

#[test]
fn the_worker_compresses_what_ends_and_stops_with_the_last_handle() {
    let mut fixture = Fixture::new();
    let (waits, is_asked, go_on) = Waits::new();
    fixture.config.worker = true;
    fixture.config.summarizer = Some(waits);
    let memory = fixture.open();
    fixture.config.summarizer = None;
    let session = ended(&memory, "chat", 10); // One question.
    is_asked.recv().unwrap(); // Woken by the end of the session.
    go_on.send(()).unwrap();
    let mut looks = (0..1_000_000).map(|_| std::thread::yield_now());
    while !memory.jobs(None, 1_000).unwrap().is_empty() {
        looks.next().expect("it ends");
    }
    assert_eq!(session.info().unwrap().memory_tier, MemoryTier::Cold);
    drop((memory, session));
    assert!(is_asked.recv().is_err(), "the worker is gone, and with it the summarizer");
}

#[test]
fn a_worker_that_is_stopped_in_the_middle_leaves_the_job_to_the_next() {
    let mut fixture = Fixture::new();
    let never = Scripted::new(|_, _| Ok(Vec::new()));
    fixture.config.summarizer = Some(never);
    let memory = fixture.open();
    let session = ended(&memory, "chat", 20);
    let (asked, is_asked) = channel();
    fixture.config.summarizer = Some(Arc::new(Hangs(asked)));
    fixture.config.worker = true;
    let with_worker = fixture.open();
    is_asked.recv().unwrap();
    with_worker.close().unwrap();
    let job = the_job(&memory);
    assert_eq!((job.state, job.attempts), (JobState::Queued, 0), "being stopped is no failed try");
    assert_eq!(session.turn(20).unwrap().unwrap().memory_tier, MemoryTier::Warm);
}

/// A summarizer that never answers.
#[derive(Debug)]
struct Hangs(Sender<()>);

impl Summarizer for Hangs {
    fn name(&self) -> &'static str {
        "hangs"
    }

    fn summarize<'a>(&'a self, _turns: &'a [Turn]) -> Summarizing<'a> {
        Box::pin(async move {
            self.0.send(()).unwrap();
            std::future::pending::<std::result::Result<Vec<Verdict>, Error>>().await
        })
    }
}
