//! More requests than the server has capacity for: it refuses the excess early, and completes the accepted ones.
#![expect(clippy::print_stdout, reason = "the figures of the whole size are for who asks for it")]

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use serde_json::json;
use thermocline_server::{caller::Caller, limits::Limits, ops::spec::Class};
use tokio::time::Instant;

use crate::fixture::{Running, Setup, TURN, server, whole_key};

const TURNS: &str = "/v1/users/alex/turns";

#[test]
fn who_finds_no_place_in_time_is_told_to_come_again() {
    let server = server();
    let limits: &Limits = &server.service.limits;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut places = Vec::new();
    let local = Caller::local();
    while let Ok(place) = runtime.block_on(limits.place(Class::Quick, &local)) {
        places.push(place);
    }
    assert_eq!(places.len(), 16);
    let answer = server.post(TURNS, TURN);
    assert_eq!(
        (answer.status, answer.code().as_str(), answer.header("retry-after")),
        (503, "busy", Some("1"))
    );
    assert_eq!(server.post("/v1/users/alex/recall", r#"{"query":"boat"}"#).status, 200, "of another class");
    places.pop();
    assert_eq!(server.post(TURNS, TURN).status, 201);
}

#[test]
fn the_same_turn_of_32_clients_at_once_is_one_turn() {
    let server = Arc::new(server());
    assert_eq!(server.post("/v1/users/sam/turns", TURN).status, 201, "what is loaded once is loaded");
    let body = r#"{"session":"s","user_message":"One.","caller_id":"a"}"#;
    let clients: Vec<_> = (0..32)
        .map(|_| {
            let server = Arc::clone(&server);
            thread::spawn(move || {
                let answer = server.post(TURNS, body);
                (
                    answer.status,
                    answer.header("idempotent-replayed").is_some(),
                    answer.json()["turn_id"].clone(),
                )
            })
        })
        .collect();
    let answers: Vec<_> = clients.into_iter().map(|client| client.join().unwrap()).collect();
    assert_eq!(
        answers.iter().filter(|answer| (answer.0, answer.1) == (201, false)).count(),
        1,
        "{answers:?}"
    );
    assert_eq!(
        answers.iter().filter(|answer| (answer.0, answer.1) == (200, true)).count(),
        31,
        "{answers:?}"
    );
    assert!(answers.iter().all(|answer| answer.2 == answers[0].2));
    let other = server.post(TURNS, r#"{"session":"s","user_message":"Two.","caller_id":"a"}"#);
    assert_eq!((other.status, other.code().as_str()), (409, "conflict"));
}

#[test]
fn a_client_that_hangs_up_behind_its_turn_has_recorded_it() {
    let server = server();
    for number in 0..20 {
        let body = format!(r#"{{"session":"s","user_message":"Number {number}.","caller_id":"{number}"}}"#);
        let mut client = server.client();
        client.write(format!("POST {TURNS} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
        drop(client);
    }
    // Every complete request is recorded sooner or later, so recording it again succeeds or finds the same turn.
    for number in 0..20 {
        let body = format!(r#"{{"session":"s","user_message":"Number {number}.","caller_id":"{number}"}}"#);
        assert!([200, 201].contains(&server.post(TURNS, &body).status));
    }
}

fn is_whole_size() -> bool {
    std::env::var_os("THERMOCLINE_WHOLE_SIZE").is_some()
}

/// What one key does to starve the others, over and over: a path, a body, and how many at once.
fn attacks() -> Vec<(&'static str, String, usize)> {
    let (files, entries, bytes, callers) =
        if is_whole_size() { (1_000, 9_999, 1 << 20, 18) } else { (20, 200, 64 << 10, 6) };
    let text = "The quick brown fox jumps over the lazy dog.\n".repeat(5_400 / 45);
    let files: Vec<_> =
        (0..files).map(|n| json!({ "name": format!("{n}.md"), "text": format!("{n} {text}") })).collect();
    let day = "## 10:00 - Same\n\nThe same.\n\n".repeat(entries);
    let query = "boat quay ".repeat(bytes * 9 / 100);
    let queries = vec![query; 8];
    vec![
        ("/v1/users/busy/memories/import", json!({ "files": files }).to_string(), 3),
        (
            "/v1/users/busy/memories/import",
            json!({ "files": [{ "name": "2026-01-02.md", "text": day }] }).to_string(),
            1,
        ),
        ("/v1/users/busy/turns", json!({ "user_message": " ".repeat(bytes - 1) + "x" }).to_string(), callers),
        ("/v1/users/busy/context", json!({ "message": "boat", "queries": queries }).to_string(), callers),
        ("/v1/doctor", "{}".to_owned(), 2),
        ("/v1/users/busy/nothing", "{}".to_owned(), callers),
    ]
}

fn ask(server: &Running, key: &str, method: &str, path: &str, body: &str) -> u16 {
    let headers = [("x-api-key", key), ("content-type", "application/json")];
    server.client().send(method, path, &headers, body.as_bytes()).status
}

/// Sends a request, and reads its answer if one comes: at full load it may come late.
fn send_and_forget(server: &Running, key: &str, path: &str, body: &str) {
    let mut client = server.client();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {key}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    client.write(head.as_bytes());
    client.write(body.as_bytes());
    let _ = client.try_answer(false);
}

#[test]
fn one_key_at_full_load_starves_no_other() {
    let key = |name: &str| thermocline_server::keys::New { name: name.to_owned(), ..whole_key() };
    let (setup, [busy, other]) = Setup::default().keys([key("busy"), key("other")]);
    let server = setup.start();
    let session = r#"{"session":"s","user_message":"My boat is called Petrel."}"#;
    assert_eq!(ask(&server, &other, "POST", TURNS, session), 201);
    for (path, body, callers) in attacks() {
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..callers {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        send_and_forget(&server, &busy, path, &body);
                    }
                });
            }
            let (mut records, mut erases, mut refused) = (Vec::new(), Vec::new(), Vec::new());
            for round in 0..if is_whole_size() { 20 } else { 8 } {
                let (session, ended) = (format!("s{round}"), format!("/v1/users/alex/sessions/s{round}"));
                let turn =
                    json!({ "session": session, "user_message": "My boat lies at the quay." }).to_string();
                let begun = Instant::now();
                let recorded = ask(&server, &other, "POST", TURNS, &turn);
                records.push(begun.elapsed());
                let answers = [
                    recorded,
                    ask(&server, &other, "POST", "/v1/users/alex/recall", r#"{"query":"boat"}"#),
                    ask(&server, &other, "GET", "/v1/stats", ""),
                    ask(&server, &other, "GET", "/v1/users/alex/export", ""),
                ];
                let begun = Instant::now();
                let gone = ask(&server, &other, "DELETE", &ended, "");
                erases.push(begun.elapsed());
                refused.extend(answers.into_iter().chain([gone]).filter(|status| *status >= 400));
            }
            is_over.store(true, Ordering::Relaxed);
            for (what, mut took) in [("record", records), ("erase", erases)] {
                took.sort();
                println!(
                    "{path} x {callers}: {what} median {:?}, most {:?}",
                    took[took.len() / 2],
                    took[took.len() - 1]
                );
            }
            assert!(refused.is_empty(), "{path}: {refused:?}");
        });
    }
}
