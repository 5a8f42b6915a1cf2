//! A user is a scope: nothing of one user is reached through another.

use thermocline::{ContextOptions, ErrorKind, RecordOutcome};

use crate::support::{Fixture, hot, turn, warm};

#[test]
fn another_users_sessions_and_turns_are_not_found_even_with_their_ids() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let (alex, blake) = (memory.user("alex").unwrap(), memory.user("blake").unwrap());
    let session = alex.session_named("chat").unwrap();
    let recorded = session.record(turn(1).caller_id("t1")).unwrap();

    assert_eq!(blake.session_by_id(session.id()).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(blake.turn(recorded.turn_id).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(blake.turn_by_caller_id("t1").unwrap_err().kind(), ErrorKind::NotFound);
    assert!(blake.find_session("chat").unwrap().is_none());
    assert!(blake.sessions().unwrap().is_empty());
}

#[test]
fn users_may_use_the_same_keys_ids_and_words() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    for (name, other) in [("alex", "canaryblake"), ("blake", "canaryalex")] {
        let session = memory.user(name).unwrap().session_named("chat").unwrap();
        for n in 1..=9 {
            let said =
                thermocline::NewTurn::new(format!("canary{name} {n}"), "equal").caller_id(n.to_string());
            assert_eq!(session.record(said).unwrap().outcome, RecordOutcome::New);
        }
        assert_eq!((hot(&session), warm(&session)), (vec![5, 6, 7, 8, 9], vec![1, 2, 3, 4]));
        assert!(session.search(other, 10).unwrap().is_empty());
        assert_eq!(session.search("equal", 100).unwrap().len(), 9);
        let context = session.context("remember the canary? equal", ContextOptions::default()).unwrap();
        assert!(context.text.contains(&format!("canary{name} 1")) && !context.text.contains(other));
    }
}

#[test]
fn the_same_name_and_the_same_id_are_the_same_user() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    assert_eq!(memory.user("alex").unwrap().id(), alex.id());
    assert_eq!(memory.user_by_id(alex.id()).unwrap().id(), alex.id());
    assert_eq!(memory.find_user("alex").unwrap().map(|user| user.id()), Some(alex.id()));
    assert!(memory.find_user("Alex").unwrap().is_none());
}
