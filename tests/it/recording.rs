//! Which turns can be recorded, which are refused, and what recording a turn again returns.

use chrono::TimeDelta;
use thermocline::{CriticalRule, Error, ErrorKind, NewTurn, Origin, RecordOutcome, Recorded, SnapshotId};

use crate::support::{Fixture, at, hot, turn};

fn record(turn: NewTurn) -> Result<Recorded, Error> {
    Fixture::new().session().record(turn)
}

/// Checks that the turn is refused, with a message that contains `why` and none of its text, and that nothing is written.
#[track_caller]
fn check_refused(turn: NewTurn, why: &str) {
    let fixture = Fixture::new();
    let session = fixture.session();
    let error = session.record(turn).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().contains(why), "{error}");
    assert!(!format!("{error:?}").contains("secret"), "{error:?}");
    assert_eq!(session.info().unwrap().turn_count, 0);
}

#[test]
fn turns_that_break_a_bound_are_refused() {
    check_refused(NewTurn::new("", ""), "empty");
    check_refused(NewTurn::new("secret ".repeat(1_500_000), ""), "1048576 are allowed");
    check_refused(NewTurn::new("", "secret ".repeat(150_000)), "the reply has 1050000 bytes");
    check_refused(NewTurn::new("secret\0", ""), "NUL character at byte 6");
    check_refused(turn(1).caller_id(""), "caller id is empty");
    check_refused(turn(1).caller_id("secret".repeat(50)), "256 are allowed");
    check_refused(turn(1).user_name("sec\0ret"), "NUL");
    check_refused(turn(1).said_at(at("+10000-01-01T00:00:00Z")), "the year 10000");
    check_refused(turn(1).said_at(at("0000-01-01T00:00:00Z")), "the year 0");
}

#[test]
fn every_other_text_comes_back_as_it_was() {
    let texts = [
        "c++",
        "don't",
        "50%",
        "\"",
        "'; DROP TABLE users; --",
        "🦊👩‍👩‍👧",
        "مرحبا بالعالم",
        "שלום",
        "日本語",
        "\u{202e}abc",
        "\r\n\t\u{b}",
        "<|endoftext|>",
        " ",
        "\u{feff}",
        "a\u{301}",
        "\u{10ffff}",
    ];
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let session = alex.session().unwrap();
    for (n, text) in texts.iter().enumerate() {
        let recorded =
            session.record(NewTurn::new(*text, *text).caller_id(n.to_string()).user_name("Ann")).unwrap();
        let found = alex.turn(recorded.turn_id).unwrap();
        assert_eq!((found.said.user_message.as_str(), found.said.ai_response.as_str()), (*text, *text));
        session.search(text, 5).unwrap();
        session.context(text, thermocline::ContextOptions::default()).unwrap();
    }
    assert!(fixture.open().doctor().unwrap().is_healthy());
}

#[test]
fn a_large_turn_of_blanks_is_recorded() {
    let recorded = record(NewTurn::new(" ".repeat(1 << 20), "x")).unwrap();
    assert_eq!(recorded.turn_number, 1);
}

#[test]
fn all_that_the_caller_says_of_a_turn_is_kept() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let session = alex.session().unwrap();
    let snapshot = SnapshotId::from_uuid(uuid::Uuid::from_u128(1));
    let said_at = at("1969-07-20T20:17:40.123Z");
    let new = turn(1)
        .caller_id("msg-1")
        .said_at(said_at)
        .user_name("Ann")
        .assistant_name("Bo")
        .user_origin(Origin::Document)
        .assistant_origin(Origin::Tool)
        .snapshot(snapshot)
        .critical();
    session.record(new).unwrap();
    let found = alex.turn_by_caller_id("msg-1").unwrap();
    assert_eq!((found.timestamp, found.snapshot_id), (said_at, Some(snapshot)));
    assert_eq!((found.is_identity_critical, found.critical_rule), (true, Some(CriticalRule::Caller)));
    assert_eq!(
        (found.said.user_name.as_deref(), found.said.assistant_name.as_deref()),
        (Some("Ann"), Some("Bo"))
    );
    assert_eq!((found.said.user_origin, found.said.assistant_origin), (Origin::Document, Origin::Tool));
    assert_eq!(session.info().unwrap().started_at, said_at);
}

#[test]
fn the_same_id_again_gives_the_first_result_and_writes_nothing() {
    let fixture = Fixture::new();
    let session = fixture.session();
    let first = session.record(turn(1).caller_id("a")).unwrap();
    let before = session.info().unwrap();
    fixture.clock.advance(TimeDelta::days(30));
    let again = session.record(turn(1).caller_id("a")).unwrap();
    assert_eq!(again.outcome, RecordOutcome::Known);
    let mut expected = first;
    expected.outcome = RecordOutcome::Known;
    assert_eq!(again, expected);
    assert_eq!(session.info().unwrap(), before, "not even a silence is noticed");
}

#[test]
fn the_same_id_is_known_in_every_session_and_after_the_end() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let session = alex.session_named("one").unwrap();
    let first = session.record(turn(1).caller_id("a")).unwrap();
    session.end().unwrap();
    for key in ["one", "two"] {
        let again = alex.session_named(key).unwrap().record(turn(1).caller_id("a")).unwrap();
        assert_eq!(
            (again.turn_id, again.session_id, again.outcome),
            (first.turn_id, first.session_id, RecordOutcome::Known)
        );
    }
}

#[test]
fn the_same_id_is_known_after_the_turn_has_left_the_table() {
    let fixture = Fixture::new();
    let session = fixture.session();
    let first = session.record(turn(1).caller_id("a")).unwrap();
    session.end().unwrap();
    // What compression does later: it deletes the turn and keeps its unit.
    let conn = rusqlite::Connection::open_with_flags(fixture.path(), rusqlite::OpenFlags::default()).unwrap();
    conn.execute("DELETE FROM conversation_turns", []).unwrap();
    let again = session.record(turn(1).caller_id("a")).unwrap();
    assert_eq!((again.turn_id, again.outcome), (first.turn_id, RecordOutcome::Known));
    let alex = fixture.alex();
    assert_eq!(alex.find_recorded(&turn(1).caller_id("a")).unwrap(), Some(again));
    assert_eq!(alex.find_recorded(&turn(1).caller_id("b")).unwrap(), None);
    assert_eq!(alex.find_recorded(&turn(2).caller_id("a")).unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(session.record(turn(2).caller_id("a")).unwrap_err().kind(), ErrorKind::Conflict);
}

#[test]
fn the_same_id_with_other_text_is_a_conflict() {
    let fixture = Fixture::new();
    let session = fixture.session();
    session.record(NewTurn::new("ab", "c").caller_id("a")).unwrap();
    for other in [NewTurn::new("a", "bc"), NewTurn::new("ab", ""), NewTurn::new("AB", "c")] {
        assert_eq!(session.record(other.caller_id("a")).unwrap_err().kind(), ErrorKind::Conflict);
    }
    assert_eq!(session.info().unwrap().turn_count, 1);
}

#[test]
fn order_is_that_of_recording_whatever_the_clock_says() {
    let fixture = Fixture::new();
    let session = fixture.session();
    for (n, now) in
        ["2026-03-01T12:00:00Z", "2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z"].into_iter().enumerate()
    {
        fixture.clock.set(at(now));
        session.record(turn(n)).unwrap();
    }
    assert_eq!(hot(&session), [1, 2, 3]);
    let said: Vec<String> = session.hot().unwrap().turns().map(|turn| turn.timestamp.to_rfc3339()).collect();
    assert_eq!(said, ["2026-03-01T12:00:00+00:00", "2026-03-01T10:00:00+00:00", "2026-03-01T11:00:00+00:00"]);
}
