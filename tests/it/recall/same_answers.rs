//! The index is a shortcut: with it, without it, half written, or rebuilt elsewhere, recall answers the same.

use std::io::{BufReader, Cursor};

use chrono::TimeDelta;
use thermocline::{ContextOptions, RunJobs};

use super::{QUESTIONS, answers, asked_at, options, tell_all};
use crate::{
    dump::{Dump, ask, assert_same, dump, dump_without},
    support::{Cut, Fixture},
};

const STORIES: usize = 300;

/// Returns how far the index and the vectors extend.
fn extent(fixture: &Fixture) -> (u32, u32) {
    let vectors = "SELECT coalesce(max(embedded_seq), 0) FROM user_spaces";
    let (words, vectors) =
        (ask(&fixture.path(), "SELECT max(indexed_seq) FROM user_scopes"), ask(&fixture.path(), vectors));
    (words, vectors)
}

/// Tells stories in twelve sessions, of which all but the last have ended; no job has run.
fn told() -> Fixture {
    let mut fixture = Fixture::new();
    fixture.config.durability = thermocline::Durability::Relaxed;
    fixture.config.receipts = 0;
    let alex = fixture.alex();
    tell_all(&alex, STORIES);
    fixture
}

#[test]
fn with_and_without_the_index_the_answers_are_the_same() {
    let fixture = told();
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    assert_eq!(extent(&fixture), (0, 0));
    let before = answers(&alex);
    assert!(before.iter().all(|(query, found)| query.len() < 2 || !found.is_empty()), "{before:#?}");
    memory.run_jobs(RunJobs::default()).unwrap();
    assert_eq!(extent(&fixture), (256, 300));
    assert_eq!(answers(&alex), before, "by the handle that had all in memory");
    assert_eq!(answers(&fixture.alex()), before, "by a handle that reads the index");
    // A few more stories come after the index.
    super::tell(&alex.session_named("more").unwrap(), STORIES..STORIES + 10);
    let more = answers(&alex);
    assert_ne!(more, before);
    assert_eq!(answers(&fixture.alex()), more);
}

/// Returns the index, without random values.
fn index(fixture: &Fixture) -> Dump {
    let tables = ["postings", "unit_blocks", "vector_blocks", "user_spaces", "recall_units"];
    dump(&fixture.path()).into_iter().filter(|(table, _)| tables.contains(&table.as_str())).collect()
}

#[test]
fn whichever_statement_cuts_the_jobs_short_the_answers_are_the_same_and_the_next_try_ends_the_same() {
    let told = told();
    let expected = answers(&told.alex());
    let mut undisturbed = told.copy();
    let cut = Cut::of(&mut undisturbed.config);
    undisturbed.open().run_jobs(RunJobs::default()).unwrap();
    let words: u32 = ask(&undisturbed.path(), "SELECT count(*) FROM postings");
    assert!(words > 250, "more than a slice of words: {words}");
    for (statement, times) in cut.places() {
        let mut fixture = told.copy();
        let cut = Cut::of(&mut fixture.config);
        let memory = fixture.open();
        let alex = memory.user("alex").unwrap();
        cut.after(times, &statement);
        let _ = memory.run_jobs(RunJobs::default()); // Fails, or says that a job failed.
        assert_eq!(answers(&alex), expected, "{statement}");
        assert_eq!(answers(&fixture.alex()), expected, "{statement}, by a handle that reads the index");
        let diagnosis = memory.doctor().unwrap();
        assert!(diagnosis.is_healthy(), "{statement}: {diagnosis:?}");

        cut.mend();
        fixture.clock.advance(TimeDelta::minutes(10)); // The wait before the second try is over, and a lease.
        memory.run_jobs(RunJobs::default()).unwrap();
        assert_eq!(memory.jobs(None, 1_000).unwrap(), [], "{statement}");
        assert_same(&index(&fixture), &index(&undisturbed), &statement);
        assert_eq!(answers(&alex), expected, "{statement}, after the second try");
    }
}

#[test]
fn what_is_erased_from_a_half_written_index_does_not_come_back() {
    let mut fixture = told().copy();
    let cut = Cut::of(&mut fixture.config);
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    cut.after(150, "INSERT INTO postings");
    memory.run_jobs(RunJobs::default()).unwrap();
    cut.mend();
    let cached = fixture.alex();
    answers(&cached);
    alex.find_session("talk 3").unwrap().unwrap().erase().unwrap();
    let expected = answers(&fixture.alex());
    assert_eq!(answers(&alex), expected);
    assert_eq!(answers(&cached), expected);
    assert!(memory.doctor().unwrap().is_healthy());
    fixture.clock.advance(TimeDelta::minutes(2));
    memory.run_jobs(RunJobs::default()).unwrap();
    assert_eq!(extent(&fixture), (256, 300));
    for user in [&alex, &cached, &fixture.alex()] {
        assert_eq!(answers(user), expected);
    }
    assert!(memory.doctor().unwrap().is_healthy());
}

#[test]
fn in_another_file_the_same_memory_gives_the_same_answers() {
    let fixture = told();
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    memory.run_jobs(RunJobs::default()).unwrap(); // Compressed too.
    let expected = answers(&alex);
    let other = Fixture::new();
    let elsewhere = other.open();
    elsewhere.import("alex", BufReader::new(Cursor::new(crate::transfer::export(&alex)))).unwrap();
    let imported = elsewhere.user("alex").unwrap();
    assert_eq!(answers(&imported), expected);
    elsewhere.run_jobs(RunJobs::default()).unwrap();
    assert_eq!(answers(&imported), expected, "and with an index of its own");
    assert!(elsewhere.doctor().unwrap().is_healthy());
    // The original's restored turns too.
    alex.find_session("talk 2").unwrap().unwrap().restore().unwrap();
    let text = |user| answers(user).into_iter().map(|(_, found)| found).collect::<Vec<_>>();
    assert_eq!(text(&alex), text(&imported));
}

#[test]
fn the_same_file_question_and_moment_give_the_same_bytes_every_time() {
    let fixture = told();
    fixture.open().run_jobs(RunJobs::default()).unwrap();
    let before = dump_without(&fixture.path(), &[]);
    let mut seen = std::collections::BTreeSet::new();
    for handle in 0..2 {
        let alex = fixture.alex();
        let session = alex.session_named("talk 11").unwrap();
        for time in 0..20 {
            let mut bytes = String::new();
            for query in QUESTIONS {
                let recall = alex.recall(query, options()).unwrap();
                bytes.push_str(&serde_json::to_string(&recall.items).unwrap());
                let context = session.context(query, ContextOptions::default().now(asked_at())).unwrap();
                let mut context = serde_json::to_value(&context).unwrap();
                assert!(context.as_object_mut().unwrap().remove("receipt").is_some(), "each has its own");
                bytes.push_str(&context.to_string());
            }
            seen.insert(bytes);
            assert_eq!(seen.len(), 1, "time {time} of handle {handle}");
        }
    }
    assert_same(&dump_without(&fixture.path(), &[]), &before, "asked 880 times");
}
