//! Memories are moved from one file to another with everything that belongs to them, and hostile exports are refused.

use std::collections::BTreeSet;

use rusqlite::Connection;
use serde_json::{Value, json};
use thermocline::{
    ErrorKind,
    blocking::{Thermocline, User},
};

use crate::{
    dump::{assert_same, dump, meddle, reader, rewrite},
    knowledge::{CANARY, as_text, counted, memory_id, seed, turns_alone, uuid},
    support::{Fixture, turn},
    transfer::{export, import},
};

/// The tables of memories.
const TABLES: [&str; 12] = [
    "user_memories",
    "memory_state",
    "memory_units",
    "memory_terms",
    "memory_edges",
    "memory_sources",
    "memory_changes",
    "memory_sensors",
    "memory_reviews",
    "memory_episodes",
    "extracted_sessions",
    "erased_memories",
];

/// The first 16 bytes of SHA-256 of the first memory's id.
const HASH_OF_THE_FIRST: &str = "1ead02f2ef442466e136f9b9acdd3bf3";

fn columns(conn: &Connection, table: &str) -> Vec<String> {
    let mut stmt = conn.prepare(&format!("SELECT name FROM pragma_table_info('{table}')")).unwrap();
    stmt.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

fn imported(fixture: &Fixture, lines: &[Value]) -> (Thermocline, User) {
    let memory = fixture.open();
    import(&memory, "blake", &as_text(lines)).unwrap();
    let user = memory.user("blake").unwrap();
    (memory, user)
}

#[test]
fn memories_come_back_to_the_same_bytes_with_every_column() {
    let lines = seed();
    let (first, second) = (Fixture::new(), Fixture::new());
    let memory = first.open();
    memory.user("mira").unwrap().session().unwrap().record(turn(1)).unwrap(); // The numbers of the file differ.
    let (memory, user) = imported(&first, &lines);
    let exported = export(&user);
    let read: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (exported, line) in read.iter().zip(&lines) {
        assert_eq!(exported, line);
    }
    assert_eq!(read.len(), lines.len());
    let diagnosis = memory.doctor().unwrap();
    assert!(diagnosis.is_healthy(), "{diagnosis:?}");

    let (memory, user) = imported(&second, &read);
    assert_eq!(export(&user), exported);
    assert!(memory.doctor().unwrap().is_healthy());
    let conn = reader(&second.path());
    let mut empty = Vec::new();
    for table in TABLES {
        for column in columns(&conn, table) {
            let filled =
                format!("SELECT count(*) FROM {table} WHERE {column} IS NOT NULL AND {column} <> ''");
            let filled: u64 = conn.query_row(&filled, [], |row| row.get(0)).unwrap();
            if filled == 0 {
                empty.push(format!("{table}.{column}"));
            }
        }
    }
    // Volatile memories stay behind, none of these is in quarantine, and the hash of what a sensor saw is not exported.
    let stays = ["user_memories.session_no", "user_memories.hidden_hash", "memory_sensors.seen_hash"];
    assert_eq!(empty, stays, "every other column is seen to come back");
}

#[test]
fn an_imported_memory_is_indexed_and_embedded_as_one_that_was_saved() {
    let fixture = Fixture::new();
    let (memory, user) = imported(&fixture, &seed());
    let report = memory.run_jobs(thermocline::RunJobs::default()).unwrap();
    assert_eq!(report.later, 0, "{report:?}");
    assert!(memory.doctor().unwrap().is_healthy());
    let units = |kind: &str| -> u64 {
        let units = format!("SELECT count(*) FROM recall_units WHERE kind = '{kind}'");
        reader(&fixture.path()).query_row(&units, [], |row| row.get(0)).unwrap()
    };
    assert_eq!((units("turn"), units("memory")), (4, 3), "what holds or is archived has a unit");
    user.session_named("talk").unwrap().record(turn(9)).unwrap();
    user.erase().unwrap();
    assert_eq!((units("turn"), units("memory")), (0, 0));
}

#[test]
fn without_a_memory_an_export_is_what_it_was() {
    let exported = turns_alone();
    let first: Value = serde_json::from_str(exported.lines().next().unwrap()).unwrap();
    assert_eq!(first["format"], 3);
    assert!(!exported.contains("memories") && !exported.contains("episodes"));
    let fixture = Fixture::new();
    let memory = fixture.open();
    let with_format = |format: u64| exported.replace("\"format\":3", &format!("\"format\":{format}"));
    for format in [1, 2, 4] {
        let name = format!("user{format}");
        import(&memory, &name, &with_format(format)).unwrap();
        assert_eq!(export(&memory.user(&name).unwrap()), exported);
        memory.user(&name).unwrap().erase().unwrap();
    }
    let mut lines = seed();
    lines[0]["format"] = json!(3);
    check_refused(&memory, "memories in an export of turns", &lines, ErrorKind::InvalidInput);
    lines[0]["format"] = json!(5);
    check_refused(&memory, "a newer one", &lines, ErrorKind::InvalidInput);
}

#[test]
fn what_goes_with_its_session_stays_behind() {
    let fixture = Fixture::new();
    let (memory, _) = imported(&fixture, &seed());
    memory.close().unwrap();
    rewrite(
        &fixture.path(),
        "UPDATE user_memories SET session_no = 1, seq = NULL, frequency = 'high' WHERE title = 'No lamps';
         DELETE FROM recall_units WHERE kind = 'memory' AND owner_id IN (SELECT id FROM user_memories WHERE seq IS NULL);
         DELETE FROM memory_units WHERE memory_no IN (SELECT memory_no FROM user_memories WHERE seq IS NULL);
         UPDATE memory_reviews SET other_no = 4 WHERE kind = 'merge';",
    );
    let user = fixture.open().user("blake").unwrap();
    let exported = export(&user);
    assert!(!exported.contains(&memory_id(4)), "nothing is about it");
    let target = Fixture::new();
    let memory = target.open();
    import(&memory, "blake", &exported).unwrap();
    assert_eq!(export(&memory.user("blake").unwrap()), exported);
    assert!(memory.doctor().unwrap().is_healthy());
}

/// Checks that an import is refused, changes no row, and does not reveal what it read.
#[track_caller]
fn check_refused(memory: &Thermocline, what: &str, lines: &[Value], kind: ErrorKind) {
    let before = dump(memory.path());
    let error = import(memory, "blake", &as_text(lines)).expect_err(what);
    assert_eq!(error.kind(), kind, "{what}: {error}");
    assert!(!format!("{error} {error:?}").contains(CANARY), "{what}: {error:?}");
    assert_same(&dump(memory.path()), &before, what);
}

/// Returns the field that a path refers to: `knowledge/0/state/usage_count` is a field of the first line of its kind.
fn field<'l>(lines: &'l mut [Value], path: &str) -> &'l mut Value {
    let mut parts = path.splitn(3, '/');
    let (kind, at) = (parts.next().unwrap(), parts.next().unwrap().parse().unwrap());
    let rest = format!("/{}", parts.next().unwrap());
    let line = lines.iter_mut().filter(|line| line["line"] == kind).nth(at).unwrap();
    line.pointer_mut(&rest).unwrap_or_else(|| panic!("{path} is no field"))
}

#[test]
#[expect(clippy::too_many_lines, reason = "lines of data")]
fn a_memory_that_could_not_be_saved_is_not_imported() {
    let lines = seed();
    let fixture = Fixture::new();
    let memory = fixture.open();
    memory.user("blake").unwrap();
    let long = |bytes: usize| json!("x".repeat(bytes));
    let nested = (0..70).fold(json!(1), |inner, _| json!([inner]));
    let wrong = [
        ("knowledge/0/id", json!(memory_id(2))),
        ("knowledge/0/kind", json!("decision")), // Only a procedure has steps.
        ("knowledge/0/kind", json!("rumour")),
        ("knowledge/0/status", json!("superseded")),
        ("knowledge/1/superseded_by", json!(memory_id(99))),
        ("knowledge/1/superseded_by", json!(memory_id(2))),
        ("knowledge/1/superseded_by", json!(null)),
        ("knowledge/0/frequency_since", json!("+12000-01-01T00:00:00Z")),
        ("knowledge/0/importance", json!(1.1)),
        ("knowledge/0/importance", json!(-0.0)),
        ("knowledge/0/confidence", json!(-1)),
        ("knowledge/0/reliability", json!(2)),
        ("knowledge/0/validity_window_s", json!(u64::MAX)),
        ("knowledge/0/validity_window_s", json!(-1)),
        ("knowledge/0/volatility", json!("ephemeral")),
        ("knowledge/0/volatility", json!("high")),
        ("knowledge/0/trust", json!(2)), // `ultra_low` needs a higher trust.
        ("knowledge/0/trust", json!(5)),
        ("knowledge/3/trust", json!(3)), // A tool says so.
        ("knowledge/3/origin", json!("oracle")),
        ("knowledge/3/frequency", json!("low")),
        ("knowledge/0/made_by", long(201)),
        ("knowledge/0/project", json!("")),
        ("knowledge/0/goal_signature", json!("a\u{0}b")),
        ("knowledge/0/version", json!(0)),
        ("knowledge/0/revision", json!(-1)),
        ("knowledge/0/caller_id", long(257)),
        ("knowledge/0/title", json!(" ")),
        ("knowledge/0/title", long(201)),
        ("knowledge/0/summary", long(1_025)),
        ("knowledge/0/content", long((64 << 10) + 1)),
        ("knowledge/0/content", json!("a\u{0}b")),
        ("knowledge/0/procedure", json!({})),
        ("knowledge/0/procedure/steps", json!(vec!["x"; 101])),
        ("knowledge/0/extra", json!([])),
        ("knowledge/0/extra", json!({ "a": nested })),
        ("knowledge/0/extra", json!({ "a": long(65 << 10) })),
        ("knowledge/0/tags", json!(["#lamps"])),
        ("knowledge/0/tags", json!(["lamps", "Lamps"])),
        ("knowledge/0/tags", json!(vec!["x"; 65])),
        ("knowledge/0/entities", json!([""])),
        ("knowledge/0/state/usage_count", json!(3)),
        ("knowledge/0/state/usage_count", json!(0)),
        ("knowledge/0/state/access_count", json!(1)),
        ("knowledge/0/state/success_rate", json!(1.0)),
        ("knowledge/0/state/success_rate", json!(null)),
        ("knowledge/0/state/context_count", json!(2)),
        ("knowledge/0/state/project_count", json!(0)),
        ("knowledge/0/state/resurfaced_on", json!("+12000-01-01")),
        ("knowledge/0/state/resurfacing", json!("perhaps")),
        ("knowledge/0/sources/3/from", json!({ "turn": uuid(99) })),
        ("knowledge/0/sources/0/from", json!({ "import": uuid(51) })),
        ("knowledge/0/sources/0/from", json!({ "rumour": uuid(51) })),
        ("knowledge/0/sources/3/quote", long(4_097)),
        (
            "knowledge/2/sources",
            lines.iter().find(|line| line["title"] == "No lamps").unwrap()["sources"].clone(),
        ),
        ("knowledge/0/changes", json!([])),
        ("knowledge/0/changes/0/op", json!("rewrite")),
        ("knowledge/0/changes/0/reason", long(1_025)),
        ("knowledge/1/changes/1/before", json!({ "kind": "rumour" })),
        ("knowledge/1/changes/1/before", json!({ "title": "" })),
        ("knowledge/1/changes/1/before", json!({ "importance": 7 })),
        ("knowledge/1/changes/1/before", json!({ "status": "active" })),
        ("knowledge/1/changes/1/before", json!({ "status": "superseded", "superseded_by": memory_id(2) })),
        ("knowledge/1/changes/1/before", json!({ "volatility": "ephemeral" })),
        ("knowledge/1/changes/1/before", json!({ "trust": 1, "frequency": "low" })),
        ("knowledge/2/changes/0/before", json!({ "status": "superseded" })),
        ("knowledge/0/revision", json!(2)), // A revision about which the lines say nothing.
        ("knowledge/3/reviews", json!([])), // The memory waits for a review.
        ("edge/0/type", json!("follows")),
        ("knowledge/1/changes/1/before", json!({ "content": long((64 << 10) + 1) })),
        ("knowledge/1/changes/1/before", json!({ "other": long(2 << 20) })),
        ("knowledge/0/sensors/0/sensor", json!("")),
        ("knowledge/0/sensors/0/expect", json!("on")),
        ("knowledge/0/reviews/0/id", json!(uuid(61))),
        ("knowledge/0/reviews/0/other_id", json!(memory_id(99))),
        ("knowledge/0/reviews/0/other_id", json!(memory_id(1))),
        ("knowledge/0/reviews/0/decision", json!(null)),
        ("knowledge/0/reviews/0/decided_at", json!(null)),
        ("knowledge/0/reviews/1/decided_by", json!("mira")),
        ("edge/0/id", json!(uuid(81))),
        ("edge/0/from", json!(memory_id(99))),
        ("edge/0/from", json!(memory_id(2))),
        ("edge/0/strength", json!(1.5)),
        ("edge/0/type", json!("likes")),
        ("edge/0/context", long(1_025)),
        ("edge/0/description", long((64 << 10) + 1)),
        ("episode/0/id", json!(uuid(92))),
        ("episode/0/role", json!("use")),
        ("episode/0/memory_id", json!(memory_id(2))),
        ("episode/0/memory_id", json!(memory_id(99))),
        ("episode/0/memory_id", json!(null)),
        ("episode/5/session_id", json!(uuid(99))),
        ("episode/5/turn_number", json!(0)),
        ("episode/5/outcome", json!("failure")),
        ("episode/6/receipt_id", json!(uuid(55))),
        ("episode/6/caller_id", json!("run-1")),
        ("episode/8/tags", json!(["night", "#Night"])),
        ("episode/8/title", long(201)),
        ("episode/8/happened_at", json!("yesterday")),
        ("extracted/0/session_id", json!(uuid(99))),
        ("erased/0/id_hash", json!("1f")),
        ("erased/0/id_hash", json!(HASH_OF_THE_FIRST)),
        ("end/0/memories", json!(4)),
        ("end/0/episodes", json!(0)),
    ];
    for (path, new) in wrong {
        let mut lines = lines.clone();
        let old = std::mem::replace(field(&mut lines, path), new.clone());
        assert_ne!(old, new, "{path}");
        // One context rates a memory once.
        let new = new.to_string();
        let what = format!("{path} = {}", &new[..new.len().min(60)]);
        if path == "episode/6/receipt_id" {
            *field(&mut lines, "episode/6/outcome") = json!("failure");
        }
        check_refused(&memory, &what, &lines, ErrorKind::InvalidInput);
    }
    import(&memory, "blake", &as_text(&lines)).unwrap();
}

#[test]
fn a_history_that_leads_into_a_ring_is_not_undone() {
    let mut lines = seed();
    let supersede = json!({
        "op": "status", "group_id": uuid(72), "made_by": "user", "made_at": "2026-03-02T09:30:00Z",
        "old_value": "superseded", "new_value": "active", "reason": "",
        "before": { "status": "superseded", "superseded_by": memory_id(2) }, "undone_by": null,
    });
    field(&mut lines, "knowledge/2/changes").as_array_mut().unwrap().push(supersede);
    let fixture = Fixture::new();
    let (memory, user) = imported(&fixture, &lines);
    let memories = user.memories().by(thermocline::Origin::User);
    let third = memories.get(memory_id(3).parse().unwrap()).unwrap();
    let refused = memories.undo(third.id).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
    assert_eq!(memories.get(third.id).unwrap(), third);
    assert!(memory.doctor().unwrap().is_healthy());
}

#[test]
fn what_can_be_only_once_is_refused_where_it_stands_twice() {
    let lines = seed();
    let fixture = Fixture::new();
    let memory = fixture.open();
    memory.user("blake").unwrap();
    for line in &lines[1..lines.len() - 1] {
        if !["knowledge", "edge", "episode", "extracted", "erased"].contains(&line["line"].as_str().unwrap())
        {
            continue;
        }
        let mut doubled = lines.clone();
        doubled.insert(doubled.len() - 1, line.clone());
        check_refused(&memory, &line["line"].to_string(), &counted(doubled), ErrorKind::InvalidInput);
    }
    let check = |what: &str, changes: &[(&str, Value)]| {
        let mut lines = lines.clone();
        for (path, new) in changes {
            *field(&mut lines, path) = new.clone();
        }
        check_refused(&memory, what, &lines, ErrorKind::InvalidInput);
    };
    let (title, content) = (json!("Three lamps"), lines.iter().find(|line| line["title"] == "Three lamps"));
    let content = content.unwrap()["content"].clone();
    check(
        "the same text",
        &[
            ("knowledge/4/status", json!("active")),
            ("knowledge/4/title", title),
            ("knowledge/4/content", content),
        ],
    );
    let slot = json!("light");
    check(
        "a slot",
        &[
            ("knowledge/4/status", json!("active")),
            ("knowledge/4/goal_signature", slot.clone()),
            ("knowledge/2/goal_signature", slot),
        ],
    );
    check("a caller's id", &[("knowledge/4/caller_id", json!("lamp"))]);
    check(
        "a ring",
        &[("knowledge/2/status", json!("superseded")), ("knowledge/2/superseded_by", json!(memory_id(2)))],
    );
    check(
        "what holds both ways",
        &[
            ("edge/0/type", json!("contradicts")),
            ("edge/0/from", json!(memory_id(1))),
            ("edge/0/to", json!(memory_id(4))),
        ],
    );
}

#[test]
fn an_id_that_anybodys_memory_has_is_refused() {
    let lines = seed();
    let fixture = Fixture::new();
    let (memory, _) = imported(&fixture, &lines);
    let exported = as_text(&lines);
    // Returns the same lines under other ids, except for the ids that are kept.
    let renamed_but = |kept: &[String]| -> Vec<Value> {
        let mut ids: BTreeSet<String> = BTreeSet::new();
        for line in &lines {
            ids.extend(line["id"].as_str().map(|id| id.trim_start_matches("mem_").to_owned()));
            let reviews = line["reviews"].as_array().into_iter().flatten();
            ids.extend(reviews.map(|review| review["id"].as_str().unwrap().to_owned()));
        }
        ids.retain(|id| !kept.contains(id));
        let text = ids.iter().fold(exported.clone(), |text, id| text.replace(id, &format!("e{}", &id[1..])));
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let check = |what: &str, kept: &str| {
        let before = dump(memory.path());
        let error = import(&memory, "carol", &as_text(&renamed_but(&[kept.to_owned()]))).expect_err(what);
        assert_eq!(error.kind(), ErrorKind::Conflict, "{what}: {error}");
        assert_same(&dump(memory.path()), &before, what);
    };
    memory.user("carol").unwrap();
    check("a memory", &uuid(5));
    check("an edge", &uuid(80));
    check("an episode", &uuid(113));
    check("a review", &uuid(61));
    import(&memory, "carol", &as_text(&renamed_but(&[]))).unwrap();
    assert!(memory.doctor().unwrap().is_healthy());
}

/// Returns other values to try in the place of this one.
fn others(value: &Value) -> Vec<Value> {
    let mut others = vec![json!("superseded"), json!("low"), json!("tool"), json!("use"), json!("success")];
    others.extend([json!(null), json!(0), json!(2), json!(true), json!([]), json!({})]);
    others.extend([json!("2030-01-01T00:00:00Z"), json!(uuid(99)), json!(memory_id(1)), json!("")]);
    others.retain(|other| other != value);
    others
}

#[test]
fn whatever_a_line_says_it_is_refused_or_the_memory_is_sound() {
    let lines = seed();
    let mut fixture = Fixture::new();
    fixture.config.durability = thermocline::Durability::Relaxed;
    let memory = fixture.open();
    let mut unsound = Vec::new();
    // The lines that say the most, of each kind.
    let title = |title: &str| lines.iter().position(|line| line["title"] == title).unwrap();
    let of_kind = |kind: &str| lines.iter().position(|line| line["line"] == kind).unwrap();
    let places =
        [title("The lamp"), title("Two lamps"), of_kind("edge"), of_kind("episode"), title("It is dark")];
    for at in places {
        for (name, old) in lines[at].as_object().unwrap() {
            for new in others(old) {
                let mut lines = lines.clone();
                lines[at][name] = new.clone();
                if let Err(error) = import(&memory, "blake", &as_text(&lines)) {
                    let of_us = "no statement of ours may meet a rule of the file";
                    assert_ne!(error.kind(), ErrorKind::Internal, "{of_us}: {name}: {old} -> {new}");
                    continue;
                }
                let user = memory.user("blake").unwrap();
                let exported = export(&user);
                if !memory.doctor().unwrap().is_healthy() || exported.is_empty() {
                    unsound.push(format!("{} {name}: {old} -> {new}", lines[at]["line"]));
                }
                user.erase().unwrap();
            }
        }
    }
    assert!(unsound.is_empty(), "{}", unsound.join("\n"));
}

#[test]
fn a_damaged_row_of_a_memory_is_not_exported() {
    for (table, change) in [
        ("user_memories", "title = 'Lies'"),
        ("memory_state", "access_count = 9"),
        ("memory_terms", "name = 'lies'"),
        ("memory_edges", "context = 'lies'"),
        ("memory_sources", "quote = 'lies'"),
        ("memory_changes", "reason = 'lies'"),
        ("memory_sensors", "subject = 'lies'"),
        ("memory_reviews", "why = 'lies'"),
        ("memory_episodes", "summary = 'lies'"),
        ("extracted_sessions", "extracted_at = '2026-03-01T12:00:00.000Z'"),
        ("erased_memories", "id_hash = randomblob(16)"),
    ] {
        let fixture = Fixture::new();
        let (memory, user) = imported(&fixture, &seed());
        meddle(&fixture.path(), &format!("UPDATE {table} SET {change}"));
        let error = user.export(std::io::sink()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{table}: {error}");
        drop(memory);
    }
}
