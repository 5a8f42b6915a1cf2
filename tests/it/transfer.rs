//! A user's memory is moved from one file to another entirely, or not at all.

use std::{
    io::{BufReader, Read, Write},
    sync::{Arc, Mutex},
};

use chrono::TimeDelta;
use serde_json::{Value, json};
use thermocline::{
    Attribute, ContextOptions, ErrorKind, MemoryTier, NewTurn, Origin, Originals, RecordOutcome, RunJobs,
    SnapshotId,
    blocking::{Thermocline, User},
};
use uuid::Uuid;

use crate::{
    dump::{assert_same, dump},
    scripted::{Scripted, reads_anchors},
    support::{Fixture, long_turn, turn, turn_of},
};

/// Text that no error may contain.
const CANARY: &str = "qwcanaryqw";

/// A buffer that is written on another thread.
#[derive(Clone, Default)]
struct Bytes(Arc<Mutex<Vec<u8>>>);

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Returns a user's whole memory as text.
pub fn export(user: &User) -> String {
    let bytes = Bytes::default();
    let counts = user.export(bytes.clone()).unwrap();
    let text = String::from_utf8(bytes.0.lock().unwrap().clone()).unwrap();
    let turns =
        counts.sessions + counts.turns + counts.summaries + counts.transitions + counts.aside + counts.uses;
    let memories = counts.memories + counts.edges + counts.episodes + counts.extracted + counts.erased;
    assert_eq!(text.lines().count() as u64, turns + counts.anchors + counts.derivations + memories + 2);
    text
}

pub fn import(memory: &Thermocline, name: &str, text: &str) -> thermocline::Result<thermocline::Transferred> {
    memory.import(name, BufReader::new(std::io::Cursor::new(text.to_owned())))
}

/// Returns a file, and its user with sessions, turns and anchors in many states, but without memories.
fn seed(fixture: &mut Fixture) -> (Thermocline, User) {
    fixture.config.summarizer = Some(Scripted::each(reads_anchors));
    for (originals, key) in [(Originals::Delete, "deleted"), (Originals::Archive, "archived \"ключ\" 鍵")]
    {
        fixture.config.originals = originals;
        let memory = fixture.open();
        let session = memory.user("alex").unwrap().session_named(key).unwrap();
        session.set_project(Some("project \u{2028} 🦊")).unwrap();
        session.set_title(Some("title \u{2028} 🦊")).unwrap();
        session.set_metadata(Some(json!({ "number": 0.1 + 0.2, "ключ": [null, "🦊"] }))).unwrap();
        session.record(turn(1).metadata(json!({}))).unwrap();
        for n in 2..=9 {
            let (user, reply) = crate::support::long_texts(n);
            let name = ["Alex", "Бо", "José"][n % 3];
            let said = NewTurn::new(format!("{CANARY} The name is {name}. {user}\n\t\"\\"), reply);
            let said =
                said.caller_id(format!("{key}/{n}")).snapshot(SnapshotId::from_uuid(Uuid::from_u128(7)));
            let said = if n % 5 == 0 { said.critical() } else { said };
            let said = said.metadata(json!({ "n": n, "in": [1.0 / 3.0, "\0"] }));
            session.record(if n % 4 == 0 { said.assistant_origin(Origin::Tool) } else { said }).unwrap();
            fixture.clock.advance(TimeDelta::seconds(7));
        }
        session.end().unwrap();
        memory.run_jobs(RunJobs::default()).unwrap();
    }
    let memory = fixture.open();
    let user = memory.user("alex").unwrap();
    let restored = user.session_named("restored").unwrap();
    for n in 1..=8 {
        restored.record(long_turn(n).user_name("Zoë").caller_id(format!("r{n}"))).unwrap();
    }
    restored.end().unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    restored.restore().unwrap();

    for (attribute, value) in
        [(Attribute::Name, "Ada"), (Attribute::Likes, "sushi 🍣"), (Attribute::Likes, "tea")]
    {
        user.set_anchor("user", attribute, value).unwrap();
    }
    let ada = user.anchors(None, 1_000).unwrap().into_iter().find(|anchor| anchor.value == "Ada").unwrap();
    user.retract_anchor(ada.id).unwrap();
    user.set_anchor("Sister Anna", Attribute::Home, "Lisbon").unwrap();

    let silent = user.session_named("silent").unwrap();
    let context =
        silent.context("Who is Zo\u{eb}, and where is the lamp?", ContextOptions::default()).unwrap();
    silent.record(turn(1).answering(context.receipt)).unwrap();
    memory.stats().unwrap(); // What was of use is counted by now.
    fixture.clock.advance(TimeDelta::days(2));
    user.session_named("silent").unwrap().record(turn(2)).unwrap(); // In its successor.
    let ended = user.session().unwrap();
    ended.record(turn_of(70)).unwrap();
    ended.end().unwrap();
    let open = user.session_named("open").unwrap();
    (1..=9).for_each(|n| drop(open.record(turn(n).caller_id(format!("open/{n}"))).unwrap()));
    user.session_named("empty").unwrap();
    let waiting = user.session_named("waiting").unwrap();
    let first = waiting.record(turn(1).caller_id("waiting/1")).unwrap().turn_id;
    waiting.record(turn(2).replacing(first)).unwrap();
    waiting.record_message(NewTurn::new("And then?", "").caller_id("waiting/2")).unwrap();
    (memory, user)
}

#[test]
fn what_was_exported_and_imported_is_exported_to_the_same_bytes() {
    let mut fixture = Fixture::new();
    let (_memory, user) = seed(&mut fixture);
    let exported = export(&user);

    let mut target = Fixture::new();
    target.config.summarizer.clone_from(&fixture.config.summarizer);
    target.clock.set(thermocline::Clock::now(&*fixture.clock));
    let memory = target.open();
    memory.user("mira").unwrap().session().unwrap().record(turn(1)).unwrap(); // The numbers of the file differ.
    import(&memory, "blake", &exported).unwrap();
    let blake = memory.user("blake").unwrap();
    let again = export(&blake);
    for (left, right) in again.lines().zip(exported.lines()) {
        assert_eq!(left, right);
    }
    assert_eq!(again, exported);
    let diagnosis = memory.doctor().unwrap();
    assert!(diagnosis.is_healthy(), "{diagnosis:?}");
}

#[test]
fn an_imported_memory_goes_on_as_the_old_one_would() {
    let mut fixture = Fixture::new();
    let (_memory, user) = seed(&mut fixture);
    let mut target = Fixture::new();
    target.config.summarizer.clone_from(&fixture.config.summarizer);
    target.clock.set(thermocline::Clock::now(&*fixture.clock));
    let memory = target.open();
    import(&memory, "blake", &export(&user)).unwrap();
    let blake = memory.user("blake").unwrap();

    assert_eq!(blake.anchors(None, 1_000).unwrap(), user.anchors(None, 1_000).unwrap());
    let open = blake.session_named("open").unwrap();
    assert_eq!(crate::support::hot(&open), [5, 6, 7, 8, 9]);
    assert_eq!(open.record(turn(3).caller_id("open/3")).unwrap().outcome, RecordOutcome::Known);
    assert_eq!(open.record(turn(10)).unwrap().turn_number, 10);
    let known = open.record(long_turn(3).user_name("Zoë").caller_id("r3")).unwrap();
    assert_eq!(known.outcome, RecordOutcome::Known);
    let deleted = NewTurn::new("other", "").caller_id("deleted/7");
    assert_eq!(open.record(deleted).unwrap_err().kind(), ErrorKind::Conflict, "its hash is known");

    let archived = blake.find_session("archived \"ключ\" 鍵").unwrap().unwrap();
    assert_eq!(archived.search("number 9", 1).unwrap()[0].turn.turn_number, 9);
    archived.restore().unwrap();
    archived.compress().unwrap();
    let report = memory.run_jobs(RunJobs::default()).unwrap();
    assert!(report.done >= 2 && report.later == 0, "{report:?}");
    assert_eq!(archived.info().unwrap().memory_tier, MemoryTier::Cold);
    let diagnosis = memory.doctor().unwrap();
    assert!(diagnosis.is_healthy(), "{diagnosis:?}");
}

/// Checks that an import is refused, changes no row, and does not reveal what it read.
#[track_caller]
fn check_refused(memory: &Thermocline, what: &str, text: &str, kind: ErrorKind) {
    let before = dump(memory.path());
    let error = import(memory, "blake", text).expect_err(what);
    assert_eq!(error.kind(), kind, "{what}: {error}");
    assert!(!format!("{error} {error:?}").contains(CANARY), "{what}: {error:?}");
    assert_same(&dump(memory.path()), &before, what);
}

/// Sets a field in the first line of a kind where its value is another one.
fn with(lines: &[&str], kind: &str, field: &str, new: &Value) -> String {
    let mut is_done = false;
    let lines: Vec<String> = lines
        .iter()
        .map(|line| {
            let mut value: Value = serde_json::from_str(line).unwrap();
            if is_done || value["line"] != kind || value[field] == *new {
                return (*line).to_owned();
            }
            assert!(value.get(field).is_some(), "{kind} has no {field}");
            is_done = true;
            value[field] = new.clone();
            value.to_string()
        })
        .collect();
    assert!(is_done, "no line of {kind}");
    lines.join("\n") + "\n"
}

#[test]
fn a_file_that_is_cut_short_doubled_or_mixed_up_changes_nothing() {
    let mut fixture = Fixture::new();
    let (_memory, user) = seed(&mut fixture);
    let exported = export(&user);
    let lines: Vec<&str> = exported.lines().collect();
    let target = Fixture::new();
    let memory = target.open();
    memory.user("blake").unwrap();
    let joined = |lines: &[&str]| lines.join("\n") + "\n";
    for cut in 0..lines.len() {
        check_refused(&memory, "cut short", &joined(&lines[..cut]), ErrorKind::InvalidInput);
        let mut without = lines.clone();
        without.remove(cut);
        check_refused(&memory, "a line is missing", &joined(&without), ErrorKind::InvalidInput);
    }
    let half = &exported[..exported.len() - 5];
    check_refused(&memory, "cut in a line", half, ErrorKind::InvalidInput);
    let foreign = [lines[0], &format!("{{\"line\":\"{CANARY}\"}}"), lines[1]];
    check_refused(&memory, "a foreign line", &joined(&foreign), ErrorKind::InvalidInput);
    check_refused(&memory, "not JSON", &joined(&[lines[0], CANARY]), ErrorKind::InvalidInput);
    check_refused(&memory, "two exports", &exported.replacen(lines[1], lines[0], 1), ErrorKind::InvalidInput);
    check_refused(&memory, "something else", CANARY, ErrorKind::InvalidInput);
}

#[test]
fn a_line_that_never_ends_is_not_read_to_its_end() {
    let target = Fixture::new();
    let endless = BufReader::new(std::io::repeat(b' ').take(1 << 40));
    let error = target.open().import("blake", endless).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
}

#[test]
fn a_file_that_contradicts_itself_changes_nothing() {
    let mut fixture = Fixture::new();
    let (_memory, user) = seed(&mut fixture);
    let exported = export(&user);
    let lines: Vec<&str> = exported.lines().collect();
    let target = Fixture::new();
    let memory = target.open();
    let nowhere = json!("00000000-0000-7000-8000-000000000000");
    let wrong = [
        ("memory", "format", json!(5)),
        ("aside", "replaced_by", json!(null)),
        ("aside", "replaced_at", json!("yesterday")),
        ("aside", "state", json!("incomplete")),
        ("aside", "turn_number", json!(0)),
        ("aside", "session_id", nowhere.clone()),
        ("aside", "user_message", json!("")),
        ("aside", "caller_id", json!("open/1")),
        ("end", "turns", json!(1)),
        ("end", "transitions", json!(1)),
        ("turn", "total_tokens", json!(1)),
        ("turn", "piece_tokens", json!(1)),
        ("turn", "user_message", json!("other words")),
        ("turn", "turn_number", json!(0)),
        ("turn", "turn_number", json!(99)),
        ("turn", "session_id", nowhere.clone()),
        ("turn", "user_origin", json!("oracle")),
        ("turn", "memory_tier", json!("frozen")),
        ("turn", "caller_id", json!("")),
        ("turn", "user_name", json!("a:b")),
        ("archived", "total_tokens", json!(1)),
        ("archived", "session_id", nowhere.clone()),
        ("deleted", "content_hash", json!("zz")),
        ("deleted", "turn_number", json!(99)),
        ("session", "turn_count", json!(99)),
        ("session", "caller_id", json!("")),
        ("session", "project", json!("\u{0}")),
        ("session", "title", json!("")),
        ("session", "metadata", json!([1])),
        ("turn", "metadata", json!({ "a": "x".repeat(16 << 10) })),
        ("archived", "metadata", json!(7)),
        ("summary", "original_turn_id", nowhere.clone()),
        ("summary", "session_id", nowhere.clone()),
        ("summary", "reliability", json!(7)),
        ("anchor", "attribute", json!("sign")),
        ("anchor", "value", json!("")),
        ("derivation", "anchor_id", nowhere.clone()),
        ("derivation", "turn_id", nowhere.clone()),
        ("derivation", "stance", json!("perhaps")),
        ("transition", "session_id", nowhere.clone()),
        ("transition", "reason", json!("because")),
        ("use", "turn_id", nowhere),
        ("use", "hits", json!(0)),
        ("use", "best", json!(99)),
        ("use", "last_hit", json!("yesterday")),
        ("use_count", "aspect", json!("weather")),
        ("use_count", "name", json!(CANARY)),
        ("use_count", "hits", json!(0)),
        ("use_count", "hits", json!(u64::MAX)),
    ];
    for (kind, field, new) in wrong {
        let text = with(&lines, kind, field, &new);
        check_refused(&memory, &format!("{kind}.{field} = {new}"), &text, ErrorKind::InvalidInput);
    }
}

/// Returns the lines of an export with an additional one, and matching counts in the last line.
fn with_another(mut lines: Vec<Value>, line: Value) -> Vec<Value> {
    let counted = match line["line"].as_str().unwrap() {
        "summary" => "summaries".to_owned(),
        "use_count" => "uses".to_owned(),
        kind => format!("{kind}s"),
    };
    let end = lines.last_mut().unwrap();
    end[&counted] = json!(end[&counted].as_u64().unwrap() + 1);
    let behind = lines.iter().rposition(|other| other["line"] == line["line"]).unwrap();
    lines.insert(behind + 1, line);
    lines
}

#[test]
fn what_can_be_only_once_in_a_file_is_refused_if_an_export_has_it_twice() {
    let mut fixture = Fixture::new();
    let (_memory, user) = seed(&mut fixture);
    let exported = export(&user);
    let lines: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let target = Fixture::new();
    let memory = target.open();
    let new_id = json!("00000000-0000-7000-8000-000000000000");
    let another = |kind: &str, changes: &[(&str, &Value)]| {
        let mut line = lines.iter().rfind(|line| line["line"] == kind).unwrap().clone();
        for (field, new) in changes {
            line[*field] = (*new).clone();
        }
        with_another(lines.clone(), line)
    };
    let anchor = lines.iter().rfind(|line| line["line"] == "anchor").unwrap();
    let is_of_it = |line: &Value| line["anchor_id"] == anchor["id"];
    let doubled_anchor = {
        let value = json!("Porto");
        let mut lines = another("anchor", &[("value", &value)]);
        lines.iter_mut().filter(|line| is_of_it(line)).for_each(|line| line["value"] = value.clone());
        lines
    };
    let doubled_value = {
        let with_anchor = another("anchor", &[("id", &new_id)]);
        let mut evidence = lines.iter().find(|line| is_of_it(line)).unwrap().clone();
        evidence["anchor_id"] = new_id.clone();
        with_another(with_anchor, evidence)
    };
    for (what, lines) in [
        ("a session", another("session", &[])),
        ("a session's key", another("session", &[("id", &new_id), ("turn_count", &json!(0))])),
        ("an anchor", doubled_anchor),
        ("an anchor's value", doubled_value),
        ("a piece of evidence", another("derivation", &[])),
        ("a summary", another("summary", &[])),
        ("what was of use", another("use", &[])),
        ("a count", another("use_count", &[])),
    ] {
        let text = lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n") + "\n";
        check_refused(&memory, what, &text, ErrorKind::InvalidInput);
    }
    let as_text: Vec<&str> = exported.lines().collect();
    let second = |kind: &str, field: &str| {
        let of_kind = || lines.iter().filter(|line| line["line"] == kind && !line[field].is_null());
        with(&as_text, kind, field, &of_kind().nth(1).unwrap()[field])
    };
    for (kind, field) in [("summary", "id"), ("turn", "caller_id"), ("archived", "caller_id")] {
        check_refused(&memory, kind, &second(kind, field), ErrorKind::InvalidInput);
    }
}

#[test]
fn who_has_a_memory_and_what_is_there_already_are_refused() {
    let mut fixture = Fixture::new();
    let (memory, user) = seed(&mut fixture);
    let exported = export(&user);
    check_refused(&memory, "the same file under another name", &exported, ErrorKind::Conflict);
    let target = Fixture::new();
    let memory = target.open();
    import(&memory, "blake", &exported).unwrap();
    check_refused(&memory, "a second time", &exported, ErrorKind::Conflict);
    let other = Fixture::new();
    other.alex().set_anchor("user", Attribute::Name, "Ada").unwrap();
    let memory = other.open();
    assert_eq!(
        import(&memory, "alex", &exported).unwrap_err().kind(),
        ErrorKind::Conflict,
        "an anchor is a memory"
    );
    memory.user("alex").unwrap().erase().unwrap();
    import(&memory, "alex", &exported).unwrap();
}

#[test]
fn an_id_that_anything_in_the_file_has_is_refused_whoever_owns_it() {
    let mut fixture = Fixture::new();
    let (memory, user) = seed(&mut fixture);
    let exported = export(&user);
    let lines: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ids = |kind: &str| -> Vec<&str> {
        let of_kind = lines.iter().filter(|line| kind.is_empty() || line["line"] == kind);
        of_kind.filter_map(|line| line["id"].as_str()).collect()
    };
    // Returns the same memory under other ids, except for the ids of one kind.
    let renamed_but = |kept: &[&str]| {
        let others = ids("").into_iter().filter(|id| !kept.contains(id));
        others.fold(exported.clone(), |text, id| text.replace(id, &format!("e{}", &id[1..])))
    };
    for kind in ["session", "turn", "archived", "deleted", "summary", "anchor"] {
        assert!(!ids(kind).is_empty(), "{kind}");
        check_refused(&memory, kind, &renamed_but(&ids(kind)), ErrorKind::Conflict);
    }
    import(&memory, "blake", &renamed_but(&[])).unwrap();
}

/// Returns other values to try for a field.
fn others(value: &Value) -> Vec<Value> {
    let words =
        ["hot", "warm", "cold", "call", "silence", "holds", "ends", "name", "likes", "user", "caller"];
    let mut others: Vec<Value> = words.iter().map(|word| json!(word)).collect();
    others.extend([json!(null), json!(0), json!(1), json!(2), json!(true), json!(false), json!([])]);
    others.extend([json!("2030-01-01T00:00:00Z"), json!("00000000-0000-7000-8000-000000000000")]);
    others.retain(|other| other != value);
    others
}

#[test]
fn whatever_a_file_says_it_is_refused_or_the_memory_is_sound() {
    let mut fixture = Fixture::new();
    let (_memory, user) = seed(&mut fixture);
    let exported = export(&user);
    let lines: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut target = Fixture::new();
    target.config.durability = thermocline::Durability::Relaxed;
    let memory = target.open();
    let mut unsound = Vec::new();
    for at in (0..lines.len()).step_by(16) {
        for (field, old) in lines[at].as_object().unwrap() {
            for new in others(old) {
                let mut lines = lines.clone();
                lines[at][field] = new.clone();
                let text = lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n") + "\n";
                if let Err(error) = import(&memory, "blake", &text) {
                    let of_us = "no statement of ours may meet a rule of the file";
                    assert_ne!(error.kind(), ErrorKind::Internal, "{of_us}: {field}: {old} -> {new}");
                    continue;
                }
                let user = memory.user("blake").unwrap();
                if !memory.doctor().unwrap().is_healthy()
                    || user.sessions(None, 1_000).is_err()
                    || user.anchors(None, 1_000).is_err()
                {
                    unsound.push(format!("{} {field}: {old} -> {new}", lines[at]["line"]));
                }
                user.erase().unwrap();
            }
        }
    }
    assert!(unsound.is_empty(), "{}", unsound.join("\n"));
}
