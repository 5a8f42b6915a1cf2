//! The names of a memory: every operation on one memory accepts all of them, except that erasing accepts no part of an id.

use serde_json::{Value, json};
use thermocline_server::ops::{problem::Code, schema};

use crate::bench::Bench;

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_on_a_memory_takes_each_of_its_names() {
    let bench = Bench::new().await;
    let other =
        bench.answer("memory_save", json!({ "title": "Cars", "content": "They roll, mostly." })).await;
    let other = &other["memory"]["id"];
    let mut asked = Vec::new();
    for row in bench.service.table {
        let name = row.spec.name;
        if schema::request(row)["properties"]["memory"].is_object() && name != "memory_erase" {
            asked.push(name);
            for names in names_of(&bench, name).await {
                if name == "sensor_unwatch" {
                    bench.answer("sensor_watch", rest("sensor_watch", &names, other)).await;
                }
                let problem = bench.ask(name, rest(name, &names, other)).await.err();
                let is_known = problem.as_ref().is_none_or(|problem| {
                    !matches!(problem.code, Code::NotFound | Code::BadRequest | Code::InvalidInput)
                });
                assert!(is_known, "{name} {names}: {problem:?}");
            }
            assert_eq!(bench.refused(name, rest(name, "key:cars", other)).await, Code::NotFound, "{name}");
        }
    }
    assert!(
        asked.len() > 14 && asked.contains(&"memory_edit") && asked.contains(&"memory_undo"),
        "{asked:?}"
    );
}

/// Saves a memory whose caller's id is the operation's name, and returns a name of each form.
async fn names_of(bench: &Bench, name: &str) -> [String; 4] {
    let saved = json!({ "title": name, "content": format!("What {name} is about."), "caller_id": name });
    let saved = bench.answer("memory_save", saved).await;
    let id = saved["memory"]["id"].as_str().unwrap();
    [
        id.to_owned(),
        id.trim_start_matches("mem_").to_owned(),
        id[id.len() - 8..].to_owned(),
        format!("key:{name}"),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_is_named_alike_where_it_is_one_of_several() {
    let bench = Bench::new().await;
    let [id, _, short, _] = names_of(&bench, "boats").await;
    let [other, ..] = names_of(&bench, "cars").await;
    let edge = json!({ "from": "key:boats", "type": "builds_on", "to": other });
    assert_eq!(bench.answer("edge_set", edge).await["from"], id);
    bench.answer("memory_validate", json!({ "memories": [short, "key:cars"] })).await;
    let merged =
        json!({ "memories": ["key:boats", other], "into": { "title": "Both", "content": "They move." } });
    bench.answer("memory_merge", merged).await;
    assert_eq!(
        bench.refused("memory_show", json!({ "memory": "boats" })).await,
        Code::InvalidInput,
        "no part of an id"
    );
    let cut_off = json!({ "memory": "01a2" });
    assert_eq!(bench.refused("memory_erase", cut_off).await, Code::InvalidInput);
    bench.answer("memory_erase", json!({ "memory": "key:boats" })).await;
    assert_eq!(bench.refused("memory_show", json!({ "memory": "key:boats" })).await, Code::NotFound);
}

/// Returns a request for this operation about a memory.
fn rest(operation: &str, name: &str, other: &Value) -> Value {
    let mut request = json!({ "memory": name });
    let more = match operation {
        "memory_supersede" => json!({ "with": { "title": "Boats", "content": "They float." } }),
        "memory_supersede_by" => json!({ "by": other }),
        "sensor_watch" | "sensor_unwatch" => json!({ "sensor": "human" }),
        "episode_note" => json!({ "title": "A note" }),
        _ => json!({}),
    };
    request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    request
}
