//! LLM#1 plans the recall of a message before anything is searched. Whatever goes wrong, the context is byte for byte
//! what it would be without the planner, and says what was missing.

use std::{
    fmt,
    future::pending,
    sync::{Arc, Mutex},
    time::Duration,
};

use chrono::TimeDelta;
use serde_json::{Value, json};
use thermocline::{
    ChatModel, ChatPrompt, Completing, Context, ContextOptions, Error, ErrorKind, Event, NewTurn, OnEvent,
    Planned, ProviderRole, Result, RunJobs, Section, blocking::User,
};

use super::{asked_at, embedders::ScriptedEmbedder, tell, tell_all};
use crate::support::Fixture;

/// Something typed in the middle of work: nothing in it asks for a story.
const MESSAGE: &str = "Quarterly spreadsheets need another column.";
const QUESTION: &str = "Who photographed the violin, number 18 on the list?";
const LOOM: &str = "What became of the loom, number 77 on the list?";

type Answer = dyn Fn(&ChatPrompt) -> Option<Result<String>> + Send + Sync;

/// A model with scripted answers that remembers its prompts. It never answers on `None`.
struct Scripted {
    answer: Box<Answer>,
    prompts: Mutex<Vec<ChatPrompt>>,
}

impl Scripted {
    fn new(answer: impl Fn(&ChatPrompt) -> Option<Result<String>> + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { answer: Box::new(answer), prompts: Mutex::default() })
    }

    /// Always returns this plan.
    fn says(plan: &Value) -> Arc<Self> {
        let plan = plan.to_string();
        Self::new(move |_| Some(Ok(plan.clone())))
    }

    fn searches_for(queries: &[&str]) -> Arc<Self> {
        Self::says(&json!({"queries": queries, "first_day": "", "last_day": "", "older_memory": true}))
    }

    fn calls(&self) -> usize {
        self.prompts.lock().unwrap().len()
    }

    /// Returns the user's part of its last prompt, which is JSON.
    fn asked(&self) -> Value {
        serde_json::from_str(&self.prompts.lock().unwrap().last().unwrap().user).unwrap()
    }
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scripted")
    }
}

impl ChatModel for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn complete<'a>(&'a self, prompt: &'a ChatPrompt) -> Completing<'a> {
        self.prompts.lock().unwrap().push(prompt.clone());
        let answer = (self.answer)(prompt);
        Box::pin(async move {
            match answer {
                Some(answer) => answer,
                None => pending().await,
            }
        })
    }
}

/// Tells 150 stories, compressed and indexed, and ten more in a session in progress.
fn told() -> Fixture {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    tell_all(&alex, 150);
    tell(&alex.session_named("now").unwrap(), 150..160);
    fixture.open().run_jobs(RunJobs::default()).unwrap();
    fixture
}

/// Returns a copy of the file with this planner.
fn with(fixture: &Fixture, planner: &Arc<Scripted>) -> Fixture {
    let mut fixture = fixture.copy();
    fixture.config.planner = Some(Arc::clone(planner) as Arc<dyn ChatModel>);
    fixture.config.plan_timeout = Duration::from_secs(9); // Never waited for.
    fixture
}

fn options() -> ContextOptions {
    ContextOptions::default().now(asked_at())
}

fn context(alex: &User, message: &str) -> Context {
    alex.session_named("now").unwrap().context(message, options()).unwrap()
}

fn shows(context: &Context, id: &str) -> bool {
    context.items.iter().any(|item| item.caller_id.as_deref() == Some(id))
}

/// Returns everything that a context shows, except what is random or measured.
fn shown(context: &Context) -> String {
    format!("{} {:?} {:?} {:?}", context.text, context.tokens, context.items, context.left_out)
}

fn plan(alex: &User, context: &Context) -> Option<Planned> {
    alex.receipt(context.receipt).unwrap().understood.plan
}

#[test]
fn a_context_shows_what_the_plans_queries_find_and_the_receipt_says_so() {
    let plain = told();
    let planner = Scripted::searches_for(&[QUESTION, LOOM]);
    let fixture = with(&plain, &planner);
    let (before, alex) = (plain.alex(), fixture.alex());
    assert!(!shows(&context(&before, MESSAGE), "s18"));
    let found = context(&alex, MESSAGE);
    assert!(shows(&found, "s18") && shows(&found, "s77"), "{}", found.text);
    assert_eq!(found.missing, Vec::<String>::new());
    let by_hand = before.session_named("now").unwrap().context(MESSAGE, options().queries([QUESTION, LOOM]));
    assert_eq!(shown(&found), shown(&by_hand.unwrap()), "as if the caller had said so");

    let receipt = alex.receipt(found.receipt).unwrap();
    assert_eq!(receipt.understood.queries, Vec::<String>::new(), "those are the caller's");
    let told = receipt.understood.plan.clone().unwrap();
    assert_eq!((told.model.as_str(), told.is_cached, told.only_if_sure), ("scripted", false, false));
    assert_eq!((&told.queries[..], told.time), (&[QUESTION, LOOM].map(String::from)[..], None));
    let words = receipt.explain();
    assert!(words.contains(&format!("also searched for: {LOOM:?}.\n")), "{words}");
    assert!(words.contains("Planned by scripted in "), "{words}");
    // Outside of a session too.
    assert!(shows(&alex.context(MESSAGE, options()).unwrap(), "s77"));
}

#[test]
fn it_sees_the_message_and_the_last_turns_and_nothing_of_others() {
    let planner = Scripted::searches_for(&[]);
    let fixture = with(&told(), &planner);
    let alex = fixture.alex();
    context(&alex, MESSAGE);
    let asked = planner.asked();
    assert_eq!((&asked["message"], &asked["today"]), (&json!(MESSAGE), &json!("2025-12-12, Friday")));
    let turns = asked["turns"].as_array().unwrap();
    assert_eq!(turns.len(), 4);
    assert_eq!(turns[3]["assistant"], "So the accordion is number 159 on the list.", "the newest is last");
    alex.context(MESSAGE, options()).unwrap();
    assert_eq!(planner.asked()["turns"], json!([]), "no session has begun");
    // A message that was recorded before its reply is not one of the last turns.
    let session = alex.session_named("now").unwrap();
    session.record_message(NewTurn::new("And the canoe?", "")).unwrap();
    context(&alex, "And the canoe?");
    assert_eq!(planner.asked()["turns"], Value::Array(turns.clone()));
}

#[test]
fn it_is_asked_once_for_a_turn() {
    let planner = Scripted::searches_for(&[LOOM]);
    let fixture = with(&told(), &planner);
    let alex = fixture.alex();
    let first = context(&alex, MESSAGE);
    let again = context(&alex, MESSAGE);
    assert_eq!((planner.calls(), shown(&again)), (1, shown(&first)));
    assert!(!plan(&alex, &first).unwrap().is_cached && plan(&alex, &again).unwrap().is_cached);
    context(&alex, "Something else.");
    assert_eq!(planner.calls(), 2, "another message");
    let newest = alex.session_named("now").unwrap().record(NewTurn::new("So it is.", "Yes.")).unwrap();
    context(&alex, MESSAGE);
    assert_eq!(planner.calls(), 3, "another turn before it");
    alex.erase_turn(newest.turn_id).unwrap();
    context(&alex, MESSAGE);
    assert_eq!(planner.calls(), 4, "behind an erase all is asked again, though the prompt was known");
    let bob = fixture.open().user("bob").unwrap();
    bob.context(MESSAGE, options()).unwrap();
    alex.context(MESSAGE, options()).unwrap();
    assert_eq!(planner.calls(), 6, "another user");
}

#[test]
fn the_callers_queries_come_first_and_all_have_room_for_eight() {
    let own: Vec<String> = (0..7).map(|n| format!("own {n}")).collect();
    let fixture = with(&told(), &Scripted::searches_for(&["own 3", MESSAGE, LOOM, QUESTION]));
    let alex = fixture.alex();
    let context = alex.session_named("now").unwrap().context(MESSAGE, options().queries(&own)).unwrap();
    assert_eq!(plan(&alex, &context).unwrap().queries, [LOOM]);
    assert_eq!(alex.receipt(context.receipt).unwrap().understood.queries, own);
}

#[test]
fn an_embedder_is_asked_for_the_plans_queries_too() {
    let mut plain = Fixture::new();
    let embedder = ScriptedEmbedder::working(("own", "", 32));
    plain.config.embedders = vec![embedder.clone()];
    plain.alex().session_named("now").unwrap().record(NewTurn::new("A loom.", "")).unwrap();
    let fixture = with(&plain, &Scripted::searches_for(&[LOOM]));
    let alex = fixture.alex();
    context(&alex, MESSAGE);
    assert_eq!(embedder.asked()[embedder.asked().len() - 2..], [MESSAGE, LOOM]);
}

#[test]
fn a_time_of_the_plan_lifts_and_hides_nothing() {
    let plain = told();
    // Stories are told every eight hours: these are of one week, and the question names none.
    let days =
        json!({"queries": [], "first_day": "2025-09-08", "last_day": "2025-09-14", "older_memory": true});
    let fixture = with(&plain, &Scripted::says(&days));
    let (before, alex) = (plain.alex(), fixture.alex());
    let question = "Did anybody ever photograph, paint or measure something in Porto?";
    let planned = context(&alex, question);
    assert_eq!(plan(&alex, &planned).unwrap().time.as_deref(), Some("2025-09-08/2025-09-15"));
    let in_time = |user: &User, context: &Context| {
        let items = user.receipt(context.receipt).unwrap().items;
        items.iter().filter(|item| item.parts.time > 0.0).count()
    };
    assert!(in_time(&alex, &planned) > 0, "{}", planned.text);
    assert_eq!(in_time(&before, &context(&before, question)), 0);
    let outside = |item: &&thermocline::ReceiptItem| item.parts.time == 0.0 && item.packed_as.is_some();
    assert!(alex.receipt(planned.receipt).unwrap().items.iter().any(|item| outside(&item)));

    // If the message names a time, or asks for one, our own reading of the message is followed instead of the plan.
    for question in [
        "What did we talk about last week?",
        "What did my sister do in October?",
        "When did the plumber lose the loom?",
    ] {
        let (expected, found) = (context(&before, question), context(&alex, question));
        assert_eq!(shown(&found), shown(&expected), "{question}");
    }
}

#[test]
fn where_nothing_older_is_needed_nothing_is_recalled_but_what_is_asked_for_or_sure() {
    let plain = told();
    let nothing = json!({"queries": [], "first_day": "", "last_day": "", "older_memory": false});
    let fixture = with(&plain, &Scripted::says(&nothing));
    let (before, alex) = (plain.alex(), fixture.alex());
    let recalled = |context: &Context| {
        let older = context.items.iter().filter(|item| item.section == Section::EarlierConversations);
        older.count()
    };
    // A message that tells something and asks nothing.
    let told = "The soup and the weather by the harbour were a joy for all of us.";
    let (shown_before, planned) = (context(&before, told), context(&alex, told));
    assert!(plan(&alex, &planned).unwrap().only_if_sure);
    assert!(shown_before.confidence < 0.5, "{}", shown_before.confidence);
    assert!(recalled(&shown_before) > 0, "{}", shown_before.text);
    assert_eq!((recalled(&planned), planned.missing.len()), (0, 0), "{}", planned.text);
    let receipt = alex.receipt(planned.receipt).unwrap();
    assert!(receipt.explain().contains("nothing older is needed"), "{}", receipt.explain());
    // A message that asks or points back is answered, whatever the plan says.
    for message in [
        "Who carried the violin in Porto?",
        "Remind me of the violin in Porto",
        "¿Quién violin Porto?",
        "You mentioned the violin in Porto.",
        "And the violin in Porto?",
    ] {
        let (plain, planned) = (context(&before, message), context(&alex, message));
        assert_eq!(shown(&planned), shown(&plain), "{message}");
        assert!(!plan(&alex, &planned).unwrap().only_if_sure, "{message}");
    }
    // A result that is sure to answer is shown, because it cannot be told in every language whether a message asks.
    let sure = "I like soup with pepper.";
    let planned = context(&alex, sure);
    assert!(
        plan(&alex, &planned).unwrap().only_if_sure && planned.confidence >= 0.5,
        "{}",
        planned.confidence
    );
    assert_eq!(shown(&planned), shown(&context(&before, sure)));
    // The last turns are there.
    assert!(context(&alex, "Thanks, that was all for now.").text.contains("number 159"));
}

/// What a model may do wrong: how it is reported, its kind, and whether a cooldown follows.
const FAILURES: [(&str, &str, ErrorKind, bool); 13] = [
    ("fails", "the model is out", ErrorKind::Provider, true),
    ("refuses", "a filter", ErrorKind::ProviderRefused, false),
    ("wrong key", "is the key right?", ErrorKind::ProviderMisconfigured, true),
    ("silence", "it gave no answer within 5 ms", ErrorKind::Provider, true),
    ("panics", "it panicked", ErrorKind::Provider, true),
    ("prose", NOT_A_PLAN, ErrorKind::ProviderRefused, false),
    ("trailing text", NOT_A_PLAN, ErrorKind::ProviderRefused, false),
    ("deep", NOT_A_PLAN, ErrorKind::ProviderRefused, false),
    ("empty", NOT_A_PLAN, ErrorKind::ProviderRefused, false),
    ("200 queries", BAD_QUERIES, ErrorKind::ProviderRefused, false),
    ("a long query", BAD_QUERIES, ErrorKind::ProviderRefused, false),
    ("a megabyte", "what it said could not be used: it was too large", ErrorKind::ProviderRefused, false),
    (
        "all times",
        "what it said could not be used: its days are not a range of time",
        ErrorKind::ProviderRefused,
        false,
    ),
];
const NOT_A_PLAN: &str = "what it said could not be used: it was not the JSON object that it was asked for";
const BAD_QUERIES: &str = "what it said could not be used: it had more than 8 queries, or one of more than 300 bytes or \
                           with control characters";

fn does(what: &'static str) -> Arc<Scripted> {
    let say = |plan: Value| Some(Ok(plan.to_string()));
    Scripted::new(move |_| match what {
        "fails" => Some(Err(Error::provider("the model is out"))),
        "refuses" => Some(Err(Error::provider_refused("a filter"))),
        "wrong key" => Some(Err(Error::provider_misconfigured("is the key right?"))),
        "panics" => panic!("on purpose"),
        "prose" => Some(Ok("Search for SECRET.".to_owned())),
        "trailing text" => Some(Ok(format!("{} SECRET", json!({"queries": [LOOM]})))),
        "deep" => Some(Ok("{\"queries\":".to_owned() + &"[".repeat(30_000))),
        "empty" => Some(Ok(String::new())),
        "200 queries" => say(json!({"queries": vec![LOOM; 200]})),
        "a long query" => say(json!({"queries": ["SECRET ".repeat(100), LOOM]})),
        "a megabyte" => say(json!({"queries": ["SECRET ".repeat(150_000)]})),
        "all times" => say(json!({"queries": [LOOM], "first_day": "0000-01-01", "last_day": "10000-01-01"})),
        _ => None,
    })
}

#[test]
fn late_garbage_or_hostile_the_bytes_are_those_of_no_planner_and_it_rests_if_it_failed() {
    let plain = told();
    let before = plain.alex();
    for (what, said, kind, rests) in FAILURES {
        let planner = does(what);
        let mut fixture = with(&plain, &planner);
        if what == "silence" {
            fixture.config.plan_timeout = Duration::from_millis(5);
        }
        let events = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&events);
        fixture.config.on_event = OnEvent::new(move |event| heard.lock().unwrap().push(event.clone()));
        let alex = fixture.alex();
        let check = |message: &str, tries: usize| {
            let (expected, found) = (context(&before, message), context(&alex, message));
            assert_eq!(shown(&found), shown(&expected), "{what}");
            assert_eq!(found.missing, [format!("planner scripted: {said}")], "{what}");
            let receipt = alex.receipt(found.receipt).unwrap();
            assert_eq!((&receipt.missing, &receipt.understood.plan), (&found.missing, &None));
            let told = events.lock().unwrap();
            let of_it = told.iter().filter(|event| match event {
                Event::ProviderFailed { provider: ProviderRole::Planner, name, why, .. } => {
                    assert_eq!((name.as_str(), *why), ("scripted", kind));
                    true
                }
                _ => false,
            });
            assert_eq!(of_it.count(), tries, "{what}");
            assert!(!format!("{told:?} {receipt:?}").contains("SECRET"));
        };
        check(QUESTION, 1);
        check(MESSAGE, if rests { 1 } else { 2 });
        fixture.clock.advance(TimeDelta::seconds(9));
        check(LOOM, if rests { 1 } else { 3 });
        fixture.clock.advance(TimeDelta::seconds(1));
        check("Who repaired the violin?", if rests { 2 } else { 4 });
    }
}

#[test]
fn an_unusable_answer_is_not_asked_for_twice() {
    let planner = does("prose");
    let fixture = with(&told(), &planner);
    let alex = fixture.alex();
    let (first, again) = (context(&alex, MESSAGE), context(&alex, MESSAGE));
    assert_eq!((planner.calls(), &again.missing), (1, &first.missing));
}

#[test]
fn a_plan_that_is_known_holds_while_its_model_rests() {
    let planner = Scripted::new(|prompt| {
        let plan = json!({"queries": [LOOM]}).to_string();
        let is_well = prompt.user.contains("spreadsheets");
        Some(is_well.then_some(plan).ok_or_else(|| Error::provider("the model is out")))
    });
    let fixture = with(&told(), &planner);
    let alex = fixture.alex();
    let first = context(&alex, MESSAGE);
    assert_eq!(context(&alex, QUESTION).missing, ["planner scripted: the model is out"]);
    let again = context(&alex, MESSAGE);
    assert_eq!((shown(&again), again.missing.len(), planner.calls()), (shown(&first), 0, 2));
}

#[test]
fn a_planner_that_blocks_its_thread_holds_up_nobody_for_longer_than_its_time() {
    let plain = told();
    let (let_go, held) = std::sync::mpsc::channel::<()>();
    let held = Mutex::new(held);
    let planner = Scripted::new(move |_| {
        let _ = held.lock().unwrap().recv();
        None
    });
    let mut fixture = with(&plain, &planner);
    fixture.config.plan_timeout = Duration::from_millis(5);
    let found = context(&fixture.alex(), QUESTION);
    assert_eq!(found.missing, ["planner scripted: it gave no answer within 5 ms"]);
    assert_eq!(shown(&found), shown(&context(&plain.alex(), QUESTION)));
    drop(let_go);
}

#[test]
fn while_it_reads_others_write_and_what_is_erased_is_in_no_receipt() {
    let plain = told();
    let other = Arc::new(Mutex::new(None::<User>));
    let own = Arc::clone(&other);
    let planner = Scripted::new(move |_| {
        let user = own.lock().unwrap().take();
        // Blocking handles are not for threads that drive futures.
        let erases = move || {
            let Some(user) = user else { return };
            user.session_named("later").unwrap().record(NewTurn::new("Written meanwhile.", "")).unwrap();
            user.erase_turn(user.turn_by_caller_id("s159").unwrap().id).unwrap();
        };
        std::thread::spawn(erases).join().unwrap();
        Some(Ok(json!({"queries": ["the xylograph of the list"]}).to_string()))
    });
    let fixture = with(&plain, &planner);
    let alex = fixture.alex();
    *other.lock().unwrap() = Some(alex.clone());
    let found = context(&alex, MESSAGE);
    assert_eq!(found.missing, ["planner scripted: turns were erased or replaced while it read"]);
    let receipt = alex.receipt(found.receipt).unwrap();
    assert!(!format!("{receipt:?}").contains("xylograph"), "{receipt:?}");
    let again = context(&alex, MESSAGE);
    assert_eq!((again.missing.len(), planner.calls()), (0, 2));
}

#[test]
fn a_plan_is_erased_with_its_receipt() {
    let fixture = with(&told(), &Scripted::searches_for(&["the xylograph of Novalis"]));
    let alex = fixture.alex();
    let found = context(&alex, MESSAGE);
    assert!(plan(&alex, &found).is_some());
    alex.erase().unwrap();
    for suffix in ["", "-wal"] {
        // By another process: closing the file in this one would open the locks of its handles.
        let path = format!("{}{suffix}", fixture.path().display());
        let bytes = std::process::Command::new("cat").arg(path).output().unwrap().stdout;
        assert!(!String::from_utf8_lossy(&bytes).contains("xylograph"), "memory.db{suffix}");
    }
}

#[test]
fn what_is_understood_without_it_is_not_planned() {
    let planner = Scripted::searches_for(&[LOOM]);
    let fixture = with(&told(), &planner);
    let alex = fixture.alex();
    context(&alex, "What did we talk about last week?");
    context(&alex, " \n");
    alex.recall(QUESTION, super::options()).unwrap();
    assert_eq!(planner.calls(), 0);
}

#[test]
fn without_a_planner_nothing_speaks_of_one() {
    let fixture = told();
    let alex = fixture.alex();
    let context = context(&alex, QUESTION);
    let receipt = serde_json::to_string(&alex.receipt(context.receipt).unwrap()).unwrap();
    assert!(!receipt.contains("plan"), "{receipt}");
}

#[test]
fn its_name_is_cut_and_its_time_has_a_least() {
    #[derive(Debug)]
    struct Named(Option<String>);

    impl ChatModel for Named {
        fn name(&self) -> &str {
            self.0.as_deref().expect("on purpose")
        }

        fn complete<'a>(&'a self, _: &'a ChatPrompt) -> Completing<'a> {
            Box::pin(async { Err(Error::provider("no")) })
        }
    }
    let open = |change: &dyn Fn(&mut thermocline::Config)| {
        let mut fixture = Fixture::new();
        change(&mut fixture.config);
        thermocline::blocking::Thermocline::open_with(fixture.path(), fixture.config.clone())
            .map(|memory| (memory, fixture))
    };
    let kind = |change: &dyn Fn(&mut thermocline::Config)| open(change).map(drop).unwrap_err().kind();
    assert_eq!(kind(&|config| config.plan_timeout = Duration::ZERO), ErrorKind::InvalidInput);
    assert_eq!(kind(&|config| config.planner = Some(Arc::new(Named(None)))), ErrorKind::ProviderRefused);
    let (memory, _fixture) =
        open(&|config| config.planner = Some(Arc::new(Named(Some("n".repeat(500)))))).unwrap();
    let context = memory.user("alex").unwrap().context(MESSAGE, ContextOptions::default()).unwrap();
    assert_eq!(context.missing, [format!("planner {}: no", "n".repeat(100))]);
}

/// Returns the wishes in the context, by the callers' ids of their turns.
fn wished(context: &Context) -> Vec<&str> {
    let wishes = context.items.iter().filter(|item| item.section == Section::Wishes);
    wishes.filter_map(|item| item.caller_id.as_deref()).collect()
}

/// Returns a user with three standing wishes, none of which is about the message.
fn wishing(planner: &Arc<Scripted>) -> Fixture {
    let plain = Fixture::new();
    let session = plain.alex().session_named("wishes").unwrap();
    for (id, wish) in [
        ("films", "Never recommend horror films."),
        ("snacks", "Always confirm allergies when I ask about snacks."),
        ("sam", "Call me Sam."),
    ] {
        session.record(NewTurn::new(wish, "Noted.").caller_id(id)).unwrap();
    }
    session.end().unwrap();
    with(&plain, planner)
}

#[test]
fn the_plan_says_which_wishes_apply() {
    let numbers = |value: Value| Scripted::says(&json!({"queries": [], "wishes": value}));
    let asked = [
        "Call me Sam.",
        "Always confirm allergies when I ask about snacks.",
        "Never recommend horror films.",
    ];
    let planner = numbers(json!([2, 3]));
    let fixture = wishing(&planner);
    let alex = fixture.alex();
    let found = context(&alex, MESSAGE);
    assert_eq!(planner.asked()["wishes"], json!(asked), "the likeliest first, then the newest");
    assert_eq!((wished(&found), found.missing.len()), (vec!["films", "snacks"], 0));
    let told = plan(&alex, &found).unwrap();
    assert_eq!(told.wishes, Some(2));
    let words = alex.receipt(found.receipt).unwrap().explain();
    assert!(words.contains("2 of the standing wishes apply"), "{words}");

    let none = wishing(&numbers(json!([])));
    assert_eq!(wished(&context(&none.alex(), MESSAGE)), [""; 0]);
    let silent = wishing(&Scripted::searches_for(&[]));
    assert_eq!(wished(&context(&silent.alex(), MESSAGE)), ["sam"], "the lane's own choice");
    let wrong = wishing(&numbers(json!([4])));
    let found = context(&wrong.alex(), MESSAGE);
    assert_eq!((wished(&found), found.missing.len()), (vec!["sam"], 1));
    assert!(found.missing[0].contains("wishes that it was not shown"), "{:?}", found.missing);
}

#[test]
fn the_planner_hears_of_no_wish_that_may_not_be_shown() {
    let planner = Scripted::searches_for(&[]);
    let fixture = wishing(&planner);
    let alex = fixture.alex();
    let session = alex.session_named("now").unwrap();
    let wishes = alex.find_session("wishes").unwrap().unwrap().id();
    for options in [options().without(Section::Wishes), options().without_session(wishes)] {
        session.context(MESSAGE, options).unwrap();
        assert_eq!(planner.asked().get("wishes"), None);
        assert!(!format!("{:?}", planner.prompts.lock().unwrap().last().unwrap()).contains("wish"));
    }
}
