//! Problems: a single mapping from the library's kinds of errors to what every surface returns.

use std::collections::BTreeSet;

use serde_json::json;
use thermocline::ErrorKind;
use thermocline_server::ops::problem::{Code, Retry};

use crate::bench::Bench;

#[test]
fn each_kind_of_error_has_its_word_its_status_and_what_helps() {
    use Retry::{Later, Never, SameId};
    for (kind, word, status, retry, exit) in [
        (ErrorKind::InvalidInput, "invalid-input", 422, Never, 3),
        (ErrorKind::Conflict, "conflict", 409, Never, 3),
        (ErrorKind::SessionEnded, "session-ended", 409, Never, 3),
        (ErrorKind::NotFound, "not-found", 404, Never, 4),
        (ErrorKind::Busy, "busy", 503, Later, 6),
        (ErrorKind::TimedOut, "timed-out", 503, Later, 6),
        (ErrorKind::Io, "io", 500, SameId, 5),
        (ErrorKind::DiskFull, "disk-full", 507, SameId, 8),
        (ErrorKind::ReadOnly, "read-only", 503, Never, 5),
        (ErrorKind::Corrupt, "corrupt", 503, Never, 5),
        (ErrorKind::ForeignFile, "corrupt", 503, Never, 5),
        (ErrorKind::NewerSchema, "corrupt", 503, Never, 5),
        (ErrorKind::Unsupported, "unsupported", 422, Never, 5),
        (ErrorKind::Closed, "closing", 503, Later, 1),
        (ErrorKind::Provider, "provider", 502, Later, 6),
        (ErrorKind::ProviderRefused, "provider-refused", 502, Never, 3),
        (ErrorKind::ProviderMisconfigured, "provider-refused", 502, Never, 3),
        (ErrorKind::Internal, "unexpected", 500, SameId, 1),
        (ErrorKind::Poisoned, "unexpected", 500, SameId, 1),
    ] {
        let facts = Code::of(kind).facts();
        assert_eq!(
            (facts.word, facts.status, facts.retry, facts.exit),
            (word, status, retry, exit),
            "{kind:?}"
        );
    }
    let source = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../src/error.rs"));
    let kinds = source.split("pub enum ErrorKind {").nth(1).unwrap().split("\n}").next().unwrap();
    let count = kinds.lines().filter(|line| line.trim_end().ends_with(',') && !line.contains("///")).count();
    assert_eq!(count, 19, "a kind that is new needs its line here");
}

#[test]
fn each_problem_is_listed_once_under_a_word_of_its_own() {
    let words: BTreeSet<&str> = Code::EVERY.into_iter().map(|code| code.facts().word).collect();
    assert_eq!(words.len(), Code::EVERY.len());
    for code in Code::EVERY {
        let facts = code.facts();
        assert!((400..600).contains(&facts.status), "{code:?}");
        assert!(facts.word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{code:?}");
        // A problem with `Retry::Later` has a status by which clients know that they may retry.
        assert!(facts.retry != Retry::Later || [408, 429, 502, 503].contains(&facts.status), "{code:?}");
    }
}

/// No problem contains anything that anybody said.
#[tokio::test(flavor = "multi_thread")]
async fn a_problem_repeats_nothing_of_what_was_said() {
    const CANARY: &str = "canary-5f2e";
    let bench = Bench::new().await;
    bench.answer("record", json!({ "session": "a", "caller_id": "m", "user_message": "A boat." })).await;
    let saved =
        bench.answer("memory_save", json!({ "title": "A", "content": "B is C.", "caller_id": "k" })).await;
    let id = &saved["memory"]["id"];
    for (name, request) in [
        ("record", json!({ "session": "a", "caller_id": "m", "user_message": CANARY })),
        ("record", json!({ "user_message": CANARY, "said_at": CANARY })),
        ("record", json!({ "user_message": CANARY, "user_origin": "usr" })),
        ("record", json!({ "user_message": CANARY, "metadata": CANARY })),
        ("record", json!({ "user_message": format!("{CANARY}\0") })),
        ("record", json!({ "user_message": "a", CANARY: 1 })),
        ("record", json!(CANARY)),
        ("turn_complete", json!({ "turn": "key:m", "ai_response": CANARY })),
        ("recall", json!({ "query": CANARY, "k": 0 })),
        ("recall", json!({ "query": CANARY, "filter": { "project": "" } })),
        ("recall", json!({ "query": CANARY, "filter": { CANARY: 1 } })),
        ("session_show", json!({ "session": CANARY })),
        ("turn_show", json!({ "turn": CANARY })),
        ("turn_show", json!({ "turn": format!("key:{CANARY}") })),
        ("turn_at", json!({ "session": "a", "number": CANARY })),
        ("session_set", json!({ "session": "a", "title": CANARY.repeat(100) })),
        ("session_list", json!({ "cursor": CANARY })),
        ("anchor_set", json!({ "attribute": CANARY, "value": "a" })),
        ("anchor_set", json!({ "attribute": "home", "value": CANARY.repeat(100) })),
        ("memory_save", json!({ "title": CANARY.repeat(100), "content": CANARY })),
        ("memory_save", json!({ "title": CANARY, "content": CANARY, "caller_id": "k" })),
        ("memory_save", json!({ "title": CANARY, "content": CANARY, "kind": CANARY })),
        ("memory_save", json!({ "title": "a", "content": "b", "sources": [{ "turn": CANARY }] })),
        ("memory_show", json!({ "memory": CANARY })),
        ("memory_edit", json!({ "memory": CANARY })),
        ("memory_edit", json!({ "memory": id, "content": CANARY, "expected_revision": 9 })),
        ("sensor_watch", json!({ "memory": id, "sensor": "nobody", "check": CANARY })),
        ("sensor_watch", json!({ "memory": id, "sensor": "human", "check": CANARY.repeat(2_000) })),
        ("sensor_watch", json!({ "memory": id, "sensor": "human", "expect": { "contains": CANARY } })),
        ("quarantine", json!({ "source": { "memory": CANARY } })),
        ("quarantine", json!({ "source": { CANARY: 1 } })),
        ("backup", json!({ "name": format!("../{CANARY}") })),
    ] {
        let problem =
            bench.ask(name, request.clone()).await.err().unwrap_or_else(|| panic!("{name} takes {request}"));
        let said = format!("{problem:?}");
        assert!(!said.contains(CANARY), "{name} {request}: {said}");
    }
}
