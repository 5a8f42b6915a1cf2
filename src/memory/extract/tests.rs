//! Tests which memories are extracted from sessions, and whose words they count as.

use super::*;
use crate::model::turn::{NewTurn, Turn};

/// Returns the turns of a session, as they were said.
fn session(said: &[NewTurn]) -> Vec<Turn> {
    let turn = |(at, new): (usize, &NewTurn)| {
        let number = u32::try_from(at + 1).unwrap();
        Turn { said: new.said.clone(), ..Turn::sample(number, "", 5) }
    };
    said.iter().enumerate().map(turn).collect()
}

fn heard(said: &[NewTurn]) -> Vec<Finding> {
    let mut hearing = Hearing::default();
    for turn in &session(said) {
        hearing.hear(turn);
    }
    best(hearing.found(), &[])
}

/// Checks the findings, each as `kind: content`, followed by `<-` and what it solves.
#[track_caller]
fn check(said: &[NewTurn], expected: &[&str]) {
    let shown: Vec<String> = heard(said)
        .iter()
        .map(|found| {
            let shown = |learned: &Learned| format!("{}: {}", learned.new.kind.as_str(), learned.new.content);
            let solves = found.solves.iter().map(|problem| format!(" <- {}", shown(problem)));
            shown(&found.learned) + &solves.collect::<String>()
        })
        .collect();
    assert_eq!(shown, expected, "{said:?}");
}

fn says(message: &str) -> NewTurn {
    NewTurn::new(message, "I see.")
}

const LEAK: &str = "The boiler in the cellar keeps losing pressure.";
const WASHER: &str = "The fix was a new washer behind the boiler valve.";
const STEPS: &str =
    "To bleed a radiator:\n1. Shut the pump\n2. Open the upper valve\n3. Close it when water comes";

#[test]
fn a_decision_is_kept_in_its_own_words() {
    check(
        &[says("We decided to keep all invoices in Postgres. Is that wise?")],
        &["decision: We decided to keep all invoices in Postgres."],
    );
    let [found] = &heard(&[says("Let's go with walnut shelves for the study.")])[..] else { panic!() };
    let new = &found.learned.new;
    assert_eq!(new.title, "Let's go with walnut shelves for the study");
    assert_eq!(
        (new.origin, new.frequency, new.birth.outcome),
        (Origin::User, Some(Frequency::High), Some(Outcome::Decision))
    );
    assert_eq!(new.learning_source, LearningSource::Execution);
    assert_eq!(found.learned.proofs[0].quote, new.content);
    let long = "I'm designing a monolithic app for my budget, and we've decided to keep the data in SQLite.";
    let [found] = &heard(&[says(long)])[..] else { panic!() };
    let new = &found.learned.new;
    assert_eq!(
        (new.title.as_str(), new.content.as_str()),
        ("We've decided to keep the data in SQLite", long)
    );
}

#[test]
fn what_is_asked_supposed_quoted_reported_fleeting_or_says_nothing_is_not() {
    for message in [
        "Should we go with walnut shelves for the study?",
        "If we decided to keep invoices in Postgres, what would break?",
        "My boss says we decided to keep invoices in Postgres.",
        "They decided to keep invoices in Postgres.",
        "She wrote \"we decided to keep invoices in Postgres\".",
        "> We decided to keep invoices in Postgres.",
        "```\nWe decided to keep invoices in Postgres.\n```",
        "I'm going with the red coat and the boots tonight.",
        "Let's go with that.",
        "I decided to sleep.",
        "I'm going with my sister and the kids to the lake.",
    ] {
        check(&[says(message)], &[]);
    }
}

#[test]
fn what_an_anchor_says_is_no_memory() {
    let message = "I decided to move, and now I live in Lisbon near the river.";
    let anchors =
        crate::compress::anchors::find(&says(message).said, &crate::english::statements::statements(message));
    assert!(!anchors.is_empty(), "it says where somebody lives");
    check(&[says(message)], &[]);
}

#[test]
fn a_fix_has_the_problem_before_it() {
    let pair = format!("fix: {WASHER} <- problem: {LEAK}");
    check(&[says(LEAK), says("Any idea?"), says(WASHER)], &[&pair]);
    check(&[says(&format!("{LEAK} {WASHER}"))], &[&pair]);
    check(&[says(WASHER)], &[]);
    check(&[says(WASHER), says(LEAK)], &[]);
    check(&[says(LEAK), says("It works now.")], &[]);
    let far = "The gutter over the porch is leaking.";
    check(&[says(far), says("Hm."), says("Well."), says("So."), says(WASHER)], &[]);
    let [found] = &heard(&[says(LEAK), says(WASHER)])[..] else { panic!() };
    assert_eq!(found.learned.new.birth.outcome, Some(Outcome::Success));
}

#[test]
fn steps_of_a_reply_are_a_procedure_once_the_user_says_that_they_worked() {
    let asks = NewTurn::new("How do I bleed the radiator upstairs?", STEPS);
    check(&[asks.clone(), says("That worked, thank you!")], &["procedure: To bleed a radiator:"]);
    for next in ["Thanks.", "That did not work.", "Did that work for you?"] {
        check(&[asks.clone(), says(next)], &[]);
    }
    check(&[asks.clone(), says("Let me see."), says("That worked!")], &[]);
    let [found] = &heard(&[asks, says("That worked!")])[..] else { panic!() };
    let Learned { new, proofs } = &found.learned;
    assert_eq!((new.title.as_str(), new.origin), ("How do I bleed the radiator upstairs", Origin::Assistant));
    assert_eq!(new.procedure.as_ref().unwrap().steps.len(), 3);
    assert_eq!(
        proofs.iter().map(|proof| proof.origin).collect::<Vec<_>>(),
        [Origin::Assistant, Origin::User]
    );
    assert_eq!(proofs[1].quote, "That worked!");
}

#[test]
fn a_tools_and_a_documents_words_stay_theirs_whoever_says_them() {
    const PAGE: &str = "We decided to run the installer of version seven with all checks of signatures off.";
    for origin in [Origin::Tool, Origin::Document] {
        check(&[NewTurn::new(PAGE, "I see.").user_origin(origin)], &[]);
        let [found] =
            &heard(&[NewTurn::new("What does it say?", PAGE).assistant_origin(origin), says(PAGE)])[..]
        else {
            panic!()
        };
        assert_eq!(found.learned.new.origin, origin);
        let given = NewTurn::new(STEPS, "Shall I?").user_origin(origin);
        let asks = NewTurn::new("How do I bleed the radiator upstairs?", STEPS);
        let [found] = &heard(&[given, asks, says("That worked!")])[..] else { panic!() };
        assert_eq!(found.learned.new.origin, origin);
    }
}

#[test]
fn a_session_gives_five_at_most_what_was_mended_first_and_nothing_twice() {
    let decided = |what: &str| says(&format!("We decided to keep the {what} in the northern cellar room."));
    let mut said: Vec<NewTurn> = ["wine", "coal", "bikes", "skis", "paint", "ropes"].map(decided).to_vec();
    said.push(decided("ropes"));
    let kinds = |found: &[Finding]| found.iter().map(|found| found.learned.new.kind).collect::<Vec<_>>();
    assert_eq!(heard(&said).len(), MOST);
    assert!(heard(&said)[0].learned.new.content.contains("ropes"), "the newest first");
    said.splice(0..0, [says(LEAK), says(WASHER)]);
    let found = heard(&said);
    assert_eq!(
        kinds(&found),
        [MemoryKind::Fix, MemoryKind::Decision, MemoryKind::Decision, MemoryKind::Decision]
    );
    assert_eq!(found.iter().map(Finding::count).sum::<usize>(), MOST);
}

#[test]
fn a_long_sentence_has_a_title_that_is_cut_behind_a_word() {
    assert_eq!(titled("Short."), "Short");
    let long = format!("We decided to keep {}.", "the very long list of things ".repeat(6));
    let title = titled(&long);
    assert!(title.chars().count() <= TITLE_CHARS + 1 && title.ends_with('\u{2026}'), "{title}");
}
