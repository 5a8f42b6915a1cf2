//! Titles of sessions, and the data that callers store with turns and sessions: they move with the turn or session, and are
//! never searched or shown to an LLM.

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use chrono::TimeDelta;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use thermocline::{
    ChatModel, ChatPrompt, Completing, ContextOptions, ErrorKind, LlmSummarizer, MemoryTier, NewTurn,
    RecallOptions, RecordOutcome, RunJobs, blocking::Session,
};

use crate::{
    dump::{ask, assert_same, dump, dump_without},
    support::{Fixture, long_turn, turn},
};

/// A word that no other text contains.
const CANARY: &str = "qwcanaryqw";

fn kept(session: &Session, turn_number: u32) -> Option<Value> {
    session.turn(turn_number).unwrap().unwrap().metadata
}

#[test]
fn a_turns_metadata_comes_back_wherever_the_turn_lives() {
    let fixture = Fixture::new();
    let data = |n: u32| json!({ "n": n, "nested": { "list": [1, 2.5, null, "ключ \u{2028} \" \\ \0"], "big": u64::MAX } });
    let session = fixture.session();
    for n in 1..=12_u32 {
        let said = if n % 4 == 0 { turn(n as usize) } else { long_turn(n as usize) };
        session.record(if n == 7 { said } else { said.metadata(data(n)) }).unwrap();
    }
    let check = |what: &str, tiers: &[MemoryTier]| {
        let session = fixture.open().user("alex").unwrap().session_by_id(session.id()).unwrap();
        for n in 1..=12 {
            assert_eq!(kept(&session, n), (n != 7).then(|| data(n)), "{what}: turn {n}");
        }
        let found: Vec<MemoryTier> =
            (1..=12).map(|n| session.turn(n).unwrap().unwrap().memory_tier).collect();
        assert!(tiers.iter().all(|tier| found.contains(tier)), "{what}: {found:?}");
        let hot = session.hot().unwrap();
        assert!(hot.turns().all(|turn| turn.metadata.is_some() == (turn.turn_number != 7)), "{what}");
    };
    check("recorded", &[MemoryTier::Hot, MemoryTier::Warm]);
    session.end().unwrap();
    fixture.open().run_jobs(RunJobs::default()).unwrap();
    assert!(
        ask::<u32>(&fixture.path(), "SELECT count(*) FROM archived_turns") > 3,
        "some are in the archive"
    );
    assert!(
        ask::<u32>(&fixture.path(), "SELECT count(*) FROM conversation_turns") > 1,
        "and some are kept verbatim"
    );
    check("compressed", &[MemoryTier::Cold]);
    session.restore().unwrap();
    check("restored", &[MemoryTier::Warm]);
    assert!(fixture.open().doctor().unwrap().is_healthy());
}

#[test]
fn a_repeated_record_gives_the_first_result_whatever_its_metadata() {
    let fixture = Fixture::new();
    let session = fixture.session();
    let first = session.record(turn(1).caller_id("t1").metadata(json!({ "try": 1 }))).unwrap();
    for again in [turn(1).caller_id("t1").metadata(json!({ "try": 2 })), turn(1).caller_id("t1")] {
        let known = session.record(again).unwrap();
        assert_eq!((known.outcome, known.turn_id), (RecordOutcome::Known, first.turn_id));
        assert_eq!(kept(&session, 1), Some(json!({ "try": 1 })));
    }
}

#[test]
fn what_is_no_object_or_out_of_bounds_is_refused_and_changes_nothing() {
    let fixture = Fixture::new();
    let session = fixture.session();
    session.set_title(Some("a title")).unwrap();
    session.set_metadata(Some(json!({ "a": 1 }))).unwrap();
    let before = dump(&fixture.path());
    let mut deep = json!({});
    for _ in 0..1_000 {
        deep = json!({ "in": deep });
    }
    let refused = |what: &str, result: thermocline::Result<()>| {
        let error = result.expect_err(what);
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{what}");
        assert!(!format!("{error} {error:?}").contains(CANARY), "{what}: {error:?}");
        assert_same(&dump(&fixture.path()), &before, what);
    };
    for metadata in
        [json!([CANARY]), json!(CANARY), json!(null), json!({ CANARY: "x".repeat(16 << 10) }), deep]
    {
        let what = metadata.as_object().map_or("no object", |_| "too large or too deep");
        refused(what, session.record(turn(1).metadata(metadata.clone())).map(drop));
        refused(what, session.set_metadata(Some(metadata)));
    }
    for title in [String::new(), CANARY.repeat(30), format!("{CANARY}\0")] {
        refused("a title", session.set_title(Some(&title)));
    }
}

#[test]
fn a_session_has_a_title_and_metadata_that_a_talk_keeps_when_it_goes_on() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let session = alex.session_named("chat").unwrap();
    let info = session.info().unwrap();
    assert_eq!((info.title, info.metadata), (None, None));
    session.set_title(Some("Boats")).unwrap();
    session.set_metadata(Some(json!({ "model": "small" }))).unwrap();
    session.record(turn(1)).unwrap();
    fixture.clock.advance(TimeDelta::days(2));
    session.record(turn(2)).unwrap();
    let about = || {
        let info = session.info().unwrap();
        (info.part, info.title, info.metadata)
    };
    assert_eq!(about(), (2, Some("Boats".to_owned()), Some(json!({ "model": "small" }))));
    let shown = "SELECT group_concat(title || ' ' || metadata, ', ') FROM v_sessions";
    assert_eq!(ask::<String>(&fixture.path(), shown), r#"Boats {"model":"small"}, Boats {"model":"small"}"#);
    session.end().unwrap();
    session.set_title(None).unwrap();
    session.set_metadata(None).unwrap();
    assert_eq!(about(), (2, None, None), "an ended session can be named too");
    assert!(fixture.open().doctor().unwrap().is_healthy());
}

/// Records what it is asked, and gives answers that are of no use.
#[derive(Debug, Default)]
struct Listener(Mutex<String>);

impl ChatModel for Listener {
    fn name(&self) -> &'static str {
        "listener"
    }

    fn complete<'a>(&'a self, prompt: &'a ChatPrompt) -> Completing<'a> {
        self.0.lock().unwrap().push_str(&[&*prompt.system, &*prompt.user].concat());
        Box::pin(async { Ok("no".to_owned()) })
    }
}

#[test]
fn titles_and_metadata_are_neither_found_nor_shown_to_an_llm() {
    let mut fixture = Fixture::new();
    let listener = Arc::new(Listener::default());
    fixture.config.summarizer = Some(Arc::new(LlmSummarizer::new(listener.clone())));
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    let marked = |key: &str| {
        let session = alex.session_named(key).unwrap();
        session.set_title(Some(CANARY)).unwrap();
        session.set_metadata(Some(json!({ CANARY: CANARY }))).unwrap();
        for n in 1..=9 {
            session
                .record(long_turn(n).caller_id(format!("{key}/{n}")).metadata(json!({ CANARY: CANARY })))
                .unwrap();
        }
        session
    };
    let talks = [marked("old"), marked("new")];
    let check = |what: &str| {
        for session in &talks {
            assert!(session.search(CANARY, 10).unwrap().is_empty(), "{what}");
            let message = format!("You mentioned the lamp earlier. {CANARY}");
            let context = session.context(&message, ContextOptions::default()).unwrap();
            assert!(!context.text.contains(CANARY) && context.text.contains("lamp"), "{what}");
            let plain =
                session.context("You mentioned the lamp earlier.", ContextOptions::default()).unwrap();
            let receipt = alex.receipt(plain.receipt).unwrap();
            assert!(!serde_json::to_string(&receipt).unwrap().contains(CANARY), "{what}");
        }
        let found = alex.recall(CANARY, RecallOptions::default()).unwrap();
        assert!(found.items.iter().all(|item| item.parts.words == 0.0), "{what}");
    };
    check("recorded");
    talks[0].end().unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    check("compressed");
    let asked = listener.0.lock().unwrap();
    assert!(asked.contains("lamp") && !asked.contains(CANARY), "LLM#1 was asked");
}

/// Writes the file as an older version would have left it: the schema up to a migration, and the matching columns of the
/// rows.
pub fn older(fixture: &Fixture, version: u32, path: &Path) {
    let conn = Connection::open_with_flags(path, OpenFlags::default()).unwrap();
    conn.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    let mut migrations: Vec<(u32, std::path::PathBuf)> =
        std::fs::read_dir(format!("{}/migrations", env!("CARGO_MANIFEST_DIR")))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| {
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                (name[1..].split_once("__").unwrap().0.parse().unwrap(), path)
            })
            .filter(|(number, _)| *number <= version)
            .collect();
    migrations.sort();
    for (_, migration) in migrations {
        conn.execute_batch(&std::fs::read_to_string(migration).unwrap()).unwrap();
    }
    conn.execute("ATTACH ?1 AS new", [fixture.path().to_str().unwrap()]).unwrap();
    let list = |sql: &str| -> Vec<String> {
        let mut stmt = conn.prepare(sql).unwrap();
        stmt.query_map([], |row| row.get(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap()
    };
    let history: String =
        list("SELECT sql FROM new.sqlite_schema WHERE name = 'thermocline_schema_history'").remove(0);
    conn.execute_batch(&history).unwrap();
    for table in list("SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    {
        let columns = list(&format!("SELECT name FROM pragma_table_info('{table}')")).join(", ");
        let which = if table == "thermocline_schema_history" {
            format!("version <= {version}")
        } else {
            "true".to_owned()
        };
        conn.execute_batch(&format!(
            "DELETE FROM {table}; INSERT INTO {table} ({columns}) SELECT {columns} FROM new.{table} WHERE {which}"
        ))
        .unwrap();
    }
    let id: i32 =
        conn.query_row("SELECT application_id FROM new.pragma_application_id", [], |row| row.get(0)).unwrap();
    conn.execute_batch(&format!("DETACH new; PRAGMA application_id = {id}")).unwrap();
}

#[test]
fn a_file_from_before_titles_and_metadata_keeps_its_rows_and_checksums_and_takes_both() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    let old = alex.session_named("old").unwrap();
    (1..=9).for_each(|n| drop(old.record(long_turn(n)).unwrap()));
    old.end().unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    alex.session_named("open").unwrap().record(turn(1)).unwrap();
    memory.close().unwrap();
    let left_out = &["thermocline_schema_history.*", "sqlite_sequence.*", "user_scopes.revision"];
    let before = dump_without(&fixture.path(), left_out);

    let upgraded = Fixture::new();
    upgraded.clock.set(thermocline::Clock::now(&*fixture.clock));
    older(&fixture, 10, &upgraded.path());
    let memory = upgraded.open();
    assert_same(&dump_without(&upgraded.path(), left_out), &before, "upgraded");
    let diagnosis = memory.doctor().unwrap();
    assert!(diagnosis.is_healthy(), "{diagnosis:?}");
    let open = memory.user("alex").unwrap().session_named("open").unwrap();
    open.set_title(Some("still open")).unwrap();
    open.record(NewTurn::new("More.", "").metadata(json!({ "n": 2 }))).unwrap();
    assert_eq!((kept(&open, 1), kept(&open, 2)), (None, Some(json!({ "n": 2 }))));
    assert_eq!(open.info().unwrap().title.as_deref(), Some("still open"));
    assert!(memory.doctor().unwrap().is_healthy());
}
