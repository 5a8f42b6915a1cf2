//! What an operator learns from the hook, from reports and counts, and from the list of jobs: which jobs a provider's
//! failure affected, and how; which jobs wait for another configuration; and that the writer or a scrub had trouble.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

use chrono::TimeDelta;
use thermocline::{
    Config, Error, Event, JobInfo, JobKind, JobState, JobsReport, MemoryTier, OnEvent, ProviderRole,
    RecallOptions, RunJobs, SummarizerStats, blocking::Session, blocking::Thermocline,
};

use crate::{
    dump::{meddle, reader},
    recall::embedders::ScriptedEmbedder,
    scripted::{Scripted, first_words},
    support::{Cut, Fixture, long_turn, turn},
};

/// The events that were sent and not examined yet.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<Event>>>);

impl Heard {
    fn of(config: &mut Config) -> Self {
        let heard = Self::default();
        let listener = heard.clone();
        config.on_event = OnEvent::new(move |event| listener.0.lock().unwrap().push(event.clone()));
        heard
    }

    fn take(&self) -> Vec<Event> {
        let events = std::mem::take(&mut *self.0.lock().unwrap());
        let shown = format!("{events:?}") + &events.iter().map(ToString::to_string).collect::<String>();
        for said in ["stands", "lamp", "alex", "ended", "sk-secret", "question"] {
            assert!(!shown.contains(said), "{said}: {shown}");
        }
        events
    }

    /// Returns each event in a few words, without the starts and ends of jobs other than compressions.
    fn words(&self) -> Vec<String> {
        let is_wanted = |event: &Event| match event {
            Event::JobStarted { job, .. } | Event::JobDone { job, .. } => job.kind == JobKind::Compress,
            _ => true,
        };
        self.take().iter().filter(|event| is_wanted(event)).map(word).collect()
    }
}

fn word(event: &Event) -> String {
    match event {
        Event::JobStarted { .. } => "started".to_owned(),
        Event::JobDone { turns, .. } => format!("done {turns}"),
        Event::JobFellBack { summaries, .. } => format!("fell back {summaries}"),
        Event::JobWaiting { why, .. } => format!("waits {why:?}"),
        Event::JobFailed { why, .. } => format!("failed {why:?}"),
        Event::ProviderFailed { provider, name, why, .. } => format!("{} {name} {why:?}", provider.as_str()),
        Event::WriterReopened { why, .. } => format!("reopened {why:?}"),
        Event::ScrubPending => "scrub pending".to_owned(),
        Event::LogGrows { .. } => "log grows".to_owned(),
        other => panic!("{other:?}"),
    }
}

/// Records a session with this many long turns, and ends it.
fn end_a_session(memory: &Thermocline, key: &str, turns: usize) -> Session {
    let session = memory.user("alex").unwrap().session_named(key).unwrap();
    for n in 1..=turns {
        session.record(long_turn(n).caller_id(format!("{key}/{n}"))).unwrap();
    }
    session.end().unwrap();
    session
}

fn run(memory: &Thermocline) -> JobsReport {
    memory.run_jobs(RunJobs::default().only(JobKind::Compress)).unwrap()
}

fn compressions(memory: &Thermocline) -> Vec<JobInfo> {
    let mut jobs = memory.jobs(None, 1_000).unwrap();
    jobs.retain(|job| job.kind == JobKind::Compress);
    jobs
}

#[test]
fn a_job_is_heard_of_with_its_ids_and_counts_from_its_start_to_its_end() {
    let mut fixture = Fixture::new();
    let heard = Heard::of(&mut fixture.config);
    let memory = fixture.open();
    let session = end_a_session(&memory, "ended", 10);
    let job_no = compressions(&memory)[0].job_no;
    let report = run(&memory);
    let events = heard.take();
    let [Event::JobStarted { job, .. }, Event::JobDone { job: done, turns: 10, .. }] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!(job, done);
    assert_eq!((job.job_no, job.kind, job.attempt), (job_no, JobKind::Compress, 1));
    assert_eq!((job.user_id, job.session_id), (Some(session.user_id()), Some(session.id())));
    let summaries = session.summaries(None, 1_000).unwrap();
    assert!(!summaries.is_empty() && summaries.iter().all(|one| one.is_built_in() && !one.is_fallback()));
    let counted = (report.summaries, report.built_in_summaries, report.fallbacks);
    assert_eq!(counted, (0, summaries.len() as u64, 0), "nobody else was to write them");
    assert_eq!(memory.stats().unwrap().cold.fallbacks, 0);
}

#[test]
fn an_outage_that_lasts_is_heard_of_and_what_fell_back_is_counted() {
    let mut fixture = Fixture::new();
    let heard = Heard::of(&mut fixture.config);
    fixture.config.summarizer = Some(Scripted::new(|call, turns| match call {
        1 => Ok(turns.iter().map(first_words).collect()),
        _ => Err(Error::provider("no connection with sk-secret")),
    }));
    let memory = fixture.open();
    let good = end_a_session(&memory, "before", 5);
    run(&memory);
    heard.take();
    let session = end_a_session(&memory, "meanwhile", 10);
    for _ in 0..2 {
        assert_eq!(run(&memory).later, 1);
        let waits = compressions(&memory)[0].next_run_at;
        let events = heard.take();
        let until = events.iter().find_map(|event| match event {
            Event::JobWaiting { until, .. } => Some(*until),
            _ => None,
        });
        assert_eq!(until, Some(waits));
        let told: Vec<String> = events.iter().map(word).collect();
        assert_eq!(told, ["started", "summarizer scripted Provider", "waits Provider"]);
        fixture.clock.advance(TimeDelta::hours(2));
    }
    let report = run(&memory);
    let fell_back = session.summaries(None, 1_000).unwrap();
    assert!(!fell_back.is_empty() && fell_back.iter().all(|summary| summary.is_fallback()));
    let n = fell_back.len();
    assert_eq!(
        heard.words(),
        ["started", "summarizer scripted Provider", &format!("fell back {n}"), "done 10"]
    );
    let n = n as u64;
    assert_eq!((report.summaries, report.built_in_summaries, report.fallbacks), (0, n, n));
    let stats = memory.stats().unwrap();
    assert_eq!(stats.cold.fallbacks, n);
    let count = |one: &SummarizerStats| (one.summarizer.clone(), one.summaries);
    let mut by: Vec<_> = stats.summarizers.iter().map(count).collect();
    by.sort();
    let good = good.summaries(None, 1_000).unwrap().len() as u64;
    assert_eq!(by, [("extractive-fallback".to_owned(), n), ("scripted".to_owned(), good)]);
}

#[test]
fn what_the_summarizer_leaves_out_waits_and_at_last_falls_back_alone() {
    let mut fixture = Fixture::new();
    let heard = Heard::of(&mut fixture.config);
    let half = Scripted::new(|_, turns| Ok(turns.iter().step_by(2).map(first_words).collect()));
    fixture.config.summarizer = Some(half);
    fixture.config.summarizer_tries = 1;
    let memory = fixture.open();
    let session = end_a_session(&memory, "ended", 10);
    let report = run(&memory);
    let fell_back =
        session.summaries(None, 1_000).unwrap().iter().filter(|summary| summary.is_fallback()).count();
    assert_eq!((report.fallbacks, report.summaries), (5, 4), "the first is critical");
    assert_eq!(fell_back, 5);
    assert_eq!(heard.words(), ["started", "fell back 5", "done 10"]);
}

/// Returns a summarizer whose key is wrong until it is corrected.
fn with_key(is_right: &Arc<AtomicBool>) -> Arc<Scripted> {
    let is_right = Arc::clone(is_right);
    Scripted::new(move |_, turns| {
        if is_right.load(Ordering::SeqCst) {
            Ok(turns.iter().map(first_words).collect())
        } else {
            Err(Error::provider_misconfigured("is the key right?"))
        }
    })
}

#[test]
fn a_wrong_key_costs_no_try_and_the_job_waits_and_says_so_for_as_long_as_it_takes() {
    let mut fixture = Fixture::new();
    let heard = Heard::of(&mut fixture.config);
    let is_right = Arc::new(AtomicBool::new(false));
    let summarizer = with_key(&is_right);
    fixture.config.summarizer = Some(summarizer.clone());
    let memory = fixture.open();
    let sessions = ["a", "b"].map(|key| end_a_session(&memory, key, 6));
    for hour in 0..50 {
        assert_eq!(run(&memory).later, 2, "hour {hour}");
        assert_eq!(summarizer.calls(), hour + 1, "one of the two asks");
        let told = heard.words();
        let misconfigured = "waits ProviderMisconfigured";
        let provider = "summarizer scripted ProviderMisconfigured";
        assert_eq!(told, ["started", provider, misconfigured, "started", misconfigured]);
        for job in compressions(&memory) {
            assert_eq!((job.state, job.attempts), (JobState::Queued, 0));
            assert!(job.waits_for_configuration());
            let why = "waits for another configuration: is the key right?";
            assert_eq!(job.last_error.as_deref(), Some(why));
        }
        fixture.clock.advance(TimeDelta::hours(1));
    }
    for session in &sessions {
        assert!(session.summaries(None, 1_000).unwrap().is_empty());
    }
    // The key is corrected.
    is_right.store(true, Ordering::SeqCst);
    assert_eq!(run(&memory).done, 2);
    for session in &sessions {
        let summaries = session.summaries(None, 1_000).unwrap();
        assert!(!summaries.is_empty() && summaries.iter().all(|summary| summary.summarizer == "scripted"));
    }
}

#[test]
fn a_job_that_waits_for_another_configuration_goes_on_when_it_is_retried_or_the_file_is_opened_with_one() {
    for is_opened_anew in [true, false] {
        let mut fixture = Fixture::new();
        let is_right = Arc::new(AtomicBool::new(false));
        fixture.config.summarizer = Some(with_key(&is_right));
        let memory = fixture.open();
        let session = end_a_session(&memory, "ended", 6);
        assert_eq!((run(&memory).later, run(&memory).later), (1, 0));
        is_right.store(true, Ordering::SeqCst);
        assert_eq!(run(&memory).done, 0, "it is not its time yet");
        let memory = if is_opened_anew {
            memory.close().unwrap();
            fixture.config.summarizer = None;
            drop(fixture.open());
            assert!(compressions(&fixture.open())[0].waits_for_configuration(), "that has no summarizer");
            fixture.config.summarizer = Some(Scripted::each(first_words));
            fixture.open()
        } else {
            assert_eq!(memory.retry_jobs(None).unwrap(), 1);
            memory
        };
        assert_eq!(run(&memory).done, 1, "opened anew: {is_opened_anew}");
        let session = memory.user("alex").unwrap().session_by_id(session.id()).unwrap();
        assert!(
            session.summaries(None, 1_000).unwrap().iter().all(|summary| summary.summarizer == "scripted")
        );
    }
}

/// Checks an embedder that fails like this: its jobs wait, and a query continues without it.
#[track_caller]
fn check_embedder_waits(failure: fn() -> Error, calls_of_a_job: usize) {
    let mut fixture = Fixture::new();
    let heard = Heard::of(&mut fixture.config);
    let embedder = ScriptedEmbedder::new(("own-model", "r1", 8), move |_, _| Some(Err(failure())));
    fixture.config.embedders = vec![embedder.clone()];
    let memory = fixture.open();
    let user = memory.user("alex").unwrap();
    user.session().unwrap().record(turn(1)).unwrap();
    for tries in 1..=5 {
        assert_eq!(memory.run_jobs(RunJobs::default()).unwrap().later, 1);
        assert_eq!(embedder.calls(), tries * calls_of_a_job);
        let job = memory.jobs(None, 1_000).unwrap().remove(0);
        assert_eq!((job.kind, job.attempts), (JobKind::Embed, 0));
        assert!(job.waits_for_configuration(), "{job:?}");
        let waits = |event: &Event| word(event) == "waits ProviderMisconfigured";
        assert_eq!(heard.take().iter().filter(|event| waits(event)).count(), 1);
        fixture.clock.advance(TimeDelta::hours(1));
    }
    let recall = user.recall("question", RecallOptions::default()).unwrap();
    assert_eq!(recall.items.len(), 1, "by words and the built-in embedder");
    let failed =
        |event: &Event| matches!(event, Event::ProviderFailed { provider: ProviderRole::Embedder, .. });
    assert!(heard.take().iter().any(failed));
}

#[test]
fn an_embedder_with_a_wrong_key_has_its_jobs_wait_and_so_has_one_that_refuses_every_text() {
    check_embedder_waits(|| Error::provider_misconfigured("wrong key sk-secret"), 1);
    check_embedder_waits(|| Error::provider_refused("wrong key sk-secret"), 2);
}

#[test]
fn a_misconfigured_embedder_is_asked_by_one_query_in_ten_seconds() {
    let mut fixture = Fixture::new();
    let fails = |_: usize, _: &[String]| Some(Err(Error::provider_misconfigured("wrong key")));
    let embedder = ScriptedEmbedder::new(("own-model", "r1", 8), fails);
    fixture.config.embedders = vec![embedder.clone()];
    let user = fixture.alex();
    for seconds in [0, 1, 8, 1] {
        fixture.clock.advance(TimeDelta::seconds(seconds));
        user.recall("question", RecallOptions::default()).unwrap();
    }
    assert_eq!(embedder.calls(), 2);
}

#[test]
fn an_erase_for_which_the_writer_opens_the_file_anew_is_no_failure() {
    let mut fixture = Fixture::new();
    let heard = Heard::of(&mut fixture.config);
    let memory = fixture.open();
    let session = memory.user("alex").unwrap().session().unwrap();
    session.record(turn(1)).unwrap();
    session.erase().unwrap();
    memory.user("alex").unwrap().session().unwrap().record(turn(2)).unwrap();
    assert_eq!(heard.take(), []);
}

#[test]
fn bytes_of_what_was_erased_that_a_reader_keeps_are_heard_of_until_they_are_overwritten() {
    let mut fixture = Fixture::new();
    let heard = Heard::of(&mut fixture.config);
    let memory = fixture.open();
    let session = memory.user("alex").unwrap().session().unwrap();
    session.record(turn(1)).unwrap();
    let held = reader(&fixture.path());
    held.execute_batch("BEGIN; SELECT count(*) FROM conversation_turns;").unwrap();
    assert!(session.erase().unwrap().is_pending);
    assert_eq!(heard.take(), [Event::ScrubPending]);
    memory.run_jobs(RunJobs::default().only(JobKind::Scrub)).unwrap();
    let told: Vec<String> = heard.take().iter().map(word).collect();
    assert_eq!(told, ["started", "scrub pending", "waits Busy"]);
    held.execute_batch("ROLLBACK").unwrap();
    memory.retry_jobs(None).unwrap();
    memory.run_jobs(RunJobs::default().only(JobKind::Scrub)).unwrap();
    let told: Vec<String> = heard.take().iter().map(word).collect();
    assert_eq!(told, ["started", "done 0"]);
}

#[test]
fn a_job_that_is_given_up_is_heard_of() {
    let mut fixture = Fixture::new();
    let heard = Heard::of(&mut fixture.config);
    let cut = Cut::of(&mut fixture.config);
    let memory = fixture.open();
    end_a_session(&memory, "ended", 10);
    cut.after(0, "INSERT INTO conversation_summaries");
    let mut told = Vec::new();
    for _ in 0..30 {
        run(&memory);
        told.extend(heard.words());
        fixture.clock.advance(TimeDelta::hours(2));
    }
    let count = |wanted: &str| told.iter().filter(|word| *word == wanted).count();
    assert_eq!((count("started"), count("waits Io"), count("failed Io")), (30, 29, 1), "{told:?}");
}

#[test]
fn a_job_whose_every_try_was_cut_short_is_heard_of_when_it_is_given_up() {
    let mut fixture = Fixture::new();
    let heard = Heard::of(&mut fixture.config);
    let memory = fixture.open();
    end_a_session(&memory, "one", 8);
    meddle(&fixture.path(), "UPDATE jobs SET attempts = 30 WHERE kind = 'compress'");
    run(&memory);
    assert_eq!(heard.words(), ["failed Closed"]);
    assert_eq!(compressions(&memory)[0].state, JobState::Failed);
}

#[test]
fn a_run_for_one_user_leaves_the_jobs_of_others() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let ended = ["alex", "blake"].map(|name| {
        let session = memory.user(name).unwrap().session().unwrap();
        (1..=8).for_each(|n| drop(session.record(long_turn(n)).unwrap()));
        session.end().unwrap();
        session
    });
    let report = memory.run_jobs(RunJobs::default().of_user(ended[0].user_id())).unwrap();
    assert!(report.done > 0, "{report:?}");
    let tiers = ended.map(|session| session.info().unwrap().memory_tier);
    assert_eq!(tiers, [MemoryTier::Cold, MemoryTier::Warm]);
}

#[test]
fn a_hook_that_panics_costs_no_job() {
    let mut fixture = Fixture::new();
    fixture.config.on_event = OnEvent::new(|_| panic!("on purpose"));
    let memory = fixture.open();
    let ended = end_a_session(&memory, "ended", 10);
    assert_eq!(run(&memory).done, 1);
    assert!(!ended.summaries(None, 1_000).unwrap().is_empty());
}
