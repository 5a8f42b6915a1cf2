//! Standing wishes: a user's lasting wish is in the contexts of messages that it applies to, until something newer ends it.

use thermocline::{
    Context, ContextOptions, Filter, ItemKind, NewTurn, PackedAs, RecallOptions, Recalled, RunJobs, Section,
    blocking::User,
};

use crate::support::{Fixture, at};

const ALLERGIES: &str = "Always confirm allergies when I ask about snacks.";
const SNACKS: &str = "Which snacks could I bring to the party?";

/// Says these sentences to an assistant, each in a separate, ended session, one day apart.
fn say(alex: &User, sentences: &[&str]) {
    for (n, sentence) in sentences.iter().enumerate() {
        let session = alex.session_named(&format!("{n} {sentence}")).unwrap();
        let said_at = at("2026-01-01T12:00:00Z") + chrono::TimeDelta::days(i64::try_from(n).unwrap());
        session.record(NewTurn::new(*sentence, "Noted.").said_at(said_at).caller_id(*sentence)).unwrap();
        session.end().unwrap();
    }
}

fn with(sentences: &[&str]) -> (Fixture, User) {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    say(&alex, sentences);
    (fixture, alex)
}

fn context_with(alex: &User, message: &str, options: ContextOptions) -> Context {
    alex.session_named("now").unwrap().context(message, options.now(at("2026-02-01T12:00:00Z"))).unwrap()
}

fn context(alex: &User, message: &str) -> Context {
    context_with(alex, message, ContextOptions::default())
}

/// Returns the section of wishes, by line.
fn lines(context: &Context) -> Vec<&str> {
    let section = context.text.split_once("<wishes of the user>\n").map_or("", |(_, rest)| rest);
    section
        .lines()
        .take_while(|line| !line.starts_with('<'))
        .filter(|line| !line.starts_with("On "))
        .collect()
}

#[track_caller]
fn check(sentences: &[&str], message: &str, expected: &[&str]) {
    let (_fixture, alex) = with(sentences);
    let context = context(&alex, message);
    let expected: Vec<String> = expected.iter().map(|wish| format!("User: {wish}")).collect();
    assert_eq!(lines(&context), expected, "{message:?} in {}", context.text);
}

#[test]
fn a_wish_is_shown_where_the_message_speaks_of_what_it_is_about() {
    let said = [ALLERGIES, "Never recommend horror films.", "My sister plays the tuba."];
    check(&said, SNACKS, &[ALLERGIES]);
    check(&said, "What film shall we watch?", &["Never recommend horror films."]);
    check(&said, "How do I repair a bicycle tyre?", &[]);
}

#[test]
fn a_wish_about_every_answer_is_shown_with_every_message() {
    let said = ["Keep your answers short.", "Call me Sam.", "Please don't use emojis."];
    check(&said, "How do I repair a bicycle tyre?", &said);
    check(&said, "ok", &said);
}

#[test]
fn at_most_three_are_shown_the_best_before_the_newest() {
    let said =
        [ALLERGIES, "Call me Sam.", "Keep your answers short.", "Never use emojis.", "No more puns, please."];
    check(&said, SNACKS, &[ALLERGIES, "Never use emojis.", "No more puns, please."]);
}

#[test]
fn a_wish_stands_in_its_section_with_its_own_sentence_and_its_day() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let long = "The tuba was loud today. Please never use emojis! My cousin paints gates.";
    let session = alex.session_named("old").unwrap();
    session.record(NewTurn::new(long, "Noted.").said_at(at("2026-01-05T12:00:00Z")).caller_id("t")).unwrap();
    session.end().unwrap();
    let context = context(&alex, SNACKS);
    let shown = "<wishes of the user>\nOn 2026-01-05\nUser: Please never use emojis!\n<now:";
    assert!(context.text.contains(shown), "{}", context.text);
    let item = context.items.iter().find(|item| item.section == Section::Wishes).unwrap();
    assert_eq!(
        (item.kind, item.packed_as, item.caller_id.as_deref()),
        (ItemKind::Wish, PackedAs::Whole, Some("t"))
    );
    assert_eq!((item.turn_number, item.memory_tier, item.score), (Some(1), None, Some(0.5)));
    assert!(item.tokens > 5 && item.tokens < 30);
}

#[test]
fn a_newer_wish_about_the_same_ends_an_older_one() {
    let how = "How do I repair a bicycle tyre?";
    check(&["Never use emojis.", "You can use emojis again."], how, &[]);
    check(&["You can use emojis again.", "Never use emojis."], how, &["Never use emojis."]);
    check(&["Keep your answers short.", "I'd prefer long answers."], how, &["I'd prefer long answers."]);
    check(&["Call me Sam.", "Call me Robin."], how, &["Call me Robin."]);
    check(&[ALLERGIES, "You don't have to confirm allergies anymore."], SNACKS, &[]);
    check(&[ALLERGIES, "Forget what I said about snacks."], SNACKS, &[]);
    check(&[ALLERGIES, "Forget what I said about films."], SNACKS, &[ALLERGIES]);
    check(&[ALLERGIES, "Stop confirming allergies."], SNACKS, &[]);
}

#[test]
fn a_wish_is_ended_by_its_opposite_and_not_by_what_only_speaks_of_the_same() {
    let how = "How do I repair a bicycle tyre?";
    for (wish, end) in [
        ("Please don't use emojis.", "You can use emojis."),
        ("Please don't use emojis.", "Use emojis, please."),
        ("Please don't use emojis.", "Emojis are fine now."),
        ("Call me Sam.", "Don't call me Sam anymore."),
        ("Always cite your sources.", "You don't need to cite your sources."),
    ] {
        check(&[wish, end], how, &[]);
    }
    for end in ["No need to confirm allergies.", "Never mention allergies."] {
        let (_fixture, alex) = with(&[ALLERGIES, end]);
        assert!(!lines(&context(&alex, SNACKS)).iter().any(|line| line.contains(ALLERGIES)), "{end}");
    }
    for other in ["I no longer want snacks.", "I don't want snacks anymore."] {
        check(&[ALLERGIES, other], SNACKS, &[ALLERGIES]);
    }
    check(
        &["Always use metric units.", "Always use Fahrenheit."],
        how,
        &["Always use metric units.", "Always use Fahrenheit."],
    );
}

#[test]
fn a_wish_of_how_to_write_is_shown_with_every_message() {
    for wish in ["Never use more than 100 words.", "Always reply in lowercase.", "Stop calling me sir."] {
        check(&[wish], "How do I repair a bicycle tyre?", &[wish]);
    }
}

#[test]
fn what_is_not_wished_of_the_assistant_is_no_wish() {
    let said = [
        "I always bring snacks to parties.",
        "My boss says always bring snacks.",
        "Do you always bring snacks?",
    ];
    check(&said, SNACKS, &[]);
}

#[test]
fn without_a_wish_that_applies_the_context_is_as_it_would_be_without_the_section() {
    for said in
        [&["I always bring snacks.", "My sister plays the tuba."][..], &["Never recommend horror films."]]
    {
        let (_fixture, alex) = with(said);
        let [with, without] = [ContextOptions::default(), ContextOptions::default().without(Section::Wishes)]
            .map(|options| context_with(&alex, SNACKS, options));
        assert_eq!((&with.text, with.items), (&without.text, without.items));
        assert!(!with.text.contains("wishes"));
    }
}

#[test]
fn a_wish_and_its_turn_are_not_both_shown() {
    let (_fixture, alex) = with(&[]);
    let session = alex.session_named("now").unwrap();
    session.record(NewTurn::new("Call me Sam.", "Hello, Sam!")).unwrap();
    let hot = context(&alex, SNACKS);
    assert_eq!(hot.text.matches("Call me Sam.").count(), 1, "{}", hot.text);
    for n in 0..9 {
        session.record(NewTurn::new(format!("question {n}"), "answer")).unwrap();
    }
    let warm = context(&alex, SNACKS);
    assert_eq!(warm.text.matches("Call me Sam.").count(), 1, "{}", warm.text);
    let (_fixture, alex) = with(&[ALLERGIES]);
    let recalled = context(&alex, SNACKS);
    assert_eq!(recalled.text.matches(ALLERGIES).count(), 1, "{}", recalled.text);
    let beside = format!("The snacks at the party were salted almonds. {ALLERGIES}");
    let (_fixture, alex) = with(&[&beside]);
    let recalled = context(&alex, SNACKS);
    assert!(recalled.text.contains("almonds") && lines(&recalled).is_empty(), "{}", recalled.text);
    assert_eq!(recalled.text.matches(ALLERGIES).count(), 1, "{}", recalled.text);
}

#[test]
fn the_section_and_the_filter_switch_it_off() {
    let (_fixture, alex) = with(&["Keep your answers short.", "Call me Sam."]);
    let of = |options: ContextOptions| lines(&context_with(&alex, SNACKS, options)).len();
    assert_eq!(of(ContextOptions::default()), 2);
    assert_eq!(of(ContextOptions::default().without(Section::Wishes)), 0);
    assert_eq!(of(ContextOptions::default().without(Section::EarlierConversations)), 0);
    assert_eq!(of(ContextOptions::default().without(Section::WhoTheUserIs)), 2);
    let since = Filter::default().since(at("2026-01-02T00:00:00Z"));
    assert_eq!(of(ContextOptions::default().filter(since)), 1);
    let receipt = context_with(&alex, SNACKS, ContextOptions::default().without(Section::Wishes)).receipt;
    assert_eq!(alex.receipt(receipt).unwrap().understood.without, ["wishes"]);
}

#[test]
fn what_is_erased_is_wished_no_longer() {
    let (_fixture, alex) = with(&["Call me Sam.", "Never use emojis.", "You can use emojis again."]);
    assert_eq!(lines(&context(&alex, SNACKS)), ["User: Call me Sam."]);
    let turn = |id: &str| {
        let found = alex.recall(id, RecallOptions::default()).unwrap();
        let turns = found.items.iter().filter_map(Recalled::turn);
        turns.into_iter().find(|turn| turn.caller_id.as_deref() == Some(id)).unwrap().id
    };
    alex.erase_turn(turn("Call me Sam.")).unwrap();
    assert_eq!(lines(&context(&alex, SNACKS)), [""; 0]);
    alex.erase_turn(turn("You can use emojis again.")).unwrap();
    assert_eq!(lines(&context(&alex, SNACKS)), ["User: Never use emojis."], "nothing ends it any more");
}

#[test]
fn wishes_are_the_users_own() {
    let (fixture, _) = with(&["Call me Sam."]);
    let robin = fixture.open().user("robin").unwrap();
    say(&robin, &["My sister plays the tuba."]);
    assert_eq!(lines(&context(&robin, SNACKS)), [""; 0]);
}

#[test]
fn a_wish_is_kept_when_its_session_is_compressed() {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    let session = alex.session_named("old").unwrap();
    let chat = "The rehearsal of the brass band took a long while again, and nobody knew who had the keys. ";
    for n in 0..12 {
        let said =
            if n == 5 { format!("{} Never use emojis. {}", chat.repeat(9), chat) } else { chat.repeat(10) };
        session.record(NewTurn::new(said, "I see.")).unwrap();
    }
    session.end().unwrap();
    let before = context(&alex, SNACKS).text;
    assert!(before.contains("<wishes of the user>"), "{before}");
    fixture.open().run_jobs(RunJobs::default()).unwrap();
    let alex = fixture.alex();
    assert_eq!(lines(&context(&alex, SNACKS)), ["User: Never use emojis."]);
    let turn = session.turn(6).unwrap().unwrap();
    assert_eq!(turn.critical_rule.map(|rule| rule.as_str()), Some("preference"), "it is kept verbatim");
}

#[test]
fn the_receipt_names_the_wish_and_why_it_is_there() {
    let (_fixture, alex) = with(&[ALLERGIES]);
    let context = context(&alex, "How many snacks does one eat?");
    let receipt = alex.receipt(context.receipt).unwrap();
    let item = receipt.items.iter().find(|item| item.kind == ItemKind::Wish).unwrap();
    assert_eq!((item.memory_tier, item.confidence), (None, None));
    assert!(item.explain().contains("how well its topic fits"), "{}", item.explain());
    assert!(receipt.explain().contains("wish 1"), "{}", receipt.explain());
}
