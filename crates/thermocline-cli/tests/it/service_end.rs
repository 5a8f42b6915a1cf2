//! Everything that the server acknowledged is stored, even if the server is killed; a graceful shutdown interrupts no
//! request.

#![allow(clippy::disallowed_methods, reason = "processes take real time")]

use std::{
    collections::HashMap,
    env, io,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use thermocline::{ErrorKind, blocking::Thermocline};

use crate::service_client::{Client, Server};

const CLIENTS: usize = 32;

/// What the server answered to its clients.
#[derive(Default)]
struct Told {
    /// The texts of the recorded turns, by their callers' ids.
    turns: Mutex<HashMap<String, String>>,
    /// The titles of the saved memories, by their ids.
    memories: Mutex<HashMap<String, String>>,
    /// The callers' ids of turns whose request got no answer.
    unanswered: Mutex<Vec<String>>,
    answers: AtomicU64,
    /// The number of answers that were cut off in the middle.
    cut: AtomicU64,
    /// The number of requests that were sent before the shutdown and never answered.
    dropped: AtomicU64,
}

/// Runs a client until its connection ends: it records turns, and occasionally saves a memory or recalls.
async fn client(server: std::net::SocketAddr, name: String, told: Arc<Told>, ending: Arc<AtomicBool>) {
    let Ok(mut client) = Client::connect(server).await else { return };
    for n in 0.. {
        let id = format!("{name}/{n}");
        let user = format!("/v1/users/user%20{}", n % 3);
        let was_ending = ending.load(Ordering::SeqCst);
        let said = format!("The harbour master of {id} keeps a ledger.");
        let (path, body) = match n % 5 {
            3 => ("memories", json!({ "kind": "general", "title": format!("Ledger {id}"), "content": said })),
            4 => ("recall", json!({ "query": "who keeps a ledger?", "k": 3 })),
            _ => (
                "turns",
                json!({ "session": name, "user_message": said, "ai_response": "Noted.", "caller_id": id }),
            ),
        };
        match client.post(&format!("{user}/{path}"), &body).await {
            Ok(answer) if answer.status == 201 => {
                told.answers.fetch_add(1, Ordering::Relaxed);
                let answer: Value = serde_json::from_slice(&answer.body).unwrap();
                if path == "turns" {
                    told.turns.lock().unwrap().insert(id, said);
                } else {
                    let memory = answer["memory"]["id"].as_str().expect("an id").to_owned();
                    told.memories.lock().unwrap().insert(memory, format!("Ledger {id}"));
                }
            }
            Ok(answer) => {
                assert!(
                    matches!(answer.status, 200 | 503),
                    "{}: {}",
                    answer.status,
                    String::from_utf8_lossy(&answer.body)
                );
                told.answers.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) => {
                if error.kind() == io::ErrorKind::InvalidData {
                    told.cut.fetch_add(1, Ordering::Relaxed);
                }
                if !was_ending {
                    told.dropped.fetch_add(1, Ordering::Relaxed);
                }
                if path == "turns" {
                    told.unanswered.lock().unwrap().push(id);
                }
                return;
            }
        }
    }
}

/// Lets clients use a server until `end` ends it; returns the server, and what it answered.
fn talk(path: &Path, round: usize, answers: u64, end: impl FnOnce(&mut Server)) -> (Server, Arc<Told>) {
    let mut server = Server::start(path);
    let told = Arc::new(Told::default());
    let ending = Arc::new(AtomicBool::new(false));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|n| {
            let name = format!("{round}-{n}");
            runtime.spawn(client(server.address, name, Arc::clone(&told), Arc::clone(&ending)))
        })
        .collect();
    let started = Instant::now();
    while told.answers.load(Ordering::Relaxed) < answers && started.elapsed() < Duration::from_mins(1) {
        std::thread::yield_now();
    }
    ending.store(true, Ordering::SeqCst);
    end(&mut server);
    for client in clients {
        runtime.block_on(client).unwrap();
    }
    (server, told)
}

/// Checks that everything that was acknowledged is stored, verbatim.
fn all_is_there(memory: &Thermocline, told: &Told) {
    let users: Vec<_> = (0..3).filter_map(|n| memory.find_user(&format!("user {n}")).unwrap()).collect();
    for (id, said) in told.turns.lock().unwrap().iter() {
        let turn =
            users.iter().find_map(|user| user.turn_by_caller_id(id).ok()).expect("an acknowledged turn");
        assert_eq!(&turn.said.user_message, said);
    }
    for (id, title) in told.memories.lock().unwrap().iter() {
        let id = id.parse().unwrap();
        let found =
            users.iter().find_map(|user| user.memories().get(id).ok()).expect("an acknowledged memory");
        assert_eq!(&found.title, title);
    }
}

/// Returns the next random number, from Knuth's MMIX generator.
fn next(chance: &mut u64) -> u64 {
    *chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *chance >> 33
}

#[test]
fn a_killed_server_loses_nothing_that_it_acknowledged() {
    // To run it longer by hand: THERMOCLINE_KILLS=50 cargo test -p thermocline-cli killed_server.
    let kills: usize = env::var("THERMOCLINE_KILLS").map_or(3, |kills| kills.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let (mut chance, mut kept) = (17, 0);
    for kill in 0..kills {
        let (_server, told) = talk(&path, kill, 100 + next(&mut chance) % 400, |server| {
            for _ in 0..next(&mut chance) % 0xf_ffff {
                std::hint::spin_loop();
            }
            server.process.kill().unwrap();
            server.process.wait().unwrap();
        });
        let memory = Thermocline::open(&path).unwrap();
        all_is_there(&memory, &told);
        assert!(memory.doctor().unwrap().is_healthy());
        kept += told.turns.lock().unwrap().len() + told.memories.lock().unwrap().len();
    }
    assert!(kept > kills * 20, "the servers were killed before they did anything");
}

#[test]
fn a_server_that_is_told_to_end_cuts_nobody_short() {
    let ends: usize = env::var("THERMOCLINE_ENDS").map_or(3, |ends| ends.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let mut chance = 23;
    for end in 0..ends {
        let (mut server, told) = talk(&path, end, 50 + next(&mut chance) % 200, |server| server.terminate());
        let told_at = Instant::now();
        let status = server.process.wait().unwrap();
        assert!(status.success(), "{status}");
        assert!(told_at.elapsed() < Duration::from_secs(12));
        assert_eq!(told.cut.load(Ordering::Relaxed), 0, "answers were cut");
        assert_eq!(told.dropped.load(Ordering::Relaxed), 0, "requests from before the end went unanswered");
        let memory = Thermocline::open(&path).unwrap();
        all_is_there(&memory, &told);
        // A request without an answer was not carried out, so its turn is not stored.
        let users: Vec<_> = (0..3).filter_map(|n| memory.find_user(&format!("user {n}")).unwrap()).collect();
        for id in told.unanswered.lock().unwrap().iter() {
            for user in &users {
                assert_eq!(user.turn_by_caller_id(id).unwrap_err().kind(), ErrorKind::NotFound, "{id}");
            }
        }
    }
}
