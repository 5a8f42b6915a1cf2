//! The routes of MCP check host, origin, key and body, and report problems, like the routes of the table.

use serde_json::{Value, json};
use thermocline_server::{caller::Users, keys::New, ops::spec::KeyScope};

use crate::{
    client::Answer,
    fixture::{Running, Setup, whole_key},
};

fn ask(server: &Running, path: &str, headers: &[(&str, &str)], method: &str, params: &Value) -> Answer {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let accept = [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
    let headers = [&accept, headers, &[("mcp-protocol-version", "2025-11-25")]].concat();
    server.client().send("POST", path, &headers, body.as_bytes())
}

#[test]
fn a_key_that_is_known_speaks_for_its_user_and_others_do_not() {
    let alex = New {
        users: Users::One("alex".to_owned()),
        scopes: vec![KeyScope::Read, KeyScope::Write],
        ..whole_key()
    };
    let (setup, [alex, whole]) = Setup::default().keys([alex, whole_key()]);
    let server = setup.start();
    let list = |path: &str, headers: &[_]| ask(&server, path, headers, "tools/list", &json!({}));
    let tools = list("/mcp", &[("x-api-key", &alex)]);
    assert_eq!(tools.status, 200, "{tools:?}");
    assert!(tools.json()["result"]["tools"].as_array().unwrap().len() > 4);
    assert_eq!(list("/mcp", &[]).code(), "no-key");
    assert_eq!(list("/mcp/users/alex", &[("x-api-key", &alex)]).status, 200);
    assert_eq!(list("/mcp/users/sam", &[("x-api-key", &alex)]).code(), "not-allowed");
    assert_eq!(list("/mcp/users/sam", &[("x-api-key", &whole)]).status, 200);
    assert_eq!(list("/mcp", &[("x-api-key", &whole)]).code(), "bad-request");
    for foreign in [("host", "evil.example"), ("origin", "null"), ("origin", "http://evil.example")] {
        assert_eq!(list("/mcp", &[("x-api-key", &alex), foreign]).code(), "foreign-request");
    }
    let own = [("x-api-key", alex.as_str()), ("host", "localhost:7411"), ("origin", "http://localhost:7411")];
    assert_eq!(list("/mcp", &own).status, 200, "our own page may ask");
}

#[test]
fn a_message_that_stops_coming_is_given_up_and_one_that_is_too_large_is_refused() {
    let mut setup = Setup::default();
    setup.settings.max_body_bytes = 10_000;
    let server = setup.start();
    let head = "POST /mcp/users/alex HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
        Accept: application/json, text/event-stream\r\n";
    let mut slow = server.client();
    slow.write(format!("{head}Content-Length: 100\r\n\r\n{{").as_bytes());
    let mut large = server.client();
    large.write(format!("{head}Content-Length: 10001\r\n\r\n{}", "x".repeat(10_001)).as_bytes());
    assert_eq!(large.answer(false).code(), "too-large");
    assert_eq!(slow.answer(false).code(), "slow-body");
}

#[test]
fn what_the_protocol_refuses_is_told_as_at_every_other_address() {
    let server = Setup::default().start();
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
    let (json, both) =
        (("content-type", "application/json"), ("accept", "application/json, text/event-stream"));
    for (method, headers, body, expected) in [
        ("GET", vec![both], "", "no-such-method"),
        ("DELETE", vec![both], "", "no-such-method"),
        ("PUT", vec![json, both], &body, "no-such-method"),
        ("POST", vec![json], &body, "not-acceptable"),
        ("POST", vec![json, ("accept", "application/json")], &body, "not-acceptable"),
        ("POST", vec![json, ("accept", "text/html")], &body, "not-acceptable"),
        ("POST", vec![both], &body, "unsupported-media"),
        ("POST", vec![both, ("content-type", "text/plain")], &body, "unsupported-media"),
        ("POST", vec![json, both], "{", "bad-request"),
        ("POST", vec![json, both, ("mcp-protocol-version", "canary")], &body, "bad-request"),
    ] {
        let answer = server.client().send(method, "/mcp/users/alex", &headers, body.as_bytes());
        assert_eq!(
            answer.header("content-type"),
            Some("application/problem+json"),
            "{method} {headers:?}: {answer:?}"
        );
        assert_eq!(answer.code(), expected, "{method} {headers:?}: {answer:?}");
        assert_eq!(answer.header("allow").is_some(), expected == "no-such-method", "{answer:?}");
        assert!(!String::from_utf8_lossy(&answer.body).contains("canary"));
    }
}
