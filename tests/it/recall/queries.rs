//! Additional queries: each finds what it would find by itself. Blank queries, or the message itself as a query, change no
//! context.

use thermocline::{Context, ContextOptions, ErrorKind, RunJobs, blocking::User};

use super::{asked_at, embedders::ScriptedEmbedder, tell, tell_all};
use crate::support::Fixture;

/// Something typed in the middle of work: nothing in it asks for a story.
const MESSAGE: &str = "Quarterly spreadsheets need another column.";
const VIOLIN: &str = "Who photographed the violin, number 18 on the list?";
const LOOM: &str = "What became of the loom, number 77 on the list?";

/// Tells 150 stories, compressed and indexed, and ten more in a session in progress.
fn told(fixture: &Fixture) -> User {
    let alex = fixture.alex();
    tell_all(&alex, 150);
    tell(&alex.session_named("now").unwrap(), 150..160);
    fixture.open().run_jobs(RunJobs::default()).unwrap();
    alex
}

fn context(alex: &User, message: &str, queries: &[&str]) -> Context {
    let options = ContextOptions::default().now(asked_at()).queries(queries.iter().copied());
    alex.session_named("now").unwrap().context(message, options).unwrap()
}

fn shows(context: &Context, id: &str) -> bool {
    context.items.iter().any(|item| item.caller_id.as_deref() == Some(id))
}

#[test]
fn a_context_shows_what_queries_beside_the_message_find() {
    let fixture = Fixture::new();
    let alex = told(&fixture);
    let plain = context(&alex, MESSAGE, &[]);
    assert!(!shows(&plain, "s18") && !shows(&plain, "s77"), "{}", plain.text);
    let both = context(&alex, MESSAGE, &[VIOLIN, " ", LOOM]);
    assert!(shows(&both, "s18") && shows(&both, "s77"), "{}", both.text);
    assert!(both.tokens <= both.budget_tokens);
    assert_eq!(both.missing, Vec::<String>::new());
    assert_eq!(
        both.text,
        context(&alex, MESSAGE, &[VIOLIN, LOOM]).text,
        "the same question, the same answer"
    );

    let receipt = alex.receipt(both.receipt).unwrap();
    assert_eq!(
        (receipt.query.as_str(), &receipt.understood.queries[..]),
        (MESSAGE, &[VIOLIN, LOOM].map(String::from)[..])
    );
    assert!(
        receipt.explain().contains(&format!("Also searched for: {VIOLIN:?}.\n")),
        "{}",
        receipt.explain()
    );
    for item in receipt.items.iter().filter(|item| item.seq.is_some() && item.score != 0.0) {
        assert!((item.parts.score(&receipt.profile) - item.score).abs() < 2e-6, "{item:?}");
    }
    // Outside of a session too.
    let options = ContextOptions::default().now(asked_at()).queries([VIOLIN]);
    assert!(shows(&alex.context(MESSAGE, options).unwrap(), "s18"));
}

#[test]
fn without_queries_a_context_is_as_it_was_and_so_it_is_with_the_message_again() {
    let fixture = Fixture::new();
    let alex = told(&fixture);
    for message in [VIOLIN, MESSAGE, "What did we talk about last week?", ""] {
        let plain = context(&alex, message, &[]);
        assert!(!serde_json::to_string(&alex.receipt(plain.receipt).unwrap()).unwrap().contains("queries"));
        for queries in [&["", " \n"][..], &[message]] {
            let again = context(&alex, message, queries);
            assert!(again.text == plain.text && again.items == plain.items, "{message:?} {queries:?}");
        }
    }
}

#[test]
fn queries_have_limits() {
    let mut fixture = Fixture::new();
    fixture.config.max_side_bytes = 100;
    let session = fixture.session();
    let refused = |queries: Vec<String>| {
        let error = session.context("Hello", ContextOptions::default().queries(queries)).unwrap_err();
        assert!(error.kind() == ErrorKind::InvalidInput && !error.to_string().contains("secret"), "{error}");
    };
    refused(vec!["secret".to_owned(); 9]);
    refused(vec!["secret".repeat(20)]);
    session.context("Hello", ContextOptions::default().queries(vec!["a".repeat(100); 8])).unwrap();
}

#[test]
fn an_embedder_is_asked_once_for_the_message_and_its_queries() {
    let mut fixture = Fixture::new();
    let embedder = ScriptedEmbedder::working(("own", "", 32));
    fixture.config.embedders = vec![embedder.clone()];
    let alex = told(&fixture);
    let calls = embedder.calls();
    let found = context(&alex, MESSAGE, &[VIOLIN, LOOM]);
    assert_eq!((embedder.calls() - calls, found.missing.len()), (1, 0), "{:?}", found.missing);
    assert_eq!(embedder.asked()[embedder.asked().len() - 3..], [MESSAGE, VIOLIN, LOOM]);
    assert!(shows(&found, "s18") && shows(&found, "s77"), "{}", found.text);
    assert_eq!(alex.receipt(found.receipt).unwrap().understood.model.as_deref(), Some("own"));
}
