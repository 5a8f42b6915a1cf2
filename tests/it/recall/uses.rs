//! Use: when a turn names the context that it answers, what that context showed is counted once, and cold turns in it
//! stay at hand until the session ends.

use thermocline::{
    ContextOptions, ItemOutcome, NewTurn, RunJobs, Section,
    blocking::{Session, Thermocline, User},
};

use super::{asked_at, story, tell, tell_all};
use crate::{
    dump::{ask, reader},
    support::Fixture,
};

/// Returns the counts of use, one per line. Counting happens after the acknowledgement; `stats` waits for it.
pub fn counts(memory: &Thermocline, fixture: &Fixture) -> Vec<String> {
    memory.stats().unwrap();
    let conn = reader(&fixture.path());
    let mut stmt =
        conn.prepare("SELECT aspect || ' ' || name || ' ' || hits FROM use_counts ORDER BY 1").unwrap();
    stmt.query_map([], |row| row.get(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

/// Returns how often each unit was of use, by the caller's id.
fn hits(fixture: &Fixture) -> Vec<(String, u32)> {
    let conn = reader(&fixture.path());
    let sql = "SELECT caller_id, hits FROM unit_uses JOIN recall_units USING (user_no, seq) ORDER BY seq";
    let mut stmt = conn.prepare(sql).unwrap();
    stmt.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap()
}

/// Tells stories, compresses them, and records one turn in an open session.
fn told() -> (Fixture, Thermocline, User, Session) {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    tell_all(&alex, 60);
    alex.find_session("talk 2").unwrap().unwrap().end().unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    let session = alex.session_named("now").unwrap();
    session.record(NewTurn::new("Good morning.", "Good morning!").caller_id("hello")).unwrap();
    (fixture, memory, alex, session)
}

/// Returns the callers' ids of turns at hand.
fn promoted(memory: &Thermocline, fixture: &Fixture) -> Vec<String> {
    memory.stats().unwrap();
    let conn = reader(&fixture.path());
    let mut stmt = conn.prepare("SELECT caller_id FROM v_promotions ORDER BY 1").unwrap();
    stmt.query_map([], |row| row.get(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

fn moves(alex: &User, caller_id: &str) -> usize {
    let turn = alex.turn_by_caller_id(caller_id).unwrap();
    let moves = alex.session_by_id(turn.session_id).unwrap().transitions(None, 1_000).unwrap();
    moves.into_iter().filter(|moved| moved.turn_number == turn.turn_number).count()
}

#[test]
fn what_a_context_showed_is_counted_once_and_cold_turns_are_warm_until_the_session_ends() {
    let (fixture, memory, alex, session) = told();
    let options = ContextOptions::default().now(asked_at());
    // So few turns are shown that all of them are at hand afterwards.
    let context = session.context("number 33 on the list", options.clone().budget_tokens(500)).unwrap();
    let shown: Vec<String> = context.items.iter().filter_map(|item| item.caller_id.clone()).collect();
    assert!(shown.contains(&"s33".to_owned()) && shown.contains(&"hello".to_owned()), "{shown:?}");
    assert_eq!((counts(&memory, &fixture), hits(&fixture)), (vec![], vec![]), "asking counts nothing");
    let moved = moves(&alex, "s33");

    let answer = NewTurn::new("And?", "It was the violin.").caller_id("answer").answering(context.receipt);
    session.record(answer.clone()).unwrap();
    let cold = shown.len() - 1;
    let first = counts(&memory, &fixture);
    assert!(first.contains(&format!("tier cold {cold}")), "{first:?}");
    assert!(
        !first.iter().any(|line| line.starts_with("tier hot")),
        "it is shown whatever is asked: {first:?}"
    );
    assert!(first.contains(&"profile default 1".to_owned()), "{first:?}");
    let packed: u32 = first
        .iter()
        .filter_map(|line| line.strip_prefix("packed_as ")?.rsplit(' ').next()?.parse::<u32>().ok())
        .sum();
    assert_eq!(packed as usize, cold, "{first:?}");
    let mut counted: Vec<String> =
        hits(&fixture).into_iter().map(|(id, hits)| format!("{id} {hits}")).collect();
    let recalled = shown.iter().filter(|id| *id != "hello");
    let mut expected: Vec<String> = recalled.map(|id| format!("{id} 1")).collect();
    counted.sort();
    expected.sort();
    assert_eq!(counted, expected);
    assert!(alex.receipt(context.receipt).unwrap().used_at.is_some());

    // The same turn again, and another that names the same receipt.
    session.record(answer).unwrap();
    session.record(NewTurn::new("And so?", "").caller_id("so").answering(context.receipt)).unwrap();
    assert_eq!(counts(&memory, &fixture), first);

    let at_hand = promoted(&memory, &fixture);
    assert!(at_hand.contains(&"s33".to_owned()) && at_hand.len() <= cold.min(8), "{at_hand:?}");
    assert_eq!(moves(&alex, "s33"), moved, "it stays where it is");
    let diagnosis = memory.doctor().unwrap();
    assert!(diagnosis.is_healthy(), "{diagnosis:?}");
    // The turn is at hand for any question.
    let other = session.context("Thank you!", options.clone()).unwrap();
    let at_hand = other.items.iter().find(|item| item.caller_id.as_deref() == Some("s33")).unwrap();
    assert_eq!(at_hand.section, Section::EarlierConversations);
    // It is shown because it was of use before, which does not count a second time.
    let receipt = alex.receipt(other.receipt).unwrap();
    let item =
        receipt.items.iter().find(|item| item.owner_id == *at_hand.turn_id.unwrap().as_uuid()).unwrap();
    assert_eq!(item.outcome, ItemOutcome::Promoted);
    assert!(item.explain().ends_with("it was of use earlier in this session"), "{}", item.explain());
    session.record(NewTurn::new("Thank you!", "").answering(other.receipt)).unwrap();
    memory.stats().unwrap();
    assert!(hits(&fixture).contains(&("s33".to_owned(), 1)), "{:?}", hits(&fixture));

    session.end().unwrap();
    assert_eq!(promoted(&memory, &fixture), Vec::<String>::new());
    assert_eq!(moves(&alex, "s33"), moved);
    assert!(memory.doctor().unwrap().is_healthy());
    memory.run_jobs(RunJobs::default()).unwrap();
    let next = alex.session_named("next").unwrap().context("Thank you!", options).unwrap();
    assert!(next.items.iter().all(|item| item.caller_id.as_deref() != Some("s33")));
    assert!(memory.doctor().unwrap().is_healthy());
}

#[test]
fn a_session_that_silence_ends_keeps_nothing_at_hand() {
    let (fixture, memory, _, session) = told();
    let context = session.context("number 33 on the list", ContextOptions::default()).unwrap();
    session.record(story(70).answering(context.receipt)).unwrap();
    assert!(!promoted(&memory, &fixture).is_empty());
    fixture.clock.advance(chrono::TimeDelta::days(2));
    session.record(story(71)).unwrap(); // In the successor.
    assert_eq!(ask::<usize>(&fixture.path(), "SELECT count(*) FROM promotions"), 0);
    assert!(memory.doctor().unwrap().is_healthy());
}

#[test]
fn the_rule_that_kept_a_turn_is_counted_and_the_callers_profile() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    let old = alex.session_named("old").unwrap();
    tell(&old, 0..3);
    old.record(NewTurn::new("The heron lives at the pond.", "Good to know.").critical()).unwrap();
    old.end().unwrap();
    memory.run_jobs(RunJobs::default()).unwrap();
    let session = alex.session_named("now").unwrap();
    let options = ContextOptions::default().profile(thermocline::Profile::paper());
    let context = session.context("Where does the heron live?", options).unwrap();
    session.record(NewTurn::new("Where does it live?", "At the pond.").answering(context.receipt)).unwrap();
    let counts = counts(&memory, &fixture);
    assert!(counts.contains(&"rule caller 1".to_owned()), "{counts:?}");
    assert!(counts.contains(&"profile paper 1".to_owned()), "{counts:?}");
}

#[test]
fn a_receipt_that_is_unknown_or_gone_counts_nothing_and_the_turn_is_recorded() {
    let (mut fixture, memory, alex, session) = told();
    let context = session.context("number 33 on the list", ContextOptions::default()).unwrap();
    memory.close().unwrap();
    fixture.config.receipts = 1;
    let memory = fixture.open();
    let alex_now = memory.user("alex").unwrap();
    alex_now.receipt(alex_now.recall("violin", super::options()).unwrap().receipt).unwrap();
    let session = alex_now.session_named("now").unwrap();
    let unknown: thermocline::ReceiptId = "01890000-0000-7000-8000-000000000001".parse().unwrap();
    for receipt in [context.receipt, unknown] {
        let before = session.info().unwrap().turn_count;
        session.record(NewTurn::new("And?", "Yes.").answering(receipt)).unwrap();
        assert_eq!(session.info().unwrap().turn_count, before + 1);
    }
    assert_eq!(counts(&memory, &fixture), Vec::<String>::new());
    assert!(memory.doctor().unwrap().is_healthy());
    drop(alex);
}

#[test]
fn use_changes_no_rank() {
    let (_fixture, _memory, alex, session) = told();
    let before = super::answers(&alex);
    for _ in 0..5 {
        let context = session.context("number 33 on the list", ContextOptions::default()).unwrap();
        // Records a turn without words, so that no question finds it.
        session.record(NewTurn::new(".", "").answering(context.receipt)).unwrap();
    }
    let only = |answers: Vec<(String, Vec<String>)>| -> Vec<Vec<String>> {
        let of_stories = |lines: Vec<String>| lines.into_iter().filter(|line| line.contains(" s")).collect();
        answers.into_iter().map(|(_, lines)| of_stories(lines)).collect()
    };
    let ids = |lines: &Vec<Vec<String>>| -> Vec<Vec<String>> {
        lines
            .iter()
            .map(|lines| lines.iter().map(|line| line.split(' ').nth(1).unwrap().to_owned()).collect())
            .collect()
    };
    let (before, after) = (only(before), only(super::answers(&alex)));
    // The number of turns is part of how rare a word is: the scores may differ by that, the ranks not.
    for (before, after) in ids(&before).iter().zip(&ids(&after)) {
        assert_eq!(before[..before.len().min(5)], after[..after.len().min(5)]);
    }
}
