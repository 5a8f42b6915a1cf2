//! Keys: which ones the server accepts, and how soon a change of the key file takes effect.

use std::{fs, os::unix::fs::PermissionsExt};

use chrono::{TimeDelta, Utc};
use thermocline_server::{
    caller::Users,
    keys::{KeyFile, New},
    ops::spec::KeyScope,
};

use crate::fixture::{Running, Setup, TURN, eventually, whole_key};

const TURNS: &str = "/v1/users/alex/turns";

#[track_caller]
fn record(server: &Running, headers: &[(&str, &str)]) -> u16 {
    let headers = [&[("content-type", "application/json")], headers].concat();
    let answer = server.client().send("POST", TURNS, &headers, TURN.as_bytes());
    if answer.status == 401 {
        assert_eq!(answer.code(), "no-key");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer realm=\"thermocline\""));
    }
    answer.status
}

fn bearer(key: &str) -> String {
    format!("Bearer {key}")
}

#[test]
fn a_key_opens_by_either_header_and_nothing_else_does() {
    let (setup, [key]) = Setup::default().keys([whole_key()]);
    let server = setup.start();
    assert_eq!(record(&server, &[("authorization", &bearer(&key))]), 201);
    assert_eq!(record(&server, &[("authorization", &format!("bearer  {key}"))]), 201);
    assert_eq!(record(&server, &[("x-api-key", &key)]), 201);
    assert_eq!(record(&server, &[]), 401);
    let mut wrong = key.clone().into_bytes();
    *wrong.last_mut().unwrap() ^= 1;
    let wrong = String::from_utf8(wrong).unwrap();
    for text in [
        &wrong,
        &key[..key.len() - 1],
        &key[4..],
        "",
        "thc_",
        &format!("{key}a"),
        &key.to_uppercase(),
        "Basic YTpi",
    ] {
        assert_eq!(record(&server, &[("authorization", &bearer(text))]), 401, "{text}");
    }
    assert_eq!(record(&server, &[("authorization", &key)]), 401, "no scheme");
    assert_eq!(record(&server, &[("authorization", &bearer(&key)), ("x-api-key", &wrong)]), 401, "two keys");
    assert_eq!(record(&server, &[("x-api-key", &key), ("host", "evil.example")]), 403);
}

#[test]
fn the_file_holds_no_key() {
    let (setup, [key]) = Setup::default().keys([whole_key()]);
    let text = fs::read_to_string(setup.path("keys.toml")).unwrap();
    assert!(!text.contains(&key[13..]) && text.contains(&key[4..12]), "{text}");
    let mode = fs::metadata(setup.path("keys.toml")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn what_is_said_of_the_server_itself_needs_no_key() {
    let (setup, [_]) = Setup::default().keys([whole_key()]);
    let server = setup.start();
    for path in ["/health/live", "/health/ready", "/version", "/errors", "/openapi.json"] {
        assert_eq!(server.get(path).status, 200, "{path}");
    }
}

#[test]
fn a_key_that_is_revoked_opens_nothing_a_second_later_and_a_new_one_opens() {
    let (setup, [key, other]) = Setup::default().keys([whole_key(), whole_key()]);
    let path = setup.path("keys.toml");
    let server = setup.start();
    assert_eq!(record(&server, &[("x-api-key", &key)]), 201);
    let mut file = KeyFile::read(&path).unwrap();
    file.keys.retain(|known| !key.contains(&known.id));
    file.write(&path).unwrap();
    eventually("the key is revoked", || record(&server, &[("x-api-key", &key)]) == 401);
    assert_eq!(record(&server, &[("x-api-key", &other)]), 201);
}

#[test]
fn a_file_that_cannot_be_understood_any_more_opens_nothing_until_it_can() {
    let (setup, [key]) = Setup::default().keys([whole_key()]);
    let path = setup.path("keys.toml");
    let server = setup.start();
    let good = fs::read_to_string(&path).unwrap();
    let ready = || server.get("/health/ready");
    for broken in ["[[key]]\nid = 1", "key = \"x\"", "\u{0}"] {
        fs::write(&path, broken).unwrap();
        eventually("it opens nothing", || record(&server, &[("x-api-key", &key)]) == 401);
        eventually("it is not ready", || ready().status == 503);
        assert_eq!(ready().json()["reasons"][0], "keys-unreadable");
        fs::write(&path, &good).unwrap();
        eventually("it opens again", || record(&server, &[("x-api-key", &key)]) == 201);
        eventually("it is ready", || ready().status == 200);
    }
    for empty in ["", "# Keys\n"] {
        fs::write(&path, empty).unwrap();
        eventually("it has no keys", || ready().json()["reasons"][0] == "no-keys");
        assert_eq!(
            (ready().status, record(&server, &[("x-api-key", &key)]), record(&server, &[])),
            (503, 401, 401)
        );
        fs::write(&path, &good).unwrap();
        eventually("it is ready", || ready().status == 200);
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    eventually("others may read it", || record(&server, &[("x-api-key", &key)]) == 401);
    fs::remove_file(&path).unwrap();
    eventually("it is gone", || record(&server, &[("x-api-key", &key)]) == 401);
}

#[test]
fn an_expired_key_opens_nothing() {
    let expired = New { expires_at: Some(Utc_now() - TimeDelta::seconds(1)), ..whole_key() };
    let lasting = New { expires_at: Some(Utc_now() + TimeDelta::hours(1)), ..whole_key() };
    let (setup, [expired, lasting]) = Setup::default().keys([expired, lasting]);
    let server = setup.start();
    assert_eq!(record(&server, &[("x-api-key", &expired)]), 401);
    assert_eq!(record(&server, &[("x-api-key", &lasting)]), 201);
}

#[expect(non_snake_case, reason = "the clock, as a function")]
fn Utc_now() -> chrono::DateTime<Utc> {
    thermocline::Clock::now(&thermocline::SystemClock)
}

#[test]
fn a_key_asks_as_often_as_it_may() {
    let limited = New { rate: Some("2/m".parse().unwrap()), ..whole_key() };
    let (setup, [limited, other]) = Setup::default().keys([limited, whole_key()]);
    let server = setup.start();
    let ask = |key: &str| record(&server, &[("x-api-key", key)]);
    assert_eq!([ask(&limited), ask(&limited), ask(&limited), ask(&other)], [201, 201, 429, 201]);
    let answer = server.client().send("POST", TURNS, &[("x-api-key", &limited)], b"");
    let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=31).contains(&wait) && answer.code() == "too-fast", "{answer:?}");
}

#[test]
fn a_user_whom_nobody_knows_is_refused_like_one_who_is_known() {
    let narrow = New { users: Users::One("alex".to_owned()), scopes: vec![KeyScope::Read], ..whole_key() };
    let (setup, [whole, narrow]) = Setup::default().keys([whole_key(), narrow]);
    let server = setup.start();
    assert_eq!(record(&server, &[("x-api-key", &whole)]), 201);
    let ask = |user: &str| {
        let path = format!("/v1/users/{user}/recall");
        let mut answer = server.client().send(
            "POST",
            &path,
            &[("x-api-key", &narrow), ("content-type", "application/json")],
            br#"{"query":"x"}"#,
        );
        answer.headers.retain(|(name, _)| name != "x-request-id" && name != "date");
        let mut said = if answer.body.is_empty() { serde_json::Value::Null } else { answer.json() };
        said["instance"] = "".into();
        (answer.status, answer.headers, said)
    };
    assert_eq!(ask("alex").0, 200);
    let (sam, nobody) = (ask("sam"), ask("nobody"));
    assert_eq!(sam, nobody);
    assert_eq!(sam.0, 403);
}

#[test]
fn what_a_key_is_refused_and_what_it_sends_at_once_counts_too() {
    let limited = |name: &str| New {
        name: name.to_owned(),
        rate: Some("5/m".parse().unwrap()),
        users: Users::One("alex".to_owned()),
        scopes: vec![KeyScope::Read, KeyScope::Write],
        ..whole_key()
    };
    let names = ["forbidden", "wrong", "mcp", "items", "bytes"].map(limited);
    let (setup, [forbidden, wrong, mcp, items, bytes]) = Setup::default().keys(names);
    let server = setup.start();
    let ask = |key: &str, path: &str, body: &str| {
        let headers = [
            ("x-api-key", key),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        server.client().send("POST", path, &headers, body.as_bytes()).status
    };
    let six = |key: &str, path: &str, body: &str| (0..6).map(|_| ask(key, path, body)).collect::<Vec<_>>();
    assert_eq!(six(&forbidden, "/v1/users/sam/turns", "{}"), [403, 403, 403, 403, 403, 429]);
    assert_eq!(six(&wrong, TURNS, "{}"), [400, 400, 400, 400, 400, 429]);
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    assert_eq!(six(&mcp, "/mcp", list), [200, 200, 200, 200, 200, 429]);
    let turn = |n: usize| format!(r#"{{"user_message":"{n}","caller_id":"{n}"}}"#);
    let turns = (0..5).map(turn).collect::<Vec<_>>().join(",");
    assert_eq!(ask(&items, "/v1/users/alex/turns/batch", &format!(r#"{{"turns":[{turns}]}}"#)), 201);
    assert_eq!(ask(&items, TURNS, crate::fixture::TURN), 429);
    let long = format!(r#"{{"user_message":"{}"}}"#, "word ".repeat(60 << 10));
    assert_eq!(ask(&bytes, TURNS, &long), 201);
    assert_eq!(ask(&bytes, TURNS, crate::fixture::TURN), 429);
}
