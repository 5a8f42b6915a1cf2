//! Recording and saving by the name of a user: one transaction adds what is new, or nothing.

use chrono::TimeDelta;
use thermocline::{
    ErrorKind, MemoryKind, NewMemory, NewTurn, RecordOutcome, Reply, SaveOutcome, SessionId, TurnId, UserId,
    blocking::Thermocline,
};

use crate::support::{Fixture, at, turn};

fn sessions(memory: &Thermocline, user: &str) -> usize {
    memory.find_user(user).unwrap().expect("the user exists").sessions(None, 1_000).unwrap().len()
}

#[test]
fn a_turn_is_recorded_where_the_handles_of_these_names_record_it() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    for key in [Some("chat"), None] {
        let (alex, first) = memory.record("alex", key, turn(1)).unwrap();
        let session = key.map_or_else(|| alex.session(), |key| alex.session_named(key)).unwrap();
        assert_eq!(first.session_id, session.id(), "{key:?}");
        assert_eq!(session.record(turn(2)).unwrap().turn_number, 2);
        let (_, third) = memory.record("alex", key, turn(3)).unwrap();
        assert_eq!((third.session_id, third.turn_number), (first.session_id, 3), "{key:?}");
    }
    assert_eq!(sessions(&memory, "alex"), 2);
    assert!(memory.doctor().unwrap().is_healthy());
}

#[test]
fn a_refused_turn_adds_neither_a_user_nor_a_session() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let unknown = || turn(1).replacing(TurnId::from_uuid(uuid::Uuid::from_u128(7)));
    for key in [Some("chat"), None] {
        assert_eq!(memory.record("alex", key, unknown()).unwrap_err().kind(), ErrorKind::InvalidInput);
        let message = NewTurn::new("Where?", "").replacing(TurnId::from_uuid(uuid::Uuid::from_u128(7)));
        assert_eq!(memory.record_message("alex", key, message).unwrap_err().kind(), ErrorKind::InvalidInput);
    }
    for (user, key) in [("", Some("chat")), ("alex", Some(""))] {
        assert_eq!(memory.record(user, key, turn(1)).unwrap_err().kind(), ErrorKind::InvalidInput);
    }
    assert!(memory.find_user("alex").unwrap().is_none());

    memory.record("alex", Some("chat"), turn(1)).unwrap();
    memory.record("alex", Some("other"), unknown()).unwrap_err();
    assert_eq!(sessions(&memory, "alex"), 1);
}

#[test]
fn an_id_finds_or_adds_a_user_as_a_name_does() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let id = UserId::from_uuid(uuid::Uuid::from_u128(9));
    let unknown = || turn(1).replacing(TurnId::from_uuid(uuid::Uuid::from_u128(7)));
    assert_eq!(memory.record(id, Some("chat"), unknown()).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert!(memory.find_user_by_id(id).unwrap().is_none());
    let (user, first) = memory.record(id, Some("chat"), turn(1)).unwrap();
    assert_eq!((user.id(), first.turn_number), (id, 1));
    assert_eq!(memory.record(id, Some("chat"), turn(2)).unwrap().1.session_id, first.session_id);
}

#[test]
fn a_memory_is_saved_with_its_user_or_not_at_all() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let fix = || NewMemory::new(MemoryKind::Fix, "Redis timeouts", "Keepalive fixes them.");
    let nothing = TurnId::from_uuid(uuid::Uuid::from_u128(7));
    let session = SessionId::from_uuid(uuid::Uuid::from_u128(7));
    let late = at("2027-03-01T12:00:00Z");
    for (refused, kind) in [
        (fix().source(nothing, ""), ErrorKind::NotFound),
        (fix().session(session), ErrorKind::NotFound),
        (fix().said_at(late), ErrorKind::InvalidInput),
        (fix().importance(2.0), ErrorKind::InvalidInput),
    ] {
        assert_eq!(memory.save_memory("alex", refused).unwrap_err().kind(), kind);
    }
    assert!(memory.find_user("alex").unwrap().is_none());
    let (alex, saved) = memory.save_memory("alex", fix()).unwrap();
    assert_eq!(alex.memories().get(saved.memory.id).unwrap().title, "Redis timeouts");
    assert_eq!(memory.save_memory(alex.id(), fix()).unwrap().1.outcome, SaveOutcome::Known);
}

#[test]
fn by_its_handle_a_user_who_was_erased_is_not_added_again() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    let first = alex.record(Some("chat"), turn(1)).unwrap();
    assert_eq!(alex.record(Some("chat"), turn(2)).unwrap().session_id, first.session_id);
    alex.record(Some("other"), turn(1).replacing(first.turn_id)).unwrap_err();
    assert_eq!(sessions(&memory, "alex"), 1);
    alex.erase().unwrap();
    for key in [Some("chat"), None] {
        assert_eq!(alex.record(key, turn(3)).unwrap_err().kind(), ErrorKind::NotFound);
        let message = NewTurn::new("Where?", "");
        assert_eq!(alex.record_message(key, message).unwrap_err().kind(), ErrorKind::NotFound);
    }
    assert!(memory.find_user("alex").unwrap().is_none());
}

#[test]
fn a_refused_turn_among_others_leaves_nothing_and_takes_nothing_with_it() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let recorders: Vec<_> = (0..16)
        .map(|n| {
            let memory = memory.clone();
            std::thread::spawn(move || {
                for k in 0..8 {
                    let user = format!("user {n}");
                    let refused = turn(1).replacing(TurnId::from_uuid(uuid::Uuid::from_u128(7)));
                    memory.record(format!("nobody {n}").as_str(), Some("chat"), refused).unwrap_err();
                    let (_, recorded) = memory.record(user.as_str(), Some("chat"), turn(k)).unwrap();
                    assert_eq!(recorded.turn_number as usize, k + 1);
                }
            })
        })
        .collect();
    for recorder in recorders {
        recorder.join().unwrap();
    }
    assert_eq!(memory.users(None, 1_000).unwrap().len(), 16);
    assert!(memory.doctor().unwrap().is_healthy());
}

#[test]
fn a_repeated_turn_starts_no_other_session() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let said = || turn(1).caller_id("m1");
    let (_, first) = memory.record("alex", Some("chat"), said()).unwrap();
    let (_, again) = memory.record("alex", Some("another"), said()).unwrap();
    assert_eq!((again.turn_id, again.outcome), (first.turn_id, RecordOutcome::Known));
    assert_eq!(sessions(&memory, "alex"), 1);
}

#[test]
fn after_silence_and_after_an_end_the_key_continues_in_a_successor() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let (alex, first) = memory.record("alex", Some("chat"), turn(1)).unwrap();
    fixture.clock.advance(TimeDelta::hours(25));
    let (_, second) = memory.record("alex", Some("chat"), turn(2)).unwrap();
    assert_eq!((second.continues, second.turn_number), (Some(first.session_id), 1));
    alex.session_named("chat").unwrap().end().unwrap();
    let (_, third) = memory.record("alex", Some("chat"), turn(3)).unwrap();
    assert_eq!((third.continues, third.turn_number), (Some(second.session_id), 1));
}

#[test]
fn a_message_by_names_waits_for_its_reply() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let (alex, message) = memory.record_message("alex", Some("chat"), NewTurn::new("Where?", "")).unwrap();
    let session = alex.session_named("chat").unwrap();
    assert_eq!(session.info().unwrap().incomplete_turn, Some(message.turn_id));
    let complete = session.complete(message.turn_id, Reply::new("There.")).unwrap();
    assert_eq!((complete.turn_id, complete.turn_number), (message.turn_id, 1));
}
