//! Tables of messages, and how each is interpreted.

use super::*;
use crate::{
    english::query::Whom::{Assistant, Other, User},
    model::anchor::Attribute,
    text::words::query_words,
};

fn understand(message: &str) -> Query {
    Query::understand(message, "2023-11-15T14:30:00Z".parse().unwrap())
}

#[track_caller]
fn check_self(message: &str, expected: bool) {
    assert_eq!(understand(message).refers_to_self, expected, "{message:?}");
}

#[test]
fn the_user_speaks_of_themself() {
    for message in [
        "remember when I fell off the ladder?",
        "I mentioned a lake house",
        "what's my sister's name?",
        "where do i live",
        "Do I like olives?",
        "what should I cook tonight?",
        "I'm so tired today",
        "is this good for my knee?",
        "what do you know about me?",
        "who am I?",
        "remember when we went sailing?",
        "our cat is ill",
        "How do I like my coffee?",
        "tell me about my plans",
        "wie heißt mein Hund?",
    ] {
        check_self(message, true);
    }
    for message in [
        "How do I sort a list in Python?",
        "how can I remove rust from a pan?",
        "tell me about Rome",
        "show me how to knit",
        "explain to me what entropy is",
        "Can I ask you something?",
        "I wonder how tides work",
        "I'd like you to translate a poem",
        "What is the capital of France?",
        "why does arr[i] fail?",
        "what does i++ mean",
        "what do we call a baby goat?",
        "myth and mystery",
        "",
    ] {
        check_self(message, false);
    }
}

#[track_caller]
fn check_follow_up(message: &str, expected: bool) {
    assert_eq!(understand(message).is_follow_up, expected, "{message:?}");
}

#[test]
fn some_messages_need_the_turns_before_them() {
    for message in [
        "and what did he say about it?",
        "why?",
        "Why not?",
        "tell me more",
        "go on",
        "what about the other one?",
        "and her?",
        "How about Berlin?",
        "And last week?",
        "but why",
        "what else?",
        "how so?",
        "Really?",
        "Can you explain that?",
        "What does that mean?",
        "Is that true?",
        "are you sure?",
        "which one is cheaper?",
        "the second one",
        "What did she say then?",
        "where did they go?",
        "how much did it cost?",
        "When did he buy it?",
        "is it expensive?",
        "Could you translate it?",
        "what's the best thing about it?",
        "who told him?",
        "which restaurant?",
        "who won?",
        "how expensive?",
        "What did Anna say about it?",
        "what happened there?",
        "yes please",
        "no",
        "Shorter, please",
        "give me an example",
        "what do you mean?",
        "And my dog?",
        "his name?",
        "was this before or after?",
        "What was her reaction?",
        "warum?",
    ] {
        check_follow_up(message, true);
    }
}

#[test]
fn most_messages_stand_on_their_own() {
    for message in [
        "How do I paint a sunrise?",
        "What is the capital of France?",
        "what's my name?",
        "Where do I live?",
        "who am I?",
        "what did we talk about last week?",
        "last month",
        "What did I say earlier?",
        "do you remember?",
        "hello",
        "Hi there!",
        "thanks a lot",
        "good morning",
        "ok",
        "How are you?",
        "who are you?",
        "What can you do?",
        "what do you know about me?",
        "Did Anna like her present?",
        "My brother called, what should I tell him?",
        "I bought a car in Bonn, was it a good idea?",
        "Is it safe to eat raw eggs?",
        "is it raining in Paris?",
        "What time is it?",
        "what is it like to live in Oslo?",
        "How long does it take to boil an egg?",
        "the book that I read",
        "I think that cats are clever",
        "this is my dog Max",
        "cats are odd, why do they purr?",
        "When my mother visits, where should she sleep?",
        "So, how do I bake sourdough bread?",
        "But sourdough bread takes three days of patience",
        "What about dinner at the harbour with Tom and Ben?",
        "What did Melanie paint?",
        "How long has it been since Andrew moved?",
        "pizza",
        "photosynthesis",
        "one day I will sail around the world",
        "No one likes rain in July",
        "There is a spider in the bath",
        "Which dog breeds shed least?",
        "If someone calls, what do they want?",
        "Write a poem about the sea, and make it rhyme.",
        "What did he say to the committee about the budget for the new school roof in Hamburg?",
        "",
        "?!",
        "🦊",
        "猫は好きですか",
    ] {
        check_follow_up(message, false);
    }
    check_follow_up(&format!("it {}", "word ".repeat(2_000)), false);
}

#[track_caller]
fn check_names(message: &str, expected: &[&str]) {
    assert_eq!(understand(message).names, expected, "{message:?}");
}

#[test]
fn names_have_capitals_that_no_sentence_asks_for() {
    check_names("What did Anna say to Ben?", &["anna", "ben"]);
    check_names("Anna's dog", &["anna"]);
    check_names("Caroline likes tea", &["caroline"]);
    check_names("is New York bigger than Los Angeles", &["new york", "los angeles"]);
    check_names("Remember Zoë Müller?", &["zoe muller"]);
    check_names("Paint me a fox", &[]);
    check_names("What happened on Monday in March?", &[]);
    check_names("I think I can", &[]);
    check_names("WHERE IS MY DOG NOW", &[]);
    check_names("where is anna", &[]);
    check_names("Anna", &["anna"]);
    check_names("Was April at the party?", &["april"]);
    check_names("Anna met Anna and ANNA", &["anna"]);
}

#[track_caller]
fn check_asked(message: &str, expected: &[(Attribute, Whom)]) {
    let asked: Vec<(Attribute, Whom)> =
        understand(message).asked.iter().map(|asked| (asked.attribute, asked.of)).collect();
    assert_eq!(asked, expected, "{message:?}");
}

#[test]
fn messages_ask_for_attributes() {
    use Attribute::{
        Age, Birthday, Diet, Dislikes, Employer, Family, Field, Goals, Health, Hobbies, Home, Hometown, Job,
        Languages, Likes, Name, Pets, Pronouns, Relationship, School,
    };
    check_asked("Where do I live?", &[(Home, User)]);
    check_asked("which city do I live in", &[(Home, User)]);
    check_asked("any good cafés near me?", &[(Home, User)]);
    check_asked("what is my dog's name", &[(Pets, User)]);
    check_asked("how many cats do I have?", &[(Pets, User)]);
    check_asked("what's my sister's name?", &[(Family, User)]);
    check_asked("do I have any siblings?", &[(Family, User)]);
    check_asked("when is my birthday", &[(Birthday, User)]);
    check_asked("When was I born?", &[(Birthday, User)]);
    check_asked("how old am I?", &[(Age, User)]);
    check_asked("What do I like?", &[(Likes, User)]);
    check_asked("what's my favourite colour?", &[(Likes, User)]);
    check_asked("can you recommend a film", &[(Likes, User)]);
    check_asked("what do I hate", &[(Dislikes, User)]);
    check_asked("which vegetables do I not like?", &[(Dislikes, User)]);
    check_asked("any allergies I should list?", &[(Health, User)]);
    check_asked("am I allergic to nuts?", &[(Health, User)]);
    check_asked("what's my name?", &[(Name, User)]);
    check_asked("who am I", &[(Name, User)]);
    check_asked("what is your name", &[(Name, Assistant)]);
    check_asked("Where does Anna live?", &[(Home, Other)]);
    check_asked("where does my sister live", &[(Home, Other), (Family, User)]);
    check_asked("what's my brother's job?", &[(Job, Other), (Family, User)]);
    check_asked("Where do I work?", &[(Employer, User)]);
    check_asked("who does Tom work for?", &[(Employer, Other)]);
    check_asked("what do I do for a living", &[(Job, User)]);
    check_asked("what did I study?", &[(Field, User)]);
    check_asked("where did I go to university?", &[(School, User)]);
    check_asked("am I married?", &[(Relationship, User)]);
    check_asked("where am I from?", &[(Hometown, User)]);
    check_asked("where did I grow up", &[(Hometown, User)]);
    check_asked("which languages do I speak?", &[(Languages, User)]);
    check_asked("what are my hobbies", &[(Hobbies, User)]);
    check_asked("am I vegan?", &[(Diet, User)]);
    check_asked("what are my goals for the year?", &[(Goals, User)]);
    check_asked("what am I saving for?", &[(Goals, User)]);
    check_asked("what pronouns do I use?", &[(Pronouns, User)]);
    check_asked("What does Caroline like?", &[(Likes, Other)]);
    check_asked("a recipe for soup", &[(Health, User), (Diet, User)]);
    check_asked("How many children does Melanie have?", &[(Family, Other)]);
    check_asked("Which game did Jolene suggest?", &[(Likes, Other)]);
    check_asked("How is my work on the roof going?", &[]);
    check_asked("How do tides work?", &[]);
    check_asked("what is the name of the river in Bonn", &[]);
    check_asked("fix the bug in this function", &[]);
    check_asked("", &[]);
}

#[test]
fn some_messages_ask_how_things_used_to_be() {
    for (message, expected) in [
        ("where did I use to live?", true),
        ("What did I do for work before I moved?", true),
        ("what was my old job", true),
        ("where did I live in 2020?", true),
        ("where was I working back then?", true),
        ("where do I live?", false),
        ("what's my job", false),
        ("do I like tea?", false),
    ] {
        assert_eq!(understand(message).asks_of_past, expected, "{message:?}");
    }
}

#[test]
fn a_query_is_read_whole() {
    let query = understand("What did Anna tell me about my dog last week?");
    assert_eq!(query.words, query_words("What did Anna tell me about my dog last week?"));
    assert_eq!((query.spans.len(), query.is_only_time, query.is_follow_up), (1, false, false));
    assert!(query.refers_to_self);
    assert!(understand("remember last week?").is_only_time);
    assert!(understand("you mentioned a book").refers_back);
}

#[test]
fn no_message_panics_or_takes_long() {
    for piece in [
        "it ",
        "Anna ",
        "my dog ",
        "last week ",
        "(",
        "i++ ",
        "is that ",
        "猫",
        "a.",
        "one\n",
        "'",
        "where do ",
    ] {
        understand(&piece.repeat(1 << 17));
    }
}
