//! A user's data and answers stay the same, whatever other users say and do.

use serde_json::{Value, json};

use super::{NOW, Person, Site, story};

/// Returns an answer's text without anything random: each id is replaced by its order of occurrence.
fn plain(text: &str) -> String {
    const UUID: usize = 36;
    let is_id = |part: &[u8]| {
        part.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
    };
    let (mut plain, mut seen, mut at) = (Vec::new(), Vec::new(), 0);
    let bytes = text.as_bytes();
    while at < bytes.len() {
        if let Some(id) = bytes.get(at..at + UUID).filter(|part| is_id(part)) {
            let number = seen.iter().position(|known| known == &id).unwrap_or_else(|| {
                seen.push(id);
                seen.len() - 1
            });
            plain.extend_from_slice(format!("id {number}").as_bytes());
            at += UUID;
        } else {
            plain.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8(plain).unwrap()
}

/// Removes the elapsed time, and the cursors, which contain random ids.
fn without_drawn(mut answer: Value) -> Value {
    match &mut answer {
        Value::Object(fields) => {
            fields.retain(|name, _| !["took_us", "next_cursor"].contains(&name.as_str()));
            fields.values_mut().for_each(|value| *value = without_drawn(value.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|value| *value = without_drawn(value.take())),
        Value::String(text) => {
            if let Some((before, (_, after))) =
                text.split_once("\nTook ").and_then(|(before, rest)| Some((before, rest.split_once(" ms.")?)))
            {
                *text = format!("{before}{after}");
            }
        }
        _ => {}
    }
    answer
}

const QUESTIONS: [&str; 8] = [
    "Who repaired the violin?",
    "What did the ferryman photograph?",
    "telescope",
    "How was the soup, and who liked the pepper?",
    "number 77 on the list",
    "What did we talk about last month?",
    "something that nobody ever said: quetzalcoatlus",
    "Where do I live, and what about redis?",
];

/// Returns the answers to a user: each question as a recall, and as a context inside and outside a session, with its
/// receipt; the user's lists and pages; and the sessions with their turns.
fn answers(person: &mut Person<'_>) -> Vec<String> {
    let mut answers = Vec::new();
    for question in QUESTIONS {
        answers.push(person.recall(question));
        for session in [Value::Null, "talk 3".into()] {
            let asked = json!({ "session": session, "message": question, "now": NOW });
            let context = person.post("/context", &asked);
            answers.push(person.get(&format!("/receipts/{}", context["receipt"].as_str().unwrap())));
            answers.push(context);
        }
    }
    let sessions = ["talk 0", "talk 1", "talk 2", "talk 3"];
    let mut answers: Vec<String> =
        answers.into_iter().map(|answer| plain(&without_drawn(answer).to_string())).collect();
    for name in
        ["", "/sessions", "/memories", "/anchors", "/reflection", "/tags", "/entities", "/episodes", "/cold"]
    {
        let answer = person.ask("GET", name, None);
        // The `ETag` ends with the user's revision, which counts writes for this user; the ids before it are random.
        let tag = answer.header("etag").and_then(|tag| tag.rsplit('-').next()).unwrap_or_default().to_owned();
        answers.push(format!("{name} {tag} {}", plain(&without_drawn(answer.json()).to_string())));
    }
    for session in sessions {
        for of in ["", "/turns", "/hot", "/warm", "/transitions"] {
            let answer = person.get(&format!("/sessions/{}{of}", session.replace(' ', "%20")));
            answers.push(format!("{session}{of} {}", plain(&answer.to_string())));
        }
    }
    // Histories name the key, which is random, as the author.
    let key = &person.site.key[4..12];
    answers.into_iter().map(|answer| answer.replace(key, "key")).collect()
}

#[track_caller]
fn check_same(found: &[String], expected: &[String], when: &str) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        let same = found.bytes().zip(expected.bytes()).take_while(|(a, b)| a == b).count();
        let part = |text: &str| {
            String::from_utf8_lossy(&text.as_bytes()[same.saturating_sub(200)..])
                .chars()
                .take(400)
                .collect::<String>()
        };
        assert!(found == expected, "{when}:\n{}\n{}", part(found), part(expected));
    }
}

/// Records four sessions, three of which end, and saves anchors and memories. Calls `beside` after each turn.
pub fn live(site: &Site, person: &mut Person<'_>, mut beside: impl FnMut(usize)) {
    for talk in 0..4 {
        for n in talk * 30..talk * 30 + 30 {
            person.post("/turns", &story(&format!("talk {talk}"), n));
            beside(n);
            site.clock.advance(chrono::TimeDelta::seconds(1));
        }
        if talk < 3 {
            person.post(&format!("/sessions/talk%20{talk}/end"), &json!({}));
        }
    }
    person.post("/anchors", &json!({ "attribute": "home", "value": "Lisbon" }));
    for n in 0..4 {
        site.clock.advance(chrono::TimeDelta::seconds(1));
        person.post("/memories", &json!({ "kind": "fix", "title": format!("Redis {n}"), "content": "Redis drops without a keepalive.",
            "tags": ["redis"], "entities": ["Redis"], "goal_signature": format!("slot:{n}") }));
    }
}

#[test]
fn a_user_is_answered_to_the_letter_as_if_nobody_else_were_there() {
    let (alone, beside) = (Site::new(), Site::new());
    let mut expected = alone.person("alex");
    live(&alone, &mut expected, |_| {});
    let (mut alex, mut blake) = (beside.person("alex"), beside.person("blake"));
    live(&beside, &mut alex, |n| {
        // The other user uses the same session keys, callers' ids and words, and repeats one word a hundred times.
        blake.post("/turns", &story(&format!("talk {}", n % 4), n));
        let said =
            json!({ "session": "mixed", "user_message": "violin ".repeat(100), "ai_response": "telescope" });
        blake.post("/turns", &said);
    });
    blake.post("/anchors", &json!({ "attribute": "home", "value": "Porto" }));
    blake.post("/memories", &json!({ "kind": "fix", "title": "Redis 0", "content": "Redis drops.", "tags": ["redis"], "goal_signature": "slot:0" }));
    blake.recall("violin");
    check_same(&answers(&mut alex), &answers(&mut expected), "before the jobs");
    alone.run_jobs();
    beside.run_jobs();
    check_same(&answers(&mut alex), &answers(&mut expected), "after the jobs");
    let before = answers(&mut expected);
    check_same(&answers(&mut alex), &before, "asked again");
    assert!(before.iter().any(|answer| answer.contains("\"memory_tier\":\"cold\"")));
    blake.done("DELETE", "", None);
    check_same(&answers(&mut alex), &answers(&mut expected), "after the other is gone");
    beside.check_sound();
}

#[test]
fn what_is_done_to_one_leaves_the_other_to_the_byte_and_lists_of_all_say_nothing_of_what_was_said() {
    let site = Site::new();
    let (mut alex, mut blake) = (site.person("alex"), site.person("blake"));
    live(&site, &mut alex, |_| {});
    live(&site, &mut blake, |_| {});
    for list in ["/v1/jobs", "/v1/users"] {
        let told = alex.send("GET", list, None);
        let told = String::from_utf8(told.body).unwrap();
        assert!(told.contains("items"), "{told}");
        for word in ["talk", "violin", "Redis", "Lisbon"] {
            assert!(!told.contains(word), "{list}: {told}");
        }
    }
    site.run_jobs();
    let mut kept = || {
        let tag = blake.ask("GET", "", None).header("etag").unwrap().to_owned();
        (String::from_utf8(blake.ask("GET", "/export", None).body).unwrap(), tag)
    };
    let before = kept();
    assert!(before.0.contains("violin") && before.0.contains("Lisbon"));
    let memory = alex.get("/memories")["items"][0]["id"].as_str().unwrap().to_owned();
    for (method, path, body) in [
        ("POST", "/sessions/talk%200/restore", json!({})),
        ("POST", "/sessions/talk%200/compress", json!({})),
        ("POST", "/anchors", json!({ "attribute": "home", "value": "Porto" })),
        ("POST", "/recall", json!({ "query": "violin" })),
        ("POST", "/memories/forget", json!({})),
        ("POST", "/tend", json!({})),
        ("POST", "/reflect", json!({})),
        ("DELETE", &format!("/memories/{memory}"), Value::Null),
        ("DELETE", "/turns/key:s40", Value::Null),
        ("DELETE", "/sessions/talk%202", Value::Null),
        ("DELETE", "", Value::Null),
    ] {
        alex.done(method, path, (!body.is_null()).then_some(&body));
        site.run_jobs();
        assert_eq!(kept(), before, "{method} {path}");
    }
    site.check_sound();
}
