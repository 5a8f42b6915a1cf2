//! A file's schema is ours or refused: nothing that another program puts into the file acts on our rows.

use std::fs;

use rusqlite::Connection;
use thermocline::{ErrorKind, blocking::Thermocline};

use crate::support::{Fixture, turn};

/// The name of doctor's check.
const HOLDS: &str = "tables, indexes, views and triggers are as this version makes them, and nothing of another program acts on them";

/// Runs SQL as another program would, against a file that nobody has open.
fn meddle(fixture: &Fixture, sql: &str) {
    let conn = Connection::open_with_flags(fixture.path(), rusqlite::OpenFlags::default()).unwrap();
    conn.execute_batch(sql).unwrap();
}

fn with_a_turn() -> Fixture {
    let fixture = Fixture::new();
    fixture.session().record(turn(1)).unwrap();
    fixture
}

/// Returns what doctor says about the schema of a file that is opened to be read.
fn diagnosis(fixture: &Fixture) -> thermocline::Result<(u64, Vec<String>)> {
    let mut config = fixture.config.clone();
    config.read_only = true;
    let diagnosis = Thermocline::open_with(fixture.path(), config)?.doctor()?;
    let check = diagnosis.checks.into_iter().find(|check| check.holds == HOLDS).unwrap();
    Ok((check.problems, check.places))
}

/// Checks that a file with this change is refused with an error that names `object`, and stays as it was.
#[track_caller]
fn check_refused(sql: &str, object: &str, kind: ErrorKind) {
    let fixture = with_a_turn();
    meddle(&fixture, sql);
    let before = fs::read(fixture.path()).unwrap();
    let error = Thermocline::open_with(fixture.path(), fixture.config.clone()).unwrap_err();
    assert_eq!((error.kind(), fs::read(fixture.path()).unwrap() == before), (kind, true), "{sql}: {error}");
    let said = error.to_string();
    assert!(said.contains(object) && said.contains("thermocline restore"), "{sql}: {said}");
    match diagnosis(&fixture) {
        Ok((problems, places)) => {
            assert!(
                problems > 0 && places.iter().any(|place| place.starts_with(object)),
                "{sql}: {places:?}"
            );
        }
        Err(error) => assert!(error.to_string().contains(object), "{sql}: {error}"),
    }
}

/// Checks that a change is a backend's own business.
#[track_caller]
fn check_allowed(sql: &str) {
    let fixture = with_a_turn();
    meddle(&fixture, sql);
    let memory = fixture.open();
    memory.user("alex").unwrap().session().unwrap().record(turn(2)).unwrap();
    let diagnosis = memory.doctor().unwrap();
    assert!(diagnosis.is_healthy(), "{sql}: {diagnosis:?}");
}

#[test]
fn what_would_act_on_our_rows_is_refused_by_its_name() {
    let foreign = |sql: &str, object: &str| check_refused(sql, object, ErrorKind::ForeignFile);
    let on_ours = "the trigger leak on conversation_turns";
    for action in ["", "ON DELETE RESTRICT"] {
        foreign(&format!("CREATE TABLE holds(u BLOB REFERENCES Users(id) {action})"), "the table holds");
    }
    foreign(
        "CREATE TABLE shadow(t); CREATE TRIGGER leak AFTER INSERT ON conversation_turns
         BEGIN INSERT INTO shadow VALUES (NEW.user_message); END",
        on_ours,
    );
    foreign(
        "CREATE TRIGGER leak AFTER INSERT ON conversation_turns
         BEGIN DELETE FROM conversation_turns WHERE seq < NEW.seq; END",
        on_ours,
    );
    foreign(
        "CREATE TRIGGER leak BEFORE DELETE ON \"Conversation_Turns\" BEGIN SELECT RAISE(IGNORE); END",
        "the trigger leak",
    );
    foreign("CREATE TRIGGER leak AFTER UPDATE ON users BEGIN SELECT 1; END", "the trigger leak on users");
    foreign(
        "CREATE TRIGGER leak INSTEAD OF INSERT ON v_turns BEGIN SELECT 1; END",
        "the trigger leak on v_turns",
    );
    for named in
        ["conversation_turns", "'CONVERSATION_TURNS'", "[conversation_turns]", "`v_turns`", "/**/\"jobs\""]
    {
        foreign(
            &format!(
                "CREATE TABLE host(x); CREATE TRIGGER leak AFTER INSERT ON host BEGIN DELETE FROM {named}; END"
            ),
            "the trigger leak on host",
        );
    }
    foreign(
        "CREATE TABLE host(x); CREATE VIEW one AS SELECT user_message AS m FROM conversation_turns;
         CREATE VIEW two AS SELECT m FROM one;
         CREATE TRIGGER leak AFTER DELETE ON host BEGIN INSERT INTO host SELECT m FROM two; END",
        "the trigger leak on host",
    );
    foreign("CREATE INDEX slow ON conversation_turns(user_message)", "the index slow on conversation_turns");
    foreign("CREATE UNIQUE INDEX slow ON jobs(kind)", "the index slow on jobs");
    foreign("CREATE TABLE dbstat(name, pageno, pagetype)", "the table dbstat");
    foreign("CREATE VIEW PRAGMA_table_info AS SELECT 1 AS name", "the view PRAGMA_table_info");
    foreign("CREATE VIEW json_each AS SELECT 1 AS value", "the view json_each");
}

#[test]
fn what_is_ours_is_refused_once_somebody_has_changed_it() {
    let changed = |sql: &str, object: &str| check_refused(sql, object, ErrorKind::Corrupt);
    changed("ALTER TABLE conversation_turns ADD COLUMN mood TEXT", "the table conversation_turns");
    changed("ALTER TABLE users ADD COLUMN mail TEXT NOT NULL DEFAULT ''", "the table users");
    changed("DROP VIEW v_turns; CREATE VIEW v_turns AS SELECT 1 AS id", "the view v_turns");
    changed("DROP VIEW v_turns; CREATE TABLE v_turns(id)", "the table v_turns");
    changed(
        "DROP TRIGGER inserted_turn;
         CREATE TRIGGER inserted_turn AFTER INSERT ON conversation_turns BEGIN SELECT 1; END",
        "the trigger inserted_turn",
    );
    changed(
        "DROP INDEX idx_turns_user; CREATE INDEX idx_turns_user ON conversation_turns(seq)",
        "the index idx_turns_user",
    );
    changed("DROP TABLE promotions", "the table promotions");
    changed(
        "PRAGMA legacy_alter_table = ON; ALTER TABLE promotions RENAME TO others;
         CREATE VIEW promotions AS SELECT * FROM others",
        "the view promotions",
    );
}

#[test]
fn a_row_of_the_schema_that_is_not_what_it_says_is_refused() {
    let forge = |kind: &str, name: &str, sql: &str| {
        let cookie = "PRAGMA schema_version = 9999; PRAGMA writable_schema = OFF";
        format!(
            "CREATE TABLE host(x); PRAGMA writable_schema = ON;
             INSERT INTO sqlite_schema VALUES ('{kind}', '{name}', 'host', 0, '{sql}'); {cookie}"
        )
    };
    let leak = "CREATE TRIGGER leak AFTER INSERT ON conversation_turns BEGIN DELETE FROM jobs; END";
    for (kind, name) in [("view", "leak"), ("table", "harmless"), ("trigger", "other"), ("index", "leak")] {
        let fixture = with_a_turn();
        meddle(&fixture, &forge(kind, name, leak));
        assert!(Thermocline::open_with(fixture.path(), fixture.config.clone()).is_err(), "{kind} {name}");
    }
}

#[test]
fn a_backends_own_tables_are_its_own_business() {
    check_allowed(
        "CREATE TABLE mail(id INTEGER PRIMARY KEY, turn BLOB REFERENCES conversation_turns(id) ON DELETE SET NULL, jobs TEXT);
         CREATE INDEX idx_mail ON mail(turn); CREATE UNIQUE INDEX idx_jobs ON mail(jobs);
         CREATE TABLE mail_log(id, at);
         CREATE TRIGGER mail_logged AFTER INSERT ON mail BEGIN INSERT INTO mail_log VALUES (NEW.id, 'now'); END;
         CREATE VIEW mail_of_turns AS SELECT m.id, t.user_message FROM mail AS m
           JOIN conversation_turns AS t ON t.id = m.turn",
    );
    check_allowed("CREATE VIRTUAL TABLE found USING fts5(text)");
    check_allowed("CREATE TABLE host(x UNIQUE); ANALYZE host");
    check_allowed("VACUUM");
    check_allowed("REINDEX");
}

#[test]
fn what_is_missing_and_holds_nothing_is_named_by_doctor_and_made_again_by_opening() {
    for (object, said) in [
        ("INDEX idx_turns_user", "the index idx_turns_user on conversation_turns is missing"),
        ("INDEX idx_units_caller", "the index idx_units_caller on recall_units is missing"),
        ("VIEW v_turns", "the view v_turns is missing"),
        ("TRIGGER inserted_turn", "the trigger inserted_turn on conversation_turns is missing"),
    ] {
        let fixture = with_a_turn();
        meddle(&fixture, &format!("DROP {object}"));
        assert_eq!(diagnosis(&fixture).unwrap(), (1, vec![said.to_owned()]));
        assert!(fixture.open().doctor().unwrap().is_healthy(), "{object}");
        assert_eq!(diagnosis(&fixture).unwrap().0, 0, "{object}");
    }
}

#[test]
fn what_is_planted_while_the_file_is_open_stops_every_write_until_it_is_gone() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    let session = alex.session().unwrap();
    let told = session.record(turn(1)).unwrap();
    meddle(
        &fixture,
        "CREATE TABLE shadow(t); CREATE TRIGGER leak AFTER DELETE ON conversation_turns
         BEGIN INSERT INTO shadow VALUES (OLD.user_message); END",
    );
    assert_eq!(session.record(turn(2)).unwrap_err().kind(), ErrorKind::ForeignFile);
    let error = alex.erase_turn(told.turn_id).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ForeignFile, "{error}");
    assert!(error.to_string().contains("the trigger leak on conversation_turns"), "{error}");
    alex.erase().unwrap_err();
    assert!(!memory.doctor().unwrap().is_healthy());
    let copied: i64 = Connection::open_with_flags(fixture.path(), rusqlite::OpenFlags::default())
        .unwrap()
        .query_row("SELECT count(*) FROM shadow", [], |row| row.get(0))
        .unwrap();
    assert_eq!(copied, 0, "nothing was deleted under the trigger");

    meddle(&fixture, "DROP TRIGGER leak");
    session.record(turn(2)).unwrap();
    alex.erase_turn(told.turn_id).unwrap();
    meddle(&fixture, "DROP INDEX idx_units_caller");
    session.record(turn(3)).unwrap();
    assert!(memory.doctor().unwrap().is_healthy(), "a missing index is made again by the next write");
}
