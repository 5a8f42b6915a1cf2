//! A violation of the protocol is answered with a protocol error; a failure of a tool is a result that says so.

use serde_json::json;
use thermocline_server::mcp::ToolProfile;

use crate::talk::{Home, NEW, OLD, Talk};

const INVALID_PARAMS: i64 = -32602;

async fn misfit(talk: &mut Talk, tool: &str, arguments: serde_json::Value) -> String {
    let (code, message) = talk.error("tools/call", json!({ "name": tool, "arguments": arguments })).await;
    assert_eq!(code, INVALID_PARAMS, "{message}");
    message
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_that_do_not_fit_are_an_error_of_the_protocol() {
    let home = Home::new().await;
    for version in [OLD, NEW] {
        let mut talk = home.alex(ToolProfile::Core, version).await;
        for (tool, arguments, said) in [
            ("memory_recall", json!({}), "query is missing"),
            ("memory_recall", json!({ "query": 1 }), "query is not of the type string"),
            ("memory_recall", json!({ "query": "a", "user": "maria" }), "no argument of that name"),
            ("memory_recall", json!({ "query": "a", "budget_tokens": 1.5 }), "not of the type integer"),
            ("memory_recall", json!({ "query": "a", "budget_tokens": 1 }), "below 100"),
            ("memory_save", json!({}), "a fact"),
            (
                "memory_save",
                json!({ "attribute": "shoe_size", "value": "45" }),
                "is not one of name, pronouns",
            ),
            ("memory_save", json!({ "attribute": "home" }), "a fact needs value"),
            (
                "memory_save",
                json!({ "attribute": "home", "value": "Lisbon", "content": "x" }),
                "of the other arguments",
            ),
            ("memory_save", json!({ "kind": "fix", "title": "a" }), "a memory needs content"),
            ("memory_update", json!({ "op": "erase", "id": "mem_1" }), "op is not one of edit"),
            ("memory_update", json!({ "op": "pin", "id": "a fact's" }), "begins with mem_"),
            ("memory_browse", json!({ "view": "turns" }), "turns needs id"),
            ("memory_browse", json!({ "view": "due", "cursor": "x" }), "of the other arguments"),
            (
                "memory_session",
                json!({ "op": "record", "session": "s", "user_message": "a" }),
                "needs ai_response",
            ),
            ("memory_session", json!({ "op": "end", "session": "s", "text": "a" }), "of the other arguments"),
            ("memory_nonsense", json!({}), "there is no tool of that name"),
        ] {
            let message = misfit(&mut talk, tool, arguments.clone()).await;
            assert!(message.contains(said), "{tool} {arguments}: {message}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_the_arguments_is_repeated_in_an_error() {
    let home = Home::new().await;
    let mut talk = home.alex(ToolProfile::Full, NEW).await;
    for (tool, arguments) in [
        ("memory_recall", json!({ "query": ["CANARY"] })),
        ("memory_recall", json!({ "query": "a", "CANARY": "CANARY" })),
        ("memory_recall", json!({ "query": "a", "now": "CANARY" })),
        ("memory_save", json!({ "attribute": "CANARY", "value": "CANARY" })),
        ("memory_CANARY", json!({})),
    ] {
        let message = misfit(&mut talk, tool, arguments).await;
        assert!(!message.contains("CANARY"), "{message}");
    }
    let said = talk.refused("memory_turn", json!({ "turn": "key:CANARY" })).await;
    assert!(!said.contains("CANARY"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_failed_says_what_happened_and_what_to_do() {
    let home = Home::new().await;
    let mut talk = home.alex(ToolProfile::Core, NEW).await;
    talk.call("memory_save", json!({ "attribute": "home", "value": "Lisbon" })).await;
    let missing = json!({ "view": "turn", "id": "00000000-0000-7000-8000-000000000000" });
    let said = talk.refused("memory_browse", missing).await;
    assert!(said.starts_with("failed: ") && said.contains("memory_browse"), "{said}");
    let said = talk.refused("memory_save", json!({ "attribute": "home", "value": " " })).await;
    assert!(said.contains("Change the arguments"), "{said}");

    let turn =
        json!({ "op": "record", "session": "s", "user_message": "a", "ai_response": "b", "caller_id": "1" });
    talk.call("memory_session", turn.clone()).await;
    let mut other = turn;
    other["ai_response"] = "c".into();
    let said = talk.refused("memory_session", other).await;
    assert!(said.contains("Look at what is there"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_is_no_message_ends_nothing() {
    let home = Home::new().await;
    for version in [OLD, NEW] {
        let mut talk = home.alex(ToolProfile::Core, version).await;
        for line in ["nonsense", "[]", "{}", "", "\u{0}"] {
            talk.send(line).await;
        }
        let id = talk.begin("tools/list", json!({})).await;
        let answer = loop {
            let answer = talk.receive().await;
            if answer["id"] == id {
                break answer;
            }
            assert!(answer["error"].is_object(), "{answer}");
        };
        assert_eq!(answer["result"]["tools"].as_array().unwrap().len(), 6, "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_method_that_nobody_knows_is_an_error() {
    let home = Home::new().await;
    for version in [OLD, NEW] {
        let (code, _) =
            home.alex(ToolProfile::Core, version).await.error("memory/everything", json!({})).await;
        assert_eq!(code, -32601);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_through_a_model_is_not_the_users_own_word() {
    let home = Home::new().await;
    let mut talk = home.alex(ToolProfile::Core, NEW).await;
    let saved = talk.call("memory_save", json!({ "kind": "decision", "content": "We use JWT." })).await;
    assert!(saved.text().contains("by assistant"), "{}", saved.text());
    let (code, _) = talk
        .error(
            "tools/call",
            json!({ "name": "memory_save", "arguments": { "kind": "decision", "content": "x", "origin": "user" } }),
        )
        .await;
    assert_eq!(code, INVALID_PARAMS);
    talk.call("memory_save", json!({ "attribute": "home", "value": "Lisbon" })).await;
    let alex = home.service.memory.find_user("alex").await.unwrap().expect("alex is known");
    let facts = alex.anchors(None, 10).await.unwrap();
    let facts = serde_json::to_value(&facts).unwrap();
    assert_eq!(facts[0]["evidence"][0]["made_by"], "mcp:raw", "{facts}");
}
