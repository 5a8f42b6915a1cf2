//! Messages as people type them (a question among other things, two questions, a paste) are understood, and the confidence
//! of the answer is right.

use thermocline::{ContextOptions, ErrorKind, Filter, NewTurn, RecallOptions, RunJobs, blocking::User};

use super::{tell, tell_all};
use crate::support::Fixture;

const CHAT: &str = "Honestly, what a morning. The tram stood still for half an hour and nobody told us why. Then the \
    canteen had run out of soup, would you believe it? My left shoe is still wet from the puddle at the gate. Jon \
    from the third floor borrowed my stapler again and swears that he never saw it. At least the sun comes out \
    tomorrow, they say on the radio, and the heating in the corridor was mended on Tuesday at last. ";

fn told() -> (Fixture, User) {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let session = alex.session().unwrap();
    for said in [
        "The samovar came from my aunt Olga in Tula.",
        "My dog Fips must not eat chicken, it makes him itch.",
        "We named the boat Petrel after the bird.",
    ] {
        session.record(NewTurn::new(said, "I see.")).unwrap();
    }
    tell_all(&alex, 120);
    (fixture, alex)
}

fn first(alex: &User, message: &str) -> String {
    let found = alex.recall(message, RecallOptions::default()).unwrap();
    found.items[0].turn().unwrap().said.user_message.clone()
}

#[test]
fn a_question_is_found_wherever_it_stands_in_a_long_message() {
    let (_fixture, alex) = told();
    let question = "Who gave me the samovar? ";
    for message in [question.to_owned(), CHAT.to_owned() + question, question.to_owned() + CHAT] {
        assert!(first(&alex, &message).contains("Olga"), "{message:?}");
    }
    let paste = format!("```\n{}```\n{question}", "let soup = tram.await?;\n".repeat(300));
    assert!(first(&alex, &paste).contains("Olga"));
}

#[test]
fn two_questions_are_both_answered() {
    let (_fixture, alex) = told();
    let found = alex
        .recall("Who gave me the samovar? And what is the boat called?", RecallOptions::default())
        .unwrap();
    let best: Vec<&str> =
        found.items[..2].iter().map(|item| &*item.turn().unwrap().said.user_message).collect();
    assert!(
        best.iter().any(|said| said.contains("Olga")) && best.iter().any(|said| said.contains("Petrel")),
        "{best:?}"
    );
}

#[test]
fn of_what_was_never_said_nothing_is_shown_and_a_caller_may_want_it_surer() {
    let (_fixture, alex) = told();
    let now = alex.session_named("now").unwrap();
    let context = |message: &str, options| now.context(message, options).unwrap();
    let own = context("Who gave me the samovar?", ContextOptions::default());
    assert!(own.confidence > 0.5 && own.text.contains("Olga"), "{own:?}");
    let general = context("What is the boiling point of ethanol at sea level?", ContextOptions::default());
    assert!(
        general.confidence < 0.1 && !general.items.iter().any(|item| item.score.is_some()),
        "{general:?}"
    );
    let all = context(
        "What is the boiling point of ethanol at sea level?",
        ContextOptions::default().min_confidence(0.0),
    );
    assert!(all.items.len() >= general.items.len());
    let surer = context("Who gave me the samovar?", ContextOptions::default().min_confidence(0.999));
    assert!(!surer.text.contains("Olga"), "{surer:?}");

    let recalled = alex.recall("Who gave me the samovar?", RecallOptions::default()).unwrap();
    let surest = recalled.items.iter().map(|item| item.confidence).fold(0.0, f64::max);
    assert!((recalled.confidence - surest).abs() < 1e-9 && (surest - own.confidence).abs() < 1e-9);
    let receipt = alex.receipt(recalled.receipt).unwrap();
    assert_eq!(receipt.confidence, Some(recalled.confidence));
    assert!(receipt.explain().contains("Confidence that something"), "{}", receipt.explain());
    for wrong in [-0.1, 1.1, f64::NAN] {
        let error = now.context("x", ContextOptions::default().min_confidence(wrong)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    }
}

#[test]
fn what_is_told_beside_a_question_is_shown_what_fits_it_and_makes_nothing_sure() {
    let (_fixture, alex) = told();
    let now = alex.session_named("now").unwrap();
    for message in ["I gave Fips some chicken. Is that right?", "I want coffee. I gave Fips chicken."] {
        let context = now.context(message, ContextOptions::default()).unwrap();
        assert!(context.text.contains("must not eat chicken"), "{message:?}: {}", context.confidence);
    }
    let furniture: Vec<String> = (0..80).map(|n| format!("We moved cupboard{n} and the list. ")).collect();
    let never = furniture.concat() + "What is the shoe size of Margarethe?";
    let context = now.context(&never, ContextOptions::default()).unwrap();
    assert!(context.confidence < 0.3, "{}", context.confidence);
}

#[test]
fn of_many_questions_none_is_lost_and_small_talk_asks_nothing() {
    let (_fixture, alex) = told();
    let others: Vec<String> = (0..9).map(|n| format!("Where is cupboard{n}? ")).collect();
    let message = "Who gave me the samovar? ".to_owned() + &others.concat();
    assert!(first(&alex, &message).contains("Olga"));
    let now = alex.session_named("now").unwrap();
    for message in ["ok", "Really?", "Thanks a lot!", "Nice"] {
        let context = now.context(message, ContextOptions::default()).unwrap();
        assert!(context.confidence < 0.05 && context.text.is_empty(), "{message:?}: {context:?}");
    }
}

#[test]
fn how_sure_it_is_does_not_depend_on_how_much_is_wanted() {
    let (_fixture, alex) = told();
    let sure = |k| alex.recall("What must Fips not eat?", RecallOptions::default().k(k)).unwrap().confidence;
    assert_eq!((sure(1), sure(10)), (sure(100), sure(3)));
    // Words of one question and the meaning of another are not an answer together.
    let both = "Who gave me the samovar? What is the boiling point of ethanol?";
    let found = alex.recall(both, RecallOptions::default()).unwrap();
    let one = alex.recall("Who gave me the samovar?", RecallOptions::default()).unwrap();
    let [found, one] = [found, one].map(|found| found.items[0].parts.coverage);
    assert!((found - one).abs() < 1e-9, "{found} {one}");
}

#[test]
fn an_error_behind_a_bare_question_and_code_alone_are_searched_for() {
    let (_fixture, alex) = told();
    let session = alex.session_named("build").unwrap();
    let said = "The build failed with linker error undefined symbol zstd_compress; libzstd was missing.";
    session.record(NewTurn::new(said, "Install the package.")).unwrap();
    session.end().unwrap();
    let now = alex.session_named("now").unwrap();
    let paste = "```\nlinker error: undefined symbol zstd_compress\n```";
    for message in [format!("What does this mean?\n{paste}"), format!("Why?!\n{paste}"), paste.to_owned()] {
        let context = now.context(&message, ContextOptions::default()).unwrap();
        assert!(context.text.contains("libzstd"), "{message:?}: {}", context.confidence);
    }
}

#[test]
fn politeness_and_what_a_follow_up_borrows_make_no_answer_less_sure() {
    let (_fixture, alex) = told();
    let sure = |message: &str| alex.recall(message, RecallOptions::default()).unwrap().confidence;
    let blunt = sure("Who gave me the samovar?");
    let polite = sure("Could you please quickly tell me once again who gave me the samovar, if you know?");
    assert!(polite > 0.8 * blunt, "{polite} {blunt}");

    let now = alex.session_named("now").unwrap();
    let before = "I polished the copper kettle, the brass lamp and the pewter jug for the spring market.";
    now.record(NewTurn::new(before, "They shine.")).unwrap();
    let context = now.context("And the samovar?", ContextOptions::default()).unwrap();
    assert!(context.text.contains("Olga") && context.confidence > 0.5, "{context:?}");
}

#[test]
fn what_a_filter_leaves_out_makes_no_answer_sure() {
    let fixture = Fixture::new();
    let memory = fixture.open();
    let alex = memory.user("alex").unwrap();
    let session = alex.session().unwrap();
    session.record(NewTurn::new("I live in Tallinn.", "Nice.")).unwrap();
    session.end().unwrap();
    tell_all(&alex, 60);
    memory.run_jobs(RunJobs::default()).unwrap();
    let filter = Filter::default().without_session(session.id());
    let filtered = RecallOptions::default().filter(filter);
    let sure = alex.recall("Where do I live?", RecallOptions::default()).unwrap().confidence;
    let other = alex.recall("Where do I live?", filtered).unwrap();
    assert!(sure > 0.3 && other.confidence < sure, "{sure} {}", other.confidence);
    assert!(other.items.iter().all(|item| item.turn().is_some()));
}

#[test]
fn who_wants_whatever_there_is_gets_something_and_a_receipt_says_why_others_do_not() {
    let (_fixture, alex) = told();
    let now = alex.session_named("now").unwrap();
    let far = "Which animal makes me itch when it is eaten by my terrier at night in winter?";
    let all = now.context(far, ContextOptions::default().min_confidence(0.0).budget_tokens(400)).unwrap();
    assert!(all.items.iter().any(|item| item.score.is_some()), "{all:?}");
    let ethanol = "What is the boiling point of ethanol at sea level?";
    let none = now.context(ethanol, ContextOptions::default()).unwrap();
    let receipt = alex.receipt(none.receipt).unwrap();
    assert_eq!(receipt.understood.min_confidence, Some(0.1));
    assert!(receipt.explain().contains("Nothing recalled is shown below 0.10"), "{}", receipt.explain());
}

#[test]
fn a_message_that_goes_on_finds_what_is_newer() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    for plan in ["paint the hull of the boat", "varnish the deck of the boat"] {
        let session = alex.session().unwrap();
        session.record(NewTurn::new(format!("Next in the plan: {plan}."), "Good.")).unwrap();
        session.end().unwrap();
        tell_all(&alex, 50);
        fixture.clock.advance(chrono::TimeDelta::days(20));
    }
    let goes_on = "I am back from the yard, where I worked on the boat as we had agreed. What is next?";
    assert!(first(&alex, goes_on).contains("varnish"));
    let recalled = alex.recall(goes_on, RecallOptions::default()).unwrap();
    assert!(recalled.items[0].parts.continuation > 0.0);
    let alone = alex.recall("Which hull of which boat did I paint?", RecallOptions::default()).unwrap();
    assert!(alone.items[0].parts.continuation <= 0.0);
}

#[test]
fn a_question_for_many_turns_is_answered_from_many_sessions() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    for month in 0..4 {
        let session = alex.session().unwrap();
        for n in 0..12 {
            let said = format!("The garden again: I planted bed {n} with {month} rows.");
            session.record(NewTurn::new(said, "Lovely.")).unwrap();
        }
        session.end().unwrap();
        fixture.clock.advance(chrono::TimeDelta::days(30));
    }
    let sessions = |message: &str| {
        let found = alex.recall(message, RecallOptions::default().k(8)).unwrap();
        let sessions = found.items.iter().filter_map(|item| item.turn().map(|turn| turn.session_id));
        sessions.collect::<std::collections::BTreeSet<_>>().len()
    };
    assert_eq!(sessions("Give me a summary of how the garden was planted over time."), 4);
}

#[test]
fn a_turn_is_found_by_words_that_stand_elsewhere_in_its_session() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let sessions = ["Lisbon", "Tromso"].map(|place| {
        let session = alex.session().unwrap();
        session.record(NewTurn::new(format!("We are in {place} for the week."), "Enjoy.")).unwrap();
        tell(&session, 0..8);
        session.record(NewTurn::new("The hotel breakfast was poor.", "A pity.")).unwrap();
        session.end().unwrap();
        session.id()
    });
    let found = alex.recall("How was the hotel breakfast in Lisbon?", RecallOptions::default()).unwrap();
    let best = found.items[0].turn().unwrap();
    assert!(best.said.user_message.contains("breakfast") && best.session_id == sessions[0], "{best:?}");
}

#[test]
fn a_message_of_100_kb_is_read_to_its_end() {
    let (_fixture, alex) = told();
    let entries: Vec<String> = (0..4_000).map(|n| format!("Entry{n} was closed by clerk{n}. ")).collect();
    let mut message = entries.concat();
    message.truncate(100_000);
    message.push_str(". Who gave me the samovar?");
    assert!(first(&alex, &message).contains("Olga"));
}
