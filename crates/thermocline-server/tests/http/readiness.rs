//! Readiness, and how a server shuts down.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use serde_json::json;
use thermocline::{Config, Faults};

use crate::fixture::{Setup, TURN, eventually, server};

const TURNS: &str = "/v1/users/alex/turns";

#[test]
fn a_server_says_that_it_lives_and_is_ready() {
    let server = server();
    assert_eq!(server.get("/health/live").json(), json!({ "is_alive": true }));
    let ready = server.get("/health/ready");
    assert_eq!((ready.status, ready.json()), (200, json!({ "is_ready": true, "reasons": [] })));
    let version = server.get("/version").json();
    assert_eq!((&version["name"], &version["api"]), (&json!("thermocline"), &json!("v1")));
}

#[test]
fn the_page_of_errors_has_every_word() {
    let page = server().get("/errors");
    assert!(page.header("content-type").unwrap().starts_with("text/html"));
    let page = String::from_utf8(page.body).unwrap();
    for code in thermocline_server::ops::problem::Code::EVERY {
        assert!(page.contains(&format!("id=\"{}\"", code.facts().word)), "{code:?}");
    }
}

#[test]
fn what_was_sent_before_the_end_is_answered_and_then_the_connection_is_closed() {
    let mut server = server();
    let mut idle = server.client();
    assert_eq!(idle.send("GET", "/version", &[], b"").status, 200);
    let mut open = server.client();
    let body = format!(
        "POST {TURNS} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        TURN.len()
    );
    open.write(body.as_bytes());
    server.tell_to_end();
    open.write(TURN.as_bytes());
    let answer = open.answer(false);
    assert_eq!(answer.status, 201);
    assert!(open.is_closed() && idle.is_closed());
    server.wait();
}

#[test]
fn a_server_whose_writer_is_dead_is_not_ready_and_ends() {
    let dies = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&dies);
    let mut setup = Setup { config: Config::default(), ..Setup::default() };
    setup.config.worker = false;
    setup.config.faults = Faults::new(move |_, _| {
        assert!(!asked.load(Ordering::SeqCst), "the writer is to die");
        false
    });
    let mut server = setup.start();
    assert_eq!(server.post(TURNS, TURN).status, 201);
    let mut probe = server.client();
    assert_eq!(probe.send("GET", "/health/ready", &[], b"").status, 200);
    dies.store(true, Ordering::SeqCst);
    let answer = server.post(TURNS, TURN);
    assert_eq!(answer.status, 500, "{answer:?}");
    // The test does not tell the server to end: it ends by itself.
    let ended = server.take_thread();
    eventually("the server ends", || ended.is_finished());
    assert_eq!(ended.join().unwrap(), Some(thermocline_server::server::Ended::Broken));
}

#[test]
fn probing_looks_once_a_second_at_most() {
    let server = Arc::new(server());
    let probes: Vec<_> = (0..8)
        .map(|_| {
            let server = Arc::clone(&server);
            thread::spawn(move || {
                let mut client = server.client();
                (0..50).all(|_| client.send("GET", "/health/ready", &[], b"").status == 200)
            })
        })
        .collect();
    assert!(probes.into_iter().all(|probe| probe.join().unwrap()));
}
