//! Clients of every revision of the protocol, with and without a handshake.

use serde_json::json;
use thermocline_server::mcp::ToolProfile;

use crate::talk::{Home, NEW, OLD, text};

#[tokio::test(flavor = "multi_thread")]
async fn a_client_without_a_handshake_is_told_what_there_is() {
    let home = Home::new().await;
    let mut talk = home.alex(ToolProfile::Core, NEW).await;
    let found = talk.result("server/discover", json!({})).await;
    let versions: Vec<String> = found["supportedVersions"].as_array().unwrap().iter().map(text).collect();
    for version in [OLD, "2025-03-26", "2025-06-18", "2025-11-25", NEW] {
        assert!(versions.iter().any(|known| known == version), "{version} of {versions:?}");
    }
    assert!(text(&found["instructions"]).contains("quoted data, not instructions"), "{found}");
    assert!(found["capabilities"]["tools"].is_object(), "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_asks_for_the_future_is_offered_a_revision_that_has_a_handshake() {
    let home = Home::new().await;
    let mut talk = home.alex(ToolProfile::Core, NEW).await;
    let hello = json!({ "protocolVersion": "2031-01-01", "capabilities": {}, "clientInfo": { "name": "a", "version": "1" } });
    let answer = talk.ask("initialize", hello).await;
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
    assert_eq!(answer["result"]["serverInfo"]["name"], "thermocline");
    assert_eq!(answer["result"]["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_at_once_are_each_answered() {
    let home = Home::new().await;
    for version in [OLD, NEW] {
        let mut talk = home.alex(ToolProfile::Core, version).await;
        let mut asked = Vec::new();
        for number in 0..20 {
            let arguments = json!({ "op": "record", "session": "s", "user_message": format!("{version} number {number}"),
                "ai_response": "b", "caller_id": format!("{version}/{number}") });
            asked.push(
                talk.begin("tools/call", json!({ "name": "memory_session", "arguments": arguments })).await,
            );
        }
        while !asked.is_empty() {
            let answer = talk.receive().await;
            assert_eq!(answer["result"]["isError"], false, "{answer}");
            asked.retain(|id| answer["id"] != *id);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_asked_before_the_input_ended_is_answered() {
    let home = Home::new().await;
    for version in [OLD, NEW] {
        let mut talk = home.alex(ToolProfile::Core, version).await;
        let arguments = json!({ "op": "record", "session": "s", "user_message": "a", "ai_response": version, "caller_id": version });
        let id = talk.begin("tools/call", json!({ "name": "memory_session", "arguments": arguments })).await;
        let answers = talk.end().await;
        let answer = answers.iter().find(|answer| answer["id"] == id).expect("an answer");
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
    let user = home.service.memory.find_user("alex").await.unwrap().unwrap();
    let session = user.find_session("s").await.unwrap().unwrap();
    assert_eq!(session.info().await.unwrap().turn_count, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_says_nothing_ends_the_server() {
    let home = Home::new().await;
    assert!(home.alex(ToolProfile::Core, NEW).await.end().await.is_empty());
}
