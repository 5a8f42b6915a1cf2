//! Metrics: what they count, and that their labels come from fixed lists. The dashboard queries only metrics that exist.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Barrier,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use serde_json::Value;
use thermocline::{Embedder, Embedding, EmbeddingPurpose, EmbeddingSpace, Error, Faults};
use thermocline_server::{caller::Users, keys::New, metrics::Metrics, ops::spec::KeyScope};

use crate::fixture::{Setup, TURN, eventually, server, whole_key};

/// Returns the names of all series in an answer of `/metrics`.
fn names(text: &str) -> BTreeSet<&str> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split(['{', ' ']).next()).collect()
}

#[test]
fn what_happened_is_counted_and_no_label_holds_a_user() {
    let server = server();
    assert_eq!(server.post("/v1/users/canary/turns", TURN).status, 201);
    assert_eq!(server.post("/v1/users/canary/turns", "{}").status, 400);
    assert_eq!(
        server.post("/v1/users/other/turns", r#"{"session":"s","user_message":"Hello."}"#).status,
        201
    );
    assert_eq!(server.post("/v1/users/other/sessions/s/end", "{}").status, 200);
    assert_eq!(server.post("/v1/users/canary/recall", r#"{"query":"canary"}"#).status, 200);
    assert_eq!(
        server.post("/v1/users/canary/context", r#"{"message":"What is my boat called?"}"#).status,
        200
    );
    assert_eq!(server.client().send("GET", "/version", &[("host", "evil.example")], b"").status, 403);
    let answer = server.get("/metrics");
    assert!(answer.header("content-type").unwrap().starts_with("application/openmetrics-text"));
    let text = String::from_utf8(answer.body).unwrap();
    for line in [
        r#"thermocline_operation_seconds_count{operation="record",surface="http",outcome="ok"} 2"#,
        r#"thermocline_operation_seconds_count{operation="record",surface="http",outcome="bad-request"} 1"#,
        r#"thermocline_rejected_total{reason="foreign-request"} 1"#,
        r#"thermocline_turns{tier="hot"} 1"#,
        "thermocline_users 2",
        "thermocline_context_tokens_count 1",
        "thermocline_context_left_out_total 0",
        "thermocline_recall_missing_total 0",
        r#"thermocline_provider_failures_total{provider="embedder"} 0"#,
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    for rises in
        ["thermocline_commits_total", "thermocline_commit_seconds_total", "thermocline_context_tokens_sum"]
    {
        assert!(value(&text, rises) > 0.0, "{rises}\n{text}");
    }
    // The ended session waits to be compressed, because no worker runs in this test.
    assert!(value(&text, "thermocline_job_oldest_seconds") > 0.0, "{text}");
    assert!(!text.contains("canary"));
    assert!(text.ends_with("# EOF\n"));
}

/// Returns the value of a series without labels.
fn value(text: &str, name: &str) -> f64 {
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    value.unwrap_or_else(|| panic!("no {name}\n{text}")).parse().unwrap()
}

/// An embedder that never returns vectors.
#[derive(Debug)]
struct Broken;

impl Embedder for Broken {
    fn space(&self) -> EmbeddingSpace {
        EmbeddingSpace::new("broken", "", 8)
    }

    fn embed<'a>(&'a self, _texts: &'a [String], _purpose: EmbeddingPurpose) -> Embedding<'a> {
        Box::pin(async { Err(Error::provider("it is broken")) })
    }
}

#[test]
fn a_provider_that_fails_is_counted_and_what_was_done_without_it() {
    let metrics = Arc::<Metrics>::default();
    let mut setup = Setup::default();
    setup.config.embedders = vec![Arc::new(Broken)];
    setup.config.on_event = metrics.on_event();
    setup.change = Box::new(move |service| service.metrics = metrics);
    let server = setup.start();
    assert_eq!(server.post("/v1/users/alex/turns", TURN).status, 201);
    assert_eq!(server.post("/v1/users/alex/recall", r#"{"query":"boat"}"#).status, 200);
    let text = String::from_utf8(server.get("/metrics").body).unwrap();
    for line in [
        r#"thermocline_provider_failures_total{provider="embedder"} 1"#,
        r#"thermocline_provider_failures_total{provider="planner"} 0"#,
        r#"thermocline_events_total{event="provider_failed"} 1"#,
        "thermocline_recall_missing_total 1",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn while_the_writer_is_stuck_metrics_are_the_previous_counts_with_their_age() {
    let (is_stuck, is_freed) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let sticks = Arc::new(AtomicBool::new(false));
    let mut setup = Setup::default();
    let (asked, stuck, freed) = (Arc::clone(&sticks), Arc::clone(&is_stuck), Arc::clone(&is_freed));
    setup.config.faults = Faults::new(move |_, _| {
        if asked.swap(false, Ordering::SeqCst) {
            stuck.wait();
            freed.wait();
        }
        false
    });
    let server = setup.start();
    assert_eq!(server.post("/v1/users/alex/turns", TURN).status, 201);
    let scrape = || String::from_utf8(server.get("/metrics").body).unwrap();
    assert!(scrape().contains("thermocline_users 1"));
    server.service.stats.forget();
    sticks.store(true, Ordering::SeqCst);
    thread::scope(|threads| {
        let recording = threads.spawn(|| server.post("/v1/users/blake/turns", TURN).status);
        is_stuck.wait();
        let first = scrape();
        let again = scrape();
        is_freed.wait();
        for text in [&first, &again] {
            assert!(text.contains("thermocline_users 1\n"), "{text}");
        }
        let ages = [&first, &again].map(|text| value(text, "thermocline_stats_age_seconds"));
        assert!(ages[0] >= 1.0 && ages[1] > ages[0], "{ages:?}");
        assert_eq!(recording.join().unwrap(), 201);
    });
    // The count that nobody waited for has gone on, and is taken.
    eventually("the count is taken", || scrape().contains("thermocline_users 2\n"));
}

#[test]
fn metrics_are_for_keys_that_may_inspect_all_users() {
    let reading = New { scopes: vec![KeyScope::Read, KeyScope::Write], ..whole_key() };
    let narrow = New { users: Users::One("alex".to_owned()), ..whole_key() };
    let inspecting = New { scopes: vec![KeyScope::Inspect], ..whole_key() };
    let (setup, keys) = Setup::default().keys([reading, narrow, inspecting]);
    let server = setup.start();
    assert_eq!(server.get("/metrics").status, 401);
    let ask = |key: &String| server.client().send("GET", "/metrics", &[("x-api-key", key)], b"").status;
    assert_eq!(keys.each_ref().map(ask), [403, 403, 200]);
}

#[test]
fn every_metric_of_the_dashboard_and_of_the_alerts_is_there() {
    let dashboard = include_str!("../../../../docs/grafana-dashboard.json");
    let dashboard: Value = serde_json::from_str(dashboard).unwrap();
    let targets =
        dashboard["panels"].as_array().unwrap().iter().filter_map(|panel| panel["targets"].as_array());
    let panels = targets.flatten().map(|target| target["expr"].as_str().unwrap());
    let alerts = include_str!("../../../../contrib/alerts.yml").lines();
    let alerts = alerts.filter_map(|line| line.trim_start().strip_prefix("expr: "));
    let words = panels
        .chain(alerts)
        .flat_map(|query| query.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')));
    let asked: BTreeSet<_> =
        words.filter(|word| word.starts_with("thermocline_")).map(str::to_owned).collect();
    assert!(asked.len() > 8, "{asked:?}");
    let server = server();
    server.post("/v1/users/alex/turns", TURN);
    server.post("/v1/users/alex/turns", "[]");
    server.client().send("GET", "/version", &[("host", "evil.example")], b"");
    let text = String::from_utf8(server.get("/metrics").body).unwrap();
    // A metric without any series yet is still in the text, by its `# TYPE` line.
    let helped = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next());
    let helped: Vec<_> = helped.flat_map(|name| [name.to_owned(), format!("{name}_total")]).collect();
    let known = names(&text);
    for name in asked {
        assert!(known.contains(name.as_str()) || helped.contains(&name), "{name}\n{text}");
    }
}
