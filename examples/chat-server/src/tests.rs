//! Tests the backend over HTTP, with an LLM that follows a script.

use std::sync::Mutex;

use axum::http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::*;

/// An LLM that returns scripted replies, and remembers what it received.
#[derive(Clone, Default)]
struct Script {
    handed: Arc<Mutex<Vec<Vec<ChatMessage>>>>,
    replies: Arc<Mutex<Vec<&'static [&'static str]>>>,
}

impl Script {
    fn says(&self, parts: &'static [&'static str]) {
        self.replies.lock().unwrap().push(parts);
    }

    fn llm(&self) -> Llm {
        let script = self.clone();
        Arc::new(move |messages| {
            script.handed.lock().unwrap().push(messages);
            let reply = script.replies.lock().unwrap().remove(0);
            let (sender, parts) = mpsc::channel(1);
            tokio::spawn(async move {
                for part in reply {
                    if sender.send((*part).to_owned()).await.is_err() {
                        return;
                    }
                }
            });
            parts
        })
    }

    /// Returns the last messages that it received, each as role and content.
    fn last(&self) -> Vec<Value> {
        let handed = self.handed.lock().unwrap();
        handed.last().unwrap().iter().map(|message| json!([message.role, message.content])).collect()
    }
}

struct Server {
    router: Router,
    backend: Backend,
    script: Script,
    _folder: tempfile::TempDir,
}

impl Server {
    async fn start() -> Self {
        let (folder, script) = (tempfile::tempdir().unwrap(), Script::default());
        let backend = open(folder.path().join("backend.db").to_str().unwrap(), script.llm()).await.unwrap();
        let server = Self { router: router(backend.clone()), backend, script, _folder: folder };
        assert_eq!(server.ask("PUT", "/alex", Value::Null).await.0, StatusCode::CREATED);
        server
    }

    async fn response(&self, method: &str, uri: &str, body: Value) -> Response {
        let request = Request::builder().method(method).uri(uri).header("content-type", "application/json");
        self.router.clone().oneshot(request.body(Body::from(body.to_string())).unwrap()).await.unwrap()
    }

    async fn ask(&self, method: &str, uri: &str, body: Value) -> (StatusCode, String) {
        let response = self.response(method, uri, body).await;
        let status = response.status();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    async fn says(&self, id: &str, text: &str, parts: &'static [&'static str]) -> String {
        self.script.says(parts);
        let (status, reply) = self.ask("POST", "/alex/trip", json!({ "id": id, "text": text })).await;
        assert_eq!(status, StatusCode::OK, "{reply}");
        reply
    }

    async fn session(&self) -> Session {
        self.backend.chat("alex", "trip").await.unwrap_or_else(|failed| panic!("{}", failed.1)).1
    }

    /// Returns the history, once all replies have been written: number, message and reply of each turn.
    async fn history(&self, query: &str) -> Vec<Value> {
        loop {
            if self.session().await.info().await.unwrap().incomplete_turn.is_none() {
                break;
            }
            tokio::task::yield_now().await;
        }
        let (_, text) = self.ask("GET", &format!("/alex/trip?{query}"), Value::Null).await;
        let turns: Vec<Value> = serde_json::from_str(&text).unwrap();
        turns
            .iter()
            .map(|turn| json!([turn["turn_number"], turn["user_message"], turn["ai_response"]]))
            .collect()
    }
}

#[tokio::test]
async fn a_talk_is_streamed_cut_short_made_again_edited_paged_and_erased() {
    let server = Server::start().await;
    assert_eq!(server.says("m1", "I moved to Lisbon.", &["How ", "is ", "it?"]).await, "How is it?");
    assert_eq!(server.script.last(), [json!(["user", "I moved to Lisbon."])]);
    server.history("").await;
    let again = json!({ "id": "m1", "text": "I moved to Lisbon." });
    assert_eq!(server.ask("POST", "/alex/trip", again).await.1, "How is it?", "and LLM#2 is not asked");
    server.says("m2", "It is warm.", &["Nice."]).await;
    let handed = server.script.last();
    let roles: Vec<&Value> = handed.iter().map(|message| &message[0]).collect();
    assert_eq!(roles[roles.len() - 3..], ["user", "assistant", "user"], "{handed:?}");

    // If the client disconnects in the middle of a reply, the part that has arrived is kept.
    server.script.says(&["First, ", "pack ", "your ", "bags ", "and ", "then ", "call ", "them."]);
    let response = server.response("POST", "/alex/trip", json!({ "id": "m3", "text": "What now?" })).await;
    let mut body = response.into_body();
    assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "First, ");
    drop(body);
    let history = server.history("").await;
    assert_eq!(history.len(), 3);
    assert!(history[2][2].as_str().unwrap().starts_with("First, "), "{history:?}");

    // The reply is regenerated.
    server.script.says(&["Rest."]);
    let (status, reply) = server.ask("POST", "/alex/trip/3", Value::Null).await;
    assert_eq!((status, &*reply), (StatusCode::OK, "Rest."));
    assert_eq!(server.history("").await[2], json!([3, "What now?", "Rest."]));
    assert!(
        !format!("{:?}", server.script.last()).contains("First, "),
        "what was set aside is shown to nobody"
    );

    // The message is edited; the turns after it are no longer part of the conversation.
    server.script.says(&["Porto!"]);
    let edited = json!({ "id": "m4", "text": "I moved to Porto." });
    assert_eq!(server.ask("PUT", "/alex/trip/1", edited).await.1, "Porto!");
    assert_eq!(server.history("").await, [json!([1, "I moved to Porto.", "Porto!"])]);

    // Pages, the newest first.
    server.says("m5", "Second.", &["2"]).await;
    server.says("m6", "Third.", &["3"]).await;
    let (newest, older) = (server.history("limit=2").await, server.history("limit=2&before=2").await);
    assert_eq!((&newest[0][0], &newest[1][0], older.len()), (&json!(2), &json!(3), 1));

    assert_eq!(server.ask("DELETE", "/alex/trip/2", Value::Null).await.0, StatusCode::NO_CONTENT);
    let numbers: Vec<Value> = server.history("").await.iter().map(|turn| turn[0].clone()).collect();
    assert_eq!(numbers, [1, 3]);
    assert_eq!(server.ask("DELETE", "/alex/trip/2", Value::Null).await.0, StatusCode::NOT_FOUND);
    assert!(server.backend.memory.doctor().await.unwrap().is_healthy());
}

#[tokio::test]
async fn the_operator_sees_what_jobs_do_and_nothing_that_was_said() {
    let server = Server::start().await;
    server.says("m1", "The okapi sleeps.", &["Does it?"]).await;
    server.history("").await;
    server.session().await.end().await.unwrap();
    let log = loop {
        let log = server.ask("GET", "/", Value::Null).await.1;
        if log.contains("done") {
            break log;
        }
        tokio::task::yield_now().await;
    };
    assert!(!log.contains("okapi") && !log.contains("trip"), "{log}");
}

#[tokio::test]
async fn both_read_and_write_one_file() {
    let server = Server::start().await;
    server.says("m1", "I moved to Lisbon last week.", &["How is it?"]).await;
    server.history("").await;
    let joined = "SELECT count(t.id) FROM users AS u JOIN conversation_turns AS t ON t.user_id = u.id WHERE u.name = ?";
    let turns: i64 = sqlx::query_scalar(joined).bind("alex").fetch_one(&server.backend.db).await.unwrap();
    assert_eq!(turns, 1);
    // Deleting a user with sqlx also removes the user's data from Thermocline.
    let id: Uuid = sqlx::query_scalar("SELECT id FROM users").fetch_one(&server.backend.db).await.unwrap();
    let id = UserId::from_uuid(id);
    assert!(server.backend.memory.find_user_by_id(id).await.unwrap().is_some());
    sqlx::query("DELETE FROM users WHERE name = 'alex'").execute(&server.backend.db).await.unwrap();
    assert!(server.backend.memory.find_user_by_id(id).await.unwrap().is_none());
    assert!(server.backend.memory.doctor().await.unwrap().is_healthy());
}

#[tokio::test]
async fn they_write_side_by_side() {
    let server = Arc::new(Server::start().await);
    (0..20).for_each(|_| server.script.says(&["Yes."]));
    let talks = (0..20).map(|n| {
        let server = Arc::clone(&server);
        tokio::spawn(async move {
            let user = server.ask("PUT", &format!("/user{n}"), Value::Null).await;
            let message = json!({ "id": n.to_string(), "text": format!("Message {n}.") });
            (user.0, server.ask("POST", &format!("/alex/chat{n}"), message).await.0)
        })
    });
    for talk in talks.collect::<Vec<_>>() {
        assert_eq!(talk.await.unwrap(), (StatusCode::CREATED, StatusCode::OK));
    }
}
