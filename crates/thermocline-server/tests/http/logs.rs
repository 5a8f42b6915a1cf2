//! Logs at the finest level contain nothing that anybody said, no name, and no key. A problem that needs an operator is
//! logged as an error.

use std::fs;

use crate::{
    fixture::{Setup, eventually, server, whole_key},
    logged::Logged,
};

#[test]
fn a_log_at_trace_holds_ids_templates_and_counts() {
    let lines = Logged::all();
    let (setup, [key]) = Setup::default().keys([whole_key()]);
    let server = setup.start();
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let ask = |method: &str, path: &str, body: &str| {
        let headers = [
            ("x-api-key", key.as_str()),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", "2025-11-25"),
            ("traceparent", trace),
        ];
        server.client().send(method, path, &headers, body.as_bytes()).status
    };
    let turn = r#"{"session":"canary5","user_message":"canary5 told","ai_response":"canary5","caller_id":"canary5","metadata":{"canary5":"canary5"}}"#;
    assert_eq!(ask("POST", "/v1/users/canary5/turns", turn), 201);
    assert_eq!(ask("POST", "/v1/users/canary5/turns", &turn.replace("told", "else")), 409);
    assert_eq!(ask("POST", "/v1/users/canary5/turns", r#"{"canary5":1}"#), 400);
    assert_eq!(ask("POST", "/v1/users/canary5/turns", r#"{"user_message":{"canary5":1}}"#), 400);
    assert_eq!(ask("POST", "/v1/users/canary5/recall", r#"{"query":"canary5"}"#), 200);
    assert_eq!(ask("POST", "/v1/users/canary5/context", r#"{"message":"canary5","session":"canary5"}"#), 200);
    assert_eq!(ask("POST", "/v1/users/canary5/memories", r#"{"title":"canary5","content":"canary5"}"#), 201);
    assert_eq!(ask("POST", "/v1/users/canary5/sessions/canary5/end", "{}"), 200);
    assert_eq!(ask("POST", "/v1/jobs/run", "{}"), 200);
    assert_eq!(ask("GET", "/v1/users/canary5/sessions/canary5/turns?canary5=1", ""), 400);
    for (method, params) in [
        ("tools/call", r#"{"name":"memory_recall","arguments":{"query":"canary5"}}"#),
        ("tools/call", r#"{"name":"memory_browse","arguments":{"view":"canary5","canary5":"canary5"}}"#),
        ("tools/call", r#"{"name":"canary5","arguments":{}}"#),
        ("resources/read", r#"{"uri":"memory://sessions/canary5"}"#),
        ("prompts/get", r#"{"name":"with_memory","arguments":{"message":"canary5"}}"#),
        ("canary5", "{}"),
    ] {
        let message = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        assert!(ask("POST", "/mcp/users/canary5", &message) < 500, "{message}");
    }
    assert_eq!(ask("GET", "/canary5/canary5", ""), 404);
    eventually("the last line is there", || lines.text().contains("\"route\":\"unknown\""));
    let log = lines.text();
    for word in [
        "/v1/users/{user}/turns",
        "4bf92f3577b34da6a3ce929d0e0e4736",
        "\"operation\":\"record\"",
        &format!("\"key\":\"{}\"", &key[4..12]),
        "\"status\":201",
        "\"micros\":",
    ] {
        assert!(log.contains(word), "{word}");
    }
    for line in log.lines() {
        assert!(!line.contains("canary5") && !line.contains(&key[13..]), "{line}");
    }
}

#[test]
fn a_file_that_was_replaced_is_an_error_in_the_log_and_no_answer_comes_from_it() {
    let lines = Logged::with(&["\"code\":\"io\""]);
    let mut server = server();
    let turn = r#"{"user_message":"I moved to Lisbon.","ai_response":"When?"}"#;
    assert_eq!(server.post("/v1/users/alex/turns", turn).status, 201);
    let file = server.folder.path().join("memory.db");
    fs::rename(&file, file.with_extension("old")).unwrap();
    let answer = server.post("/v1/users/alex/recall", r#"{"query":"Lisbon"}"#);
    assert_eq!((answer.status, answer.code().as_str()), (500, "io"));
    eventually("the error is in the log", || {
        lines
            .text()
            .lines()
            .any(|line| line.contains("\"level\":\"ERROR\"") && line.contains("deleted or replaced"))
    });
    let counted = server.service.metrics.text().unwrap();
    assert!(!counted.contains("thermocline_failures_total{reason=\"io\"} 0"), "{counted}");
    server.tell_to_end();
    assert!(server.take_thread().join().is_err(), "nor is such a file closed as if nothing were wrong");
}
