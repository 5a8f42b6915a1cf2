//! MCP over HTTP: each request is independent, and the URL or the key determines the user.

use serde_json::{Value, json};
use thermocline_server::{caller::Users, keys::New, mcp::ToolProfile, ops::spec::KeyScope};

use crate::{
    client::Answer,
    fixture::{Running, Setup, server, whole_key},
    talk::{NEW, OLD, hello, message, next_id, text},
};

const ALEX: &str = "/mcp/users/alex";

fn save(value: &str) -> Value {
    json!({ "name": "memory_save", "arguments": { "attribute": "home", "value": value } })
}

/// Sends a message in the form of this revision of the protocol, with the key unless it is empty.
fn send(server: &Running, key: &str, path: &str, version: &str, method: &str, params: Value) -> Answer {
    let name = text(params.get("name").or_else(|| params.get("uri")).unwrap_or(&Value::Null));
    let message = message(next_id(), method, params, version).to_string();
    let bearer = format!("Bearer {key}");
    let mut headers =
        vec![("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
    if !key.is_empty() {
        headers.push(("authorization", &bearer));
    }
    if method != "initialize" {
        headers.push(("mcp-protocol-version", version));
    }
    if version >= NEW {
        headers.push(("mcp-method", method));
        if !name.is_empty() {
            headers.push(("mcp-name", &name));
        }
    }
    server.client().send("POST", path, &headers, message.as_bytes())
}

#[track_caller]
fn asked(server: &Running, path: &str, version: &str, method: &str, params: Value) -> Value {
    let answer = send(server, "", path, version, method, params);
    assert_eq!(answer.status, 200, "{:?}", String::from_utf8_lossy(&answer.body));
    assert_eq!(answer.header("mcp-session-id"), None);
    answer.json()
}

fn names(list: &Value) -> Vec<String> {
    list["result"]["tools"].as_array().unwrap().iter().map(|tool| text(&tool["name"])).collect()
}

#[test]
fn both_eras_are_answered_without_a_session() {
    let server = server();
    for version in [OLD, "2025-03-26", "2025-06-18", "2025-11-25"] {
        let greeted = asked(&server, ALEX, version, "initialize", hello(version));
        assert_eq!(greeted["result"]["protocolVersion"], version, "{greeted}");
    }
    for version in ["2025-06-18", "2025-11-25", NEW] {
        assert_eq!(names(&asked(&server, ALEX, version, "tools/list", json!({}))).len(), 6);
        let saved = asked(&server, ALEX, version, "tools/call", save(version));
        assert_eq!(saved["result"]["isError"], false, "{saved}");
    }
    let found = asked(&server, ALEX, NEW, "server/discover", json!({}));
    assert_eq!(found["result"]["cacheScope"], "private", "{found}");
}

#[test]
fn the_user_is_the_keys_one_or_that_of_the_address() {
    let one = New { users: Users::One("alex".to_owned()), scopes: vec![KeyScope::Read], ..whole_key() };
    let (setup, [all, one]) = Setup::default().keys([whole_key(), one]);
    let server = setup.start();
    send(&server, &all, ALEX, NEW, "tools/call", save("Lisbon"));
    send(&server, &all, "/mcp/users/maria%2Fsmith", NEW, "tools/call", save("Porto"));
    assert_eq!(send(&server, &all, "/mcp", NEW, "tools/list", json!({})).code(), "bad-request");

    for path in ["/mcp", ALEX] {
        let read =
            send(&server, &one, path, NEW, "resources/read", json!({ "uri": "memory://profile" })).json();
        let profile = text(&read["result"]["contents"][0]["text"]);
        assert!(profile.contains("Lisbon") && !profile.contains("Porto"), "{read}");
    }
    for path in ["/mcp/users/maria%2Fsmith", "/mcp/users/nobody", "/mcp/users/Alex"] {
        let answer = send(&server, &one, path, NEW, "tools/list", json!({}));
        assert_eq!((answer.status, answer.code().as_str()), (403, "not-allowed"), "{path}");
    }
    let read = send(
        &server,
        &all,
        "/mcp/users/maria%2Fsmith",
        NEW,
        "resources/read",
        json!({ "uri": "memory://profile" }),
    );
    assert!(text(&read.json()["result"]["contents"][0]["text"]).contains("Porto"));
}

#[test]
fn without_a_key_there_is_no_answer_and_a_lesser_key_sees_less() {
    let reader = New { users: Users::One("alex".to_owned()), scopes: vec![KeyScope::Read], ..whole_key() };
    let (setup, [reader]) = Setup::default().keys([reader]);
    let server = setup.start();
    for key in ["", "thc_nonsense"] {
        for path in ["/mcp", ALEX] {
            let answer = send(&server, key, path, NEW, "tools/list", json!({}));
            assert_eq!((answer.status, answer.code().as_str()), (401, "no-key"), "{path}");
        }
    }
    let list = send(&server, &reader, "/mcp", NEW, "tools/list", json!({})).json();
    assert_eq!(names(&list), ["memory_recall", "memory_browse"]);
    let refused = send(&server, &reader, "/mcp", NEW, "tools/call", save("Lisbon")).json();
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
}

#[test]
fn the_query_names_the_profile() {
    let server = server();
    for (profile, some) in [
        (ToolProfile::Core, "memory_browse"),
        (ToolProfile::Full, "memory_turns"),
        (ToolProfile::Readonly, "memory_why"),
        (ToolProfile::Knowledge, "memory_store"),
    ] {
        let path = format!("{ALEX}?tools={}", profile.as_str());
        let names = names(&asked(&server, &path, NEW, "tools/list", json!({})));
        assert!(names.iter().any(|name| name == some), "{names:?}");
    }
    for query in ["?tools=everything", "?user=maria", "?tools=core&user=maria"] {
        let answer = send(&server, "", &format!("{ALEX}{query}"), NEW, "tools/list", json!({}));
        assert_eq!(answer.code(), "bad-request", "{query}");
    }
}

#[test]
fn what_is_no_message_is_refused_with_a_status() {
    let mut setup = Setup::default();
    setup.settings.max_body_bytes = 1 << 20;
    let server = setup.start();
    let accept = ("accept", "application/json, text/event-stream");
    let json = ("content-type", "application/json");
    let large = " ".repeat((1 << 20) + 1);
    for (method, headers, body, expected) in [
        ("POST", vec![json, accept], "nonsense", 400),
        ("POST", vec![("content-type", "application/x-www-form-urlencoded"), accept], "a=b", 415),
        ("POST", vec![json, accept], &large, 413),
        ("POST", vec![json, accept, ("content-encoding", "gzip")], "a", 415),
        ("POST", vec![json], "{}", 406),
        ("GET", vec![accept], "", 405),
        ("DELETE", vec![], "", 405),
    ] {
        let answer = server.client().send(method, ALEX, &headers, body.as_bytes());
        assert_eq!(
            answer.status,
            expected,
            "{method} {headers:?}: {}",
            String::from_utf8_lossy(&answer.body)
        );
    }
}

#[test]
fn pages_of_other_origins_reach_no_tool() {
    let server = server();
    let message = message(1, "tools/list", json!({}), NEW).to_string();
    for (name, value) in [
        ("host", "rebound.example"),
        ("origin", "https://page.example"),
        ("origin", "null"),
        ("sec-fetch-site", "cross-site"),
    ] {
        let headers = [
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", NEW),
            ("mcp-method", "tools/list"),
            (name, value),
        ];
        let answer = server.client().send("POST", ALEX, &headers, message.as_bytes());
        assert_eq!((answer.status, answer.code().as_str()), (403, "foreign-request"), "{name}: {value}");
    }
}

#[test]
fn a_tool_that_fails_is_a_result_over_http_too() {
    let server = server();
    asked(&server, ALEX, NEW, "tools/call", save("Lisbon"));
    let missing = json!({ "name": "memory_browse",
        "arguments": { "view": "turn", "id": "00000000-0000-7000-8000-000000000000" } });
    let answer = asked(&server, ALEX, NEW, "tools/call", missing);
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    let answer = asked(&server, ALEX, NEW, "tools/call", json!({ "name": "memory_browse", "arguments": {} }));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}
