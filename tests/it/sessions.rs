//! How sessions start, resume, end, and continue.

use chrono::TimeDelta;
use thermocline::{ContextOptions, EndReason, ErrorKind, MemoryTier, MoveReason, RecordOutcome};

use crate::support::{Fixture, hot, turn, warm};

#[test]
fn a_turn_is_hot_until_five_newer_ones_push_it_to_warm() {
    let fixture = Fixture::new();
    let session = fixture.session();
    for n in 1..=7 {
        session.record(turn(n)).unwrap();
    }
    assert_eq!((hot(&session), warm(&session)), (vec![3, 4, 5, 6, 7], vec![1, 2]));
    let moves: Vec<_> =
        session.transitions(None, 1_000).unwrap().iter().map(|m| (m.turn_number, m.to, m.reason)).collect();
    assert_eq!(
        moves,
        [(1, MemoryTier::Warm, MoveReason::TurnLimit), (2, MemoryTier::Warm, MoveReason::TurnLimit)]
    );
}

#[test]
fn an_open_session_is_resumed_by_the_next_opening_of_the_file() {
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
    let info = session.info().unwrap();
    assert_eq!((info.caller_id.as_deref(), info.part), (Some("chat"), 2));
}

#[test]
fn silence_one_millisecond_short_of_the_timeout_ends_nothing() {
    let fixture = Fixture::new();
    let session = fixture.session();
    session.record(turn(1)).unwrap();
    fixture.clock.advance(TimeDelta::hours(24) - TimeDelta::milliseconds(1));
    assert_eq!(session.record(turn(2)).unwrap().continues, None);
}

#[test]
fn replaying_old_times_ends_nothing() {
    let fixture = Fixture::new();
    let session = fixture.session();
    for (n, said_at) in ["1999-01-01T00:00:00Z", "2020-01-01T00:00:00Z"].into_iter().enumerate() {
        let recorded = session.record(turn(n).said_at(crate::support::at(said_at))).unwrap();
        assert_eq!(recorded.continues, None);
    }
}

#[test]
fn a_clock_that_goes_back_is_no_silence() {
    let fixture = Fixture::new();
    let session = fixture.session();
    session.record(turn(1)).unwrap();
    fixture.clock.advance(TimeDelta::days(-400));
    assert_eq!(session.record(turn(2)).unwrap().continues, None);
}

#[test]
fn a_silent_unnamed_session_is_ended_and_not_resumed() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let session = alex.session().unwrap();
    session.record(turn(1)).unwrap();
    fixture.clock.advance(TimeDelta::hours(25));
    let next = alex.session().unwrap();
    assert_ne!(next.id(), session.id());
    let ended = session.info().unwrap();
    assert_eq!((ended.end_reason, ended.ended_at), (Some(EndReason::Silence), Some(ended.started_at)));
    assert_eq!((hot(&session), warm(&session)), (vec![], vec![1]));
}

#[test]
fn a_talk_goes_on_in_one_successor_whichever_handle_records() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let (here, there) = (alex.session_named("chat").unwrap(), alex.session_named("chat").unwrap());
    here.set_project(Some("boat")).unwrap();
    here.record(turn(1)).unwrap();
    fixture.clock.advance(TimeDelta::days(2));
    here.record(turn(2)).unwrap();
    there.record(turn(3)).unwrap();
    assert_eq!((here.id(), hot(&here)), (there.id(), vec![1, 2]));
    assert_eq!(alex.session_named("chat").unwrap().id(), here.id());
    let info = here.info().unwrap();
    assert_eq!(
        (info.caller_id.as_deref(), info.part, info.project.as_deref()),
        (Some("chat"), 2, Some("boat"))
    );

    fixture.clock.advance(TimeDelta::days(2));
    here.record(turn(4)).unwrap();
    assert_eq!(here.info().unwrap().part, 3);
    here.end().unwrap();
    assert_eq!(there.record(turn(5)).unwrap().continues, Some(here.id()));
    assert_eq!(there.info().unwrap().part, 4);
    alex.session_named("another").unwrap().record(turn(6)).unwrap();
    let parts = alex.session_parts("chat").unwrap();
    assert_eq!(parts.iter().map(|part| part.info().unwrap().part).collect::<Vec<_>>(), [4, 3, 2, 1]);
    assert!(alex.session_parts("of nobody").unwrap().is_empty());
}

#[test]
fn a_talk_with_a_key_goes_on_though_a_call_had_ended_it() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let session = alex.session_named("chat").unwrap();
    session.set_project(Some("boat")).unwrap();
    session.record(turn(1)).unwrap();
    let ended = session.end().unwrap().id;
    let again = alex.session_named("chat").unwrap();
    // A context before the first record of the next part is not an error, and starts nothing.
    assert!(again.context("And then?", ContextOptions::default()).unwrap().text.contains("question 1"));
    assert_eq!(alex.sessions(None, 1_000).unwrap().len(), 1);
    let recorded = again.record(turn(2)).unwrap();
    assert_eq!((recorded.continues, recorded.turn_number), (Some(ended), 1));
    assert_eq!(session.end().unwrap().id, ended, "what was ended stays as it is");
    assert!(again.info().unwrap().ended_at.is_none());
    assert_eq!(session.record(turn(3)).unwrap().turn_number, 2, "the old handle follows");
    let info = again.info().unwrap();
    assert_eq!((info.part, info.project.as_deref(), session.id()), (2, Some("boat"), again.id()));
    let diagnosis = fixture.open().doctor().unwrap();
    assert!(diagnosis.is_healthy(), "{diagnosis:?}");
}

#[test]
fn a_talk_that_is_over_says_so_before_an_answer_is_paid_for() {
    let fixture = Fixture::new();
    let session = fixture.session();
    session.record(turn(1)).unwrap();
    session.end().unwrap();
    let error = session.context("And then?", ContextOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SessionEnded);
    assert_eq!(session.record(turn(2)).unwrap_err().kind(), ErrorKind::SessionEnded);
}

#[test]
fn the_handle_of_an_erased_session_fails_and_starts_no_other_part() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let session = alex.session_named("chat").unwrap();
    session.record(turn(1)).unwrap();
    session.end().unwrap();
    let old = alex.session_by_id(session.id()).unwrap();
    session.erase().unwrap();
    assert_eq!(old.record(turn(2)).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(old.context("And?", ContextOptions::default()).unwrap_err().kind(), ErrorKind::NotFound);
    assert!(alex.sessions(None, 1_000).unwrap().is_empty());
}

#[test]
fn a_new_session_ends_the_open_unnamed_one_and_leaves_the_named_ones() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let (unnamed, named) = (alex.session().unwrap(), alex.session_named("chat").unwrap());
    unnamed.record(turn(1)).unwrap();
    named.record(turn(2)).unwrap();
    let new = alex.new_session().unwrap();
    assert_eq!(unnamed.info().unwrap().end_reason, Some(EndReason::Call));
    assert_eq!(named.info().unwrap().end_reason, None);
    assert_eq!(alex.session().unwrap().id(), new.id());
}

#[test]
fn an_empty_session_waits_for_its_first_turn() {
    let fixture = Fixture::new();
    let session = fixture.session();
    fixture.clock.advance(TimeDelta::days(100));
    assert_eq!(session.record(turn(1)).unwrap().continues, None);
}

#[test]
fn a_session_may_be_ended_at_the_time_of_its_last_turn() {
    let fixture = Fixture::new();
    let session = fixture.session();
    let said_at = crate::support::at("2023-05-08T13:56:00Z");
    session.record(turn(1).said_at(said_at)).unwrap();
    let info = session.end_at(said_at).unwrap();
    assert_eq!((info.started_at, info.ended_at), (said_at, Some(said_at)));
}

#[test]
fn sessions_beyond_the_cache_are_read_back_as_they_were() {
    let mut fixture = Fixture::new();
    fixture.config.live_sessions = 2;
    let alex = fixture.alex();
    let sessions: Vec<_> = (0..6).map(|n| alex.session_named(&format!("s{n}")).unwrap()).collect();
    for n in 0..48 {
        sessions[n % 6].record(turn(n)).unwrap();
    }
    for session in &sessions {
        assert_eq!((hot(session), warm(session)), (vec![4, 5, 6, 7, 8], vec![1, 2, 3]));
    }
}

#[test]
fn the_warm_window_has_fifty_turns_within_its_tokens() {
    let mut fixture = Fixture::new();
    fixture.config.durability = thermocline::Durability::Relaxed;
    let session = fixture.session();
    for n in 1..=60 {
        session.record(turn(n)).unwrap();
    }
    assert_eq!(warm(&session), (6..=55).collect::<Vec<u32>>());

    fixture.config.warm_tokens = 1_000;
    let session = fixture.alex().session_named("long").unwrap();
    for _ in 0..9 {
        session.record(crate::support::turn_of(400)).unwrap();
    }
    assert_eq!((hot(&session), warm(&session)), (vec![7, 8, 9], vec![5, 6]));
}

#[test]
fn every_handle_follows_the_talk_into_the_successor() {
    let fixture = Fixture::new();
    let (here, there) =
        (fixture.alex().session_named("chat").unwrap(), fixture.alex().session_named("chat").unwrap());
    here.record(turn(1).caller_id("a")).unwrap();
    fixture.clock.advance(TimeDelta::days(2));
    here.record(turn(2).caller_id("b")).unwrap();
    let context = there.context("and?", thermocline::ContextOptions::default()).unwrap();
    let in_session =
        context.items.iter().filter(|item| item.section != thermocline::Section::EarlierConversations);
    assert_eq!(in_session.map(|item| item.caller_id.as_deref()).collect::<Vec<_>>(), [Some("b")]);
    assert_eq!((there.id(), hot(&there)), (here.id(), vec![1]));
}

#[test]
fn keys_that_look_like_parts_of_others_are_keys_like_any_other() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let long = "k".repeat(256);
    for key in ["x#4294967295", "ticket#1", long.as_str()] {
        let session = alex.session_named(key).unwrap();
        session.record(turn(1)).unwrap();
        fixture.clock.advance(TimeDelta::days(2));
        session.record(turn(2)).unwrap();
        assert_eq!(alex.session_named(key).unwrap().id(), session.id());
    }
    let other = alex.session_named("ticket#2").unwrap();
    assert_eq!((other.info().unwrap().turn_count, other.info().unwrap().part), (0, 1));
}

#[test]
fn asking_for_a_silent_session_by_its_key_ends_it() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let session = alex.session_named("chat").unwrap();
    session.record(turn(1)).unwrap();
    fixture.clock.advance(TimeDelta::days(300));
    let again = alex.session_named("chat").unwrap();
    assert_eq!((again.id(), again.info().unwrap().end_reason), (session.id(), Some(EndReason::Silence)));
    assert!(hot(&again).is_empty());
    assert_eq!(again.record(turn(2)).unwrap().continues, Some(session.id()));
}

#[test]
fn what_is_ended_by_call_takes_no_more_turns_though_silence_ended_it_first() {
    let fixture = Fixture::new();
    let session = fixture.session();
    session.record(turn(1)).unwrap();
    fixture.clock.advance(TimeDelta::days(2));
    fixture.alex().session().unwrap();
    assert_eq!(session.end().unwrap().end_reason, Some(EndReason::Call));
    assert_eq!(session.record(turn(2)).unwrap_err().kind(), ErrorKind::SessionEnded);
}

#[test]
fn a_session_cannot_have_ended_before_it_started() {
    let fixture = Fixture::new();
    let session = fixture.session();
    session.record(turn(1)).unwrap();
    let error = session.end_at(crate::support::at("1999-01-01T00:00:00Z")).unwrap_err();
    assert_eq!((error.kind(), session.info().unwrap().ended_at), (ErrorKind::InvalidInput, None));
}

#[test]
fn successors_that_lead_in_a_circle_are_an_error_and_no_hang() {
    let fixture = Fixture::new();
    let session = fixture.session();
    session.record(turn(1)).unwrap();
    let conn = rusqlite::Connection::open_with_flags(fixture.path(), rusqlite::OpenFlags::default()).unwrap();
    conn.execute("UPDATE conversation_sessions SET successor_id = id", []).unwrap();
    assert_eq!(session.record(turn(2)).unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(session.warm().unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn a_record_evicts_what_the_file_says_though_others_have_written_since() {
    let fixture = Fixture::new();
    let (here, there) = (fixture.session(), fixture.session());
    here.record(turn(1)).unwrap();
    for n in 2..=7 {
        there.record(turn(n)).unwrap();
    }
    assert_eq!(here.record(turn(8)).unwrap().evicted, [3]);
    assert_eq!((hot(&here), warm(&here)), (vec![4, 5, 6, 7, 8], vec![1, 2, 3]));
}
