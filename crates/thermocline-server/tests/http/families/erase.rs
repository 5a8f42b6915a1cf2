//! What is erased over HTTP is gone from every answer, and from the bytes of every file in the memory's folder.

use std::{collections::BTreeSet, fs};

use serde_json::{Value, json};
use thermocline::Durability;
use thermocline_server::audit::Audit;

use super::{Person, Site, words::Words};
use crate::{client::Answer, logged::Logged};

/// Starts a site with an audit file in the folder of the memory.
fn site() -> Site {
    Site::with(|setup| {
        setup.config.durability = Durability::Full;
        let audit = Audit::open(&setup.path("audit.jsonl")).unwrap();
        setup.change = Box::new(move |service| service.audit = Some(audit));
    })
}

/// Records turns full of words, with a turn of another user after each.
fn fill(person: &mut Person<'_>, other: &mut Person<'_>, session: &str, words: &mut Words, turns: usize) {
    for n in 0..turns {
        let lamp = "The old lamp. ".repeat(12);
        let mut turn = json!({
            "session": session, "caller_id": words.next(),
            "user_message": format!("{} and the name is {}. {lamp}", words.some(6), words.name()),
            "ai_response": words.some(2),
        });
        if n % 3 == 0 {
            turn["assistant_name"] = words.next().into();
        }
        if n % 5 == 0 {
            turn["metadata"] = json!({ words.next(): [words.next()] });
        }
        if n % 7 == 0 {
            turn["critical"] = true.into();
        }
        person.post("/turns", &turn);
        let bridge = "The bridge is old and the lamp beside it is new. ".repeat(3 + n % 9);
        other.post("/turns", &json!({ "session": "chat", "user_message": format!("{n} {bridge}"), "ai_response": "So it is." }));
    }
}

/// Records a session that has words in every place where a session can have them.
fn talk(person: &mut Person<'_>, other: &mut Person<'_>, words: &mut Words, turns: usize) -> String {
    let session = words.next();
    fill(person, other, &session, words, turns);
    let at = format!("/sessions/{session}");
    for _ in 0..2 {
        let set = json!({ "title": words.next(), "project": words.next(), "metadata": { words.next(): [words.some(20)] } });
        person.done("PATCH", &at, Some(&set));
    }
    person.done("PUT", &format!("{at}/state"), Some(&json!({ "name": words.next(), "text": words.some(5) })));
    session
}

/// Saves a memory that has words in every place where a memory can have them; edits it, relates it to another one, notes
/// an episode about it, forgets it, and undoes that.
fn memory(person: &mut Person<'_>, words: &mut Words) -> String {
    let mut save = || {
        let said = json!({
            "kind": "procedure", "title": words.some(3), "content": words.some(40), "summary": words.next(),
            "procedure": { "steps": [words.next()], "preconditions": [words.next()], "postconditions": [words.next()] },
            "tags": [words.next(), words.next()], "entities": [words.name()], "project": words.next(),
            "goal_signature": words.next(), "caller_id": words.next(), "task_id": words.next(),
            "task_name": words.next(), "trigger": words.next(),
        });
        let saved = person.post("/memories", &said);
        saved["memory"]["id"].as_str().unwrap_or_else(|| panic!("{saved}")).to_owned()
    };
    let id = save();
    let at = format!("/memories/{id}");
    let edit = json!({ "title": words.next(), "content": words.some(20), "tags": [words.next()], "summary": words.next() });
    person.done("PATCH", &at, Some(&edit));
    let other = person.post("/memories", &json!({ "kind": "fix", "title": "Other", "content": "It stays." }));
    let edge = json!({ "from": id, "to": other["memory"]["id"], "type": "solves", "context": words.next(), "description": words.some(5) });
    person.done("PUT", "/edges", Some(&edge));
    person.post(
        "/episodes",
        &json!({ "title": words.next(), "summary": words.next(), "tags": [words.next()], "memory": id }),
    );
    person.post(&format!("{at}/forget"), &json!({}));
    person.post(&format!("{at}/undo"), &json!({}));
    id
}

/// Sends requests that are refused, with words and numbers in unknown fields, in fields of the wrong type, in the path and in
/// the query.
fn refused(person: &mut Person<'_>, words: &mut Words) {
    for (method, path) in [
        ("PATCH", "/memories/key:bank"),
        ("POST", "/memories/key:bank/forget"),
        ("POST", "/memories/key:bank/uses"),
        ("POST", "/turns"),
        ("POST", "/anchors"),
        ("POST", "/quarantines"),
        ("POST", "/sessions/none/end"),
        ("PUT", "/edges"),
    ] {
        let named = json!({ words.some(3): 1, words.next(): true, "value": words.next(), words.next(): { words.next(): [words.next()] } });
        let answer = person.ask(method, path, Some(&named));
        assert!([400, 404, 422].contains(&answer.status), "{method} {path}: {answer:?}");
    }
    for path in ["/memories/key:", "/sessions/", "/turns/key:"] {
        let asked = format!("{path}{}?{}={}", words.next(), words.next(), words.next());
        for method in ["GET", "DELETE"] {
            assert!(person.ask(method, &asked, None).status >= 400, "{method} {asked}");
        }
    }
}

/// Erases what is at this path. It need not wait, because no other process reads the file.
#[track_caller]
fn erase(person: &mut Person<'_>, path: &str) -> Value {
    let answer = person.ask("DELETE", path, None);
    let erased = answer.json();
    assert_eq!((answer.status, &erased["is_pending"]), (200, &false.into()), "{erased}");
    erased
}

/// Returns how many of the words so far are in the files, and how many in the answers.
fn seen(site: &Site, words: &Words, answers: &[(String, Answer)]) -> (usize, usize) {
    let files = words.found_in_folder(site.server.folder.path());
    let said: Vec<u8> = answers.iter().flat_map(|(_, answer)| answer.body.clone()).collect();
    (
        files.into_iter().flat_map(|(_, found)| found).collect::<BTreeSet<_>>().len(),
        words.found_in(&said).len(),
    )
}

/// Checks that no word is left in any file of the folder, in any unnamed file that the process holds open, or in any
/// answer.
#[track_caller]
fn check_gone(site: &Site, words: &Words, person: &mut Person<'_>, sessions: &[&str]) {
    assert_eq!(words.found_in_folder(site.server.folder.path()), [], "files");
    // Spools are unnamed files.
    let folder = site.server.folder.path().to_string_lossy().into_owned();
    let held = fs::read_dir("/proc/self/fd")
        .into_iter()
        .flatten()
        .filter_map(|fd| fs::read_link(fd.unwrap().path()).ok());
    let spools: Vec<_> = held
        .filter(|at| at.to_string_lossy().starts_with(&folder) && at.to_string_lossy().ends_with("(deleted)"))
        .collect();
    assert!(spools.is_empty(), "{spools:?}");
    for (path, answer) in person.every_reading(sessions) {
        assert_eq!(words.found_in(&answer.body), BTreeSet::new(), "{path}");
        assert!(answer.status < 500, "{path}");
    }
    for query in ["the lamp, and the name", "Who is it?"] {
        let recall = person.ask("POST", "/recall", Some(&json!({ "query": query, "k": 1_000 })));
        let context =
            person.ask("POST", "/context", Some(&json!({ "message": query, "budget_tokens": 50_000 })));
        for answer in [recall, context, person.ask("GET", "/export", None)] {
            assert_eq!(words.found_in(&answer.body), BTreeSet::new(), "{query}");
        }
    }
}

#[test]
fn of_a_user_erased_over_http_no_word_is_left_in_any_file_log_or_answer() {
    let log = Logged::all();
    let (site, mut words) = (site(), Words::default());
    let name = words.next();
    let (mut person, mut blake) = (site.person(&name), site.person("blake"));
    let compressed = talk(&mut person, &mut blake, &mut words, 30);
    let restored = talk(&mut person, &mut blake, &mut words, 12);
    for session in [&compressed, &restored] {
        person.post(&format!("/sessions/{session}/end"), &json!({}));
    }
    site.run_jobs();
    person.post(&format!("/sessions/{restored}/restore"), &json!({}));
    let waiting = talk(&mut person, &mut blake, &mut words, 8);
    person.post(&format!("/sessions/{waiting}/end"), &json!({})); // The job that compresses the session has not run.
    let open = talk(&mut person, &mut blake, &mut words, 12);
    person.post("/messages", &json!({ "session": open, "user_message": words.some(8) }));
    for attribute in ["likes", "note", "home"] {
        let set = json!({ "subject": words.next(), "attribute": attribute, "value": words.next() });
        person.post("/anchors", &set);
    }
    memory(&mut person, &mut words);
    person.recall(&format!("{} lamp", words.next()));
    person.post("/context", &json!({ "session": open, "message": words.some(3) }));
    // An export and an import put the words into spools.
    let elsewhere = Site::new();
    let mut moving = elsewhere.person("moving");
    talk(&mut moving, &mut elsewhere.person("blake"), &mut words, 8);
    let export = moving.ask("GET", "/export", None);
    let mut moved = site.person(&words.next());
    let kind = [("x-api-key", site.key.as_str()), ("content-type", "application/x-ndjson")];
    let path = format!("/v1/users/{}/import", moved.name);
    let imported = moved.client.send("POST", &path, &kind, &export.body);
    assert_eq!(imported.status, 201, "{}", imported.json());
    moved.ids = moving.ids;
    let sessions = [compressed.as_str(), &restored, &waiting, &open];
    let mut answers = person.every_reading(&sessions);
    answers.extend(moved.every_reading(&[]));
    let (in_files, in_answers) = seen(&site, &words, &answers);
    // Each of the five talks replaced its title, project and metadata, 23 words, whose bytes SQLite may have reused.
    assert!(
        words.0 > 800 && in_files + 5 * 23 > words.0 && in_answers + 160 > words.0,
        "{in_files}, {in_answers} of {}",
        words.0
    );
    refused(&mut person, &mut words);
    let of_blake = blake.ask("GET", "/export", None).body;

    let erased = erase(&mut moved, "");
    assert_eq!(erased["turns"], 8, "{erased}");
    erase(&mut person, "");
    check_gone(&site, &words, &mut person, &sessions);
    check_gone(&site, &words, &mut moved, &sessions);
    assert_eq!(words.found_in(log.text().as_bytes()), BTreeSet::new(), "the log at its finest");
    assert!(blake.ask("GET", "/export", None).body == of_blake, "another user");
    let left = [
        person.send("GET", "/v1/users", None),
        person.send("GET", "/v1/jobs", None),
        person.send("GET", "/metrics", None),
    ];
    for answer in left {
        assert_eq!(words.found_in(&answer.body), BTreeSet::new());
    }
    // The name of an erased user can be used again, for a user without a past.
    assert_eq!(person.ask("POST", "/turns", Some(&json!({ "user_message": "Hello." }))).status, 201);
    for session in sessions {
        assert_eq!(person.ask("GET", &format!("/sessions/{session}"), None).status, 404);
    }
    site.check_sound();
}

#[test]
fn of_a_session_erased_over_http_no_word_is_left_and_the_others_stay() {
    let (site, mut words) = (site(), Words::default());
    let (mut alex, mut blake) = (site.person("alex"), site.person("blake"));
    alex.tell("kept", 0..30);
    alex.post("/sessions/kept/end", &json!({}));
    let cold = talk(&mut alex, &mut blake, &mut words, 20);
    alex.post(&format!("/sessions/{cold}/end"), &json!({}));
    site.run_jobs();
    let open = talk(&mut alex, &mut blake, &mut words, 12);
    let query = alex.ids.0["turn"].len().to_string();
    alex.post("/context", &json!({ "session": open, "message": format!("{} {query}", words.next()) }));
    let turns = |alex: &mut Person<'_>| alex.get("/sessions/kept/turns").to_string();
    let before = turns(&mut alex);
    let answers = alex.every_reading(&[&cold, &open]);
    let (in_files, in_answers) = seen(&site, &words, &answers);
    assert!(in_files + 10 > words.0 && in_answers + 70 > words.0, "{in_files}, {in_answers} of {}", words.0);
    for session in [&cold, &open] {
        let erased = erase(&mut alex, &format!("/sessions/{session}"));
        assert_eq!(erased["sessions"], 1, "{erased}");
    }
    check_gone(&site, &words, &mut alex, &[&cold, &open]);
    assert_eq!(turns(&mut alex), before);
    site.check_sound();
}

#[test]
fn of_a_turn_erased_over_http_no_word_is_left_wherever_it_stood_and_its_neighbours_stay() {
    let (site, mut words) = (site(), Words::default());
    let mut alex = site.person("alex");
    for (place, behind) in [("hot", 1), ("warm", 8), ("cold", 8), ("replaced", 8)] {
        let n = place.len() * 100;
        alex.tell(place, n..n + 4);
        let turn = json!({
            "session": place, "caller_id": words.next(), "assistant_name": words.next(),
            "user_message": format!("{} and the name is {}. {}", words.some(10), words.name(), words.some(80)),
            "ai_response": words.some(40), "metadata": { words.next(): words.next() },
        });
        let mut doomed = alex.post("/turns", &turn)["turn_id"].clone();
        let asked = words.some(3);
        alex.recall(&asked);
        alex.post("/context", &json!({ "session": place, "message": asked }));
        if place == "replaced" {
            let better =
                json!({ "session": place, "user_message": "It is said again.", "replacing": doomed });
            doomed = alex.post("/turns", &better)["turn_id"].clone();
        }
        alex.tell(place, n + 4..n + 4 + behind);
        if place == "cold" {
            alex.post("/sessions/cold/end", &json!({}));
        }
        site.run_jobs();
        let others = |alex: &mut Person<'_>| -> Vec<Value> {
            let turns = alex.get(&format!("/sessions/{place}/turns"))["items"].as_array().unwrap().clone();
            let others = turns.into_iter().filter(|turn| turn["id"] != doomed);
            // After a turn is erased, an older one may be hot again, so tiers are not compared.
            let without_tier = others.map(|mut turn| {
                turn.as_object_mut().unwrap().remove("memory_tier");
                turn
            });
            without_tier.collect()
        };
        let before = others(&mut alex);
        let answers = alex.every_reading(&[place]);
        let (in_files, in_answers) = seen(&site, &words, &answers);
        assert!(
            in_files > 130 && (in_answers > 130 || place == "replaced"),
            "{place}: {in_files}, {in_answers}"
        );
        let erased = erase(&mut alex, &format!("/turns/{}", doomed.as_str().unwrap()));
        let turns = if place == "replaced" { 2 } else { 1 }; // The turn goes with what it had replaced.
        assert_eq!(erased["turns"], turns, "{place}: {erased}");
        check_gone(&site, &words, &mut alex, &[place]);
        assert_eq!(others(&mut alex), before, "{place}");
        site.check_sound();
    }
}

#[test]
fn of_a_memory_erased_over_http_no_word_is_left_and_the_others_stay() {
    let (site, mut words) = (site(), Words::default());
    let mut alex = site.person("alex");
    let id = memory(&mut alex, &mut words);
    let query = words.next();
    let found = alex.recall(&query);
    assert_eq!(found["items"][0]["kind"], "memory", "{found}");
    alex.tell("chat", 0..30);
    site.run_jobs();
    let answers = alex.every_reading(&["chat"]);
    let (in_files, in_answers) = seen(&site, &words, &answers);
    assert!(in_files + 1 > words.0 && in_answers + 40 > words.0, "{in_files}, {in_answers} of {}", words.0);
    let erased = erase(&mut alex, &format!("/memories/{id}"));
    assert_eq!((&erased["memories"], &erased["turns"]), (&1.into(), &0.into()), "{erased}");
    check_gone(&site, &words, &mut alex, &["chat"]);
    let left = alex.get("/memories");
    assert_eq!((left["items"].as_array().unwrap().len(), &left["items"][0]["title"]), (1, &"Other".into()));
    assert_eq!(alex.get("/sessions/chat/turns")["items"].as_array().unwrap().len(), 30);
    site.check_sound();
}
