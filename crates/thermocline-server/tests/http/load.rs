//! More requests than the server has capacity for: it refuses the excess early, and completes the accepted ones.

use std::{sync::Arc, thread};

use thermocline_server::{limits::Limits, ops::spec::Class};

use crate::fixture::{TURN, server};

const TURNS: &str = "/v1/users/alex/turns";

#[test]
fn who_finds_no_place_in_time_is_told_to_come_again() {
    let server = server();
    let limits: &Limits = &server.service.limits;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut places = Vec::new();
    while let Ok(place) = runtime.block_on(limits.place(Class::Quick)) {
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
