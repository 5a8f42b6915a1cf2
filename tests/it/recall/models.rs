//! A change of the model: vectors of two models are never compared, recall works by words meanwhile, and a kill loses
//! nothing.

use std::{
    fmt,
    io::Write,
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc::channel,
    },
    time::Duration,
};

use chrono::TimeDelta;
use thermocline::{
    Clock, Config, ContextOptions, Embedder, Embedding, EmbeddingPurpose, EmbeddingSpace, JobProgress,
    JobState, ManualClock, NewTurn, RecallOptions, RunJobs,
    blocking::{Thermocline, User},
};

use super::{embedders::ScriptedEmbedder, ids, options, tell_all};
use crate::{
    children::{self, say},
    dump::{ask, assert_same, dump, rewrite},
    support::{Fixture, at},
};

const QUESTION: &str = "Who photographed the violin, number 18 on the list?";

/// Tells 150 stories, embedded by this model.
fn told(embedder: Arc<dyn Embedder>) -> Fixture {
    let mut fixture = Fixture::new();
    fixture.config.durability = thermocline::Durability::Relaxed;
    fixture.config.receipts = 100;
    fixture.config.embedders = vec![embedder];
    let memory = fixture.open();
    tell_all(&memory.user("alex").unwrap(), 150);
    memory.run_jobs(RunJobs::default()).unwrap();
    memory.close().unwrap();
    fixture
}

fn model(user: &User) -> (Option<String>, Vec<String>, Vec<String>) {
    let recall = user.recall(QUESTION, options()).unwrap();
    let receipt = user.receipt(recall.receipt).unwrap();
    (receipt.understood.model, ids(&recall), recall.missing)
}

/// Models with other names, revisions or sizes; with equal sizes, mixing them would cause no error.
const OTHERS: [(&str, &str, u32); 4] = [("b", "r1", 32), ("a", "r2", 32), ("a", "r1", 16), ("b", "r1", 200)];

#[test]
fn after_a_change_of_the_model_vectors_are_made_anew_and_never_mixed() {
    let told = told(ScriptedEmbedder::working(("a", "r1", 32)));
    for other in OTHERS {
        let mut fixture = told.copy();
        let embedder = ScriptedEmbedder::working(other);
        fixture.config.embedders = vec![embedder.clone()];
        let memory = fixture.open();
        let alex = memory.user("alex").unwrap();
        let (compared, found, missing) = model(&alex);
        assert_ne!(compared.as_deref(), Some("a"), "{other:?}");
        assert!(compared.is_some() && found[0] == "s18", "{other:?}: the built-in one carries it");
        assert!(missing[0].contains("embedded yet"), "{other:?}: {missing:?}");

        // No call is needed: the job makes the new vectors.
        fixture.clock.advance(TimeDelta::minutes(1));
        memory.run_jobs(RunJobs::default()).unwrap();
        let (compared, found, missing) = model(&alex);
        assert_eq!((compared.as_deref(), found[0].as_str()), (Some(other.0), "s18"), "{other:?}");
        assert_eq!(missing, Vec::<String>::new());
        // The same scores as in a file that never knew another model.
        let mut fresh = self::told(ScriptedEmbedder::working(other));
        fresh.config.embedders = vec![ScriptedEmbedder::working(other)];
        assert_eq!(super::answers(&alex), super::answers(&fresh.alex()), "{other:?}");
        assert!(memory.doctor().unwrap().is_healthy());

        let spaces = "SELECT count(*) FROM embedding_spaces";
        assert_eq!(ask::<u32>(&fixture.path(), spaces), 3, "the old one stays until it is told to go");
        assert_eq!(memory.rebuild_vectors().unwrap(), 1);
        assert_eq!(ask::<u32>(&fixture.path(), spaces), 3, "nor then");
        memory.drop_other_vectors().unwrap();
        assert_eq!(ask::<u32>(&fixture.path(), spaces), 2);
        let vectors = "SELECT count(*) FROM vector_blocks WHERE space_no NOT IN (SELECT space_no FROM embedding_spaces)";
        assert_eq!(ask::<u32>(&fixture.path(), vectors), 0);
        let calls = embedder.calls();
        assert_eq!(model(&alex).1[0], "s18", "while they are made anew");
        memory.run_jobs(RunJobs::default()).unwrap();
        assert!(embedder.calls() > calls + 5);
        assert_eq!(model(&alex).0.as_deref(), Some(other.0));
        assert_eq!(super::answers(&alex), super::answers(&fresh.alex()), "{other:?}, made anew");
        assert!(memory.doctor().unwrap().is_healthy());
    }
}

#[test]
fn erased_turns_are_no_longer_counted_as_embedded() {
    let told = told(ScriptedEmbedder::working(("a", "r1", 32)));
    let memory = told.open();
    let alex = memory.user("alex").unwrap();
    let turn = alex.session_named("talk 5").unwrap().turn(1).unwrap().unwrap();
    let counted = |memory: &Thermocline| {
        let status = memory.embedding_status().unwrap();
        let of_model = status.iter().find(|of| of.space.model == "a").unwrap();
        (of_model.turns, of_model.embedded)
    };
    assert_eq!(counted(&memory), (150, 150));
    alex.erase_turn(turn.id).unwrap();
    assert_eq!(counted(&memory), (149, 149));
}

#[test]
fn while_vectors_are_made_anew_every_recall_in_between_is_as_before() {
    let mut fixture = told(ScriptedEmbedder::working(("a", "r1", 32)));
    // It fails at every second question, so that the job stops in between.
    let working = ScriptedEmbedder::working(("a", "r1", 32));
    let expected = {
        fixture.config.embedders = vec![working.clone()];
        super::answers(&fixture.alex())
    };
    let seed = super::embedders::hash("a r1");
    let batches = AtomicUsize::new(0);
    let flaky = ScriptedEmbedder::new(("a", "r1", 32), move |_, texts| {
        if texts.len() > 1 && batches.fetch_add(1, Ordering::SeqCst) % 2 == 1 {
            return Some(Err(thermocline::Error::provider("no answer")));
        }
        Some(Ok(texts.iter().map(|text| super::embedders::vector(text, seed, 32)).collect()))
    });
    fixture.config.embedders = vec![flaky];
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    memory.rebuild_vectors().unwrap();
    let mut steps = 0;
    while !memory.jobs(None, 1_000).unwrap().is_empty() {
        fixture.clock.advance(TimeDelta::hours(2));
        memory.run_jobs(RunJobs::default()).unwrap();
        assert_eq!(model(&alex).1[0], "s18", "step {steps}");
        assert!(memory.doctor().unwrap().is_healthy());
        steps += 1;
        assert!(steps < 100);
    }
    assert!(steps > 3, "{steps}");
    assert_eq!(super::answers(&alex), expected);
}

#[test]
fn the_first_embedder_that_answers_counts_and_the_next_stands_in_for_it() {
    let mut fixture = Fixture::new();
    let failing =
        ScriptedEmbedder::new(("first", "", 8), |_, _| Some(Err(thermocline::Error::provider("down"))));
    let second = ScriptedEmbedder::working(("second", "", 16));
    fixture.config.embedders = vec![failing, second.clone()];
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    tell_all(&alex, 60);
    memory.run_jobs(RunJobs::default()).unwrap();
    let (compared, found, missing) = model(&alex);
    assert_eq!((compared.as_deref(), found[0].as_str()), (Some("second"), "s18"));
    assert_eq!(missing.len(), 1);
    assert!(missing[0].contains("first") && missing[0].contains("down"), "{missing:?}");
    assert!(second.asked().iter().any(|text| text.contains("number 18 ")), "turns too");
}

/// The texts of turns are embedded with their speakers; a query as it is.
#[test]
fn an_embedder_is_asked_for_bounded_texts_and_for_nothing_of_another_kind() {
    let mut fixture = Fixture::new();
    let embedder = ScriptedEmbedder::working(("own", "", 16));
    fixture.config.embedders = vec![embedder.clone()];
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    let long = (0..4_000).map(|n| format!("word{n}")).collect::<Vec<_>>().join(" ");
    let session = alex.session().unwrap();
    session.record(thermocline::NewTurn::new(long.clone(), long).caller_id("long")).unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    let asked = embedder.asked();
    assert!(asked.len() > 10 && asked.iter().all(|text| text.len() <= 1_400), "{}", asked.len());
    for word in ["word1", "word1999", "word3999"] {
        assert!(asked.iter().any(|text| text.contains(word)), "{word}");
    }
    alex.recall("word3999 word3998", RecallOptions::default()).unwrap();
    assert_eq!(embedder.asked().last().map(String::as_str), Some("word3999 word3998"));
}

/// Embeds everything with the model `b`, slowly, and reports each slice.
pub fn child_embeds(path: &str, now: &str) {
    let mut config = child_config(now);
    let seed = super::embedders::hash("b r1");
    let slow = ScriptedEmbedder::new(("b", "r1", 24), move |_, texts| {
        say("asked");
        let made =
            |text: &String| (0..40).map(|_| super::embedders::vector(text, seed, 24)).next_back().unwrap();
        Some(Ok(texts.iter().map(made).collect()))
    });
    config.embedders = vec![slow];
    let memory = Thermocline::open_with(path, config).unwrap();
    let tell = |progress: &JobProgress| say(&progress.turns.to_string());
    memory.run_jobs(RunJobs::default().on_progress(tell)).unwrap();
    say("done");
}

fn child_config(now: &str) -> Config {
    let mut config = Config::default();
    config.clock = Arc::new(ManualClock::new(at(now)));
    config.worker = false;
    config.durability = thermocline::Durability::Relaxed;
    config.embedders = vec![ScriptedEmbedder::working(("b", "r1", 24))];
    config
}

/// Recalls by a query, reports how many results were found by words and whether a context contains the query's text, waits
/// for a line, and starts over.
pub fn child_recalls(path: &str, now: &str, name: &str, query: &str) {
    let memory = Thermocline::open_with(path, child_config(now)).unwrap();
    let user = memory.user(name).unwrap();
    let session = user.session_named("open").unwrap();
    loop {
        let by_words = user
            .recall(query, RecallOptions::default().k(100))
            .map(|recall| recall.items.iter().filter(|recalled| recalled.parts.words > 0.0).count());
        let shown = session.context(query, thermocline::ContextOptions::default());
        let shown = shown.map(|context| context.text.contains(query));
        say(&format!("{} {}", by_words.unwrap_or(0), shown.unwrap_or(false)));
        let mut line = String::new();
        if std::io::stdin().read_line(&mut line).unwrap() == 0 {
            return;
        }
    }
}

/// Answers only once the file says that its job is held for longer than when it was asked.
struct AnswersWhenHeld {
    path: PathBuf,
    clock: Arc<ManualClock>,
    inner: Arc<ScriptedEmbedder>,
}

impl fmt::Debug for AnswersWhenHeld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnswersWhenHeld")
    }
}

impl Embedder for AnswersWhenHeld {
    fn space(&self) -> EmbeddingSpace {
        self.inner.space()
    }

    fn embed<'a>(&'a self, texts: &'a [String], purpose: EmbeddingPurpose) -> Embedding<'a> {
        /// The number of looks at the file after which the test fails.
        const MOST_LOOKS: usize = 20_000;
        Box::pin(async move {
            let held_until = || {
                let job = "SELECT max(next_run_at) FROM jobs WHERE state = 'running' AND kind = 'embed'";
                ask::<Option<String>>(&self.path, job)
            };
            let before = held_until();
            self.clock.advance(TimeDelta::milliseconds(20));
            for _ in 0..MOST_LOOKS {
                if held_until() > before {
                    return self.inner.embed(texts, purpose).await;
                }
                tokio::task::yield_now().await;
            }
            panic!("the job was not held");
        })
    }
}

#[test]
fn a_job_is_held_while_an_embedder_takes_longer_than_a_lease() {
    let mut fixture = told(ScriptedEmbedder::working(("a", "r1", 32)));
    fixture.config.lease = Duration::from_secs(1); // The least there is.
    let inner = ScriptedEmbedder::working(("b", "r1", 32));
    let clock = Arc::clone(&fixture.clock);
    fixture.config.embedders = vec![Arc::new(AnswersWhenHeld { path: fixture.path(), clock, inner })];
    let memory = fixture.open();
    let report = memory.run_jobs(RunJobs::default()).unwrap();
    assert_eq!((report.done, report.later), (1, 0));
    assert_eq!(memory.jobs(None, 1_000).unwrap(), []);
}

#[test]
fn a_worker_that_is_stopped_while_an_embedder_is_asked_leaves_the_job_to_the_next() {
    let mut fixture = told(ScriptedEmbedder::working(("a", "r1", 32)));
    let (asked, is_asked) = channel();
    let asked = Mutex::new(asked);
    let hangs = ScriptedEmbedder::new(("b", "r1", 32), move |_, _| {
        asked.lock().unwrap().send(()).unwrap();
        None
    });
    fixture.config.embedders = vec![hangs];
    let memory = fixture.open();
    fixture.config.worker = true;
    let with_worker = fixture.open();
    is_asked.recv().unwrap();
    with_worker.close().unwrap();
    let jobs = memory.jobs(None, 1_000).unwrap();
    assert_eq!(jobs.len(), 1, "{jobs:?}");
    assert_eq!((jobs[0].state, jobs[0].attempts), (JobState::Queued, 0), "being stopped is no failed try");
}

#[test]
fn an_embedder_is_asked_for_what_is_looked_for_by_words_dates_and_turns_before_it_included() {
    let embedder = ScriptedEmbedder::working(("a", "r1", 32));
    let fixture = told(embedder.clone());
    let mut fixture = fixture.copy();
    fixture.config.embedders = vec![embedder.clone()];
    let alex = fixture.alex();
    let session = alex.session_named("porto").unwrap();
    session.record(NewTurn::new("The Riverside in Porto was a fine place.", "It was.")).unwrap();
    // Only one word of the message names a topic, so the message is understood with the turn before it.
    let now = ContextOptions::default().now(super::asked_at());
    let context = session.context("What about the hotel on 14 July 2023?", now).unwrap();
    let receipt = alex.receipt(context.receipt).unwrap();
    assert!(receipt.understood.is_follow_up);
    let asked = embedder.asked().pop().unwrap();
    assert!(asked.contains("hotel") && asked.contains("Riverside"), "{asked}");
}

#[test]
fn killed_while_vectors_are_made_anew_nothing_is_lost_and_the_end_is_the_same() {
    // By hand: THERMOCLINE_KILLS=100 cargo test killed_while_vectors.
    let kills: usize = std::env::var("THERMOCLINE_KILLS").map_or(5, |kills| kills.parse().unwrap());
    let mut fixture = told(ScriptedEmbedder::working(("a", "r1", 32)));
    fixture.config.embedders = vec![ScriptedEmbedder::working(("b", "r1", 24))];
    let undisturbed = fixture.copy();
    undisturbed.open().run_jobs(RunJobs::default()).unwrap();
    let index = |fixture: &Fixture| -> crate::dump::Dump {
        let is_kept = |table: &String| {
            ["vector_blocks", "user_spaces", "recall_units", "conversation_turns", "postings"]
                .contains(&table.as_str())
        };
        dump(&fixture.path()).into_iter().filter(|(table, _)| is_kept(table)).collect()
    };
    let expected = super::answers(&undisturbed.alex());
    let path = fixture.path();
    let (mut chance, mut in_the_middle) = (11_u64, 0);
    for kill in 0..kills {
        // So that each child has all the work before it.
        let forget = "UPDATE user_spaces SET embedded_seq = 0
             WHERE space_no IN (SELECT space_no FROM embedding_spaces WHERE model <> 'a');
             UPDATE user_scopes SET epoch = epoch + 1";
        rewrite(&path, forget);
        drop(fixture.open()); // It queues the work, where the model is new.
        fixture.open().rebuild_vectors().unwrap();
        fixture.clock.advance(TimeDelta::minutes(10)); // The lease of the one before has run out.
        let now = fixture.clock.now().to_rfc3339();
        let mut child = children::start("embed", &[path.to_str().unwrap(), &now]);
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // The built-in embedder comes first, and asks no model.
        while child.line().unwrap() != "asked" {}
        for _ in 0..(chance >> 61) % 5 {
            assert_ne!(child.line().unwrap(), "done");
        }
        for _ in 0..chance >> 40 & 0xffff {
            std::hint::spin_loop();
        }
        child.process.kill().unwrap();
        child.process.wait().unwrap();
        let least = "SELECT min(embedded_seq) FROM user_spaces WHERE space_no IN (SELECT space_no FROM embedding_spaces WHERE model = 'b')";
        in_the_middle += usize::from(ask::<Option<u32>>(&path, least).is_some_and(|seq| seq < 150));
        let job = "SELECT count(*) FROM jobs WHERE kind = 'embed' AND state = 'running' AND (total_count = 0 OR total_count < done_count)";
        assert_eq!(ask::<u32>(&path, job), 0, "kill {kill}: how much is to be done stands in the job");
        let alex = fixture.alex();
        assert_eq!(model(&alex).1[0], "s18", "kill {kill}");
        assert!(fixture.open().doctor().unwrap().is_healthy(), "kill {kill}");
    }
    writeln!(std::io::stderr(), "{in_the_middle} of {kills} kills in the middle").unwrap();
    assert!(in_the_middle > 0);
    fixture.clock.advance(TimeDelta::minutes(10));
    let memory = fixture.open();
    memory.run_jobs(RunJobs::default()).unwrap();
    assert_eq!(memory.jobs(None, 1_000).unwrap(), []);
    assert_eq!(super::answers(&memory.user("alex").unwrap()), expected);
    undisturbed.open().rebuild_vectors().unwrap();
    undisturbed.open().run_jobs(RunJobs::default()).unwrap();
    let numbers = |mut dump: crate::dump::Dump| {
        // The numbers of spaces are random.
        for rows in dump.values_mut() {
            for row in rows.iter_mut() {
                let cells = row.split(' ').filter(|cell| !cell.starts_with("space_no="));
                *row = cells.collect::<Vec<_>>().join(" ");
            }
            rows.sort();
        }
        dump
    };
    assert_same(&numbers(index(&fixture)), &numbers(index(&undisturbed)), "with and without kills");
    assert!(memory.doctor().unwrap().is_healthy());
}
