//! Disks flip bits: damaged data is never shown as if it were what was said, doctor finds it wherever it is, and everything
//! else continues without it.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::BufReader,
    path::Path,
};

use rusqlite::{Connection, OpenFlags, types::Value};
use serde_json::json;
use thermocline::{
    Attribute, Context, ContextOptions, ErrorKind, JobKind, RecallOptions, RecalledItem, RecordOutcome,
    RunJobs,
    blocking::{Thermocline, User},
};

use crate::{
    doctor::{doctor, seed},
    dump::{ask, meddle, rewrite},
    support::{Fixture, long_turn, turn},
};

fn writable(path: &Path) -> Connection {
    let conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
    conn.execute_batch("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF").unwrap();
    conn
}

/// Changes one bit of a column, in the first row that `which` selects and that has a value there. Returns false if there is
/// none, or the schema does not allow it.
fn flip(conn: &Connection, table: &str, column: &str, which: &str) -> bool {
    let key: Vec<String> = rows(conn, &format!("SELECT name FROM pragma_table_info('{table}') WHERE pk > 0"));
    let key = if key.is_empty() { vec!["rowid".to_owned()] } else { key };
    let sql = format!(
        "SELECT {column}, {} FROM {table} WHERE {column} IS NOT NULL AND {column} <> '' AND {which} LIMIT 1",
        key.join(", ")
    );
    let mut stmt = conn.prepare(&sql).unwrap();
    let mut found = stmt.query([]).unwrap();
    let Some(row) = found.next().unwrap() else { return false };
    let flipped = |mut bytes: Vec<u8>| {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        bytes
    };
    let new = match row.get::<_, Value>(0).unwrap() {
        Value::Integer(number) => Value::Integer(number ^ 1),
        Value::Real(number) => Value::Real(f64::from_bits(number.to_bits() ^ 1)),
        Value::Text(text) => match String::from_utf8(flipped(text.into_bytes())) {
            Ok(text) => Value::Text(text),
            Err(_) => return false,
        },
        Value::Blob(bytes) => Value::Blob(flipped(bytes)),
        Value::Null => return false,
    };
    let mut values = vec![new];
    values.extend((1..=key.len()).map(|at| row.get::<_, Value>(at).unwrap()));
    drop(found);
    let this: Vec<String> = (2..).zip(&key).map(|(at, column)| format!("{column} = ?{at}")).collect();
    let sql = format!("UPDATE {table} SET {column} = ?1 WHERE {}", this.join(" AND "));
    conn.execute(&sql, rusqlite::params_from_iter(values)).is_ok_and(|changed| changed == 1)
}

fn rows(conn: &Connection, sql: &str) -> Vec<String> {
    let mut stmt = conn.prepare(sql).unwrap();
    stmt.query_map([], |row| row.get(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

/// Returns the tables in which doctor reports damaged rows.
fn damaged_tables(path: &Path) -> BTreeSet<String> {
    let places = doctor(path).checks.into_iter().flat_map(|check| check.places);
    places.filter_map(|place| place.split([' ', ':']).next().map(str::to_owned)).collect()
}

#[test]
fn a_user_whose_row_is_damaged_is_not_taken_for_one_whom_nobody_knows() {
    let fixture = seed();
    meddle(&fixture.path(), "PRAGMA foreign_keys = OFF; UPDATE users SET id = randomblob(16)");
    let memory = fixture.open();
    assert_eq!(memory.find_user("alex").unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(memory.record("alex", None, turn(1)).unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn doctor_sees_one_changed_bit_in_any_column_of_any_table() {
    // No checksum covers these columns: doctor checks them by what they refer to or are computed from. `version` says which
    // build may open the file, `tier_pad` only pads, and `revision` only counts.
    const LEFT_OUT: &[&str] = &[
        "conversation_turns.turn_key",
        "conversation_turns.user_id",
        "conversation_turns.words",
        "conversation_turns.snapshot_id",
        "user_scopes.revision",
        "conversation_turns.tier_pad",
        "thermocline_schema_history.version",
    ];
    let fixture = seed();
    {
        let alex = fixture.alex();
        let session = alex.session_named("one").unwrap();
        let [erased, replaced] =
            [8, 9].map(|n| session.record(turn(n).caller_id(n.to_string())).unwrap().turn_id);
        alex.erase_turn(erased).unwrap();
        session.record(turn(10).replacing(replaced)).unwrap();
        let context = session.context("What of the lamp and the kettle?", ContextOptions::default()).unwrap();
        session.record(turn(7).answering(context.receipt).metadata(json!({ "a": 1 }))).unwrap();
        session.set_title(Some("a title")).unwrap();
        session.set_metadata(Some(json!({ "a": 1 }))).unwrap();
    }
    let gap = "INSERT INTO vector_gaps (user_no, space_no, seq, tries, last_error)
               SELECT user_no, space_no, 1, 1, 'no' FROM user_spaces";
    let tended = "UPDATE user_scopes SET tended_on = '2026-03-01' WHERE user_no = 1;";
    rewrite(&fixture.path(), &format!("{tended}{gap}"));
    fixture.open().close().unwrap();
    assert_eq!(damaged_tables(&fixture.path()), BTreeSet::new());

    let columns: Vec<(String, String)> = {
        let conn = writable(&fixture.path());
        let sql =
            "SELECT t.name || '.' || c.name FROM pragma_table_list AS t JOIN pragma_table_info(t.name) AS c
                   WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite_%'
                   ORDER BY t.name = 'thermocline_settings', c.cid, t.name";
        let named = rows(&conn, sql).into_iter().filter(|column| !LEFT_OUT.contains(&column.as_str()));
        named
            .map(|column| column.split_once('.').map(|(t, c)| (t.to_owned(), c.to_owned())).unwrap())
            .collect()
    };
    // One column of each table at once; then the next one of each.
    let (mut left, mut flipped) = (columns.clone(), BTreeSet::new());
    while !left.is_empty() {
        let copy = fixture.copy();
        let (mut tables, mut later) = (BTreeSet::new(), Vec::new());
        let conn = writable(&copy.path());
        for (table, column) in left {
            if tables.contains(&table) || table == "thermocline_settings" && !tables.is_empty() {
                later.push((table, column)); // Settings affect other tables, so they are changed alone.
            } else if flip(&conn, &table, &column, "true") {
                tables.insert(table.clone());
                flipped.insert((table, column));
            }
        }
        drop(conn);
        assert_eq!(damaged_tables(&copy.path()), tables);
        left = later;
    }
    for column in &LEFT_OUT[..4] {
        let copy = fixture.copy();
        let (table, column) = column.split_once('.').unwrap();
        assert!(flip(&writable(&copy.path()), table, column, "true"));
        assert!(!doctor(&copy.path()).is_healthy(), "{column}");
    }
    let tables = |columns: &mut dyn Iterator<Item = &(String, String)>| -> BTreeSet<String> {
        columns.map(|(table, _)| table.clone()).collect()
    };
    assert_eq!(tables(&mut flipped.iter()), tables(&mut columns.iter()), "a bit of each table was changed");
    for column in
        ["conversation_turns.metadata", "conversation_sessions.metadata", "conversation_sessions.title"]
    {
        let column = column.split_once('.').map(|(table, column)| (table.to_owned(), column.to_owned()));
        assert!(column.is_some_and(|column| flipped.contains(&column)));
    }
    assert!(flipped.len() > 250, "{} columns", flipped.len());
}

#[test]
fn what_changes_a_damaged_row_leaves_it_damaged() {
    let fixture = Fixture::new();
    let session = fixture.session();
    session.record(turn(1)).unwrap();
    meddle(&fixture.path(), "UPDATE conversation_turns SET user_message = 'question 2'");
    session.end().unwrap(); // It is warm now.
    assert_eq!(ask::<String>(&fixture.path(), "SELECT memory_tier FROM conversation_turns"), "warm");
    assert_eq!(session.turn(1).unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(damaged_tables(&fixture.path()), BTreeSet::from(["conversation_turns".to_owned()]));
}

#[test]
fn a_damaged_turn_is_an_error_that_names_it_and_the_talk_goes_on_without_it() {
    let fixture = Fixture::new();
    {
        let session = fixture.session();
        for n in 1..=9 {
            session.record(turn(n).caller_id(format!("c{n}"))).unwrap();
        }
    }
    // One that is warm by now, and one that is hot.
    meddle(
        &fixture.path(),
        "UPDATE conversation_turns SET user_message = 'forged' WHERE turn_number IN (2, 7)",
    );
    let alex = fixture.alex();
    let session = alex.session().unwrap();
    for n in [2, 7] {
        let errors = [
            session.turn(n).unwrap_err(),
            alex.turn_by_caller_id(&format!("c{n}")).unwrap_err(),
            alex.export(std::io::sink()).unwrap_err(),
        ];
        for error in &errors {
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        }
        assert!(errors[0].to_string().starts_with(&format!("turn {n} of session number 1 is damaged")));
    }
    assert_eq!(session.turn(3).unwrap().unwrap().said.user_message, "question 3");
    assert_eq!((session.hot().unwrap().damaged(), session.warm().unwrap().damaged), (&[7][..], vec![2]));

    let context = session.context("question 7 and 2", ContextOptions::default()).unwrap();
    assert!(!context.text.contains("forged"));
    let shown: BTreeSet<u32> = context.items.iter().filter_map(|item| item.turn_number).collect();
    assert_eq!(shown, BTreeSet::from([1, 3, 4, 5, 6, 8, 9]));
    for n in [2, 7] {
        let named = format!("turn {n} of this session is damaged");
        assert!(context.missing.iter().any(|missing| missing.contains(&named)), "{:?}", context.missing);
    }
    assert_eq!(alex.receipt(context.receipt).unwrap().missing, context.missing);

    // The session continues and ends, and all its turns but the two damaged ones are compressed.
    assert_eq!(session.record(turn(10)).unwrap().turn_number, 10);
    session.end().unwrap();
    let memory = fixture.open();
    memory.run_jobs(RunJobs::default()).unwrap();
    let warm = "SELECT group_concat(turn_number) FROM conversation_turns WHERE memory_tier = 'warm'";
    assert_eq!(ask::<String>(&fixture.path(), warm), "2,7");
    let job =
        memory.jobs(None, 1_000).unwrap().into_iter().find(|job| job.kind == JobKind::Compress).unwrap();
    assert!(job.last_error.unwrap().contains("turn 2 is damaged"));
    // A damaged turn can be erased.
    session.erase().unwrap();
    assert_eq!(ask::<u32>(&fixture.path(), "SELECT count(*) FROM conversation_turns"), 0);
}

#[test]
fn an_index_that_leads_to_another_turn_is_damage_and_not_that_turn() {
    let fixture = Fixture::new();
    let session = fixture.session();
    for n in 1..=2 {
        session.record(turn(n).caller_id(format!("c{n}"))).unwrap();
    }
    meddle(
        &fixture.path(),
        "UPDATE recall_units SET owner_id = (SELECT owner_id FROM recall_units WHERE seq = 2) WHERE seq = 1",
    );
    assert_eq!(fixture.alex().turn_by_caller_id("c1").unwrap_err().kind(), ErrorKind::Corrupt);
}

/// Records 200 turns in four sessions, compressed, indexed and embedded, and sets anchors.
fn told() -> Fixture {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    for s in 0..4 {
        let session = alex.session_named(&format!("s{s}")).unwrap();
        for n in 0..50 {
            let recorded = if n % 10 == 0 { turn(50 * s + n) } else { long_turn(50 * s + n) };
            session.record(recorded.caller_id(format!("c{}", 50 * s + n))).unwrap();
        }
        session.end().unwrap();
    }
    for value in ["violins", "lamps", "kettles", "bridges", "ladders"] {
        alex.set_anchor("user", Attribute::Likes, value).unwrap();
    }
    memory.run_jobs(RunJobs::default()).unwrap();
    assert_eq!(memory.jobs(None, 1_000).unwrap(), []);
    memory.close().unwrap();
    fixture
}

const QUESTION: &str = "Which lamp stood beside the old kettle, and what of ladders and violins?";

fn asked(alex: &User) -> (Vec<String>, Vec<String>, Context) {
    let recall = alex.recall(QUESTION, RecallOptions::default().k(60)).unwrap();
    let said = |item: &RecalledItem| match item {
        RecalledItem::Turn(turn) => Some(format!("{}\n{}", turn.said.user_message, turn.said.ai_response)),
        _ => None,
    };
    let texts = recall.items.iter().filter_map(|recalled| said(&recalled.item)).collect();
    (texts, recall.missing, alex.context(QUESTION, ContextOptions::default()).unwrap())
}

/// The damaged column in `told`, what recall reports if it meets the damage, whether it always does, and whether a job mends
/// it.
const PLANTED: &[(&str, &str, &str, bool, bool)] = &[
    ("archived_frames", "body", "turn ", false, false),
    ("conversation_summaries", "summary_text", "the summary of turn ", false, false),
    ("identity_anchors", "value", "anchors: ", true, false),
    ("derivations", "made_by", "anchors: ", true, false),
    ("postings", "data", "words: ", false, true),
    ("unit_blocks", "body", "index: ", true, true),
    ("vector_blocks", "body", "vectors: ", true, true),
];

#[test]
fn one_damaged_thing_costs_that_thing_and_no_recall() {
    let told = told();
    let truth: BTreeSet<String> = asked(&told.alex()).0.into_iter().collect();
    let of_all = {
        let alex = told.alex();
        let text = |n: usize| {
            let said = alex.turn_by_caller_id(&format!("c{n}")).unwrap().said;
            format!("{}\n{}", said.user_message, said.ai_response)
        };
        (0..200).map(text).collect::<BTreeSet<String>>()
    };
    let mut cases = 0;
    let mut said = BTreeSet::new();
    for &(table, column, says, is_always, is_mended) in PLANTED {
        for case in 0..5 {
            let copy = told.copy();
            let count: i64 = ask(&copy.path(), &format!("SELECT count(*) FROM {table}"));
            let nth = (case * count / 5).min(count - 1);
            let row = format!(
                "({column}) = (SELECT {column} FROM {table} WHERE {column} <> '' ORDER BY {column} LIMIT 1 OFFSET {nth})"
            );
            let conn = writable(&copy.path());
            if !flip(&conn, table, column, &row) {
                continue;
            }
            drop(conn);
            let memory = Thermocline::open_with(copy.path(), copy.config.clone()).unwrap();
            let alex = memory.user("alex").unwrap();
            let (texts, missing, context) = asked(&alex);
            assert!(texts.iter().all(|text| of_all.contains(text)), "{table}: what nobody said");
            assert!(texts.len() + 16 >= truth.len(), "{table}: {} of {}", texts.len(), truth.len());
            assert!(missing.iter().all(|missing| !missing.starts_with("recall: ")), "{missing:?}");
            assert!(missing.iter().all(|it| it.starts_with(says)), "{table}: {missing:?}");
            assert!(!missing.is_empty() || !is_always, "{table}");
            said.extend((!missing.is_empty()).then_some(table));
            assert!(context.items.len() > 3, "{table}: {:?}", context.missing);
            let damaged = memory.doctor().unwrap();
            assert!(!damaged.is_healthy(), "{table}");
            memory.run_jobs(RunJobs::default()).unwrap();
            assert_eq!(memory.jobs(None, 1_000).unwrap(), [], "{table}");
            let failed: Vec<_> =
                memory.doctor().unwrap().checks.into_iter().filter(|check| check.problems > 0).collect();
            assert_eq!(failed.is_empty(), is_mended, "{table}: {failed:?}");
            if is_mended {
                let (texts, missing, _) = asked(&alex);
                assert_eq!(
                    (texts.into_iter().collect::<BTreeSet<_>>(), missing),
                    (truth.clone(), Vec::new())
                );
            }
            cases += 1;
        }
    }
    assert!(cases >= 30, "{cases}");
    assert!(said.len() >= 5, "{said:?}");
}

/// Fills the first leaf page of a table that has rows with bytes that are not a valid page.
fn break_page(path: &Path, table: &str) {
    let sql =
        format!("SELECT min(pageno) FROM dbstat WHERE name = '{table}' AND pagetype = 'leaf' AND ncell > 0");
    let page: usize = ask(path, &sql);
    let mut bytes = fs::read(path).unwrap();
    bytes[(page - 1) * 4_096..page * 4_096].fill(0xff);
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_page_that_is_none_costs_what_was_on_it() {
    for table in ["archived_frames", "postings", "vector_blocks", "conversation_summaries"] {
        let told = told();
        let before = asked(&told.alex()).0.len();
        break_page(&told.path(), table);
        let (texts, missing, context) = asked(&told.alex());
        assert!(texts.len() > before / 4, "{table}: {} of {before}, {missing:?}", texts.len());
        assert!(context.items.len() > 3, "{table}: {:?}", context.missing);
    }
}

#[test]
fn a_row_whose_tier_or_number_is_damaged_keeps_its_session_from_nothing() {
    let fixture = Fixture::new();
    {
        let session = fixture.session();
        (1..=9).for_each(|n| drop(session.record(turn(n)).unwrap()));
    }
    // One bit of a hot row that the index of hot rows does not contain, and the number of a warm row.
    let mut bytes = fs::read(fixture.path()).unwrap();
    let hot = bytes.windows(4).position(|window| window == b"hotx").unwrap();
    bytes[hot + 2] ^= 1;
    fs::write(fixture.path(), bytes).unwrap();
    writable(&fixture.path())
        .execute_batch("UPDATE conversation_turns SET turn_number = -2 WHERE turn_key & 0xffffff = 2")
        .unwrap();
    let session = fixture.session();
    assert_eq!(session.record(turn(10)).unwrap().turn_number, 10);
    assert!(!session.context("question 9", ContextOptions::default()).unwrap().missing.is_empty());
    session.search("question", 5).unwrap();
    (11..=20).for_each(|n| drop(session.record(turn(n)).unwrap()));
    session.end().unwrap();
    fixture.open().run_jobs(RunJobs::default()).unwrap();
    assert!(!fixture.open().doctor().unwrap().is_healthy());
    session.erase().unwrap();
    assert_eq!(ask::<u32>(&fixture.path(), "SELECT count(*) FROM conversation_turns"), 0);
}

#[test]
fn a_hot_turn_whose_row_is_gone_keeps_no_other_from_moving() {
    let fixture = Fixture::new();
    let session = fixture.session();
    (1..=5).for_each(|n| drop(session.record(turn(n)).unwrap()));
    meddle(&fixture.path(), "DELETE FROM conversation_turns WHERE turn_number = 1");
    (6..=7).for_each(|n| drop(session.record(turn(n)).unwrap()));
    let moved: Vec<u32> =
        session.transitions(None, 1_000).unwrap().iter().map(|moved| moved.turn_number).collect();
    assert_eq!(moved, [2]);
}

#[test]
fn a_turn_whose_row_is_gone_has_its_place_in_doctor_and_stops_an_export_until_it_is_erased() {
    let fixture = Fixture::new();
    let session = fixture.session();
    let recorded: Vec<_> = (1..=3).map(|n| session.record(turn(n)).unwrap()).collect();
    meddle(&fixture.path(), "DELETE FROM conversation_turns WHERE turn_number = 2");
    let places: Vec<_> = doctor(&fixture.path()).checks.into_iter().flat_map(|check| check.places).collect();
    let lost = recorded[1].turn_id;
    assert_eq!(places, [format!("recall_units where user_no = 1 and seq = 2: turn {lost}")]);

    let alex = fixture.alex();
    let error = alex.export(std::io::sink()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains(&lost.to_string()), "{error}");
    alex.erase_turn(lost).unwrap();
    assert!(fixture.open().doctor().unwrap().is_healthy());
    let written = fixture.path().with_extension("jsonl");
    alex.export(File::create(&written).unwrap()).unwrap();
    let read = BufReader::new(File::open(&written).unwrap());
    assert_eq!(Fixture::new().open().import("alex", read).unwrap().turns, 2);
}

#[test]
fn a_session_is_erased_with_the_turns_that_damage_left_nothing_of() {
    let fixture = Fixture::new();
    let session = fixture.session();
    (1..=3).for_each(|n| drop(session.record(turn(n).caller_id(format!("c{n}"))).unwrap()));
    meddle(&fixture.path(), "DELETE FROM conversation_turns WHERE turn_number < 3");
    session.erase().unwrap();
    assert!(fixture.open().doctor().unwrap().is_healthy());
    let again = fixture.session().record(turn(9).caller_id("c2")).unwrap();
    assert_eq!(again.outcome, RecordOutcome::New, "its caller's id is free again");
}

#[test]
fn a_turn_that_may_still_be_in_the_archive_is_not_said_to_be_erased() {
    for damage in
        ["DELETE FROM archived_turns", "DELETE FROM archived_turns; DELETE FROM conversation_summaries"]
    {
        let fixture = Fixture::new();
        let session = fixture.session();
        let recorded: Vec<_> = (1..=9).map(|n| session.record(long_turn(n)).unwrap().turn_id).collect();
        session.end().unwrap();
        fixture.open().run_jobs(RunJobs::default()).unwrap();
        meddle(&fixture.path(), damage);
        let alex = fixture.alex();
        assert_eq!(alex.export(std::io::sink()).unwrap_err().kind(), ErrorKind::Corrupt, "{damage}");
        let refused: Vec<_> = recorded.iter().filter_map(|turn| alex.erase_turn(*turn).err()).collect();
        assert!(
            !refused.is_empty() && refused.iter().all(|error| error.kind() == ErrorKind::Corrupt),
            "{refused:?}"
        );
        session.erase().unwrap();
        let left = "SELECT (SELECT count(*) FROM archived_frames) + (SELECT count(*) FROM recall_units)";
        assert_eq!(ask::<u32>(&fixture.path(), left), 0, "{damage}");
    }
}

#[test]
fn what_was_damaged_before_there_were_checksums_is_not_taken_for_sound() {
    let fixture = Fixture::new();
    fixture.session().record(turn(1)).unwrap();
    rewrite(&fixture.path(), "UPDATE conversation_turns SET ai_response = 'forged'");
    assert_eq!(fixture.session().turn(1).unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn a_damaged_receipt_is_an_error() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let asked = alex.recall("Where is the lamp?", RecallOptions::default()).unwrap();
    alex.receipt(asked.receipt).unwrap();
    meddle(&fixture.path(), "UPDATE recall_receipts SET query = 'Where is the ramp?'");
    assert_eq!(alex.receipt(asked.receipt).unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn of_a_turn_whose_frame_is_damaged_the_summary_is_left() {
    let told = told();
    meddle(&told.path(), "UPDATE archived_frames SET body = zeroblob(40)");
    let recall = told.alex().recall(QUESTION, RecallOptions::default()).unwrap();
    let summaries = recall.items.iter().filter(|it| matches!(it.item, RecalledItem::Summary { .. })).count();
    assert!(summaries >= 5, "{:?}", recall.items);
    assert!(recall.missing.iter().any(|missing| missing.starts_with("turn ")), "{:?}", recall.missing);
}

#[test]
fn a_damaged_block_is_read_from_the_rows_and_made_anew() {
    let told = told();
    let before = asked(&told.alex()).0;
    meddle(&told.path(), "UPDATE unit_blocks SET body = zeroblob(3) WHERE block_no = 1");
    let memory = told.open();
    let alex = memory.user("alex").unwrap();
    let (texts, missing, _) = asked(&alex);
    assert_eq!(texts, before, "the same in the same order");
    assert_eq!(missing.len(), 1, "{missing:?}");
    let kinds = |memory: &Thermocline| -> Vec<JobKind> {
        memory.jobs(None, 1_000).unwrap().iter().map(|job| job.kind).collect()
    };
    alex.receipts(1).unwrap(); // What was queued before is in the file now.
    assert_eq!(kinds(&memory), [JobKind::Mend]);
    memory.run_jobs(RunJobs::default()).unwrap();
    assert_eq!((asked(&alex).0, asked(&alex).1), (before, Vec::new()));
    assert!(memory.doctor().unwrap().is_healthy());
}

#[test]
fn a_search_in_a_session_reads_texts_where_postings_are_damaged() {
    let told = told();
    let found = || -> Vec<(u32, f64)> {
        let session = told.alex().find_session("s0").unwrap().unwrap();
        let found = session.search(QUESTION, 50).unwrap();
        found.into_iter().map(|found| (found.turn.turn_number, found.score)).collect()
    };
    let before = found();
    assert!(before.len() >= 20, "{before:?}");
    meddle(&told.path(), "UPDATE postings SET data = x'80'");
    assert_eq!(found(), before);
}

#[test]
fn what_is_damaged_is_erased_with_all_that_leads_to_it() {
    for damage in [
        "UPDATE conversation_turns SET words = zeroblob(40) WHERE turn_key < 33554432",
        "UPDATE archived_turns SET position = position + 1 WHERE turn_key < 33554432",
        "UPDATE archived_frames SET body = zeroblob(40) WHERE frame_no = 1",
        "UPDATE postings SET data = x'80'",
        "UPDATE unit_blocks SET body = x'80'",
        "UPDATE vector_blocks SET body = x'80'",
    ] {
        let told = told();
        meddle(&told.path(), damage);
        let memory = told.open();
        let alex = memory.user("alex").unwrap();
        let session = alex.find_session("s0").unwrap().unwrap();
        assert!(!session.erase().unwrap().is_pending, "{damage}");
        memory.run_jobs(RunJobs::default()).unwrap();
        memory.run_jobs(RunJobs::default()).unwrap();
        memory.doctor().unwrap(); // Damage that nobody met before.
        memory.run_jobs(RunJobs::default()).unwrap();
        let diagnosis = memory.doctor().unwrap();
        let failed: Vec<_> = diagnosis.checks.into_iter().filter(|check| check.problems > 0).collect();
        assert!(failed.is_empty(), "{damage}: {failed:?}");
        assert!(asked(&alex).0.len() > 40, "{damage}");
    }
}

#[test]
fn an_older_file_is_given_its_checksums_when_it_is_opened() {
    let fixture = seed();
    rewrite(&fixture.path(), "");
    assert!(doctor(&fixture.path()).is_healthy());
    let unsealed = "SELECT count(*) FROM conversation_turns WHERE row_check = x'00000000'";
    assert_eq!(ask::<u32>(&fixture.path(), unsealed), 0);
}
