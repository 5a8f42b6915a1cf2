//! A user cannot reach anything of another user, even by its id.

use serde_json::{Map, Value, json};
use thermocline_server::ops::{
    self, Row,
    spec::{Body, Method, Target},
};

use super::{Person, Site, isolation::live, story};
use crate::drawn;

/// Returns a valid body for the operation, with these ids in the fields that take ids; `None` if it has no body.
fn body(row: &Row, id: &dyn Fn(&str) -> String) -> Option<Value> {
    let is_written = !matches!(row.spec.http.method, Method::Get | Method::Delete);
    is_written.then(|| match row.spec.name {
        "anchor_replace" => json!({ "value": "Porto" }),
        "memory_edit" => json!({ "tags": ["x"] }),
        "memory_supersede" => json!({ "with": { "kind": "fix", "title": "x", "content": "x" } }),
        "memory_supersede_by" => json!({ "by": id("memory") }),
        "review_decide" => json!({ "decision": "approved", "by": "blake" }),
        "sensor_watch" => json!({ "sensor": "human", "check": "x" }),
        "session_set" => json!({ "title": "x" }),
        "session_state_set" => json!({ "name": "x", "text": "x" }),
        "turn_search" => json!({ "query": "boat" }),
        "turn_complete" => json!({ "ai_response": "x" }),
        _ => json!({}),
    })
}

/// Creates one thing of each kind that a path names by an id; returns each kind and id.
fn owned(alex: &mut Person<'_>) -> [(&'static str, String); 8] {
    let port = |n: usize| json!({ "kind": "configuration", "title": format!("Port {n}"), "content": format!("The port is {n}."), "goal_signature": "port" });
    alex.post("/memories", &port(1));
    let waits = alex.post("/memories", &json!({ "origin": "tool", "kind": "configuration", "title": "Port 2", "content": "The port is 2.", "goal_signature": "port" }));
    let memories = alex.get("/memories");
    let [from, to] = [0, 1].map(|n| memories["items"][n]["id"].clone());
    let edge = alex.done("PUT", "/edges", Some(&json!({ "from": from, "to": to, "type": "solves" })));
    let context = alex.post("/context", &json!({ "message": "Where do I live?", "session": "talk 3" }));
    let group =
        alex.get(&format!("/memories/{}/history", from.as_str().unwrap()))["items"][0]["group_id"].clone();
    let pending = alex.post("/messages", &json!({ "session": "waiting", "user_message": "Well?" }));
    let named = |at: &Value| at.as_str().unwrap_or_else(|| panic!("{at}: {waits}, {edge}")).to_owned();
    [
        ("turn", named(&pending["turn_id"])),
        ("session", format!("id:{}", named(&alex.get("/sessions")["items"][0]["id"]))),
        ("memory", named(&from)),
        ("anchor", named(&alex.get("/anchors")["items"][0]["id"])),
        ("receipt", named(&context["receipt"])),
        (
            "edge",
            named(&alex.get(&format!("/memories/{}/neighbours", named(&from)))["items"][0]["edge"]["id"]),
        ),
        ("review", named(&alex.get("/reviews")["items"][0]["id"])),
        ("group", named(&group)),
    ]
}

/// Returns requests with these ids in their bodies.
fn requests(id: &dyn Fn(&str) -> String) -> Vec<(&'static str, Value)> {
    let fix = json!({ "kind": "fix", "title": "x", "content": "x" });
    let with = |name: &str, value: Value| {
        let mut memory = fix.clone();
        memory[name] = value;
        memory
    };
    vec![
        ("/turns", json!({ "user_message": "x", "session": id("session") })),
        ("/turns", json!({ "user_message": "x", "replacing": id("turn") })),
        ("/memories", with("sources", json!([{ "turn": id("turn"), "quote": "Well?" }]))),
        ("/memories", with("session", id("session").into())),
        ("/memories/merge", json!({ "memories": [id("memory")], "into": fix })),
        ("/quarantines", json!({ "source": { "memory": id("memory") }, "why": "x" })),
        ("/episodes", json!({ "title": "x", "memory": id("memory") })),
        ("/validate", json!({ "memories": [id("memory")] })),
        // The receipt is unknown, so nothing is counted as used; the session is unknown, so it is taken for a new one.
        ("/turns", json!({ "user_message": "x", "answering": id("receipt") })),
        ("/context", json!({ "message": "x", "session": id("session") })),
    ]
}

/// Checks that every route with an id in its path, and each of `requests`, answers the same for these ids as for ids that do
/// not exist.
#[track_caller]
fn check_foreign(blake: &mut Person<'_>, of_alex: &dyn Fn(&str) -> String, nobodys: &dyn Fn(&str) -> String) {
    let mut asked = Vec::new();
    let rows =
        ops::table().iter().filter(|row| row.spec.target == Target::User && row.spec.body == Body::Json);
    for row in rows {
        let Some(kind) = row.spec.http.path.split('{').nth(2).and_then(|rest| rest.split('}').next()) else {
            continue;
        };
        let mut ask = |ids: &dyn Fn(&str) -> String| {
            let fields = [(kind.to_owned(), ids(kind).into()), ("number".to_owned(), 1.into())];
            let mut path = drawn::path(row, "blake", &mut Map::from_iter(fields));
            if row.spec.name == "sensor_unwatch" {
                path += "?sensor=human";
            }
            let answer = blake.send(
                &format!("{:?}", row.spec.http.method).to_uppercase(),
                &path,
                body(row, ids).as_ref(),
            );
            let mut told = answer.json();
            if let Some(told) = told.as_object_mut() {
                told.remove("instance");
            }
            (answer.status, told)
        };
        let (of_alex, of_nobody) = (ask(of_alex), ask(nobodys));
        assert_eq!(of_alex, of_nobody, "{}", row.spec.name);
        assert_eq!(of_alex.0, 404, "{}: {of_alex:?}", row.spec.name);
        asked.push(row.spec.name);
    }
    assert!(asked.len() > 40, "{asked:?}");
    for ((path, of_alex), (_, of_nobody)) in requests(of_alex).into_iter().zip(requests(nobodys)) {
        let mut ask = |body: &Value| {
            let answer = blake.ask("POST", path, Some(body));
            (answer.status, answer.json()["detail"].clone())
        };
        assert_eq!(ask(&of_alex), ask(&of_nobody), "{path} {of_alex}");
    }
}

#[test]
fn with_the_ids_of_another_user_every_route_answers_as_if_nobody_had_them() {
    let site = Site::new();
    let mut alex = site.person("alex");
    live(&site, &mut alex, |_| {});
    site.run_jobs();
    let owned = owned(&mut alex);
    let mut turns = vec![owned[0].1.clone()];
    for (at, tier) in
        [("talk%200/turns/2", "cold"), ("talk%203/turns/1", "warm"), ("talk%203/turns/30", "hot")]
    {
        let turn = alex.get(&format!("/sessions/{at}"));
        assert_eq!(turn["memory_tier"], tier);
        turns.push(turn["id"].as_str().unwrap().to_owned());
    }
    let nobodys = |kind: &str| {
        let id = "00000000-0000-7000-8000-000000000001";
        match kind {
            "memory" => format!("mem_{id}"),
            "session" => format!("id:{id}"),
            _ => id.to_owned(),
        }
    };
    let kept = |alex: &mut Person<'_>| {
        let export = alex.ask("GET", "/export", None);
        let tag = alex.ask("GET", "", None).header("etag").unwrap().to_owned();
        (String::from_utf8(export.body).unwrap(), tag)
    };
    let before = kept(&mut alex);

    let mut blake = site.person("blake");
    blake.post("/turns", &story("own", 0));
    for turn in turns {
        let of_alex = |kind: &str| match kind {
            "turn" => turn.clone(),
            _ => owned.iter().find(|(of, _)| *of == kind).unwrap_or_else(|| panic!("{kind}")).1.clone(),
        };
        check_foreign(&mut blake, &of_alex, &nobodys);
    }
    assert_eq!(kept(&mut alex), before, "nothing of it has touched alex");
    site.check_sound();
}
