//! Every time that is taken can be read again: a leap second is folded, and a year without four digits is refused.

use chrono::{DateTime, TimeDelta, Utc};
use thermocline::{ContextOptions, ErrorKind, MemoryKind, NewMemory, NewNote, NewTurn, RecallOptions};

use crate::{
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
