//! How sessions start, resume, end, and go on.

use chrono::TimeDelta;
use thermocline::{EndReason, ErrorKind, MemoryTier, MoveReason, RecordOutcome};

use crate::support::{Fixture, hot, turn, warm};

#[test]
fn a_turn_is_hot_until_five_newer_ones_push_it_to_warm() {
    let session = Fixture::new().session();
    for n in 1..=7 {
        session.record(turn(n)).unwrap();
    }
    assert_eq!((hot(&session), warm(&session)), (vec![3, 4, 5, 6, 7], vec![1, 2]));
    let moves: Vec<_> =
        session.transitions().unwrap().iter().map(|m| (m.turn_number, m.to, m.reason)).collect();
    assert_eq!(
        moves,
        [(1, MemoryTier::Warm, MoveReason::TurnLimit), (2, MemoryTier::Warm, MoveReason::TurnLimit)]
    );
}

#[test]
fn an_open_session_is_resumed_by_another_process() {
    let fixture = Fixture::new();
    let first = fixture.session();
    first.record(turn(1)).unwrap();
    let id = first.id();
    drop(first);
    let again = fixture.session();
    assert_eq!((again.id(), hot(&again)), (id, vec![1]));
}

#[test]
fn a_session_ended_by_call_never_reopens() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let session = alex.session().unwrap();
    session.record(turn(1)).unwrap();
    let info = session.end().unwrap();
    assert_eq!((info.end_reason, info.memory_tier), (Some(EndReason::Call), MemoryTier::Warm));
    assert_eq!((hot(&session), warm(&session)), (vec![], vec![1]));
    assert_eq!(session.record(turn(2)).unwrap_err().kind(), ErrorKind::SessionEnded);
    assert_eq!(session.info().unwrap().turn_count, 1);
    assert_ne!(alex.session().unwrap().id(), session.id());
}

#[test]
fn ending_twice_changes_nothing() {
    let fixture = Fixture::new();
    let session = fixture.session();
    session.record(turn(1)).unwrap();
    let first = session.end().unwrap();
    fixture.clock.advance(TimeDelta::hours(1));
    assert_eq!(session.end().unwrap(), first);
}

#[test]
fn after_silence_a_record_starts_the_successor_and_says_so() {
    let fixture = Fixture::new();
    let session = fixture.alex().session_named("chat").unwrap();
    session.record(turn(1)).unwrap();
    let before = session.id();
    fixture.clock.advance(TimeDelta::hours(24));
    let recorded = session.record(turn(2)).unwrap();
    assert_eq!(
        (recorded.continues, recorded.turn_number, recorded.outcome),
        (Some(before), 1, RecordOutcome::New)
    );
    assert_eq!((session.id(), hot(&session)), (recorded.session_id, vec![1]));
    assert_eq!(session.info().unwrap().caller_id.as_deref(), Some("chat#2"));
}
