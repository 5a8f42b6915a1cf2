//! What is erased is gone: from every answer, from every table, from the bytes of the file and its log.

use std::{
    collections::{BTreeSet, HashSet},
    fs,
    path::Path,
    sync::Arc,
};

use chrono::TimeDelta;
use serde_json::json;
use thermocline::{
    Attribute, Config, ContextOptions, ErrorKind, JobKind, ManualClock, NewTurn, Originals, RunJobs, Turn,
    Verdict,
    blocking::{Session, Thermocline, User},
};

use crate::{
    canaries::{Words, found_in},
    children::{self, say},
    dump::{ask, assert_same, dump_of_user, reader},
    scripted::{Scripted, reads_anchors, stated_anchors},
    support::{Cut, Fixture, at, long_turn, turn},
};

/// Returns which of the first `canaries` canaries are in the bytes of the file, its log and its index.
pub fn found(path: &Path, canaries: usize) -> BTreeSet<usize> {
    let files = ["", "-wal", "-shm"].map(|suffix| format!("{}{suffix}", path.display()));
    let bytes = files.iter().filter_map(|file| fs::read(file).ok());
    bytes.flat_map(|bytes| found_in(&bytes, canaries)).collect()
}

/// Returns a verdict for a turn: a true sentence and keywords, both made from its first words, and its anchors.
pub fn tells(turn: &Turn) -> Verdict {
    let words: Vec<&str> = turn.said.user_message.split_whitespace().take(6).collect();
    let verdict =
        Verdict::summary(turn.id, format!("The user said {}", words.join(" "))).topic_keywords(words);
    stated_anchors(turn).into_iter().fold(verdict, Verdict::anchor)
}

/// Records `turns` turns full of canaries, each followed by one of another user.
fn fill(session: &Session, other: &Session, words: &mut Words, turns: usize) {
    for n in 0..turns {
        let said =
            format!("{} and the name is {}. {}", words.some(6), words.name(), "The old lamp. ".repeat(12));
        let said = NewTurn::new(said, words.some(2)).caller_id(words.next());
        let said = if n % 3 == 0 { said.assistant_name(words.next()) } else { said };
        let said = if n % 7 == 0 { said.critical() } else { said };
        let said = if n % 5 == 0 { said.metadata(json!({ words.next(): [words.next()] })) } else { said };
        session.record(said).unwrap();
        let words = "The bridge is old and the lamp beside it is new. ".repeat(3 + n % 9);
        other.record(NewTurn::new(format!("{n} {words}"), "Among my likes is tea.")).unwrap();
    }
}

/// Records a user named by a canary, with canaries in everything that sessions, turns and anchors say, and another user,
/// blake; returns the first one's name.
fn seed(fixture: &mut Fixture, words: &mut Words) -> String {
    fixture.config.summarizer = Some(Scripted::each(tells));
    let name = words.next();
    let mut key = 0;
    for originals in [Originals::Delete, Originals::Archive] {
        fixture.config.originals = originals;
        let memory = fixture.open();
        let (user, blake) = (memory.user(&name).unwrap(), memory.user("blake").unwrap());
        let mut compressed = |turns: usize| {
            key += 1;
            let other = blake.session_named(&key.to_string()).unwrap();
            let session = user.session_named(&words.next()).unwrap();
            session.set_project(Some(&words.next())).unwrap();
            session.set_title(Some(&words.next())).unwrap();
            session.set_title(Some(&words.next())).unwrap(); // The first title must not remain either.
            let long = "The old lamp. ".repeat(500);
            session
                .set_metadata(Some(json!({ words.next(): [words.some(20), long, words.some(4)] })))
                .unwrap();
            fill(&session, &other, words, turns);
            session.end().unwrap();
            other.end().unwrap();
            memory.run_jobs(RunJobs::default()).unwrap();
            session
        };
        compressed(if originals == Originals::Delete { 4 } else { 40 });
        if originals == Originals::Archive {
            compressed(20).restore().unwrap();
            let waiting = user.session_named(&words.next()).unwrap();
            fill(&waiting, &blake.session_named("waiting").unwrap(), words, 10);
            waiting.end().unwrap(); // Its job has not run.
        }
        for attribute in [Attribute::Likes, Attribute::Note, Attribute::Home] {
            user.set_anchor(&words.next(), attribute, &words.next()).unwrap();
        }
        let retracted = user.set_anchor("user", Attribute::Likes, &words.next()).unwrap();
        user.retract_anchor(retracted).unwrap();
    }
    name
}

#[test]
fn of_a_thousand_words_of_an_erased_user_none_is_left() {
    let (mut fixture, mut words) = (Fixture::new(), Words::default());
    let name = seed(&mut fixture, &mut words);
    let memory = fixture.open();
    let user = memory.user(&name).unwrap();
    let open = user.session_named(&words.next()).unwrap();
    let turns = (1_000 - words.0) / 9 + 1;
    fill(&open, &memory.user("blake").unwrap().session().unwrap(), &mut words, turns);
    assert!(words.0 >= 1_000 && !open.hot().unwrap().is_empty());
    let seen = found(&fixture.path(), words.0);
    assert!(
        seen.len() >= words.0 - 40,
        "only what a summary took the place of is out of sight: {}",
        seen.len()
    );
    let blake = dump_of_user(&fixture.path(), "blake");

    let erased = user.erase().unwrap();
    assert!(!erased.is_pending && erased.sessions == 5, "{erased:?}");
    assert!(erased.archived_turns > 30 && erased.anchors > 60 && erased.summaries > 30, "{erased:?}");
    assert_eq!(found(&fixture.path(), words.0), BTreeSet::new());
    assert_same(&dump_of_user(&fixture.path(), "blake"), &blake, "another user");
    let diagnosis = memory.doctor().unwrap();
    assert!(diagnosis.is_healthy(), "{diagnosis:?}");
    assert!(memory.jobs(None, 1_000).unwrap().iter().all(|job| job.user_id != Some(user.id())));
}

#[test]
fn of_an_erased_user_no_byte_is_left_between_the_rows_of_others() {
    let (mut fixture, mut words) = (Fixture::new(), Words::default());
    let name = seed(&mut fixture, &mut words);
    let memory = fixture.open();
    let (user, blake) = (memory.user(&name).unwrap(), memory.user("blake").unwrap());
    fill(&user.session().unwrap(), &blake.session().unwrap(), &mut words, 200);
    user.erase().unwrap();
    assert_eq!(found(&fixture.path(), words.0), BTreeSet::new());
}

/// Records who alex is, in two compressed sessions and an open one.
fn alex(fixture: &mut Fixture) -> (Thermocline, User, [Session; 3]) {
    fixture.config.summarizer = Some(Scripted::each(reads_anchors));
    let memory = fixture.open();
    let user = memory.user("alex").unwrap();
    let sessions = [("first", "Alex"), ("second", "Bo"), ("open", "Charlie")].map(|(key, name)| {
        let session = user.session_named(key).unwrap();
        session.record(NewTurn::new(format!("My name is {name}. Among my likes is tea."), key)).unwrap();
        session.record(long_turn(1).caller_id(format!("{key} 2"))).unwrap();
        session
    });
    sessions[..2].iter().for_each(|session| drop(session.end().unwrap()));
    memory.run_jobs(RunJobs::default()).unwrap();
    (memory, user, sessions)
}

/// Returns every anchor as `key value strength`, with a leading `-` if it no longer holds.
fn anchors(user: &User) -> Vec<String> {
    let shown = user.anchors(None, 1_000).unwrap().into_iter().map(|anchor| {
        let mark = if anchor.is_current() { "" } else { "- " };
        format!("{mark}{} {} {}", anchor.key(), anchor.value, anchor.strength)
    });
    shown.collect()
}

#[test]
fn an_erased_sessions_anchors_are_folded_anew_from_what_remains() {
    let mut fixture = Fixture::new();
    let (memory, user, [_, second, _]) = alex(&mut fixture);
    assert_eq!(anchors(&user), ["user.likes tea 0.75", "- user.name Alex 0.5", "user.name Bo 0.5"]);
    let erased = second.erase().unwrap();
    assert_eq!((erased.sessions, erased.turns, erased.anchors, erased.derivations), (1, 2, 1, 2));
    assert_eq!(anchors(&user), ["user.likes tea 0.5", "user.name Alex 0.5"]);
    assert_eq!(user.sessions(None, 1_000).unwrap().len(), 2);
    assert!(memory.doctor().unwrap().is_healthy());
}

#[test]
fn handles_of_what_was_erased_find_nothing_in_any_process() {
    let mut fixture = Fixture::new();
    let (_memory, user, [_, _, open]) = alex(&mut fixture);
    let elsewhere = fixture.open();
    let there = elsewhere.user("alex").unwrap();
    let cached = there.session_by_id(open.id()).unwrap();
    assert_eq!((cached.hot().unwrap().len(), there.anchors(None, 1_000).unwrap().len()), (2, 3));
    let turn = open.turn(1).unwrap().unwrap().id;
    user.erase().unwrap();
    for (user, session) in [(&user, &open), (&there, &cached)] {
        let kind = |error: Option<thermocline::Error>| error.map(|error| error.kind());
        let refused = [
            ("hot", kind(session.hot().err())),
            ("warm", kind(session.warm().err())),
            ("search", kind(session.search("tea", 5).err())),
            ("context", kind(session.context("tea", ContextOptions::default()).err())),
            ("turn", kind(session.turn(1).err())),
            ("info", kind(session.info().err())),
            ("summaries", kind(session.summaries(None, 1_000).err())),
            ("transitions", kind(session.transitions(None, 1_000).err())),
            ("record", kind(session.record(long_turn(3)).err())),
            ("end", kind(session.end().err())),
            ("restore", kind(session.restore().err())),
            ("compress", kind(session.compress().err())),
            ("erase", kind(session.erase().err())),
            ("turn", kind(user.turn(turn).err())),
            ("turn_by_caller_id", kind(user.turn_by_caller_id("open 2").err())),
        ];
        for (what, kind) in refused {
            assert_eq!(kind, Some(ErrorKind::NotFound), "{what}");
        }
        assert_eq!(user.sessions(None, 1_000).unwrap(), []);
        assert_eq!(user.anchors(None, 1_000).unwrap(), []);
        assert!(user.summary(turn).unwrap().is_none());
    }
}

#[test]
fn what_an_erased_user_writes_through_an_old_handle_is_refused() {
    let mut fixture = Fixture::new();
    let (memory, user, _) = alex(&mut fixture);
    user.erase().unwrap();
    let refused = [
        user.session().err(),
        user.session_named("chat").err(),
        user.new_session().err(),
        user.set_anchor("user", Attribute::Name, "Alex").err(),
        user.erase().err(),
    ];
    let kinds: Vec<_> = refused.into_iter().map(|error| error.map(|error| error.kind())).collect();
    assert_eq!(kinds, [Some(ErrorKind::NotFound); 5]);
    assert!(memory.doctor().unwrap().is_healthy());
    assert_eq!(ask::<u64>(&fixture.path(), "SELECT count(*) FROM conversation_sessions"), 0);
}

#[test]
fn the_same_name_can_begin_anew_and_sees_nothing_of_before() {
    let mut fixture = Fixture::new();
    let (memory, user, _) = alex(&mut fixture);
    user.erase().unwrap();
    assert!(memory.find_user("alex").unwrap().is_none());
    let anew = memory.user("alex").unwrap();
    assert_ne!(anew.id(), user.id());
    assert_eq!((anew.sessions(None, 1_000).unwrap().len(), anew.anchors(None, 1_000).unwrap().len()), (0, 0));
    let session = anew.session_named("open").unwrap();
    let recorded = session.record(long_turn(1).caller_id("open 2")).unwrap();
    assert_eq!((recorded.turn_number, recorded.outcome), (1, thermocline::RecordOutcome::New));
    assert!(session.search("tea", 5).unwrap().is_empty());
    assert!(memory.doctor().unwrap().is_healthy());
}

#[test]
fn an_erased_part_of_a_talk_leaves_the_others_linked() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let user = memory.user("alex").unwrap();
    let parts: Vec<_> = (0..3)
        .map(|n| {
            let session = user.session_named("talk").unwrap();
            let recorded = session.record(long_turn(n)).unwrap();
            fixture.clock.advance(TimeDelta::days(2));
            user.session_by_id(recorded.session_id).unwrap()
        })
        .collect();
    assert_eq!(parts[0].info().unwrap().successor_id, Some(parts[1].id()));
    parts[1].erase().unwrap();
    assert!(memory.doctor().unwrap().is_healthy());
    assert_eq!(parts[0].info().unwrap().successor_id, Some(parts[2].id()));
    assert_eq!(user.session_named("talk").unwrap().id(), parts[2].id());
    parts[2].erase().unwrap();
    parts[0].erase().unwrap();
    assert_eq!(user.session_named("talk").unwrap().info().unwrap().part, 1);
    assert!(memory.doctor().unwrap().is_healthy());
}

#[test]
fn while_somebody_reads_the_log_waits_and_a_job_empties_it_afterwards() {
    let (mut fixture, mut words) = (Fixture::new(), Words::default());
    let name = seed(&mut fixture, &mut words);
    let memory = fixture.open();
    let held = reader(&fixture.path());
    held.execute_batch("BEGIN; SELECT count(*) FROM conversation_turns;").unwrap();
    let erased = memory.user(&name).unwrap().erase().unwrap();
    assert!(erased.is_pending, "somebody still reads the old rows");
    let is_scrub = |memory: &Thermocline| {
        let jobs = memory.jobs(None, 1_000).unwrap();
        jobs.iter().any(|job| job.kind == JobKind::Scrub)
    };
    assert!(is_scrub(&memory));
    assert!(!found(&fixture.path(), words.0).is_empty());
    memory.run_jobs(RunJobs::default()).unwrap();
    assert!(is_scrub(&memory), "it will be tried again");

    held.execute_batch("COMMIT").unwrap();
    fixture.clock.advance(TimeDelta::hours(1));
    memory.run_jobs(RunJobs::default()).unwrap();
    assert!(!is_scrub(&memory));
    assert_eq!(found(&fixture.path(), words.0), BTreeSet::new());
}

#[test]
fn a_small_session_is_erased_in_two_transactions_whatever_was_made_from_it() {
    let mut fixture = Fixture::new();
    fixture.config.worker = false;
    let memory = fixture.open();
    let user = memory.user("alex").unwrap();
    let session = user.session_named("talk").unwrap();
    for n in 0..5 {
        let recorded = session.record(turn(n)).unwrap();
        session.record(turn(n + 5).replacing(recorded.turn_id)).unwrap();
    }
    session.record_message(NewTurn::new("It waits for its reply.", "")).unwrap();
    session.context("What was said of it?", ContextOptions::default()).unwrap();
    assert_eq!(user.receipts(10).unwrap().len(), 1, "and it is written");
    let before = memory.health().unwrap().commits;
    assert!(!session.erase().unwrap().is_pending);
    // To each of them, and to the scrub, everybody's writes come first that were queued before.
    assert_eq!(memory.health().unwrap().commits - before, 2);
}

pub fn child_erases(path: &str, now: &str, name: &str) {
    let mut config = Config::default();
    config.clock = Arc::new(ManualClock::new(at(now)));
    config.worker = false;
    let memory = Thermocline::open_with(path, config).unwrap();
    let user = memory.user(name).unwrap();
    say("now");
    user.erase().unwrap();
    say("done");
}

#[test]
fn killed_in_the_middle_it_is_finished_by_whoever_runs_jobs_next() {
    let (mut fixture, mut words) = (Fixture::new(), Words::default());
    fixture.config.durability = thermocline::Durability::Relaxed;
    let name = seed(&mut fixture, &mut words);
    let memory = fixture.open();
    let session = memory.user(&name).unwrap().session_named(&words.next()).unwrap();
    fill(&session, &memory.user("blake").unwrap().session().unwrap(), &mut words, 1_000);
    memory.run_jobs(RunJobs::default()).unwrap(); // Nothing but the erase is left to do.
    memory.close().unwrap();
    let (path, blake) = (fixture.path(), dump_of_user(&fixture.path(), "blake"));
    let path = path.to_str().unwrap();
    // The user's name is free again from the first moment on.
    let user_no: i64 = ask(
        &fixture.path(),
        "SELECT user_no FROM user_scopes JOIN users ON id = user_id WHERE name <> 'blake'",
    );
    let rows = || -> u64 {
        let id = format!("(SELECT user_id FROM user_scopes WHERE user_no = {user_no})");
        let of_user = format!(
            "SELECT (SELECT count(*) FROM recall_units WHERE user_no = {user_no})
               + (SELECT count(*) FROM conversation_turns WHERE user_id = {id})
               + (SELECT count(*) FROM archived_turns WHERE user_no = {user_no})"
        );
        ask(&fixture.path(), &of_user)
    };
    let (all, mut seen) = (rows(), HashSet::new());
    for kill in 0..5 {
        fixture.clock.advance(TimeDelta::minutes(10));
        let now = thermocline::Clock::now(&*fixture.clock).to_rfc3339();
        let mut child = match kill {
            0 => children::start("erase", &[path, &now, &name]),
            _ => children::start("compress", &[path, &now]), // It runs jobs, and reports each slice.
        };
        for _ in 0..=kill {
            child.line().unwrap();
        }
        while ask::<u64>(&fixture.path(), "SELECT count(*) FROM jobs WHERE kind = 'erase'") == 0 {}
        child.process.kill().unwrap();
        child.process.wait().unwrap();
        seen.insert(rows());
    }
    assert!(seen.iter().any(|&rows| rows > 0 && rows < all), "killed in the middle: {seen:?} of {all}");
    fixture.clock.advance(TimeDelta::hours(2));
    let memory = fixture.open();
    memory.run_jobs(RunJobs::default()).unwrap();
    assert_eq!(found(&fixture.path(), words.0), BTreeSet::new());
    assert!(memory.find_user(&name).unwrap().is_none());
    assert_same(&dump_of_user(&fixture.path(), "blake"), &blake, "another user");
    assert!(memory.doctor().unwrap().is_healthy());
}

#[test]
fn an_erase_that_gets_on_is_never_given_up_however_often_it_is_cut_short() {
    const TIMES: usize = 35; // More than the tries that a job has.
    let mut fixture = Fixture::new();
    fixture.config.durability = thermocline::Durability::Relaxed;
    let cut = Cut::of(&mut fixture.config);
    let memory = fixture.open();
    let user = memory.user("alex").unwrap();
    for n in 0..=TIMES * 32 {
        user.session().unwrap().record(turn(n)).unwrap();
    }
    for time in 0..TIMES {
        cut.after(1, "DELETE FROM conversation_turns"); // A slice is gone, and no other.
        if time == 0 {
            user.erase().unwrap_err();
        } else {
            memory.run_jobs(RunJobs::default()).unwrap();
        }
        fixture.clock.advance(TimeDelta::hours(2));
    }
    cut.mend();
    memory.run_jobs(RunJobs::default()).unwrap();
    assert!(memory.find_user("alex").unwrap().is_none(), "{:?}", memory.jobs(None, 1_000).unwrap());
}
