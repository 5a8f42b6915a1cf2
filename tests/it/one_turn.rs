//! A single turn: a message recorded before its reply, a replaced turn, a message without any reply.

use std::collections::{BTreeMap, BTreeSet};

use chrono::TimeDelta;
use thermocline::{
    Config, ContextOptions, ErrorKind, MemoryTier, NewTurn, RecallOptions, Recalled, RecordOutcome, Reply,
    RunJobs, TurnId, TurnState,
    blocking::{Session, Thermocline, User},
};

use crate::{
    children::{self, say},
    support::{Cut, Fixture, hot, long_turn, turn, turn_of, warm},
};

fn message(text: &str) -> NewTurn {
    NewTurn::new(text, "")
}

/// Returns the user's messages of the hot turns.
fn shown(session: &Session) -> Vec<String> {
    session.hot().unwrap().turns().map(|turn| turn.said.user_message.clone()).collect()
}

fn id_of(item: &Recalled) -> TurnId {
    item.turn().expect("nothing is deleted here").id
}

/// Whether a recall finds the turn.
fn is_recalled(user: &User, query: &str, turn: TurnId) -> bool {
    let found = user.recall(query, RecallOptions::default()).unwrap();
    found.items.iter().any(|item| id_of(item) == turn)
}

#[track_caller]
fn check_healthy(fixture: &Fixture) {
    let diagnosis = fixture.open().doctor().unwrap();
    assert!(diagnosis.is_healthy(), "{diagnosis:?}");
}

#[test]
fn a_message_is_durable_and_shown_before_its_reply_and_recalled_with_it() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let session = alex.session().unwrap();
    session.record(turn(1)).unwrap();
    let first = session.record_message(message("Where does the okapi sleep?")).unwrap();
    assert_eq!((first.turn_number, first.seq, first.outcome), (2, 0, RecordOutcome::New));
    assert_eq!(session.info().unwrap().incomplete_turn, Some(first.turn_id));
    assert!(!is_recalled(&alex, "okapi", first.turn_id));

    // Another process sees it.
    let copy = fixture.copy();
    let there = copy.session();
    assert_eq!(there.turn(2).unwrap().unwrap().state, TurnState::Incomplete);
    assert_eq!(shown(&there), ["question 1", "Where does the okapi sleep?"]);
    let context = there.context("And the bongo?", ContextOptions::default()).unwrap();
    assert!(context.text.contains("okapi"), "{}", context.text);
    check_healthy(&copy);

    let done = session.complete(first.turn_id, Reply::new("In the hay.").assistant_name("Iris")).unwrap();
    assert_eq!((done.turn_id, done.turn_number, done.outcome), (first.turn_id, 2, RecordOutcome::New));
    let turn = session.turn(2).unwrap().unwrap();
    assert_eq!((turn.state, turn.said.ai_response.as_str()), (TurnState::Complete, "In the hay."));
    assert_eq!((turn.said.assistant_name.as_deref(), turn.seq), (Some("Iris"), 2));
    assert!(is_recalled(&alex, "okapi", first.turn_id));
    assert_eq!(session.info().unwrap().incomplete_turn, None);
    check_healthy(&fixture);
}

#[test]
fn the_same_reply_again_is_the_first_result_and_another_a_conflict() {
    let fixture = Fixture::new();
    let session = fixture.session();
    let id = session.record_message(message("Hi").caller_id("m1")).unwrap().turn_id;
    let refused = |reply| session.complete(id, Reply::new(reply)).unwrap_err().kind();
    assert_eq!(refused(""), ErrorKind::InvalidInput);
    let first = session.complete(id, Reply::new("Hello!")).unwrap();
    let again = session.complete(id, Reply::new("Hello!")).unwrap();
    assert_eq!((again.turn_id, again.seq, again.outcome), (id, first.seq, RecordOutcome::Known));
    assert_eq!(refused("Goodbye!"), ErrorKind::Conflict);
    let unknown = "00000000-0000-7000-8000-000000000001".parse().unwrap();
    assert_eq!(session.complete(unknown, Reply::new("Hello!")).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn a_message_is_known_by_its_callers_id_before_and_after_its_reply() {
    let fixture = Fixture::new();
    let session = fixture.session();
    let again = |text: &str| session.record_message(message(text).caller_id("m1"));
    let id = again("Hi").unwrap().turn_id;
    for reply in [None, Some("Hello!")] {
        if let Some(reply) = reply {
            session.complete(id, Reply::new(reply)).unwrap();
        }
        let known = again("Hi").unwrap();
        assert_eq!((known.turn_id, known.outcome), (id, RecordOutcome::Known));
        assert_eq!(again("Bye").unwrap_err().kind(), ErrorKind::Conflict);
        assert_eq!(hot(&session), [1]);
    }
    // A caller who records the whole turn, as if its message had not been recorded, is told that it is known.
    let whole = session.record(NewTurn::new("Hi", "Hello!").caller_id("m1")).unwrap();
    assert_eq!((whole.turn_id, whole.outcome), (id, RecordOutcome::Known));
}

#[test]
fn a_message_without_a_reply_is_a_turn_once_another_comes_or_its_session_ends() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let by_record = |session: &Session| drop(session.record(turn(9)).unwrap());
    let by_message = |session: &Session| drop(session.record_message(message("And?")).unwrap());
    let by_end = |session: &Session| drop(session.end().unwrap());
    let by_silence = |_: &Session| {
        fixture.clock.advance(TimeDelta::hours(25));
        fixture.open().run_jobs(RunJobs::default()).unwrap();
    };
    let ways: [&dyn Fn(&Session); 4] = [&by_record, &by_message, &by_end, &by_silence];
    for (n, settle) in ways.into_iter().enumerate() {
        let session = alex.session_named(&n.to_string()).unwrap();
        let id = session.record_message(message(&format!("The okapi of {n} sleeps."))).unwrap().turn_id;
        let ours = alex.session_by_id(session.id()).unwrap();
        settle(&session);
        let turn = ours.turn(1).unwrap().unwrap();
        assert_eq!((turn.id, turn.state, turn.said.ai_response.as_str()), (id, TurnState::Complete, ""));
        assert!(is_recalled(&alex, &format!("okapi of {n}"), id), "{n}");
        let late = ours.complete(id, Reply::new("Late."));
        assert_eq!(late.unwrap_err().kind(), ErrorKind::Conflict, "{n}");
    }
    check_healthy(&fixture);
}

#[test]
fn a_message_and_its_reply_evict_as_any_turn_does() {
    let fixture = Fixture::new();
    let session = fixture.session();
    for _ in 0..3 {
        session.record(turn_of(400)).unwrap();
    }
    let first = session.record_message(turn_of(400)).unwrap();
    assert_eq!((first.evicted.as_slice(), hot(&session)), ([1].as_slice(), vec![2, 3, 4]));
    let done = session.complete(first.turn_id, Reply::new("y ".repeat(400).trim_end())).unwrap();
    assert_eq!((done.evicted.as_slice(), hot(&session)), ([2].as_slice(), vec![3, 4]));
    assert_eq!(warm(&session), [1, 2]);
}

#[test]
fn a_context_for_a_message_that_was_recorded_before_understands_it_by_the_turns_before_it() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let ask = |name: &str, is_recorded: bool| {
        let user = memory.user(name).unwrap();
        let session = user.session().unwrap();
        session.record(NewTurn::new("The okapi sleeps in the hay.", "It does.")).unwrap();
        if is_recorded {
            session.record_message(message("Why does it?")).unwrap();
        }
        let context = session.context("Why does it?", ContextOptions::default()).unwrap();
        user.receipt(context.receipt).unwrap().understood
    };
    assert_eq!(ask("alex", true), ask("bo", false));
}

#[test]
fn a_reply_that_is_made_again_takes_the_place_of_the_first_one() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let session = alex.session().unwrap();
    session.record(turn(1)).unwrap();
    let first = session.record(NewTurn::new("Where does it sleep?", "In the zebra house.")).unwrap();
    let again = NewTurn::new("Where does it sleep?", "In the hay.").replacing(first.turn_id);
    let second = session.record(again).unwrap();
    assert_eq!((second.turn_number, second.outcome), (2, RecordOutcome::New));
    assert!(second.seq > first.seq);

    assert!(!is_recalled(&alex, "zebra", first.turn_id));
    assert!(session.search("zebra", 9).unwrap().is_empty());
    assert!(!session.context("zebra?", ContextOptions::default()).unwrap().text.contains("zebra"));
    assert_eq!(session.turn(2).unwrap().unwrap().id, second.turn_id);
    let info = session.info().unwrap();
    assert_eq!(info.turn_count, 2);

    let before = session.replaced_at(2).unwrap();
    assert_eq!(before.len(), 1);
    assert_eq!((before[0].turn.id, before[0].replaced_by), (first.turn_id, second.turn_id));
    assert_eq!(before[0].turn.said.ai_response, "In the zebra house.");
    assert_eq!(alex.turn(first.turn_id).unwrap().state, TurnState::Replaced);
    check_healthy(&fixture);
}

#[test]
fn an_edited_message_sets_the_turns_behind_it_aside() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let session = alex.session().unwrap();
    let ids: Vec<TurnId> =
        (1..=8).map(|n| session.record(turn(n).caller_id(n.to_string())).unwrap().turn_id).collect();
    session.record_message(message("And then?")).unwrap();
    // Turn 3 is warm by now.
    let edited = session.record_message(message("Something else").replacing(ids[2])).unwrap();
    // The turns before it are the newest now, and hot again.
    assert_eq!((edited.turn_number, hot(&session), warm(&session)), (3, vec![1, 2, 3], vec![]));
    session.complete(edited.turn_id, Reply::new("Yes?")).unwrap();
    session.record(turn(4)).unwrap();
    assert_eq!((hot(&session), session.info().unwrap().turn_count), (vec![1, 2, 3, 4], 4));
    for (n, id) in (1..).zip(&ids) {
        assert_eq!(is_recalled(&alex, &format!("question {n}"), *id), n < 3, "{n}");
    }
    let of_place =
        |place| session.replaced_at(place).unwrap().into_iter().map(|gone| gone.turn.id).collect::<Vec<_>>();
    assert_eq!((of_place(2), of_place(3), of_place(8)), (vec![], vec![ids[2]], vec![ids[7]]));
    assert_eq!(of_place(9).len(), 1, "the message that waited");
    // A turn that was set aside is known by its caller's id, and recording it again does not bring it back.
    let again = session.record(turn(5).caller_id("5")).unwrap();
    assert_eq!(
        (again.turn_id, again.outcome, again.state),
        (ids[4], RecordOutcome::Known, TurnState::Replaced)
    );
    assert_eq!(hot(&session), [1, 2, 3, 4]);
    check_healthy(&fixture);
}

#[test]
fn when_a_long_message_that_waited_is_erased_the_turns_before_it_are_hot_again() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let session = alex.session().unwrap();
    (1..=3).for_each(|n| drop(session.record(turn(n)).unwrap()));
    let long = session.record_message(turn_of(1_600)).unwrap();
    assert_eq!((hot(&session), warm(&session)), (vec![4], vec![1, 2, 3]));
    alex.erase_turn(long.turn_id).unwrap();
    assert_eq!((hot(&session), warm(&session)), (vec![1, 2, 3], vec![]));
    assert!(session.transitions(None, 1_000).unwrap().is_empty());
    check_healthy(&fixture);
}

#[test]
fn no_reply_is_taken_by_a_session_that_is_being_erased() {
    let mut fixture = Fixture::new();
    let cut = Cut::of(&mut fixture.config);
    let memory = fixture.open();
    let session = memory.user("alex").unwrap().session_named("chat").unwrap();
    session.record(turn(1)).unwrap();
    let waiting = session.record_message(message("And?")).unwrap();
    cut.after(0, "DELETE FROM conversation_turns");
    session.erase().unwrap_err();
    cut.mend();
    let late = session.complete(waiting.turn_id, Reply::new("Late.")).unwrap_err();
    assert_eq!(late.kind(), ErrorKind::NotFound);
    assert_eq!(session.record(turn(2)).unwrap_err().kind(), ErrorKind::NotFound);
    fixture.clock.advance(TimeDelta::hours(1));
    memory.run_jobs(RunJobs::default()).unwrap();
    check_healthy(&fixture);
}

#[test]
fn a_turn_does_not_replace_itself_by_its_callers_id() {
    let fixture = Fixture::new();
    let session = fixture.session();
    let first = session.record(turn(1).caller_id("m1")).unwrap().turn_id;
    let message = NewTurn::new("question 1", "").caller_id("m1").replacing(first);
    assert_eq!(session.record_message(message).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(
        session.record(turn(1).caller_id("m1").replacing(first)).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
    let again = session.record(turn(1).caller_id("m1")).unwrap();
    assert_eq!((again.outcome, again.state), (RecordOutcome::Known, TurnState::Complete));
}

#[test]
fn only_what_stands_in_the_open_session_can_be_replaced_and_a_refusal_changes_nothing() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let (here, there) = (alex.session_named("here").unwrap(), alex.session_named("there").unwrap());
    let (mine, other) = (here.record(turn(1)).unwrap().turn_id, there.record(turn(2)).unwrap().turn_id);
    let second = here.record(turn(3).replacing(mine)).unwrap().turn_id;
    let refused = |turn_id| here.record(turn(4).replacing(turn_id)).unwrap_err().kind();
    assert_eq!(refused(other), ErrorKind::InvalidInput);
    assert_eq!(refused(mine), ErrorKind::Conflict);
    assert_eq!((hot(&here), here.turn(1).unwrap().unwrap().id), (vec![1], second));
    here.end().unwrap();
    assert_eq!(refused(second), ErrorKind::InvalidInput);
    assert_eq!(alex.sessions(None, 1_000).unwrap().len(), 2, "no part was started for it");
    // The same after silence.
    fixture.clock.advance(TimeDelta::days(2));
    let late = there.record(turn(5).replacing(other)).unwrap_err();
    assert_eq!(late.kind(), ErrorKind::InvalidInput);
    assert_eq!(there.turn(1).unwrap().unwrap().id, other);
}

#[test]
fn what_is_indexed_and_embedded_leaves_the_index_when_it_is_replaced() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    let session = alex.session().unwrap();
    let mut ids = Vec::new();
    for n in 0..300 {
        ids.push(
            session.record(NewTurn::new(format!("The okapi of number {n} sleeps."), "")).unwrap().turn_id,
        );
    }
    memory.run_jobs(RunJobs::default()).unwrap();
    assert!(is_recalled(&alex, "number 290", ids[290]));
    session.record(NewTurn::new("A bongo.", "").replacing(ids[10])).unwrap();
    assert!(!is_recalled(&alex, "number 290", ids[290]));
    let found = alex.recall("okapi sleeps", RecallOptions::default()).unwrap();
    assert_eq!(found.items.len(), 10);
    assert!(found.items.iter().all(|item| ids[..10].contains(&id_of(item))));
    memory.run_jobs(RunJobs::default()).unwrap();
    check_healthy(&fixture);
}

#[test]
fn what_stands_beside_the_memory_is_exported_and_imported_to_the_same_bytes() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let session = alex.session().unwrap();
    let first = session.record(turn(1).caller_id("1")).unwrap().turn_id;
    session.record(turn(2).replacing(first)).unwrap();
    let gone = session.record(turn(3)).unwrap().turn_id;
    session.record(turn(4)).unwrap();
    alex.erase_turn(gone).unwrap();
    session.record_message(message("And?").caller_id("m")).unwrap();
    let export = |user: &User| {
        let path = fixture.folder.path().join(format!("{}.jsonl", user.id()));
        user.export(std::fs::File::create(&path).unwrap()).unwrap();
        std::fs::read(path).unwrap()
    };
    let lines = export(&alex);
    let there = Fixture::new();
    let memory = there.open();
    memory.import("alex", std::io::Cursor::new(lines.clone())).unwrap();
    let imported = memory.user("alex").unwrap();
    assert_eq!(String::from_utf8(export(&imported)).unwrap(), String::from_utf8(lines).unwrap());
    let session = imported.session().unwrap();
    assert_eq!((hot(&session), session.replaced_at(1).unwrap().len()), (vec![1, 3, 4], 1));
    check_healthy(&there);
}

#[test]
fn a_turn_is_erased_wherever_it_is_and_its_neighbours_stay_as_they_are() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    let cold = alex.session_named("cold").unwrap();
    for n in 0..12 {
        cold.record(long_turn(n)).unwrap();
    }
    cold.end().unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    let open = alex.session_named("open").unwrap();
    for n in 20..28 {
        open.record(long_turn(n)).unwrap();
    }
    let turns = || -> BTreeMap<TurnId, thermocline::Turn> {
        let of = |session: &Session| -> Vec<thermocline::Turn> {
            (1..=12).filter_map(|n| session.turn(n).unwrap()).collect()
        };
        // Except for their tier: when turns are erased, older ones may become hot again.
        let as_cold = |mut turn: thermocline::Turn| {
            turn.memory_tier = MemoryTier::Cold;
            (turn.id, turn)
        };
        [of(&cold), of(&open)].concat().into_iter().map(as_cold).collect()
    };
    let mut expected = turns();
    let summarized: Vec<u32> =
        cold.summaries(None, 1_000).unwrap().iter().map(|summary| summary.turn_number).collect();
    let kept = (1..=12).find(|n| !summarized.contains(n)).unwrap();
    let (first, last) = (summarized[0], *summarized.last().unwrap());
    let doomed = [(&cold, first), (&cold, last), (&cold, kept), (&open, 8), (&open, 1), (&open, 5)];
    for (session, number) in doomed {
        let turn = session.turn(number).unwrap().unwrap();
        let erased = alex.erase_turn(turn.id).unwrap();
        assert_eq!((erased.turns, erased.is_pending), (1, false));
        expected.remove(&turn.id);
        assert_eq!(turns(), expected, "turn {number}");
        assert_eq!(alex.turn(turn.id).unwrap_err().kind(), ErrorKind::NotFound);
        assert!(!is_recalled(&alex, &turn.said.user_message, turn.id));
        assert_eq!(alex.erase_turn(turn.id).unwrap_err().kind(), ErrorKind::NotFound);
        check_healthy(&fixture);
    }
    assert_eq!(hot(&open).len() + warm(&open).len(), 5);
    assert!(hot(&open).len() > 2 && hot(&open).ends_with(&[6, 7]), "{:?}", hot(&open));
    assert_eq!(open.record(turn(9)).unwrap().turn_number, 9);
    assert_eq!(cold.restore().unwrap(), 9);
    assert!((1..=12).filter_map(|n| cold.turn(n).unwrap()).all(|turn| turn.memory_tier == MemoryTier::Warm));
    cold.compress().unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    check_healthy(&fixture);
}

#[test]
fn with_a_turn_goes_what_it_had_replaced() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let session = alex.session().unwrap();
    let mut last = session.record(turn(1)).unwrap().turn_id;
    for n in 2..=4 {
        last = session.record(turn(n).replacing(last)).unwrap().turn_id;
    }
    assert_eq!(session.replaced_at(1).unwrap().len(), 3);
    assert_eq!(alex.erase_turn(last).unwrap().turns, 4, "with the three that it had replaced");
    assert!(session.replaced_at(1).unwrap().is_empty());
    let waiting = session.record_message(message("And?")).unwrap();
    assert_eq!(waiting.turn_number, 2);
    assert_eq!(alex.erase_turn(waiting.turn_id).unwrap().turns, 1);
    assert_eq!((hot(&session), session.info().unwrap().incomplete_turn), (vec![], None));
    check_healthy(&fixture);
}

#[test]
fn incomplete_and_replaced_turns_count_as_erased_however_they_are_erased() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let talk = || {
        let session = alex.session_named("talk").unwrap();
        let first = session.record(turn(1)).unwrap().turn_id;
        session.record(turn(2).replacing(first)).unwrap();
        session.record_message(message("And?")).unwrap();
        session
    };
    assert_eq!(talk().erase().unwrap().turns, 3);
    talk();
    assert_eq!(alex.erase().unwrap().turns, 3);
}

#[test]
fn a_session_that_is_restored_meanwhile_does_not_bring_an_erased_turn_back() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    let session = alex.session_named("cold").unwrap();
    let ids: Vec<TurnId> = (0..40).map(|n| session.record(long_turn(n)).unwrap().turn_id).collect();
    session.end().unwrap();
    for id in ids.iter().step_by(3) {
        memory.run_jobs(RunJobs::default()).unwrap();
        std::thread::scope(|scope| {
            let restoring = scope.spawn(|| session.restore());
            alex.erase_turn(*id).unwrap();
            // The restore may be refused because another call works on the session.
            let _ = restoring.join().unwrap();
        });
        session.compress().unwrap();
        assert_eq!(alex.turn(*id).unwrap_err().kind(), ErrorKind::NotFound);
    }
    memory.run_jobs(RunJobs::default()).unwrap();
    assert_eq!((1..=40).filter_map(|n| session.turn(n).unwrap()).count(), 40 - 14);
    check_healthy(&fixture);
}

/// Records, completes, replaces and erases turns until it is killed; reports what it is about to remove, and what was
/// acknowledged.
pub fn child_changes_turns_until_killed(path: &str, seed: &str) {
    let user = Thermocline::open(path).unwrap().user("alex").unwrap();
    let session = user.session_named("talk").unwrap();
    let mut state: u64 = seed.parse().unwrap();
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let mut turns: Vec<(TurnId, String)> = Vec::new();
    for n in 0.. {
        let text = format!("word{seed}x{n}");
        let said = || NewTurn::new(format!("{text} {}", "lorem ".repeat(n % 70)), "a reply");
        let place = (!turns.is_empty()).then(|| turns.len() - 1 - random(turns.len().min(7)));
        match (random(5), place) {
            (0, _) => {
                let id = session.record_message(message(&text)).unwrap().turn_id;
                say(&format!("+ {text}"));
                session.complete(id, Reply::new("a reply")).unwrap();
                say(&format!("c {text}"));
                turns.push((id, text));
            }
            (1, Some(place)) => {
                let gone = turns.split_off(place);
                let names: Vec<&str> = gone.iter().map(|(_, text)| text.as_str()).collect();
                say(&format!("? {}", names.join(" ")));
                let id = session.record(said().replacing(gone[0].0)).unwrap().turn_id;
                say(&format!("+ {text}"));
                say(&format!("- {}", names.join(" ")));
                turns.push((id, text));
            }
            (2, Some(place)) if n % 4 == 0 => {
                let (id, gone) = turns.remove(place);
                say(&format!("? {gone}"));
                user.erase_turn(id).unwrap();
                say(&format!("- {gone}"));
            }
            _ => {
                let id = session.record(said()).unwrap().turn_id;
                say(&format!("+ {text}"));
                turns.push((id, text));
            }
        }
    }
}

/// Returns how often a child is killed; `THERMOCLINE_TEST_KILLS` sets it much higher by hand.
fn kills() -> u64 {
    std::env::var("THERMOCLINE_TEST_KILLS").map_or(12, |kills| kills.parse().unwrap())
}

/// Returns the first word of each of the session's turns.
fn kept_texts(session: &Session) -> BTreeSet<String> {
    let mut kept = BTreeSet::new();
    let mut after = None;
    loop {
        let page = session.turns(after, 1_000).unwrap();
        let Some(last) = page.last() else { return kept };
        after = Some(last.turn_number());
        let turns = page.iter().map(|turn| turn.turn().expect("nothing is damaged"));
        kept.extend(turns.map(|turn| first_word(&turn.said.user_message).to_owned()));
    }
}

fn first_word(text: &str) -> &str {
    text.split(' ').next().unwrap()
}

#[track_caller]
fn check_not_recalled<'a>(user: &User, texts: impl Iterator<Item = &'a String>) {
    for text in texts {
        let found = user.recall(text, RecallOptions::default()).unwrap();
        let says =
            |hit: &Recalled| hit.turn().is_some_and(|turn| first_word(&turn.said.user_message) == text);
        assert!(!found.items.iter().any(says), "{text} was set aside, and is recalled");
    }
}

#[test]
fn killed_at_any_time_nothing_that_was_acknowledged_is_lost_and_nothing_set_aside_comes_back() {
    let mut fixture = Fixture::new();
    fixture.config = Config::default();
    fixture.config.worker = false;
    // For each text, whether it must be there; `None` if it may be there or not, because the child was killed while removing
    // it.
    let mut is_there: BTreeMap<String, Option<bool>> = BTreeMap::new();
    for seed in 0..kills() {
        let path = fixture.path().to_str().unwrap().to_owned();
        let mut child = children::start("change_turns", &[&path, &seed.to_string()]);
        let lines = 3 + seed * 7 % 90;
        let mut said: Vec<String> = (0..lines).map_while(|_| child.line()).collect();
        child.process.kill().unwrap();
        said.extend(std::iter::from_fn(|| child.line()));
        child.process.wait().unwrap();
        for line in &said {
            let (what, texts) = line.split_once(' ').unwrap();
            for text in texts.split(' ') {
                let there = match what {
                    "+" => Some(true),
                    "-" => Some(false),
                    "?" => None,
                    _ => continue,
                };
                is_there.insert(text.to_owned(), there);
            }
        }
        let memory = fixture.open();
        let user = memory.user("alex").unwrap();
        let kept = kept_texts(&user.session_named("talk").unwrap());
        for (text, there) in &mut is_there {
            let found = kept.contains(text);
            assert!(there.is_none_or(|there| there == found), "{text} is there: {found}, after {said:?}");
            *there = Some(found);
        }
        let of_this_child = format!("word{seed}x");
        let gone = is_there.iter().filter(|(_, there)| **there == Some(false)).map(|(text, _)| text);
        check_not_recalled(&user, gone.filter(|text| text.starts_with(&of_this_child)));
        let diagnosis = memory.doctor().unwrap();
        assert!(diagnosis.is_healthy(), "{diagnosis:?}");
    }
    let gone = || is_there.iter().filter(|(_, there)| **there == Some(false)).map(|(text, _)| text);
    check_not_recalled(&fixture.open().user("alex").unwrap(), gone());
    assert!(gone().count() > 3, "{is_there:?}");
}
