//! Pages: a list has the same entries for every page size, and none of them twice.

use serde_json::{Value, json};
use thermocline_server::ops::problem::Code;

use crate::bench::Bench;

/// Creates a user with seven or more of most things that can be listed.
async fn full() -> Bench {
    let bench = Bench::new().await;
    for n in 0..7 {
        let turn = json!({ "session": format!("talk {n}"), "user_message": format!("A lamp, {n}.") });
        bench.answer("record", turn).await;
        let turn = json!({
            "session": "long", "caller_id": format!("m{n}"), "ai_response": "Is that so? ".repeat(20),
            "user_message": format!("The lamp number {n} stands beside the ladder in the hall. ").repeat(4),
        });
        bench.answer("record", turn).await;
        bench.answer("anchor_set", json!({ "attribute": "likes", "value": format!("boat {n}") })).await;
        let memory = json!({
            "title": format!("Lamp {n}"), "content": format!("The lamp number {n} is broken since May."),
            "tags": [format!("lamp-{n}")], "entities": [format!("Lamp {n}")],
        });
        bench.answer("memory_save", memory).await;
        bench.answer("recall", json!({ "query": format!("lamp {n}") })).await;
        bench.answer("session_end", json!({ "session": format!("talk {n}") })).await;
    }
    let first = bench.answer("memory_list", json!({ "limit": 7 })).await["items"][6]["id"].clone();
    for n in 0..7_u8 {
        bench
            .answer("memory_edit", json!({ "memory": first, "importance": 0.1 * f64::from(n) + 0.05 }))
            .await;
        let other = bench.answer("memory_list", json!({})).await["items"][usize::from(n % 6)]["id"].clone();
        let edge = json!({ "from": other, "type": if n < 6 { "related_to" } else { "solves" }, "to": first });
        bench.answer("edge_set", edge).await;
    }
    bench.answer("session_end", json!({ "session": "long" })).await;
    bench
}

async fn pages_of(bench: &Bench, list: &str, request: &Value, limit: u32) -> Vec<Value> {
    let mut found = Vec::new();
    let mut request = request.clone();
    request["limit"] = limit.into();
    loop {
        let page = bench.answer(list, request.clone()).await;
        let items = page["items"].as_array().unwrap();
        assert!(items.len() <= limit as usize);
        found.extend(items.iter().cloned());
        if page["next_cursor"].is_null() {
            return found;
        }
        assert_eq!(items.len(), limit as usize, "only the last page of {list} is short");
        request["cursor"] = page["next_cursor"].clone();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_is_the_same_whatever_the_size_of_its_pages() {
    let bench = full().await;
    let jobs = bench.answer("job_list", json!({})).await["items"].as_array().unwrap().len();
    let first = bench.answer("memory_list", json!({ "limit": 7 })).await["items"][6]["id"].clone();
    let long = json!({ "session": "long" });
    let mut lists = vec![
        ("session_list", json!({}), 8),
        ("turn_list", long.clone(), 7),
        ("session_transitions", long.clone(), 7),
        ("anchor_list", json!({}), 7),
        ("receipt_list", json!({}), 7),
        ("memory_list", json!({}), 7),
        ("memory_history", json!({ "memory": first }), 8),
        ("memory_neighbours", json!({ "memory": first }), 7),
        ("tag_list", json!({}), 7),
        ("entity_list", json!({}), 7),
        ("episode_list", json!({}), 7),
        ("job_list", json!({}), jobs),
        ("user_list", json!({}), 1),
    ];
    for (list, request, count) in &lists {
        check(&bench, list, request, *count).await;
    }
    bench.answer("job_run", json!({})).await;
    // The first turn of a session is kept verbatim.
    lists = vec![
        ("cold_list", json!({}), 14),
        ("summary_list", json!({}), 6),
        ("session_summaries", long.clone(), 6),
        ("turn_list", long.clone(), 7),
    ];
    for (list, request, count) in &lists {
        check(&bench, list, request, *count).await;
    }
    let mut back = pages_of(&bench, "turn_list", &json!({ "session": "long", "from_end": true }), 3).await;
    back.sort_by_key(|turn| turn["turn_number"].as_u64());
    assert_eq!(back, pages_of(&bench, "turn_list", &long, 7).await, "from the end it is the same, too");
}

async fn check(bench: &Bench, list: &str, request: &Value, count: usize) {
    let whole = pages_of(bench, list, request, 200).await;
    assert_eq!(whole.len(), count, "{list}");
    for limit in [1, 3, 7] {
        assert_eq!(pages_of(bench, list, request, limit).await, whole, "{list} in pages of {limit}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_from_the_end_has_the_last_turns_in_the_order_of_the_talk() {
    let bench = full().await;
    let page = bench.answer("turn_list", json!({ "session": "long", "from_end": true, "limit": 3 })).await;
    let numbers: Vec<_> =
        page["items"].as_array().unwrap().iter().map(|turn| turn["turn_number"].clone()).collect();
    assert_eq!(numbers, [5, 6, 7]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_of_another_list_or_of_nothing_is_refused() {
    let bench = full().await;
    let cursor = bench.answer("session_list", json!({ "limit": 2 })).await["next_cursor"].clone();
    for (list, cursor) in [
        ("anchor_list", cursor.clone()),
        ("session_list", json!("")),
        ("session_list", json!("not a cursor")),
        ("session_list", json!("c2Vzc2lvbl9saXN0")),
    ] {
        assert_eq!(
            bench.refused(list, json!({ "cursor": cursor })).await,
            Code::InvalidInput,
            "{list} {cursor}"
        );
    }
    let second = bench.answer("session_list", json!({ "limit": 2, "cursor": cursor })).await;
    let at = second["items"][1]["id"].as_str().unwrap().to_owned();
    let cursor = second["next_cursor"].clone();
    bench.answer("session_erase", json!({ "session": format!("id:{at}") })).await;
    let gone = bench.refused("session_list", json!({ "cursor": cursor })).await;
    assert_eq!(gone, Code::InvalidInput, "its place is gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_receipts_goes_on_where_it_ended_while_others_are_written() {
    let bench = full().await;
    let before = pages_of(&bench, "receipt_list", &json!({}), 200).await;
    let first = bench.answer("receipt_list", json!({ "limit": 3 })).await;
    bench.answer("recall", json!({ "query": "something new" })).await;
    let second = bench.answer("receipt_list", json!({ "limit": 3, "cursor": first["next_cursor"] })).await;
    assert_eq!(second["items"].as_array().unwrap()[..], before[3..6]);
}
