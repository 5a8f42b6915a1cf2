//! Over HTTP each request stands for itself, and the address or the key says whose memory it is for.

use axum::{
    body::Body,
    http::{Request, StatusCode, header},
};
use serde_json::{Value, json};
use thermocline_server::{mcp::Profile, ops::spec::Scope};

use crate::talk::{Home, NEW, OLD, everything, key, text};

fn save(value: &str) -> Value {
    json!({ "name": "memory_save", "arguments": { "attribute": "home", "value": value } })
}

#[tokio::test]
async fn both_eras_are_answered_without_a_session() {
    let home = Home::new().await;
    let http = home.http(everything());
    let path = "/mcp/users/alex";
    for version in [OLD, "2025-03-26", "2025-06-18", "2025-11-25"] {
        assert_eq!(http.hello(path, version).await["protocolVersion"], version);
    }
    for version in ["2025-06-18", "2025-11-25", NEW] {
        let (status, list) = http.post(path, version, "tools/list", json!({})).await;
        assert_eq!(
            (status, list["result"]["tools"].as_array().map(Vec::len)),
            (StatusCode::OK, Some(6)),
            "{list}"
        );
        let (status, saved) = http.post(path, version, "tools/call", save(version)).await;
        assert_eq!((status, &saved["result"]["isError"]), (StatusCode::OK, &json!(false)), "{saved}");
    }
    let (status, found) = http.post(path, NEW, "server/discover", json!({})).await;
    assert_eq!(status, StatusCode::OK, "{found}");
}

#[tokio::test]
async fn the_user_is_the_keys_one_or_that_of_the_address() {
    let home = Home::new().await;
    let all = home.http(everything());
    all.post("/mcp/users/alex", NEW, "tools/call", save("Lisbon")).await;
    all.post("/mcp/users/maria%2Fsmith", NEW, "tools/call", save("Porto")).await;
    assert!(home.service.memory.find_user("maria/smith").await.unwrap().is_some());
    let (status, problem) = all.post("/mcp", NEW, "tools/list", json!({})).await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "{problem}");

    let alex = home.http(key(&[Scope::Read], "alex"));
    for path in ["/mcp", "/mcp/users/alex"] {
        let (_, read) = alex.post(path, NEW, "resources/read", json!({ "uri": "memory://profile" })).await;
        let profile = text(&read["result"]["contents"][0]["text"]);
        assert!(profile.contains("Lisbon") && !profile.contains("Porto"), "{read}");
    }
    let mut refused = Vec::new();
    for path in ["/mcp/users/maria%2Fsmith", "/mcp/users/nobody", "/mcp/users/Alex"] {
        let (status, problem) = alex.post(path, NEW, "tools/list", json!({})).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{path}: {problem}");
        refused.push(problem);
    }
    assert!(refused.iter().all(|problem| *problem == refused[0]), "{refused:?}");
}

#[tokio::test]
async fn the_query_names_the_profile() {
    let home = Home::new().await;
    let http = home.http(everything());
    for profile in Profile::EVERY {
        let path = format!("/mcp/users/alex?tools={}", profile.as_str());
        let (_, list) = http.post(&path, NEW, "tools/list", json!({})).await;
        let names: Vec<String> =
            list["result"]["tools"].as_array().unwrap().iter().map(|tool| text(&tool["name"])).collect();
        assert_eq!(names, home.alex(profile, NEW).await.names().await);
    }
    for query in ["?tools=everything", "?user=maria", "?tools=core&user=maria"] {
        let (status, _) = http.post(&format!("/mcp/users/alex{query}"), NEW, "tools/list", json!({})).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{query}");
    }
}

#[tokio::test]
async fn what_is_no_message_is_refused_with_a_status() {
    let home = Home::new().await;
    let http = home.http(everything());
    let request = |method: &str, kind: &str, body: String| {
        Request::builder()
            .method(method)
            .uri("/mcp/users/alex")
            .header(header::HOST, "127.0.0.1")
            .header(header::CONTENT_TYPE, kind)
            .header(header::ACCEPT, "application/json, text/event-stream")
            .body(Body::from(body))
            .unwrap()
    };
    let json = "application/json";
    for (request, expected) in [
        (request("POST", json, "nonsense".to_owned()), 400..=415),
        (request("POST", "application/x-www-form-urlencoded", "a=b".to_owned()), 415..=415),
        (request("POST", json, " ".repeat((1 << 20) + 1)), 413..=413),
        (request("GET", json, String::new()), 405..=405),
        (request("DELETE", json, String::new()), 405..=405),
    ] {
        let (status, body) = http.send(request).await;
        assert!(expected.contains(&status.as_u16()), "{status}: {body}");
    }
}

#[tokio::test]
async fn a_tool_that_fails_is_a_result_over_http_too() {
    let home = Home::new().await;
    let http = home.http(everything());
    http.post("/mcp/users/alex", NEW, "tools/call", save("Lisbon")).await;
    let missing = json!({ "view": "turn", "id": "00000000-0000-7000-8000-000000000000" });
    let (status, answer) = http
        .post("/mcp/users/alex", NEW, "tools/call", json!({ "name": "memory_browse", "arguments": missing }))
        .await;
    assert_eq!((status, &answer["result"]["isError"]), (StatusCode::OK, &json!(true)), "{answer}");
    let (_, answer) = http
        .post("/mcp/users/alex", NEW, "tools/call", json!({ "name": "memory_browse", "arguments": {} }))
        .await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}
