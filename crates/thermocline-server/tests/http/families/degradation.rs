//! If a provider fails, the answer comes from the remaining evidence, says what was missing, and is not a server error.

use std::{
    fmt,
    future::pending,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use thermocline::{
    ChatModel, ChatPrompt, Completing, Config, Embedder, Embedding, EmbeddingPurpose, EmbeddingSpace, Error,
    Reranker, Reranking, Result, Summarizer, Summarizing, Turn,
};

use super::{NOW, Person, Site, ids};

pub const QUESTION: &str = "Who repaired the violin, number 77 on the list?";
pub const FOUND: &str = "s77";

/// A provider that works until `works` is false, and then fails in the way that `how` names.
#[derive(Clone)]
struct Failing {
    works: Arc<AtomicBool>,
    how: &'static str,
}

impl fmt::Debug for Failing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Failing")
    }
}

impl Failing {
    /// Returns the provider's answer; `None` if it never answers.
    fn answer<T>(&self, good: impl FnOnce() -> T, garbage: impl FnOnce() -> T) -> Option<Result<T>> {
        match self.how {
            _ if self.works.load(Ordering::SeqCst) => Some(Ok(good())),
            "fails" => Some(Err(Error::provider("no answer from the provider"))),
            "refuses" => Some(Err(Error::provider_refused("it takes none of that"))),
            "has the wrong key" => Some(Err(Error::provider_misconfigured("is the key right?"))),
            "panics" => panic!("on purpose"),
            "answers garbage" => Some(Ok(garbage())),
            _ => None,
        }
    }
}

/// The ways to fail, and the words with which each is reported for an embedder, a reranker and a planner.
const WAYS: [(&str, [&str; 3]); 6] = [
    ("fails", ["no answer from the provider"; 3]),
    ("refuses", ["it takes none of that"; 3]),
    ("has the wrong key", ["is the key right?"; 3]),
    ("panics", ["it panicked"; 3]),
    (
        "answers garbage",
        [
            "it did not give one vector of its own size for each text",
            "one score for each text",
            "what it said could not be used",
        ],
    ),
    ("is silent", ["no answer within"; 3]),
];

/// Returns a future that is ready with this answer, or that never is.
fn given<T: Send + 'static>(answer: Option<T>) -> Pin<Box<dyn Future<Output = T> + Send>> {
    Box::pin(async move {
        match answer {
            Some(answer) => answer,
            None => pending().await,
        }
    })
}

/// Returns a vector made from the first bytes of a text, because these tests need no better ones.
fn vector(text: &str) -> Vec<f32> {
    (0..32).map(|at| f32::from(text.as_bytes().get(at).copied().unwrap_or(1))).collect()
}

impl Embedder for Failing {
    fn space(&self) -> EmbeddingSpace {
        EmbeddingSpace::new("scripted", "r1", 32)
    }

    fn embed<'a>(&'a self, texts: &'a [String], _: EmbeddingPurpose) -> Embedding<'a> {
        let good = || texts.iter().map(|text| vector(text)).collect();
        let answer = self.answer(good, || vec![vec![0.5; 33]]);
        given(answer)
    }
}

impl Reranker for Failing {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn rerank<'a>(&'a self, _: &'a str, texts: &'a [String]) -> Reranking<'a> {
        // Scores the last text highest.
        let good = || (0..texts.len()).map(|at| f32::from(u16::try_from(at).unwrap())).collect();
        let answer = self.answer(good, || vec![1.0; 1_000]);
        given(answer)
    }
}

impl ChatModel for Failing {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn complete<'a>(&'a self, _: &'a ChatPrompt) -> Completing<'a> {
        let good =
            || json!({ "queries": [], "first_day": "", "last_day": "", "older_memory": true }).to_string();
        let answer = self.answer(good, || "Search for the violin.".to_owned());
        given(answer)
    }
}

impl Summarizer for Failing {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn summarize<'a>(&'a self, _: &'a [Turn]) -> Summarizing<'a> {
        let answer = self.answer(Vec::new, Vec::new);
        given(answer)
    }
}

/// Records a hundred stories in ended, compressed sessions, and ten more in an open one.
pub fn told(site: &Site) -> Person<'_> {
    let mut alex = site.person("alex");
    for talk in 0..4 {
        alex.tell(&format!("talk {talk}"), talk * 25..talk * 25 + 25);
        alex.post(&format!("/sessions/talk%20{talk}/end"), &json!({}));
    }
    alex.tell("now", 100..110);
    site.run_jobs();
    alex
}

/// Starts a site whose provider can be made to fail. It works until the returned flag is false.
fn site_with(how: &'static str, change: impl FnOnce(&mut Config, Failing)) -> (Site, Arc<AtomicBool>) {
    let works = Arc::new(AtomicBool::new(true));
    let failing = Failing { works: Arc::clone(&works), how };
    let site = Site::with(|setup| change(&mut setup.config, failing));
    (site, works)
}

fn missing(site: &Site) -> u64 {
    let text = String::from_utf8(site.person("").send("GET", "/metrics", None).body).unwrap();
    let line = text.lines().find(|line| line.starts_with("thermocline_recall_missing_total ")).unwrap();
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

pub fn ask_context(alex: &mut Person<'_>) -> Value {
    alex.post("/context", &json!({ "session": "now", "message": QUESTION, "now": NOW }))
}

/// Returns the results of a recall, each with its score.
fn lines(recall: &Value) -> Vec<String> {
    let items = recall["items"].as_array().unwrap();
    items.iter().map(|item| format!("{} {}", item["caller_id"], item["score"])).collect()
}

/// Checks that two answers to one question, their receipts and the metrics say what was missing, that recall over MCP finds
/// the turn, and that the server is ready.
#[track_caller]
fn check_said(site: &Site, alex: &mut Person<'_>, answers: [&Value; 2], said: &str, how: &str) {
    for answer in answers {
        let missing = answer["missing"].to_string();
        assert!(missing.contains(said), "{how}: {missing}");
        assert!(!missing.contains("violin"), "never what was asked: {missing}");
        let receipt = alex.get(&format!("/receipts/{}", answer["receipt"].as_str().unwrap()));
        assert_eq!(receipt["receipt"]["missing"], answer["missing"], "{how}: the receipt says it too");
    }
    let counted = missing(site);
    assert!(counted >= 2, "{how}: {counted} are counted");
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "memory_recall", "arguments": { "query": QUESTION } } });
    let told = alex.ask_mcp(&call);
    assert_eq!(told["result"]["isError"], false, "{how}: {told}");
    assert!(told["result"]["content"][0]["text"].as_str().unwrap().contains("number 77"), "{how}: {told}");
    assert_eq!(alex.send("GET", "/health/ready", None).status, 200, "{how}: a provider is not the server");
}

#[test]
fn an_embedder_that_fails_is_named_and_the_turn_is_found_all_the_same() {
    for (how, [said, ..]) in WAYS {
        let (site, works) = site_with(how, |config, embedder| {
            config.embedders = vec![Arc::new(embedder)];
            // An embedder that answers at all must never time out, on any machine.
            config.query_embed_timeout = Duration::from_millis(if how == "is silent" { 300 } else { 60_000 });
        });
        let mut alex = told(&site);
        let model = |alex: &mut Person<'_>, answer: &Value| {
            alex.get(&format!("/receipts/{}", answer["receipt"].as_str().unwrap()))["receipt"]["understood"]["model"].clone()
        };
        let before = alex.recall(QUESTION);
        assert_eq!((&before["missing"], model(&mut alex, &before)), (&json!([]), "scripted".into()), "{how}");
        works.store(false, Ordering::SeqCst);
        let (recall, context) = (alex.recall(QUESTION), ask_context(&mut alex));
        assert_eq!(ids(&recall).first(), Some(&FOUND), "{how}");
        assert!(context["text"].as_str().unwrap().contains("number 77"), "{how}: {context}");
        check_said(&site, &mut alex, [&recall, &context], said, how);
        assert_ne!(model(&mut alex, &recall), "scripted", "{how}: the built-in one answers");
    }
}

#[test]
fn a_reranker_that_fails_leaves_the_order_of_recall() {
    let plain = Site::new();
    let mut told_plain = told(&plain);
    let expected = (lines(&told_plain.recall(QUESTION)), ask_context(&mut told_plain)["text"].clone());
    for (how, [_, said, _]) in WAYS {
        let (site, works) = site_with(how, |config, reranker| {
            config.reranker = Some(Arc::new(reranker));
            config.rerank_timeout = Duration::from_millis(if how == "is silent" { 5 } else { 60_000 });
        });
        let mut alex = told(&site);
        if how != "is silent" {
            assert_ne!(lines(&alex.recall(QUESTION)), expected.0, "{how}: while it works it decides");
        }
        works.store(false, Ordering::SeqCst);
        let (recall, context) = (alex.recall(QUESTION), ask_context(&mut alex));
        assert_eq!((lines(&recall), context["text"].clone()), expected, "{how}");
        check_said(&site, &mut alex, [&recall, &context], said, how);
    }
}

#[test]
fn a_planner_that_fails_leaves_the_context_as_it_would_be_without_it() {
    let plain = Site::new();
    let expected = ask_context(&mut told(&plain))["text"].clone();
    for (how, [_, _, said]) in WAYS {
        let (site, works) = site_with(how, |config, planner| {
            config.planner = Some(Arc::new(planner));
            config.plan_timeout = Duration::from_millis(if how == "is silent" { 5 } else { 60_000 });
        });
        let mut alex = told(&site);
        works.store(false, Ordering::SeqCst);
        let contexts = [ask_context(&mut alex), ask_context(&mut alex)];
        for context in &contexts {
            assert_eq!(context["text"], expected, "{how}");
        }
        check_said(&site, &mut alex, contexts.each_ref(), said, how);
    }
}

#[test]
fn with_an_llm_that_fails_a_session_is_compressed_and_its_turns_are_recalled() {
    for how in ["fails", "refuses", "panics", "answers garbage"] {
        let (site, works) =
            site_with(how, |config, summarizer| config.summarizer = Some(Arc::new(summarizer)));
        works.store(false, Ordering::SeqCst);
        let mut alex = told(&site);
        for _ in 0..10 {
            let recall = alex.recall(QUESTION);
            assert_eq!((ids(&recall).first(), &recall["missing"]), (Some(&FOUND), &json!([])), "{how}");
            assert!(ask_context(&mut alex)["text"].as_str().unwrap().contains("number 77"), "{how}");
            site.clock.advance(chrono::TimeDelta::hours(2));
            site.run_jobs();
        }
        assert_eq!(alex.send("GET", "/v1/jobs", None).json()["items"], json!([]), "{how}");
        assert_eq!(alex.get("/sessions/talk%203")["info"]["memory_tier"], "cold", "{how}");
        assert_ne!(alex.get("/sessions/talk%203/summaries")["items"], json!([]), "{how}: by built-in means");
        site.check_sound();
    }
}
