//! A turn is found from the moment when its recording is acknowledged, in every tier to which it moves. No context misses a
//! turn, even while other clients record turns, and end and compress sessions.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use serde_json::{Value, json};

use super::{Person, Site, words::Words};
use crate::drawn::Chance;

/// Words that occur in a single turn: one at its beginning, which its summary contains, and one at its end, which no
/// summary contains.
const EARLY: &str = "marmalade";
const LATE: &str = "zeppelin";

/// Returns a turn that is long enough to be summarized.
fn told(session: &str, id: &str, early: &str, late: &str) -> Value {
    let middle = "The table stood near the window and the window was open all day long. ".repeat(6);
    json!({
        "session": session, "caller_id": id,
        "user_message": format!("We boiled the {early} of the whole year. {middle}"),
        "ai_response": format!("Like a {late}, then?"),
    })
}

/// Checks that this word finds the turn, verbatim, as the first result, and that it matched by words and not only by
/// meaning or neighbours.
#[track_caller]
fn check_found<'a>(recall: &'a Value, turn: &Value, word: &str, when: &str) -> &'a Value {
    let first = &recall["items"][0];
    for said in ["caller_id", "user_message", "ai_response"] {
        assert_eq!(first[said], turn[said], "{when}, by {word}: {recall}");
    }
    assert!(first["parts"]["words"].as_f64().unwrap() > 0.0, "{when}, by {word}: {first}");
    assert_eq!(recall["missing"], json!([]), "{when}");
    first
}

#[track_caller]
fn check_in(alex: &mut Person<'_>, tier: &str, when: &str) {
    let turn = told("chat", "it", EARLY, LATE);
    for word in [EARLY, LATE] {
        let recall = alex.recall(word);
        assert_eq!(check_found(&recall, &turn, word, when)["memory_tier"], tier, "{when}");
    }
    let shown = alex.get("/turns/key:it");
    assert_eq!(
        (&shown["memory_tier"], &shown["ai_response"]),
        (&tier.into(), &turn["ai_response"]),
        "{when}"
    );
}

#[test]
fn a_turn_is_found_from_its_record_through_eviction_end_compression_indexing_and_restoration() {
    let site = Site::new();
    let mut alex = site.person("alex");
    alex.tell("chat", 0..3);
    alex.post("/turns", &told("chat", "it", EARLY, LATE));
    check_in(&mut alex, "hot", "just recorded");
    alex.tell("chat", 3..12);
    check_in(&mut alex, "warm", "evicted");
    alex.post("/sessions/chat/end", &json!({}));
    check_in(&mut alex, "warm", "in an ended session");
    site.run_jobs();
    let summary = alex.get("/turns/key:it/summary")["summary"]["summary_text"].to_string();
    assert!(summary.contains(EARLY) && !summary.contains(LATE), "{summary}");
    check_in(&mut alex, "cold", "in the archive");
    alex.tell("more", 12..140);
    check_in(&mut alex, "cold", "before it is indexed");
    site.run_jobs();
    check_in(&mut alex, "cold", "indexed");
    alex.post("/sessions/chat/restore", &json!({}));
    check_in(&mut alex, "warm", "restored");
    alex.post("/sessions/chat/compress", &json!({}));
    site.run_jobs();
    check_in(&mut alex, "cold", "compressed again");
    site.check_sound();
}

/// Acknowledged turns: their user, and the request.
type Acknowledged = Mutex<Vec<(String, Value)>>;

const TELLERS: usize = 3;
const TURNS: usize = 48;
/// The number of turns of a session before it ends; the first one has one fewer.
const TALK: usize = 8;

/// Requests a context for a message unlike anything ever said, so that it shows turns only for their places; returns the
/// numbers of the turns that it shows or lists as left out, and the context.
fn places(alex: &mut Person<'_>) -> (Vec<u64>, Value) {
    let asked = json!({ "session": "open", "message": "Thank you!", "min_confidence": 1.0 });
    let context = alex.post("/context", &asked);
    let shown = context["items"].as_array().unwrap().iter().map(|item| &item["turn_number"]);
    let mut all: Vec<u64> =
        shown.chain(context["left_out"].as_array().unwrap()).filter_map(Value::as_u64).collect();
    all.sort_unstable();
    (all, context)
}

/// Records turns, alternately in a session that stays open and in one that ends later; requests a context after each two;
/// and restores and compresses older sessions again.
fn teller(site: &Site, name: &str, words: &Mutex<Words>, acknowledged: &Acknowledged) {
    let mut person = site.person(name);
    let next = || words.lock().unwrap().next();
    for n in 1..=TURNS {
        let talk = format!("talk {}", n / TALK);
        for session in ["open", talk.as_str()] {
            let turn = told(session, &format!("{session} {n}"), &next(), &next());
            person.post("/turns", &turn);
            acknowledged.lock().unwrap().push((name.to_owned(), turn));
        }
        let (seen, context) = places(&mut person);
        assert_eq!(seen, (1..=n as u64).collect::<Vec<_>>(), "a context of {n} turns: {context}");
        if n % TALK == TALK - 1 {
            let talk = talk.replace(' ', "%20");
            person.post(&format!("/sessions/{talk}/end"), &json!({}));
            if n > TALK * 2 {
                // Restores and compresses an older session again.
                let older = format!("/sessions/talk%20{}", n / TALK - 2);
                person.post(&format!("{older}/restore"), &json!({}));
                person.post(&format!("{older}/compress"), &json!({}));
            }
        }
    }
}

/// Searches for random acknowledged turns until the recording is over; returns the tier of each turn that it found.
fn asker(site: &Site, seed: u64, is_over: &AtomicBool, acknowledged: &Acknowledged) -> Vec<String> {
    let (mut chance, mut tiers) = (Chance(seed), Vec::new());
    while !is_over.load(Ordering::SeqCst) {
        let found = {
            let all = acknowledged.lock().unwrap();
            (!all.is_empty()).then(|| chance.of(&all).clone())
        };
        let Some((name, turn)) = found else { continue };
        let mut person = site.person(&name);
        let said = turn["ai_response"].as_str().unwrap();
        let word = said.split([' ', ',']).nth(2).unwrap();
        let recall = person.recall(word);
        let tier =
            check_found(&recall, &turn, word, &format!("{name}, {}", turn["caller_id"]))["memory_tier"]
                .clone();
        tiers.push(tier.as_str().unwrap().to_owned());
        let id = turn["caller_id"].as_str().unwrap().replace(' ', "%20");
        assert_eq!(person.get(&format!("/turns/key:{id}"))["ai_response"], turn["ai_response"]);
    }
    tiers
}

#[test]
fn while_sessions_end_and_jobs_compress_every_turn_that_was_acknowledged_is_found_and_no_context_has_a_hole()
{
    let site = Site::new();
    let (words, acknowledged, is_over) =
        (Mutex::new(Words::default()), Acknowledged::default(), AtomicBool::new(false));
    let mut tiers = thread::scope(|scope| {
        let asking: Vec<_> = (0..2)
            .map(|seed| {
                scope.spawn({
                    let (site, is_over, acknowledged) = (&site, &is_over, &acknowledged);
                    move || asker(site, seed + 1, is_over, acknowledged)
                })
            })
            .collect();
        let working = scope.spawn(|| {
            while !is_over.load(Ordering::SeqCst) {
                site.run_jobs();
            }
        });
        let telling: Vec<_> = (0..TELLERS)
            .map(|n| {
                let (site, words, acknowledged) = (&site, &words, &acknowledged);
                scope.spawn(move || teller(site, &format!("user{n}"), words, acknowledged))
            })
            .collect();
        // The other threads must end even if one of these fails.
        let told: Vec<_> = telling.into_iter().map(thread::ScopedJoinHandle::join).collect();
        is_over.store(true, Ordering::SeqCst);
        working.join().unwrap();
        for told in told {
            told.unwrap();
        }
        asking.into_iter().flat_map(|asking| asking.join().unwrap()).collect::<Vec<_>>()
    });
    let asked = tiers.len();
    tiers.sort();
    tiers.dedup();
    assert_eq!(tiers, ["cold", "hot", "warm"], "each was seen, in {asked} looks");
    site.run_jobs();
    for (name, turn) in acknowledged.into_inner().unwrap() {
        let mut person = site.person(&name);
        let id = turn["caller_id"].as_str().unwrap().replace(' ', "%20");
        assert_eq!(person.get(&format!("/turns/key:{id}"))["user_message"], turn["user_message"]);
    }
    site.check_sound();
}
