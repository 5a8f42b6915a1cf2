//! LLM#2's own request to remember: a marker in its reply marks the turn, and is removed.

use thermocline::{
    ContextOptions, CriticalRule, ErrorKind, NewTurn, Origin, RecordOutcome, Reply, RunJobs, Turn, TurnState,
    blocking::Session,
};

use crate::support::Fixture;

fn fixture() -> Fixture {
    let mut fixture = Fixture::new();
    fixture.config.remember_marker = Some("[[remember]]".to_owned());
    fixture
}

#[track_caller]
fn check(turn: &Turn, reply: &str, is_marked: bool) {
    let rule = is_marked.then_some(CriticalRule::Caller);
    assert_eq!(
        (turn.said.ai_response.as_str(), turn.is_identity_critical, turn.critical_rule),
        (reply, is_marked, rule)
    );
}

fn nth(session: &Session, turn_number: u32) -> Turn {
    session.turn(turn_number).unwrap().unwrap()
}

#[test]
fn a_turn_with_a_marker_is_found_again_by_its_callers_id() {
    let fixture = fixture();
    let marked = NewTurn::new("Twins!", "Two! [[remember]]").caller_id("twins");
    let recorded = fixture.session().record(marked.clone()).unwrap();
    let found = fixture.alex().find_recorded(&marked).unwrap().expect("it was recorded");
    assert_eq!(found.turn_id, recorded.turn_id);
}

#[test]
fn a_marker_in_a_reply_is_stripped_and_marks_the_turn() {
    let fixture = fixture();
    let session = fixture.session();
    session.record(NewTurn::new("I am to be a father!", "Oh! [[remember]] How wonderful.")).unwrap();
    check(&nth(&session, 1), "Oh! How wonderful.", true);
    session.record(NewTurn::new("Fine weather.", "So it is.")).unwrap();
    check(&nth(&session, 2), "So it is.", false);
    session.record(NewTurn::new("What does [[remember]] do?", "It marks.")).unwrap();
    check(&nth(&session, 3), "It marks.", false);
    assert_eq!(nth(&session, 3).said.user_message, "What does [[remember]] do?", "nobody's but LLM#2's");
    let document = NewTurn::new("Read it.", "[[remember]] all.").assistant_origin(Origin::Document);
    session.record(document).unwrap();
    check(&nth(&session, 4), "[[remember]] all.", false);
    session.record(NewTurn::new("Noted?", " [[remember]]\n")).unwrap();
    check(&nth(&session, 5), "", true);
    let nothing = session.record(NewTurn::new("", "[[remember]]")).unwrap_err();
    assert_eq!(nothing.kind(), ErrorKind::InvalidInput);
    let context = session.context("And?", ContextOptions::default()).unwrap();
    assert!(
        context.text.contains("Oh! How wonderful.") && !context.text.contains("Oh! ["),
        "{}",
        context.text
    );
}

#[test]
fn it_is_as_if_the_caller_had_stripped_and_marked_it() {
    let (with, without) = (fixture(), Fixture::new());
    let (session, plain) = (with.session(), without.session());
    session.record(NewTurn::new("A son!", "[[remember]] I am glad for you.")).unwrap();
    plain.record(NewTurn::new("A son!", "I am glad for you.").critical()).unwrap();
    let (marked, expected) = (nth(&session, 1), nth(&plain, 1));
    assert_eq!((marked.tokens, marked.said), (expected.tokens, expected.said));
    assert!(with.open().doctor().unwrap().is_healthy());
    for (session, fixture) in [(&session, &with), (&plain, &without)] {
        session.end().unwrap();
        fixture.open().run_jobs(RunJobs::default()).unwrap();
    }
    assert_eq!(nth(&session, 1).critical_rule, nth(&plain, 1).critical_rule);
    assert_eq!(session.summaries(None, 1_000).unwrap(), [], "it is kept verbatim");
}

#[test]
fn the_same_reply_again_gives_the_first_result() {
    let fixture = fixture();
    let session = fixture.session();
    let turn = |reply: &str| NewTurn::new("A son!", reply).caller_id("m1");
    let first = session.record(turn("[[remember]] Glad.")).unwrap();
    for reply in ["[[remember]] Glad.", "Glad.", "Glad. [[remember]]"] {
        let again = session.record(turn(reply)).unwrap();
        assert_eq!((again.turn_id, again.outcome), (first.turn_id, RecordOutcome::Known), "{reply}");
    }
    assert_eq!(session.record(turn("Sad. [[remember]]")).unwrap_err().kind(), ErrorKind::Conflict);
    check(&nth(&session, 1), "Glad.", true);
    assert_eq!(session.info().unwrap().turn_count, 1);
}

#[test]
fn a_reply_that_comes_later_is_heeded_too() {
    let fixture = fixture();
    let session = fixture.session();
    for (reply, stored) in [("[[remember]] Glad.", "Glad."), (" [[remember]] ", "")] {
        let waiting = session.record_message(NewTurn::new("A son!", "")).unwrap();
        let first = session.complete(waiting.turn_id, Reply::new(reply)).unwrap();
        assert_eq!((first.state, first.outcome), (TurnState::Complete, RecordOutcome::New));
        check(&nth(&session, first.turn_number), stored, true);
        let again = session.complete(waiting.turn_id, Reply::new(reply)).unwrap();
        assert_eq!((again.turn_id, again.outcome), (first.turn_id, RecordOutcome::Known));
        let other = session.complete(waiting.turn_id, Reply::new("[[remember]] Sad.")).unwrap_err();
        assert_eq!(other.kind(), ErrorKind::Conflict);
    }
    let waiting = session.record_message(NewTurn::new("A message [[remember]].", "")).unwrap();
    let reply = Reply::new("[[remember]] says the tool").assistant_origin(Origin::Tool);
    session.complete(waiting.turn_id, reply).unwrap();
    check(&nth(&session, 3), "[[remember]] says the tool", false);
    assert_eq!(nth(&session, 3).said.user_message, "A message [[remember]].");
    // The marker of a reply that comes too late, after the turn was completed without a reply, has no effect.
    let waiting = session.record_message(NewTurn::new("Hello?", "")).unwrap();
    session.record(NewTurn::new("Anybody?", "Yes.")).unwrap();
    let late = session.complete(waiting.turn_id, Reply::new("[[remember]]")).unwrap_err();
    assert_eq!(late.kind(), ErrorKind::Conflict);
    check(&nth(&session, 4), "", false);
    let empty = session.complete(waiting.turn_id, Reply::new("")).unwrap_err();
    assert_eq!(empty.kind(), ErrorKind::InvalidInput);
}

#[test]
fn a_reply_that_is_made_again_is_heeded_by_itself() {
    let fixture = fixture();
    let session = fixture.session();
    let first = session.record(NewTurn::new("A son!", "[[remember]] Glad.")).unwrap();
    let second = session.record(NewTurn::new("A son!", "So?").replacing(first.turn_id)).unwrap();
    check(&nth(&session, 1), "So?", false);
    session.record(NewTurn::new("A son!", "How nice! [[remember]]").replacing(second.turn_id)).unwrap();
    check(&nth(&session, 1), "How nice!", true);
    let mut replaced: Vec<String> =
        session.replaced_at(1).unwrap().into_iter().map(|replaced| replaced.turn.said.ai_response).collect();
    replaced.sort(); // Both at one instant.
    assert_eq!(replaced, ["Glad.", "So?"]);
}

#[test]
fn what_is_imported_stays_as_it_is() {
    let plain = Fixture::new();
    plain.session().record(NewTurn::new("A son!", "[[remember]] Glad.")).unwrap();
    let path = plain.folder.path().join("alex.jsonl");
    plain.alex().export(std::fs::File::create(&path).unwrap()).unwrap();
    let fixture = fixture();
    fixture.open().import("alex", std::io::Cursor::new(std::fs::read(&path).unwrap())).unwrap();
    let session = fixture.alex().session().unwrap();
    check(&nth(&session, 1), "[[remember]] Glad.", false);
}

#[test]
fn a_marker_has_a_form() {
    let kind = |marker: &str| {
        let mut fixture = Fixture::new();
        fixture.config.remember_marker = Some(marker.to_owned());
        let opened = thermocline::blocking::Thermocline::open_with(fixture.path(), fixture.config.clone());
        opened.map(drop).map_err(|error| error.kind())
    };
    for marker in ["", " ", " [[r]]", "[[r]]\n", "a\nb", "a\u{0}", &"x".repeat(65)] {
        assert_eq!(kind(marker), Err(ErrorKind::InvalidInput), "{marker:?}");
    }
    for marker in ["x", "<keep this>", &"x".repeat(64)] {
        assert_eq!(kind(marker), Ok(()), "{marker:?}");
    }
}
