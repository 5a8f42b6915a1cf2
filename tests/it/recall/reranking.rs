//! A reranker orders the best results. If it does not answer, the results keep recall's own order, and the answer says so.

use std::{
    fmt,
    future::pending,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use chrono::TimeDelta;
use thermocline::{
    Context, ContextOptions, Error, ErrorKind, Event, NewTurn, OnEvent, Profile, ProviderRole, Recall,
    Reranker, Reranking, Result, RunJobs, Section, blocking::User,
};

use super::{asked_at, check_scores, ids, lines, options, tell, tell_all};
use crate::support::Fixture;

const QUESTION: &str = "Who photographed the violin, number 18 on the list?";

type Answer = dyn Fn(&str, &[String]) -> Option<Result<Vec<f32>>> + Send + Sync;

/// A reranker with scripted answers that remembers what it was asked. It never answers on `None`.
struct Scripted {
    answer: Box<Answer>,
    calls: AtomicUsize,
    asked: Mutex<(String, Vec<String>)>,
}

impl Scripted {
    fn new(
        answer: impl Fn(&str, &[String]) -> Option<Result<Vec<f32>>> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { answer: Box::new(answer), calls: AtomicUsize::new(0), asked: Mutex::default() })
    }

    /// Reverses the order.
    fn reverses() -> Arc<Self> {
        Self::new(|_, texts| {
            Some(Ok((0..texts.len()).map(|at| f32::from(u16::try_from(at).unwrap())).collect()))
        })
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    /// Returns the query and the texts of the last call.
    fn asked(&self) -> (String, Vec<String>) {
        self.asked.lock().unwrap().clone()
    }
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scripted")
    }
}

impl Reranker for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn rerank<'a>(&'a self, query: &'a str, texts: &'a [String]) -> Reranking<'a> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        *self.asked.lock().unwrap() = (query.to_owned(), texts.to_vec());
        let answer = (self.answer)(query, texts);
        Box::pin(async move {
            match answer {
                Some(answer) => answer,
                None => pending().await,
            }
        })
    }
}

/// Tells 150 stories, compressed and indexed, ten more in a session in progress, and who the user is in another session.
fn told() -> Fixture {
    let fixture = Fixture::new();
    let alex = fixture.alex();
    tell_all(&alex, 150);
    tell(&alex.session_named("now").unwrap(), 150..160);
    alex.session_named("about me")
        .unwrap()
        .record(NewTurn::new("My name is Alex. I live in Lisbon.", "Nice."))
        .unwrap();
    alex.session_named("about me").unwrap().end().unwrap();
    fixture.open().run_jobs(RunJobs::default()).unwrap();
    fixture
}

/// Returns a copy of the file with this reranker.
fn with(fixture: &Fixture, reranker: &Arc<Scripted>) -> Fixture {
    let mut fixture = fixture.copy();
    fixture.config.reranker = Some(Arc::clone(reranker) as Arc<dyn Reranker>);
    fixture.config.rerank_timeout = Duration::from_mins(1); // Never waited for.
    fixture
}

fn context(alex: &User, query: &str) -> Context {
    let session = alex.session_named("now").unwrap();
    session.context(query, ContextOptions::default().now(asked_at())).unwrap()
}

/// Returns everything that a context shows, except what is random or measured.
fn shown(context: &Context) -> String {
    format!("{} {:?} {:?} {:?}", context.text, context.tokens, context.items, context.left_out)
}

#[test]
fn a_reranker_orders_the_best_and_scores_stay_what_recall_gave() {
    let plain = told();
    let reranker = Scripted::reverses();
    let fixture = with(&plain, &reranker);
    let (before, alex) = (plain.alex(), fixture.alex());
    let deep = before.recall(QUESTION, options().k(60)).unwrap();
    for k in [1, 10, 50, 60] {
        let recall = alex.recall(QUESTION, options().k(k)).unwrap();
        assert_eq!(recall.missing, Vec::<String>::new());
        let mut expected: Vec<String> = lines(&deep)[..50].iter().rev().cloned().collect();
        expected.extend_from_slice(&lines(&deep)[50..]);
        expected.truncate(k);
        assert_eq!(lines(&recall), expected, "the first 50 in its order, each with its own score and parts");
        let given: Vec<Option<f64>> = recall.items.iter().map(|recalled| recalled.rerank_score).collect();
        let scores = (0..50).rev().map(|score| Some(f64::from(score))).chain([None; 10]);
        assert_eq!(given, scores.take(k).collect::<Vec<_>>());

        let receipt = alex.receipt(recall.receipt).unwrap();
        assert_eq!(receipt.understood.reranker.as_deref(), Some("scripted"));
        let kept: Vec<Option<f64>> = receipt.items.iter().map(|item| item.rerank_score).collect();
        assert_eq!(kept, given);
        assert!(receipt.explain().contains("by scripted.\n"), "{}", receipt.explain());
        assert!(receipt.explain().contains("; reranked 49.000; "), "{}", receipt.explain());
    }
    assert_eq!(reranker.asked().0, QUESTION);
    let again = |alex: &User| lines(&alex.recall(QUESTION, options()).unwrap());
    assert_eq!(again(&alex), again(&fixture.alex()), "the same question, the same answer");
}

#[test]
fn without_a_reranker_nothing_speaks_of_one() {
    let fixture = told();
    let alex = fixture.alex();
    let recall = alex.recall(QUESTION, options()).unwrap();
    check_scores(&recall, &Profile::Default);
    let receipt = alex.receipt(recall.receipt).unwrap();
    let context = context(&alex, QUESTION);
    for json in [
        serde_json::to_string(&recall).unwrap(),
        serde_json::to_string(&receipt).unwrap(),
        serde_json::to_string(&context).unwrap(),
    ] {
        assert!(!json.contains("rerank"), "{json}");
    }
}

#[test]
fn equal_scores_leave_the_order_of_recall() {
    let plain = told();
    let fixture = with(&plain, &Scripted::new(|_, texts| Some(Ok(vec![0.5; texts.len()]))));
    let (before, alex) = (plain.alex(), fixture.alex());
    let recalled = |alex: &User| lines(&alex.recall(QUESTION, options().k(40)).unwrap());
    assert_eq!(recalled(&alex), recalled(&before));
}

#[test]
fn a_context_shows_what_the_reranker_puts_first_and_nothing_below_the_floor() {
    let plain = told();
    let wanted = "So the violin is number 69 on the list.";
    let reranker = Scripted::new(move |_, texts| {
        Some(Ok(texts.iter().map(|text| if text.contains(wanted) { 2.0 } else { -1.0 }).collect()))
    });
    let fixture = with(&plain, &reranker);
    let alex = fixture.alex();
    let context = context(&alex, QUESTION);
    assert_eq!(context.missing, Vec::<String>::new());
    let recalled = context.items.iter().filter(|item| item.section == Section::EarlierConversations);
    let best: Vec<_> = recalled.filter(|item| item.rerank_score == Some(2.0)).collect();
    assert_eq!(best.len(), 1, "{}", context.text);
    assert_eq!(best[0].caller_id.as_deref(), Some("s69"));

    let receipt = alex.receipt(context.receipt).unwrap();
    assert_eq!((receipt.items[0].rerank_score, receipt.items[0].score), (Some(2.0), best[0].score.unwrap()));
    let read = receipt.items.iter().filter(|item| item.rerank_score.is_some()).count();
    assert_eq!(read, reranker.asked().1.len());
    assert!((2..=60).contains(&read), "{read}");
    let is_below = |item: &&thermocline::ReceiptItem| item.outcome == thermocline::ItemOutcome::BelowFloor;
    assert!(receipt.items.iter().filter(is_below).all(|item| item.rerank_score.is_none()));
}

#[test]
fn anchors_keep_their_places() {
    let plain = told();
    let fixture = with(&plain, &Scripted::reverses());
    let places = |alex: &User| {
        let recall = alex.recall("What is my name, and where do I live?", options().k(200)).unwrap();
        let anchors =
            recall.items.iter().enumerate().filter(|(_, recalled)| recalled.memory_tier().is_none());
        anchors.map(|(at, recalled)| (at, recalled.score)).collect::<Vec<_>>()
    };
    let expected = places(&plain.alex());
    assert!(!expected.is_empty());
    assert_eq!(places(&fixture.alex()), expected);
}

#[test]
fn texts_are_the_parts_that_matched_and_bounded_as_is_the_query() {
    let mut fixture = Fixture::new();
    let reranker = Scripted::reverses();
    fixture.config.reranker = Some(reranker.clone());
    fixture.config.rerank_timeout = Duration::from_mins(1);
    let alex = fixture.alex();
    let filler = "The boat left the harbour at noon with all of us aboard. ".repeat(400);
    let session = alex.session_named("long").unwrap();
    for n in 0..4 {
        let long = format!("{filler}The luthier number {n} glued the cello. {filler}");
        session.record(NewTurn::new("Tell me.", long)).unwrap();
    }
    session.record(NewTurn::new("A luthier!", "Yes.")).unwrap();
    let query = format!("Which luthier glued the cello? {}", "and so on ".repeat(10_000));
    alex.recall(&query, options()).unwrap();
    let (query, texts) = reranker.asked();
    assert!(query.starts_with("Which luthier") && query.len() <= 1_000, "{}", query.len());
    assert_eq!(texts.len(), 5);
    assert!(
        texts.iter().all(|text| text.len() <= 1_300 && text.to_lowercase().contains("luthier")),
        "{texts:?}"
    );
    assert!(texts.contains(&"User: A luthier!\nAssistant: Yes.\n".to_owned()));
    assert_eq!(texts.iter().filter(|text| text.starts_with("User: Tell me.\nAssistant: ")).count(), 4);
}

#[test]
fn a_follow_up_is_reranked_by_what_it_means() {
    let fixture = told();
    let reranker = Scripted::reverses();
    let fixture = with(&fixture, &reranker);
    let session = fixture.alex().session_named("porto").unwrap();
    session.record(NewTurn::new("The Riverside in Porto was a fine place.", "It was.")).unwrap();
    let options = ContextOptions::default().now(asked_at()).min_confidence(0.0);
    session.context("And what about the hotel?", options).unwrap();
    assert_eq!(reranker.asked().0, "The Riverside in Porto was a fine place. And what about the hotel?");
}

#[test]
fn what_has_an_order_of_its_own_is_not_reranked() {
    let fixture = told();
    let reranker = Scripted::reverses();
    let fixture = with(&fixture, &reranker);
    let alex = fixture.alex();
    alex.recall(QUESTION, options().profile(Profile::Recency)).unwrap();
    alex.recall(QUESTION, options().profile(Profile::paper())).unwrap();
    alex.recall("What did we talk about last week?", options()).unwrap();
    alex.recall(" ", options()).unwrap();
    assert_eq!(reranker.calls(), 0);
    alex.recall(QUESTION, options().profile(Profile::Custom(thermocline::Weights::default()))).unwrap();
    assert_eq!(reranker.calls(), 1);
}

/// What a reranker may do wrong: how it is reported, its kind, and whether a cooldown follows.
const FAILURES: [(&str, &str, ErrorKind, bool); 9] = [
    ("fails", "the model is out", ErrorKind::Provider, true),
    ("refuses", "a text is too long", ErrorKind::ProviderRefused, false),
    ("wrong key", "is the key right?", ErrorKind::ProviderMisconfigured, true),
    ("silence", "it gave no answer within 5 ms", ErrorKind::Provider, true),
    ("panics", "it panicked", ErrorKind::Provider, true),
    ("too few", "it did not give one score for each text", ErrorKind::Provider, true),
    ("too many", "it did not give one score for each text", ErrorKind::Provider, true),
    ("nan", "it gave scores that are not numbers", ErrorKind::Provider, true),
    ("infinite", "it gave scores that are not numbers", ErrorKind::Provider, true),
];

fn does(what: &'static str) -> Arc<Scripted> {
    Scripted::new(move |_, texts| match what {
        "fails" => Some(Err(Error::provider("the model is out"))),
        "refuses" => Some(Err(Error::provider_refused("a text is too long"))),
        "wrong key" => Some(Err(Error::provider_misconfigured("is the key right?"))),
        "panics" => panic!("on purpose"),
        "too few" => Some(Ok(vec![1.0; texts.len() - 1])),
        "too many" => Some(Ok(vec![1.0; texts.len() + 1])),
        "nan" | "infinite" => {
            let odd = if what == "nan" { f32::NAN } else { f32::INFINITY };
            Some(Ok(texts.iter().enumerate().map(|(at, _)| if at == 3 { odd } else { 1.0 }).collect()))
        }
        _ => None,
    })
}

#[test]
fn where_it_does_not_answer_the_order_of_recall_stands_to_the_byte_and_it_rests() {
    let plain = told();
    let before = plain.alex();
    let (recalled, built) = (before.recall(QUESTION, options()).unwrap(), context(&before, QUESTION));
    for (what, said, kind, rests) in FAILURES {
        let reranker = does(what);
        let mut fixture = with(&plain, &reranker);
        if what == "silence" {
            fixture.config.rerank_timeout = Duration::from_millis(5);
        }
        let events = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&events);
        fixture.config.on_event = OnEvent::new(move |event| heard.lock().unwrap().push(event.clone()));
        let alex = fixture.alex();
        // Counts the failures that were reported. Calls do not count: within 5 ms the reranker's thread may not even start.
        let tries = || {
            let told = events.lock().unwrap();
            let of_it = told.iter().filter(|event| match event {
                Event::ProviderFailed { provider: ProviderRole::Reranker, name, why, .. } => {
                    assert_eq!((name.as_str(), *why), ("scripted", kind));
                    true
                }
                _ => false,
            });
            of_it.count()
        };
        let check = |expected: usize| {
            let (recall, context) = (alex.recall(QUESTION, options()).unwrap(), context(&alex, QUESTION));
            assert_eq!(lines(&recall), lines(&recalled), "{what}");
            assert_eq!(shown(&context), shown(&built), "{what}");
            for (missing, receipt) in [(&recall.missing, recall.receipt), (&context.missing, context.receipt)]
            {
                assert_eq!(missing, &[format!("reranker scripted: {said}")], "{what}");
                let receipt = alex.receipt(receipt).unwrap();
                assert_eq!((&receipt.missing, &receipt.understood.reranker), (missing, &None));
                assert!(receipt.items.iter().all(|item| item.rerank_score.is_none()));
            }
            assert_eq!(tries(), expected, "{what}");
        };
        check(if rests { 1 } else { 2 });
        fixture.clock.advance(TimeDelta::seconds(9));
        check(if rests { 1 } else { 4 });
        fixture.clock.advance(TimeDelta::seconds(1));
        check(if rests { 2 } else { 6 });
        assert!(!format!("{:?}", events.lock().unwrap()).contains("violin"));
    }
}

#[test]
fn a_reranker_that_blocks_its_thread_holds_up_nobody_for_longer_than_its_time() {
    let plain = told();
    let (let_go, held) = std::sync::mpsc::channel::<()>();
    let held = Mutex::new(held);
    let reranker = Scripted::new(move |_, _| {
        let _ = held.lock().unwrap().recv();
        None
    });
    let mut fixture = with(&plain, &reranker);
    fixture.config.rerank_timeout = Duration::from_millis(5);
    let alex = fixture.alex();
    let recall = alex.recall(QUESTION, options()).unwrap();
    assert_eq!(recall.missing, ["reranker scripted: it gave no answer within 5 ms"]);
    assert_eq!(lines(&recall), lines(&plain.alex().recall(QUESTION, options()).unwrap()));
    drop(let_go);
}

#[test]
fn while_it_reads_others_write_and_what_is_erased_is_not_shown() {
    let plain = told();
    let other = Arc::new(Mutex::new(None::<User>));
    let own = Arc::clone(&other);
    let reranker = Scripted::new(move |_, texts| {
        let user = own.lock().unwrap().take();
        // Blocking handles are not for threads that drive futures.
        let erases = move || {
            let Some(user) = user else { return };
            user.session_named("later").unwrap().record(NewTurn::new("Written meanwhile.", "")).unwrap();
            user.erase_turn(user.turn_by_caller_id("s18").unwrap().id).unwrap();
        };
        std::thread::spawn(erases).join().unwrap();
        Some(Ok(vec![1.0; texts.len()]))
    });
    let fixture = with(&plain, &reranker);
    let alex = fixture.alex();
    assert_eq!(ids(&alex.recall(QUESTION, options()).unwrap())[0], "s18");
    *other.lock().unwrap() = Some(alex.clone());
    let recall: Recall = alex.recall(QUESTION, options()).unwrap();
    assert!(!ids(&recall).contains(&"s18".to_owned()) && recall.items.len() == 10, "{:?}", ids(&recall));
    assert_eq!(recall.missing, ["reranker scripted: turns were erased or replaced while it read"]);
    assert_eq!(reranker.calls(), 2);
}

#[test]
fn few_things_need_no_order() {
    let mut fixture = Fixture::new();
    let reranker = Scripted::reverses();
    fixture.config.reranker = Some(reranker.clone());
    let alex = fixture.alex();
    assert!(alex.recall("violin", options()).unwrap().items.is_empty());
    alex.session().unwrap().record(NewTurn::new("I play the violin.", "")).unwrap();
    let recall = alex.recall("violin", options()).unwrap();
    assert_eq!((recall.items.len(), recall.missing.len(), reranker.calls()), (1, 0, 0));
}

#[test]
fn its_name_and_its_knobs_have_limits() {
    #[derive(Debug)]
    struct Named(&'static str);

    impl Reranker for Named {
        fn name(&self) -> &str {
            self.0
        }

        fn rerank<'a>(&'a self, _: &'a str, _: &'a [String]) -> Reranking<'a> {
            Box::pin(async { Ok(Vec::new()) })
        }
    }
    let refused = |change: &dyn Fn(&mut thermocline::Config)| {
        let mut fixture = Fixture::new();
        change(&mut fixture.config);
        let opened = thermocline::blocking::Thermocline::open_with(fixture.path(), fixture.config.clone());
        assert_eq!(opened.unwrap_err().kind(), ErrorKind::InvalidInput);
    };
    let long: &str = "n".repeat(101).leak();
    refused(&|config| config.reranker = Some(Arc::new(Named(""))));
    refused(&|config| config.reranker = Some(Arc::new(Named(long))));
    refused(&|config| config.rerank_candidates = 1);
    refused(&|config| config.rerank_candidates = 201);
    refused(&|config| config.rerank_timeout = Duration::ZERO);
}

#[cfg(feature = "local")]
#[test]
fn a_cross_encoder_from_a_folder_reranks_a_recall() {
    let reranker = thermocline::LocalReranker::open("tests/data/models/reranker-bert").unwrap();
    let plain = told();
    let mut fixture = plain.copy();
    fixture.config.reranker = Some(Arc::new(reranker.clone()));
    fixture.config.rerank_timeout = Duration::from_mins(10);
    let alex = fixture.alex();
    let recall = alex.recall(QUESTION, options()).unwrap();
    assert_eq!(recall.missing, Vec::<String>::new());
    let receipt = alex.receipt(recall.receipt).unwrap();
    assert_eq!(receipt.understood.reranker.as_deref(), Some(reranker.name()));
    let scores: Vec<f64> = recall.items.iter().map(|recalled| recalled.rerank_score.unwrap()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    // The scores are the model's own: those of the reference in src/local/tests.
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for recalled in &recall.items {
        let said = &recalled.turn().unwrap().said;
        let text = format!("User: {}\nAssistant: {}\n", said.user_message, said.ai_response);
        let alone = runtime.block_on(reranker.rerank(QUESTION, &[text])).unwrap()[0];
        assert!((f64::from(alone) - recalled.rerank_score.unwrap()).abs() < 1e-6);
    }
}
