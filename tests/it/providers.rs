//! A summarizer or an embedder that hangs, fails or panics delays only the jobs that need it. After a failure or a timeout
//! it is not asked for a minute.

use std::{
    cell::Cell,
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::Duration,
};

use chrono::TimeDelta;
use thermocline::{
    Embedder, Embedding, EmbeddingPurpose, EmbeddingSpace, Error, JobInfo, JobKind, JobProgress, JobState,
    JobsReport, NewTurn, Result, RunJobs, Summarizer, Summarizing, Turn, blocking::Thermocline,
};

use crate::{
    dump::ask,
    recall::embedders::ScriptedEmbedder,
    scripted::{Scripted, first_words},
    support::{Cut, Fixture, long_texts, long_turn, turn},
};

const SPACE: (&str, &str, u32) = ("own-model", "r1", 8);

/// How a provider keeps its caller waiting.
#[derive(Clone, Copy, Debug)]
enum Hangs {
    /// Its future never resolves.
    Pending,
    /// Its future blocks the thread that polls it.
    Blocking,
}

/// A provider that reports when it is asked, and answers when released.
struct Gated {
    hangs: Hangs,
    asked: Sender<()>,
    let_go: Mutex<Option<tokio::sync::oneshot::Receiver<()>>>,
}

impl Gated {
    fn new(hangs: Hangs) -> (Arc<Self>, Receiver<()>, tokio::sync::oneshot::Sender<()>) {
        let ((asked, is_asked), (open, let_go)) = (channel(), tokio::sync::oneshot::channel());
        (Arc::new(Self { hangs, asked, let_go: Mutex::new(Some(let_go)) }), is_asked, open)
    }

    /// Reports that it was asked; lets only the first caller wait.
    async fn wait(&self) {
        self.asked.send(()).unwrap();
        let Some(let_go) = self.let_go.lock().unwrap().take() else { return };
        match self.hangs {
            Hangs::Pending => drop(let_go.await),
            // Blocks the thread, like a client that knows nothing of async.
            Hangs::Blocking => drop(thread::spawn(|| let_go.blocking_recv()).join()),
        }
    }
}

impl fmt::Debug for Gated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gated")
    }
}

impl Embedder for Gated {
    fn space(&self) -> EmbeddingSpace {
        let (model, revision, dims) = SPACE;
        EmbeddingSpace::new(model, revision, dims)
    }

    fn embed<'a>(&'a self, texts: &'a [String], _: EmbeddingPurpose) -> Embedding<'a> {
        Box::pin(async move {
            self.wait().await;
            Ok(texts.iter().map(|_| vec![1.0; SPACE.2 as usize]).collect())
        })
    }
}

impl Summarizer for Gated {
    fn name(&self) -> &'static str {
        "gated"
    }

    fn summarize<'a>(&'a self, turns: &'a [Turn]) -> Summarizing<'a> {
        Box::pin(async move {
            self.wait().await;
            Ok(turns.iter().map(first_words).collect())
        })
    }
}

/// Ends a session of long turns.
fn end_a_session(memory: &Thermocline, user: &str) {
    let session = memory.user(user).unwrap().session_named("ended").unwrap();
    (1..=6).for_each(|n| drop(session.record(long_turn(n)).unwrap()));
    session.end().unwrap();
}

/// Records enough turns to be indexed, in an open session.
fn say_much(memory: &Thermocline, user: &str) {
    let session = memory.user(user).unwrap().session_named("open").unwrap();
    (1..=130).for_each(|n| drop(session.record(turn(n)).unwrap()));
}

/// Interrupts an erase, which a job must finish then.
fn erase_in_part(fixture: &Fixture, memory: &Thermocline, cut: &Cut, user: &str) {
    end_a_session(memory, user);
    cut.after(0, "DELETE FROM conversation_turns");
    memory.user(user).unwrap().erase().unwrap_err();
    cut.mend();
    fixture.clock.advance(TimeDelta::minutes(2)); // Its lease has run out.
}

/// Returns the jobs and their states.
fn kinds(memory: &Thermocline) -> Vec<(JobKind, JobState)> {
    memory.jobs(None, 1_000).unwrap().iter().map(|job| (job.kind, job.state)).collect()
}

/// Polls until the jobs are as wanted.
#[track_caller]
fn until(memory: &Thermocline, what: &str, is_so: impl Fn(&[(JobKind, JobState)]) -> bool) {
    const MOST_LOOKS: usize = 50_000;
    for _ in 0..MOST_LOOKS {
        if is_so(&kinds(memory)) {
            return;
        }
        thread::yield_now();
    }
    panic!("{what}: {:?}", memory.jobs(None, 1_000).unwrap());
}

fn run(memory: &Thermocline) -> JobsReport {
    memory.run_jobs(RunJobs::default()).unwrap()
}

/// Returns the last unit of a user that the built-in embedder has embedded.
fn built_in_seq(fixture: &Fixture, user: &str) -> u32 {
    ask(
        &fixture.path(),
        &format!(
            "SELECT coalesce(max(embedded_seq), 0) FROM user_spaces JOIN embedding_spaces USING (space_no)
             JOIN user_scopes USING (user_no) JOIN users ON users.id = user_scopes.user_id
             WHERE model <> '{}' AND users.name = '{user}'",
            SPACE.0
        ),
    )
}

#[test]
fn while_an_embedder_hangs_the_jobs_of_all_others_that_need_none_are_done_in_the_same_run() {
    for hangs in [Hangs::Pending, Hangs::Blocking] {
        let mut fixture = Fixture::new();
        fixture.config.durability = thermocline::Durability::Relaxed;
        let cut = Cut::of(&mut fixture.config);
        let (embedder, is_asked, open) = Gated::new(hangs);
        fixture.config.embedders = vec![embedder];
        let memory = fixture.open();
        erase_in_part(&fixture, &memory, &cut, "charlie");
        memory.user("alex").unwrap().session().unwrap().record(turn(1)).unwrap();
        say_much(&memory, "blake");
        let running = thread::spawn({
            let memory = memory.clone();
            move || run(&memory)
        });
        is_asked.recv().unwrap();
        end_a_session(&memory, "drew"); // Queued while it hangs.
        until(&memory, "only vectors are to be made", |jobs| {
            jobs.iter().all(|(kind, _)| *kind == JobKind::Embed)
        });
        assert_eq!(built_in_seq(&fixture, "blake"), 130, "{hangs:?}: the built-in embedder goes on");
        let states: Vec<JobState> = kinds(&memory).iter().map(|(_, state)| *state).collect();
        let is_running = |state: &&JobState| **state == JobState::Running;
        assert_eq!(states.iter().filter(is_running).count(), 1, "{hangs:?}: {states:?}");
        open.send(()).unwrap();
        let report = running.join().unwrap();
        assert_eq!((report.later, report.failed), (0, 0), "{hangs:?}");
        assert_eq!(memory.jobs(None, 1_000).unwrap(), [], "{hangs:?}: what the others queued is done too");
    }
}

#[test]
fn while_a_summarizer_hangs_the_jobs_of_all_others_that_need_none_are_done_in_the_same_run() {
    for hangs in [Hangs::Pending, Hangs::Blocking] {
        let mut fixture = Fixture::new();
        fixture.config.durability = thermocline::Durability::Relaxed;
        let cut = Cut::of(&mut fixture.config);
        let (summarizer, is_asked, open) = Gated::new(hangs);
        let embedder = ScriptedEmbedder::working(SPACE);
        fixture.config.summarizer = Some(summarizer);
        fixture.config.embedders = vec![embedder.clone()];
        let memory = fixture.open();
        erase_in_part(&fixture, &memory, &cut, "charlie");
        end_a_session(&memory, "alex");
        let running = thread::spawn({
            let memory = memory.clone();
            move || run(&memory)
        });
        is_asked.recv().unwrap();
        say_much(&memory, "blake"); // Queued while it hangs.
        until(&memory, "only the compression is left", |jobs| {
            jobs == [(JobKind::Compress, JobState::Running)]
        });
        assert!(embedder.calls() > 0);
        open.send(()).unwrap();
        let report = running.join().unwrap();
        assert_eq!((report.later, report.failed), (0, 0), "{hangs:?}");
        assert_eq!(memory.jobs(None, 1_000).unwrap(), [], "{hangs:?}");
    }
}

#[test]
fn the_worker_goes_on_while_an_embedder_blocks_its_thread_and_ends_in_time() {
    let mut fixture = Fixture::new();
    let (embedder, is_asked, open) = Gated::new(Hangs::Blocking);
    fixture.config.embedders = vec![embedder];
    fixture.config.worker = true;
    let memory = fixture.open();
    memory.user("alex").unwrap().session().unwrap().record(turn(1)).unwrap();
    is_asked.recv().unwrap();
    end_a_session(&memory, "blake");
    until(&memory, "only vectors are to be made", |jobs| {
        jobs.iter().all(|(kind, _)| *kind == JobKind::Embed)
    });
    memory.close().unwrap(); // It does not wait for the thread.
    fixture.config.worker = false;
    let jobs = fixture.open().jobs(None, 1_000).unwrap();
    let is_given_back = |job: &JobInfo| (job.state, job.attempts) == (JobState::Queued, 0);
    assert!(jobs.len() == 2 && jobs.iter().all(is_given_back), "{jobs:?}");
    drop(open);
}

/// Queues jobs of one user after the other while a provider fails with `why`; `calls` is how often it was asked.
#[track_caller]
fn check_rests(
    fixture: &Fixture,
    kind: JobKind,
    queue: fn(&Thermocline, &str),
    why: &str,
    calls: impl Fn() -> usize,
) {
    let memory = fixture.open();
    let later = || memory.run_jobs(RunJobs::default().only(kind)).unwrap().later;
    queue(&memory, "alex");
    queue(&memory, "blake");
    assert_eq!((later(), calls()), (2, 1), "{why}: the second does not wait again");
    for job in memory.jobs(None, 1_000).unwrap().iter().filter(|job| job.kind == kind) {
        assert_eq!(job.last_error.as_deref(), Some(why));
    }
    fixture.clock.advance(TimeDelta::seconds(59));
    queue(&memory, "charlie");
    assert_eq!((later(), calls()), (1, 1), "{why}: nor does who comes later");
    fixture.clock.advance(TimeDelta::seconds(1));
    queue(&memory, "drew");
    later();
    assert_eq!(calls(), 2, "{why}: it is asked again after a minute");
    memory.retry_jobs(None).unwrap();
    later();
    assert_eq!(calls(), 3, "{why}: and at once when somebody says so");
}

fn check_embedder_rests(why: &str, answer: fn() -> Option<Result<Vec<Vec<f32>>>>) {
    let mut fixture = Fixture::new();
    let embedder = ScriptedEmbedder::new(SPACE, move |_, _| answer());
    fixture.config.embedders = vec![embedder.clone()];
    fixture.config.embed_timeout = Duration::from_millis(20);
    let queue = |memory: &Thermocline, user: &str| {
        memory.user(user).unwrap().session().unwrap().record(turn(1)).unwrap();
    };
    check_rests(&fixture, JobKind::Embed, queue, why, || embedder.calls());
}

#[test]
fn an_embedder_that_failed_or_was_silent_is_not_asked_for_a_minute() {
    check_embedder_rests("embedder own-model: it gave no answer within 20 ms", || None);
    let fails = || Some(Err(Error::provider("no connection")));
    check_embedder_rests("embedder own-model: no connection", fails);
}

fn check_summarizer_rests(why: &str, is_silent: bool) {
    let mut fixture = Fixture::new();
    let (asked, is_asked) = channel();
    fixture.config.summarizer = Some(Arc::new(Unable { is_silent, asked }));
    fixture.config.summarizer_timeout = Duration::from_millis(20);
    let calls = Cell::new(0);
    let calls = || {
        calls.set(calls.get() + is_asked.try_iter().count());
        calls.get()
    };
    check_rests(&fixture, JobKind::Compress, end_a_session, why, calls);
}

#[test]
fn a_summarizer_that_failed_or_was_silent_is_not_asked_for_a_minute() {
    check_summarizer_rests("the summarizer gave no answer within 20 ms", true);
    check_summarizer_rests("the key is wrong", false);
}

/// A summarizer that never answers, or refuses.
#[derive(Debug)]
struct Unable {
    is_silent: bool,
    asked: Sender<()>,
}

impl Summarizer for Unable {
    fn name(&self) -> &'static str {
        "unable"
    }

    fn summarize<'a>(&'a self, _: &'a [Turn]) -> Summarizing<'a> {
        self.asked.send(()).unwrap();
        Box::pin(async move {
            if self.is_silent {
                std::future::pending::<()>().await;
            }
            Err(Error::provider_refused("the key is wrong"))
        })
    }
}

#[test]
fn an_embedder_that_rests_keeps_no_other_from_being_asked() {
    let mut fixture = Fixture::new();
    let silent = ScriptedEmbedder::new(SPACE, |_, _| None);
    let works = ScriptedEmbedder::working(("other", "r1", 8));
    fixture.config.embedders = vec![silent.clone(), works.clone()];
    fixture.config.embed_timeout = Duration::from_millis(20);
    let memory = fixture.open();
    for user in ["alex", "blake"] {
        memory.user(user).unwrap().session().unwrap().record(turn(1)).unwrap();
    }
    assert_eq!(run(&memory).later, 2);
    assert_eq!((silent.calls(), works.calls()), (1, 2));
}

#[test]
fn a_panic_of_a_provider_is_a_failure_of_its_job_alone() {
    let mut fixture = Fixture::new();
    let is_panicking = Arc::new(AtomicBool::new(true));
    let panics = Arc::clone(&is_panicking);
    let embedder = ScriptedEmbedder::new(SPACE, move |_, texts| {
        assert!(!panics.swap(false, Ordering::SeqCst), "on purpose");
        Some(Ok(texts.iter().map(|_| vec![1.0; 8]).collect()))
    });
    let summarizer = Scripted::new(|call, turns| {
        assert!(call > 1, "on purpose");
        Ok(turns.iter().map(first_words).collect())
    });
    fixture.config.embedders = vec![embedder];
    fixture.config.summarizer = Some(summarizer);
    let memory = fixture.open();
    end_a_session(&memory, "alex");
    end_a_session(&memory, "blake");
    assert_eq!(run(&memory).later, 2);
    let mut jobs = memory.jobs(None, 1_000).unwrap();
    jobs.sort_by_key(|job| job.job_no);
    let why: Vec<_> = jobs.iter().map(|job| job.last_error.as_deref().unwrap()).collect();
    assert_eq!(why, ["embedder own-model: it panicked", "the summarizer panicked"]);
    assert_eq!(jobs[0].user_id, jobs[1].user_id, "blake's are done");
    memory.retry_jobs(None).unwrap();
    assert_eq!((run(&memory).later, memory.jobs(None, 1_000).unwrap()), (0, Vec::new()));
}

#[test]
fn a_run_with_providers_begins_no_more_jobs_than_it_is_told_keeps_to_its_kind_and_counts_all() {
    let mut fixture = Fixture::new();
    fixture.config.embedders = vec![ScriptedEmbedder::working(SPACE)];
    fixture.config.summarizer = Some(Scripted::each(first_words));
    let memory = fixture.open();
    let users = ["alex", "blake", "charlie", "drew"];
    for user in users {
        end_a_session(&memory, user);
    }
    let of = |kind| kinds(&memory).iter().filter(|job| job.0 == kind).count();
    assert_eq!((of(JobKind::Compress), of(JobKind::Embed)), (4, 4));
    assert_eq!(memory.run_jobs(RunJobs::default().max_jobs(3)).unwrap().done, 3);
    assert_eq!(memory.jobs(None, 1_000).unwrap().len(), 5);
    let left = of(JobKind::Compress);
    assert_eq!(memory.run_jobs(RunJobs::default().only(JobKind::Embed)).unwrap().done, 5 - left as u64);
    assert_eq!((of(JobKind::Compress), of(JobKind::Embed)), (left, 0));
    for user in users {
        say_much(&memory, user);
    }

    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = Arc::clone(&told);
    let on_progress = move |progress: &JobProgress| tell.lock().unwrap().push(*progress);
    let report = memory.run_jobs(RunJobs::default().on_progress(on_progress)).unwrap();
    assert_eq!(memory.jobs(None, 1_000).unwrap(), []);
    let told = told.lock().unwrap();
    assert!(told.is_sorted_by_key(|progress| (progress.jobs_ended, progress.turns)));
    assert!(told.iter().all(|progress| progress.jobs_ended <= progress.jobs_due), "{told:?}");
    let last = told.last().unwrap();
    assert_eq!((last.jobs_due, last.jobs_ended), (report.done, report.done));
}

#[test]
fn a_session_that_the_summarizer_cannot_take_costs_the_others_no_try() {
    let mut fixture = Fixture::new();
    // Refuses a turn, as a provider's filter does.
    let filters = Scripted::new(|_, turns| {
        if turns[0].said.user_message.starts_with("poison") {
            return Err(Error::provider_refused("refused by a filter"));
        }
        Ok(turns.iter().map(first_words).collect())
    });
    fixture.config.summarizer = Some(filters);
    let memory = fixture.open();
    let poison = memory.user("poison").unwrap().session().unwrap();
    for n in 1..=6 {
        poison.record(NewTurn::new(format!("poison {n}"), long_texts(n).1)).unwrap();
    }
    poison.end().unwrap();
    let others = ["alex", "blake", "charlie", "drew"];
    for user in others {
        end_a_session(&memory, user);
    }
    for _ in 0..30 {
        run(&memory);
        fixture.clock.advance(TimeDelta::seconds(30));
    }
    for user in others {
        let session = memory.user(user).unwrap().find_session("ended").unwrap().unwrap();
        let summaries = session.summaries(None, 1_000).unwrap();
        assert!(!summaries.is_empty());
        assert!(summaries.iter().all(|summary| summary.summarizer == "scripted"), "{user}: {summaries:?}");
    }
    assert!(poison.summaries(None, 1_000).unwrap().iter().all(|summary| summary.is_fallback()));
}

#[test]
fn closing_the_file_ends_a_run_that_waits_for_a_provider() {
    let mut fixture = Fixture::new();
    let (gated, is_asked, _let_go) = Gated::new(Hangs::Pending);
    fixture.config.summarizer = Some(gated);
    let memory = fixture.open();
    end_a_session(&memory, "alex");
    let runs = memory.clone();
    let running = thread::spawn(move || runs.run_jobs(RunJobs::default()));
    is_asked.recv().unwrap();
    memory.close().unwrap();
    assert_eq!(running.join().unwrap().unwrap().done, 0, "nobody has let the summarizer go");
    fixture.config.summarizer = None;
    assert_eq!(run(&fixture.open()).done, 1, "the job was given back");
}

/// An embedder and summarizer that panics whenever it is called.
#[derive(Debug)]
struct Nameless;

impl Embedder for Nameless {
    fn space(&self) -> EmbeddingSpace {
        panic!("on purpose")
    }

    fn embed<'a>(&'a self, _: &'a [String], _: EmbeddingPurpose) -> Embedding<'a> {
        panic!("on purpose")
    }
}

impl Summarizer for Nameless {
    fn name(&self) -> &str {
        panic!("on purpose")
    }

    fn summarize<'a>(&'a self, _: &'a [Turn]) -> Summarizing<'a> {
        panic!("on purpose")
    }
}

#[test]
fn a_provider_that_panics_over_its_name_is_refused_when_the_file_is_opened() {
    let mut fixture = Fixture::new();
    fixture.config.embedders = vec![Arc::new(Nameless)];
    let opened =
        |fixture: &Fixture| Thermocline::open_with(fixture.path(), fixture.config.clone()).unwrap_err();
    assert!(opened(&fixture).to_string().contains("an embedder panicked"));
    fixture.config.embedders.clear();
    fixture.config.summarizer = Some(Arc::new(Nameless));
    assert!(opened(&fixture).to_string().contains("the summarizer panicked"));
}
