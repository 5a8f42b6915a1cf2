//! The headers `Idempotency-Key`, `If-Match`, `ETag` and `If-None-Match`.

use crate::{
    client::Answer,
    fixture::{Running, TURN, server},
};

const TURNS: &str = "/v1/users/alex/turns";
const JSON: (&str, &str) = ("content-type", "application/json");

fn post(server: &Running, header: (&str, &str), body: &str) -> Answer {
    server.client().send("POST", TURNS, &[JSON, header], body.as_bytes())
}

fn get(server: &Running, path: &str, tag: &str) -> Answer {
    server.client().send("GET", path, &[("if-none-match", tag)], b"")
}

#[test]
fn an_idempotency_key_is_the_callers_id() {
    let server = server();
    let first = post(&server, ("idempotency-key", "\"a-1\""), TURN);
    assert_eq!((first.status, first.header("idempotent-replayed")), (201, None), "{first:?}");
    let again = post(&server, ("idempotency-key", "a-1"), TURN);
    assert_eq!((again.status, again.header("idempotent-replayed")), (200, Some("true")));
    assert_eq!(first.json()["turn_id"], again.json()["turn_id"]);
    let with_id =
        r#"{"user_message":"My boat is called Petrel.","ai_response":"A good name.","caller_id":"a-1"}"#;
    assert_eq!(post(&server, ("idempotency-key", "a-1"), with_id).status, 200);
    let different = post(&server, ("idempotency-key", "a-2"), with_id);
    assert_eq!((different.status, different.code().as_str()), (422, "invalid-input"));
    assert_eq!(different.json()["pointer"], "/caller_id");
    let conflict = post(&server, ("idempotency-key", "a-1"), r#"{"user_message":"Another."}"#);
    assert_eq!((conflict.status, conflict.code().as_str()), (409, "conflict"));
    let twice = [JSON, ("idempotency-key", "a"), ("idempotency-key", "b")];
    assert_eq!(server.client().send("POST", TURNS, &twice, TURN.as_bytes()).code(), "bad-request");
}

#[test]
fn a_memory_that_has_changed_since_is_not_edited() {
    let server = server();
    let saved =
        server.post("/v1/users/alex/memories", r#"{"title":"Berth","content":"The boat lies at berth 14."}"#);
    assert_eq!(saved.status, 201, "{}", String::from_utf8_lossy(&saved.body));
    let list = server.get("/v1/users/alex/memories").json();
    let memory = &list["items"][0];
    let path = format!("/v1/users/alex/memories/{}", memory["id"].as_str().unwrap());
    let revision = memory["revision"].as_u64().unwrap();
    let edit = |tag: &str, body: &str| {
        server.client().send("PATCH", &path, &[JSON, ("if-match", tag)], body.as_bytes())
    };
    let stale = edit(&format!("\"{}\"", revision + 7), r#"{"title":"Quay"}"#);
    assert_eq!((stale.status, stale.code().as_str()), (412, "changed-since"), "{stale:?}");
    for wrong in ["\"x\"", "\"+1\"", "\"\"", "1", "\"1234567890\""] {
        assert_eq!(edit(wrong, r#"{"title":"Quay"}"#).code(), "bad-request", "{wrong}");
    }
    let both = format!(r#"{{"title":"Quay","expected_revision":{}}}"#, revision + 1);
    assert_eq!(edit(&format!("\"{revision}\""), &both).status, 422);
    assert_eq!(edit(&format!("\"{revision}\""), r#"{"title":"Quay"}"#).status, 200);
    assert_eq!(edit(&format!("\"{revision}\""), r#"{"title":"North quay"}"#).status, 412);
    assert_eq!(edit("*", r#"{"title":"North quay"}"#).status, 200);
}

#[test]
fn what_has_not_changed_is_not_sent_again_and_what_others_write_moves_no_tag() {
    let server = server();
    assert_eq!(server.post(TURNS, r#"{"session":"boat","user_message":"One."}"#).status, 201);
    let path = "/v1/users/alex/sessions/boat/turns";
    let first = server.get(path);
    let tag = first.header("etag").unwrap().to_owned();
    assert!(tag.starts_with("W/\"") && first.header("cache-control") == Some("private, no-cache"));
    let known = get(&server, path, &tag);
    assert_eq!((known.status, known.body.len(), known.header("etag")), (304, 0, Some(tag.as_str())));
    assert_eq!(get(&server, path, &format!("\"other\", {}", &tag[2..])).status, 304);
    assert_eq!(get(&server, path, "\"other\"").status, 200);
    assert_eq!(server.post("/v1/users/sam/turns", TURN).status, 201);
    assert_eq!(server.post("/v1/users/alex/recall", r#"{"query":"one"}"#).status, 200);
    assert_eq!(get(&server, path, &tag).status, 304, "what others write, and reading");
    assert_eq!(server.post(TURNS, r#"{"session":"boat","user_message":"Two."}"#).status, 201);
    let newer = get(&server, path, &tag);
    assert_eq!(newer.status, 200);
    assert_ne!(newer.header("etag"), Some(tag.as_str()));
    assert_eq!(server.get("/v1/users/alex/receipts").header("etag"), None, "receipts raise no revision");
    let nobody = get(&server, "/v1/users/nobody/sessions", &tag);
    assert_eq!((nobody.status, nobody.header("etag")), (404, None), "{nobody:?}");
}
