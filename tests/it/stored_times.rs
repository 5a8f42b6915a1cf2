//! Every time that is taken can be read again: a leap second is folded, and a year without four digits is refused.

use chrono::{DateTime, TimeDelta, Utc};
use thermocline::{
    ContextOptions, ErrorKind, MemoryKind, NewMemory, NewNote, NewTurn, Origin, RecallOptions, TurnId,
    blocking::Thermocline,
};

use crate::{
    dump::meddle,
    support::{Fixture, at},
    transfer::{export, import},
};

/// Times that callers may state, with what is stored. `None` is refused.
const STATED: [(&str, Option<&str>); 12] = [
    ("2016-12-31T23:59:60Z", Some("2016-12-31T23:59:59.999Z")),
    ("2016-12-31T23:59:60.5Z", Some("2016-12-31T23:59:59.999Z")),
    ("2017-01-01T13:59:60.999999999+14:00", Some("2016-12-31T23:59:59.999Z")),
    ("1969-07-20T20:17:40.123456789Z", Some("1969-07-20T20:17:40.123Z")),
    ("2024-02-29T00:00:00-23:59", Some("2024-02-29T23:59:00Z")),
    ("0001-01-01T00:00:00Z", Some("0001-01-01T00:00:00Z")),
    ("0001-01-01T00:00:00+14:00", None),
    ("0000-12-31T23:59:59Z", None),
    ("-0001-06-01T00:00:00Z", None),
    ("9999-12-31T23:59:60Z", Some("9999-12-31T23:59:59.999Z")),
    ("9999-12-31T23:59:59-23:59", None),
    ("+10000-01-01T00:00:00Z", None),
];

#[test]
fn every_reader_reads_each_time_that_a_turn_may_have() {
    for (stated, stored) in STATED {
        let (fixture, other) = (Fixture::new(), Fixture::new());
        let memory = fixture.open();
        let user = memory.user("alex").unwrap();
        let session = user.session_named("boats").unwrap();
        let said = NewTurn::new("My boat is called Petrel.", "A fine name.").said_at(stated.parse().unwrap());
        let Some(stored) = stored else {
            let error = session.record(said).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{stated}");
            assert!(error.to_string().starts_with("said_at is in the year "), "{error}");
            assert!(session.turns(None, 10).unwrap().is_empty(), "{stated}");
            continue;
        };
        let id = session.record(said).unwrap().turn_id;
        assert_eq!(session.hot().unwrap().turns().next().unwrap().timestamp, at(stored), "{stated}");
        assert_eq!(session.turn(1).unwrap().unwrap().timestamp, at(stored), "{stated}");
        assert_eq!(user.recall("boat", RecallOptions::default()).unwrap().items.len(), 1, "{stated}");
        assert!(
            session.context("boat", ContextOptions::default()).unwrap().text.contains("Petrel"),
            "{stated}"
        );
        let copy = other.open();
        import(&copy, "alex", &export(&user)).unwrap();
        assert_eq!(export(&copy.user("alex").unwrap()), export(&user), "{stated}");
        assert!(memory.doctor().unwrap().is_healthy() && copy.doctor().unwrap().is_healthy(), "{stated}");
        user.erase_turn(id).unwrap();
        assert!(session.turns(None, 10).unwrap().is_empty(), "{stated}");
    }
}

#[test]
fn every_reader_reads_each_time_that_memories_and_notes_may_have() {
    for (stated, stored) in STATED {
        let fixture = Fixture::new();
        let stated: DateTime<Utc> = stated.parse().unwrap();
        let memory = fixture.open();
        let user = memory.user("alex").unwrap();
        let note = user.memories().note(NewNote::new("The boat was sold").happened_at(stated));
        let saved =
            user.memories().save(NewMemory::new(MemoryKind::Decision, "Boat", "Petrel.").said_at(stated));
        assert_eq!(note.is_ok(), stored.is_some(), "{stated:?}");
        // A memory refers to no time that is more than a day ahead.
        let is_past = stated < at("2026-03-01T12:00:00Z") + TimeDelta::days(1);
        assert_eq!(saved.is_ok(), stored.is_some() && is_past, "{stated:?}");
        for error in [note.err(), saved.err()].into_iter().flatten() {
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
        }
        export(&user);
        user.memories().episodes(thermocline::EpisodeFilter::default(), None, 10).unwrap();
        assert!(memory.doctor().unwrap().is_healthy(), "{stated:?}");
    }
}

/// What older versions took for a time, and stored: of such a row no time can be read.
const LEAP_SECOND: &str = "'2016-12-31T23:59:60.000Z'";

/// Writes the leap second to a column of some rows, so that their checksums hold, as an older version did.
fn leap(fixture: &Fixture, table: &str, column: &str, which: &str) {
    let set = format!("UPDATE {table} SET {column} = {LEAP_SECOND}, row_check = x'00000000' WHERE {which}");
    meddle(&fixture.path(), &set);
    let fill = "UPDATE thermocline_schema_history SET row_check = x'00000000'"; // The next open seals the rows.
    meddle(&fixture.path(), fill);
}

/// Returns the rows that doctor says cannot be read.
fn unreadable(memory: &Thermocline) -> Vec<String> {
    let checks = memory.doctor().unwrap().checks.into_iter();
    checks.filter(|check| check.holds.ends_with("can be read")).flat_map(|check| check.places).collect()
}

/// Two turns about boats, of which the second has a time that cannot be read.
fn with_a_bad_turn() -> (Fixture, TurnId) {
    let fixture = Fixture::new();
    let session = fixture.open().user("alex").unwrap().session_named("boats").unwrap();
    session.record(NewTurn::new("My boat is called Petrel.", "A fine name.")).unwrap();
    let bad = session.record(NewTurn::new("My other boat is called Auk.", "Another.")).unwrap().turn_id;
    leap(&fixture, "conversation_turns", "timestamp", "turn_number = 2");
    (fixture, bad)
}

#[test]
fn a_turn_whose_time_cannot_be_read_costs_only_itself_and_can_be_erased() {
    let (fixture, bad) = with_a_bad_turn();
    let memory = fixture.open();
    let user = memory.user("alex").unwrap();
    let session = user.find_session("boats").unwrap().unwrap();
    assert!(session.turn(1).unwrap().is_some());
    let named = format!(
        "turn {bad} cannot be read, because its row is damaged; doctor lists all damage; erase the turn, or restore a backup"
    );
    assert_eq!(session.turn(2).unwrap_err().to_string(), named);
    let recall = user.recall("boat", RecallOptions::default()).unwrap();
    assert_eq!((recall.items.len(), recall.missing.len()), (1, 1), "{recall:?}");
    let context = session.context("boat", ContextOptions::default()).unwrap();
    assert!(context.text.contains("Petrel") && !context.missing.is_empty(), "{:?}", context.missing);
    assert_eq!(user.export(std::io::sink()).unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(unreadable(&memory), ["conversation_turns where turn_key = 16777218"]);

    user.erase_turn(bad).unwrap();
    export(&user);
    assert!(memory.doctor().unwrap().is_healthy());
    assert!(user.recall("boat", RecallOptions::default()).unwrap().missing.is_empty());
}

#[test]
fn a_session_whose_time_cannot_be_read_is_named_and_can_be_erased_by_its_key() {
    let fixture = Fixture::new();
    let id = {
        let user = fixture.open().user("alex").unwrap();
        user.session_named("other").unwrap().record(NewTurn::new("My boat is called Petrel.", "")).unwrap();
        let session = user.session_named("boats").unwrap();
        session.record(NewTurn::new("My other boat is called Auk.", "")).unwrap();
        session.id()
    };
    leap(&fixture, "conversation_sessions", "started_at", "caller_id = 'boats'");
    let memory = fixture.open();
    let user = memory.user("alex").unwrap();
    let session = user.find_session("boats").unwrap().unwrap();
    let error = session.info().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().starts_with(&format!("session {id} cannot be read")), "{error}");
    let recall = user.recall("boat", RecallOptions::default()).unwrap();
    assert!(!recall.items.is_empty(), "{recall:?}");
    assert_eq!(unreadable(&memory), ["conversation_sessions where session_no = 2"]);
    session.erase().unwrap();
    assert_eq!(user.sessions(None, 9).unwrap().len(), 1);
    assert!(memory.doctor().unwrap().is_healthy());
    export(&user);
}

#[test]
fn a_memory_whose_time_cannot_be_read_costs_only_itself_and_can_be_erased() {
    let fixture = Fixture::new();
    let [sound, bad] = ["Petrel", "Auk"].map(|name| {
        let new = NewMemory::new(MemoryKind::Decision, name, format!("The boat is called {name}."));
        fixture.alex().memories().save(new).unwrap().memory.id
    });
    leap(&fixture, "user_memories", "said_at", "title = 'Auk'");
    let memory = fixture.open();
    let user = memory.user("alex").unwrap();
    user.memories().get(sound).unwrap();
    let error = user.memories().get(bad).unwrap_err();
    assert!(error.to_string().starts_with(&format!("memory {bad} cannot be read")), "{error}");
    let recall = user.recall("boat", RecallOptions::default()).unwrap();
    assert_eq!((recall.items.len(), recall.missing.len()), (1, 1), "{recall:?}");
    assert_eq!(unreadable(&memory), ["user_memories where memory_no = 2"]);
    user.memories().by(Origin::User).erase(bad).unwrap();
    assert!(memory.doctor().unwrap().is_healthy());
    export(&user);
}
