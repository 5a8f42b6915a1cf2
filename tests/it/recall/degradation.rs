//! Whatever fails, the answer comes from what is left, and says what was missing.

use std::time::Duration;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use chrono::TimeDelta;
use thermocline::{Context, ContextOptions, Error, Recall, RunJobs, Section, Summarizer, blocking::User};

use super::{
    asked_at,
    embedders::{ScriptedEmbedder, hash, vector},
    ids, options, tell, tell_all,
};
use crate::{
    dump::{ask, meddle},
    scripted::{Scripted, failure},
    support::Fixture,
};

const SPACE: (&str, &str, u32) = ("own-model", "r1", 32);
const QUESTION: &str = "Who photographed the violin, number 18 on the list?";

/// Tells 150 stories, and ten more in a session in progress.
fn told(fixture: &Fixture) -> User {
    let alex = fixture.alex();
    tell_all(&alex, 150);
    let now = alex.session_named("now").unwrap();
    tell(&now, 150..160);
    alex
}

fn ask_both(alex: &User) -> (Recall, Context) {
    let recall = alex.recall(QUESTION, options()).unwrap();
    let session = alex.session_named("now").unwrap();
    let context = session.context(QUESTION, ContextOptions::default().now(asked_at())).unwrap();
    for (id, missing) in [(recall.receipt, &recall.missing), (context.receipt, &context.missing)] {
        assert_eq!(&alex.receipt(id).unwrap().missing, missing, "the receipt says it too");
    }
    (recall, context)
}

/// Checks that the turn is found and shown anyway, and that `missing` says this.
#[track_caller]
fn check_found_without(alex: &User, missing: &str) {
    let (recall, context) = ask_both(alex);
    assert_eq!(ids(&recall)[0], "s18");
    let shown = context.items.iter().any(|item| item.caller_id.as_deref() == Some("s18"));
    assert!(shown, "{}", context.text);
    for said in [&recall.missing, &context.missing] {
        assert!(said.iter().any(|said| said.contains(missing)), "{missing}: {said:?}");
        assert!(said.iter().all(|said| !said.contains("violin")), "never what was asked: {said:?}");
    }
}

#[test]
fn an_embedder_that_fails_is_named_and_the_built_in_one_answers() {
    let answers = [
        ("no answer from the provider", "provider fails"),
        ("it did not give one vector of its own size for each text", "too many numbers"),
        ("it did not give one vector of its own size for each text", "two vectors"),
        ("it did not give one vector of its own size for each text", "no vector"),
        ("no answer within 5 ms", "silence"),
        ("it panicked", "panic"),
        ("the key is wrong", "refused"),
    ];
    for (missing, what) in answers {
        let mut fixture = Fixture::new();
        let works = Arc::new(AtomicBool::new(true));
        let is_working = Arc::clone(&works);
        let embedder = ScriptedEmbedder::new(SPACE, move |_, texts| {
            let good = || texts.iter().map(|text| vector(text, 1, 32)).collect::<Vec<_>>();
            match what {
                _ if is_working.load(Ordering::SeqCst) => Some(Ok(good())),
                "provider fails" => Some(Err(Error::provider("no answer from the provider"))),
                "refused" => Some(Err(Error::provider_refused("the key is wrong"))),
                "too many numbers" => Some(Ok(texts.iter().map(|text| vector(text, 1, 33)).collect())),
                "two vectors" => Some(Ok(good().into_iter().cycle().take(2 * texts.len()).collect())),
                "no vector" => Some(Ok(Vec::new())),
                "panic" => panic!("on purpose"),
                _ => None,
            }
        });
        fixture.config.embedders = vec![embedder.clone()];
        fixture.config.query_embed_timeout = Duration::from_millis(5);
        let alex = told(&fixture);
        fixture.open().run_jobs(RunJobs::default()).unwrap();
        let (recall, _) = ask_both(&alex);
        assert_eq!(
            (ids(&recall)[0].as_str(), recall.missing.len()),
            ("s18", 0),
            "{what}: {:?}",
            recall.missing
        );
        let model = |alex: &User, recall: &Recall| alex.receipt(recall.receipt).unwrap().understood.model;
        assert_eq!(model(&alex, &recall).as_deref(), Some("own-model"));
        works.store(false, Ordering::SeqCst);
        let calls = embedder.calls();
        check_found_without(&alex, missing);
        if what == "silence" {
            assert_eq!(embedder.calls() - calls, 1, "the second would wait as long, for nothing");
        }
        let (recall, _) = ask_both(&alex);
        assert_ne!(model(&alex, &recall).as_deref(), Some("own-model"), "{what}");
        assert!(model(&alex, &recall).is_some(), "{what}: the built-in one");
    }
}

#[test]
fn vectors_that_are_no_numbers_match_nothing_and_break_nothing() {
    for number in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN_POSITIVE, 0.0] {
        let mut fixture = Fixture::new();
        let answer = move |_, texts: &[String]| Some(Ok(texts.iter().map(|_| vec![number; 32]).collect()));
        fixture.config.embedders = vec![ScriptedEmbedder::new(SPACE, answer)];
        let alex = told(&fixture);
        let memory = fixture.open();
        memory.run_jobs(RunJobs::default()).unwrap();
        let (recall, context) = ask_both(&alex);
        assert_eq!(ids(&recall)[0], "s18", "{number}");
        assert!(context.items.len() > 10, "{number}");
        assert!(memory.doctor().unwrap().is_healthy(), "{number}");
    }
}

/// A text without a valid vector is a gap; it must not block the texts after it.
#[test]
fn one_text_that_gets_no_numbers_is_a_gap_and_all_others_are_embedded() {
    let mut fixture = Fixture::new();
    let answer = |_, texts: &[String]| {
        let number = |text: &String| if text.contains("violin") { f32::NAN } else { 1.0 };
        Some(Ok(texts.iter().map(|text| vec![number(text); 32]).collect()))
    };
    fixture.config.embedders = vec![ScriptedEmbedder::new(SPACE, answer)];
    let alex = told(&fixture);
    fixture.open().run_jobs(RunJobs::default()).unwrap();
    let embedded = "SELECT count(*) FROM user_spaces AS s JOIN user_scopes AS u USING (user_no)
                    JOIN embedding_spaces AS e USING (space_no)
                    WHERE e.model = 'own-model' AND s.embedded_seq = u.last_seq";
    assert_eq!(ask::<u32>(&fixture.path(), embedded), 1);
    let gaps = gaps(&fixture);
    assert!(gaps.len() > 5 && gaps.iter().all(|seq| seq % 17 == 2), "the stories of a violin: {gaps:?}");
    let recall = alex.recall("the telescope", options()).unwrap();
    assert!(recall.missing.iter().any(|said| said.contains("it refused")), "{:?}", recall.missing);
}

/// Returns the units with a gap.
fn gaps(fixture: &Fixture) -> Vec<u32> {
    let conn = crate::dump::reader(&fixture.path());
    let mut stmt = conn.prepare("SELECT seq FROM vector_gaps ORDER BY seq").unwrap();
    stmt.query_map([], |row| row.get(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

#[test]
fn a_text_that_an_embedder_refuses_is_a_gap_is_tried_again_and_filled() {
    let mut fixture = Fixture::new();
    let seed = hash("seed");
    let refuses = Arc::new(AtomicBool::new(true));
    let is_refusing = Arc::clone(&refuses);
    let embedder = ScriptedEmbedder::new(SPACE, move |_, texts| {
        let is_bad = |text: &String| text.contains("number 18 ") && is_refusing.load(Ordering::SeqCst);
        if texts.iter().any(is_bad) {
            return Some(Err(Error::provider_refused("a text is too long")));
        }
        Some(Ok(texts.iter().map(|text| vector(text, seed, 32)).collect()))
    });
    fixture.config.embedders = vec![embedder];
    let alex = told(&fixture);
    let memory = fixture.open();
    memory.run_jobs(RunJobs::default()).unwrap();
    assert_eq!(gaps(&fixture), [19], "only the one; the others of its batch have theirs");
    assert_eq!(
        ask::<u32>(&fixture.path(), "SELECT min(embedded_seq) FROM user_spaces WHERE space_no = 2"),
        160
    );
    // A block has two bytes, and two and 32 more for each vector.
    let vectors = "SELECT (sum(length(body)) - 2 * count(*)) / 34 FROM vector_blocks
        WHERE space_no = (SELECT space_no FROM embedding_spaces WHERE dims = 32)";
    let vectors = || ask::<u32>(&fixture.path(), vectors);
    let before = vectors();
    let (recall, _) = ask_both(&alex);
    assert_eq!(ids(&recall)[0], "s18", "by its words, and by what was not refused");
    assert!(memory.doctor().unwrap().is_healthy());

    refuses.store(false, Ordering::SeqCst);
    alex.session_named("now").unwrap().record(super::story(160)).unwrap(); // It queues the next run.
    memory.run_jobs(RunJobs::default()).unwrap();
    assert_eq!(gaps(&fixture), Vec::<u32>::new());
    assert_eq!(vectors(), before + 1 + 2, "that one, and both sides of the new turn");
    let lines = |alex: &User| super::lines(&ask_both(alex).0);
    assert_eq!(lines(&alex), lines(&fixture.alex()), "in the handle that had it in memory too");
    assert!(memory.doctor().unwrap().is_healthy());
}

#[test]
fn an_embedder_that_refuses_everything_is_tried_for_ever_and_stands_in_nobodys_way() {
    let mut fixture = Fixture::new();
    let (refuses, seed) = (Arc::new(AtomicBool::new(true)), hash("seed"));
    let is_refusing = Arc::clone(&refuses);
    let embedder = ScriptedEmbedder::new(SPACE, move |_, texts| {
        if is_refusing.load(Ordering::SeqCst) {
            return Some(Err(Error::provider_refused("the key is wrong")));
        }
        Some(Ok(texts.iter().map(|text| vector(text, seed, 32)).collect()))
    });
    fixture.config.embedders = vec![embedder.clone()];
    let alex = told(&fixture);
    let memory = fixture.open();
    for _ in 0..40 {
        let report = memory.run_jobs(RunJobs::default()).unwrap();
        assert_eq!(report.failed, 0);
        fixture.clock.advance(TimeDelta::hours(2));
    }
    assert!(embedder.calls() >= 40, "{}", embedder.calls());
    assert_eq!(gaps(&fixture), Vec::<u32>::new(), "no text is to blame");
    let job = memory.jobs(None, 1_000).unwrap().remove(0);
    assert!(job.last_error.unwrap().contains("the key is wrong"));
    check_found_without(&alex, "the key is wrong");

    refuses.store(false, Ordering::SeqCst);
    fixture.clock.advance(TimeDelta::hours(2));
    memory.run_jobs(RunJobs::default()).unwrap();
    assert_eq!(memory.jobs(None, 1_000).unwrap(), []);
    let (recall, _) = ask_both(&alex);
    assert_eq!((ids(&recall)[0].as_str(), recall.missing.len()), ("s18", 0), "{:?}", recall.missing);
}

#[test]
fn without_the_postings_recall_goes_on_by_meaning_and_says_so() {
    let fixture = Fixture::new();
    let alex = told(&fixture);
    fixture.open().run_jobs(RunJobs::default()).unwrap();
    ask_both(&alex);
    meddle(&fixture.path(), "UPDATE postings SET data = x'80'");
    for alex in [&alex, &fixture.alex()] {
        let (recall, context) = ask_both(alex);
        assert!(recall.items.iter().any(|recalled| recalled.parts.meaning > 0.0));
        for missing in [&recall.missing, &context.missing] {
            assert_eq!(missing.len(), 1, "{missing:?}");
            assert!(missing[0].starts_with("words: "), "{missing:?}");
        }
        assert!(context.items.iter().filter(|item| item.section == Section::RecentTurns).count() == 5);
    }
}

#[test]
fn without_the_vectors_recall_goes_on_by_words_and_says_so() {
    let fixture = Fixture::new();
    let alex = told(&fixture);
    fixture.open().run_jobs(RunJobs::default()).unwrap();
    meddle(&fixture.path(), "UPDATE vector_blocks SET body = x'01'");
    check_found_without(&alex, "vectors: ");
    check_found_without(&fixture.alex(), "vectors: ");
    let (recall, _) = ask_both(&alex);
    assert!(recall.items.iter().all(|recalled| recalled.parts.meaning == 0.0));
}

#[test]
fn without_recall_the_context_has_hot_and_warm_and_says_so() {
    for broken in ["unit_blocks", "identity_anchors"] {
        let fixture = Fixture::new();
        told(&fixture);
        let file = fixture.open();
        file.run_jobs(RunJobs::default()).unwrap();
        let alex = file.user("alex").unwrap(); // A handle that has nothing in memory.
        let session = alex.session_named("now").unwrap();
        meddle(&fixture.path(), &format!("ALTER TABLE {broken} RENAME TO lost"));
        let context = session.context(QUESTION, ContextOptions::default()).unwrap();
        let numbers: Vec<u32> = context.items.iter().filter_map(|item| item.turn_number).collect();
        assert_eq!(numbers, (1..=10).collect::<Vec<_>>(), "{broken}");
        assert!(
            context.missing.iter().any(|missing| missing.starts_with("recall: ")),
            "{:?}",
            context.missing
        );
        alex.recall(QUESTION, options()).unwrap_err();
    }
}

#[test]
fn what_is_unreadable_in_the_index_is_an_error_of_its_leg_alone() {
    let fixture = Fixture::new();
    told(&fixture);
    fixture.open().run_jobs(RunJobs::default()).unwrap();
    meddle(&fixture.path(), "UPDATE postings SET data = x'80'; UPDATE vector_blocks SET body = x'01'");
    let alex = fixture.alex();
    let (recall, context) = ask_both(&alex);
    for missing in [recall.missing, context.missing] {
        assert!(missing.iter().any(|missing| missing.starts_with("words: ")), "{missing:?}");
        assert!(missing.iter().any(|missing| missing.starts_with("vectors: ")), "{missing:?}");
    }
    assert!(context.items.len() >= 10);
    assert!(!fixture.open().doctor().unwrap().is_healthy());
}

#[test]
fn with_a_summarizer_that_fails_a_session_is_compressed_and_its_turns_are_recalled() {
    let mut fixture = Fixture::new();
    let summarizer = Scripted::new(|_, _| Err(failure()));
    fixture.config.summarizer = Some(Arc::clone(&summarizer) as Arc<dyn Summarizer>);
    let alex = told(&fixture);
    let memory = fixture.open();
    for _ in 0..10 {
        memory.run_jobs(RunJobs::default()).unwrap();
        let (recall, _) = ask_both(&alex);
        assert_eq!((ids(&recall)[0].as_str(), recall.missing.len()), ("s18", 0), "{:?}", recall.missing);
        fixture.clock.advance(TimeDelta::hours(2));
    }
    assert!(summarizer.calls() > 0);
    assert_eq!(memory.jobs(None, 1_000).unwrap(), []);
    let tier = |key: &str| alex.find_session(key).unwrap().unwrap().info().unwrap().memory_tier;
    assert_eq!(tier("talk 0"), thermocline::MemoryTier::Cold);
    assert!(!alex.find_session("talk 0").unwrap().unwrap().summaries(None, 1_000).unwrap().is_empty());
}
