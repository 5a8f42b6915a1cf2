//! A chat backend whose own tables and whose memory lie in one SQLite file: sqlx reads and writes the former, Thermocline
//! keeps the latter, and each sees what the other has written.
//!
//! ```sh
//! cargo run --manifest-path examples/beside-sqlx/Cargo.toml -- backend.db
//! curl -s localhost:3000/users -H 'content-type: application/json' -d '{"name":"alex"}'
//! curl -s localhost:3000/users/alex/messages -H 'content-type: application/json' -d '{"text":"I moved to Lisbon."}'
//! curl -s localhost:3000/users/alex
//! ```

use axum::{
    Json, Router,
    extract::{Path, State},
    http::StatusCode,
    routing::{get, post},
};
use serde::{Deserialize, Serialize};
use sqlx::{
    SqlitePool,
    sqlite::{SqliteConnectOptions, SqliteJournalMode},
};
use thermocline::{ContextOptions, NewTurn, Thermocline, UserId};
use uuid::Uuid;

/// The backend's own tables. Thermocline finds `users` there, and refers to it; its own tables come beside.
const SCHEMA: &str =
    "CREATE TABLE IF NOT EXISTS users (id BLOB PRIMARY KEY, name TEXT UNIQUE, plan TEXT NOT NULL) STRICT";

#[derive(Clone)]
struct Backend {
    db: SqlitePool,
    memory: Thermocline,
}

#[derive(Deserialize)]
struct NewUser {
    name: String,
}

#[derive(Deserialize)]
struct Message {
    text: String,
}

#[derive(Serialize)]
struct Reply {
    text: String,
    /// What the LLM was handed.
    context: String,
}

#[derive(Serialize, sqlx::FromRow)]
struct Account {
    plan: String,
    turns: i64,
}

/// A failure as its text, with status 500; a real backend says less.
type Failed = (StatusCode, String);

fn failed(error: impl std::fmt::Display) -> Failed {
    (StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}

/// Opens the file by both. The backend's tables come first: Thermocline takes a `users` table that is there.
async fn open(path: &str) -> Result<Backend, Box<dyn std::error::Error>> {
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let db =
        SqlitePool::connect_with(options.journal_mode(SqliteJournalMode::Wal).foreign_keys(true)).await?;
    sqlx::query(SCHEMA).execute(&db).await?;
    Ok(Backend { db, memory: Thermocline::open(path).await? })
}

fn router(backend: Backend) -> Router {
    Router::new()
        .route("/users", post(add_user))
        .route("/users/{name}", get(account))
        .route("/users/{name}/messages", post(talk))
        .with_state(backend)
}

/// A row of the backend's own, by sqlx.
async fn add_user(State(backend): State<Backend>, Json(user): Json<NewUser>) -> Result<StatusCode, Failed> {
    let insert = sqlx::query("INSERT INTO users (id, name, plan) VALUES (?, ?, 'free')");
    insert.bind(Uuid::new_v4()).bind(user.name).execute(&backend.db).await.map_err(failed)?;
    Ok(StatusCode::CREATED)
}

/// A turn, by Thermocline, of the user whom sqlx finds.
async fn talk(
    State(backend): State<Backend>,
    Path(name): Path<String>,
    Json(message): Json<Message>,
) -> Result<Json<Reply>, Failed> {
    let found = sqlx::query_scalar("SELECT id FROM users WHERE name = ?").bind(name);
    let id: Option<Uuid> = found.fetch_optional(&backend.db).await.map_err(failed)?;
    let id = id.ok_or((StatusCode::NOT_FOUND, "no such user".to_owned()))?;
    let user = backend.memory.user_by_id(UserId::from_uuid(id)).await.map_err(failed)?;
    let session = user.session().await.map_err(failed)?;
    let context = session.context(&message.text, ContextOptions::default()).await.map_err(failed)?;
    let text = ask_llm(&context.text, &message.text);
    let turn = NewTurn::new(message.text, text.as_str()).answering(context.receipt);
    session.record(turn).await.map_err(failed)?;
    Ok(Json(Reply { text, context: context.text }))
}

/// Both kinds of rows in one query, by sqlx: views and tables of Thermocline's are there to be read.
async fn account(State(backend): State<Backend>, Path(name): Path<String>) -> Result<Json<Account>, Failed> {
    let joined = "SELECT u.plan, count(t.id) AS turns
                  FROM users AS u LEFT JOIN conversation_turns AS t ON t.user_id = u.id
                  WHERE u.name = ? GROUP BY u.id";
    let account = sqlx::query_as(joined).bind(name).fetch_optional(&backend.db).await.map_err(failed)?;
    account.map(Json).ok_or((StatusCode::NOT_FOUND, "no such user".to_owned()))
}

/// In the place of an LLM.
fn ask_llm(_context: &str, _message: &str) -> String {
    "How do you like it?".to_owned()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "backend.db".to_owned());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    axum::serve(listener, router(open(&path).await?)).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use axum::{body::Body, http::Request};
    use http_body_util::BodyExt;
    use serde_json::{Value, json};
    use tower::ServiceExt;

    use super::*;

    async fn ask(router: &Router, method: &str, uri: &str, body: Value) -> (StatusCode, Value) {
        let request = Request::builder().method(method).uri(uri).header("content-type", "application/json");
        let request = request.body(Body::from(body.to_string())).unwrap();
        let response = router.clone().oneshot(request).await.unwrap();
        let status = response.status();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
    }

    #[tokio::test]
    async fn both_read_and_write_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("backend.db");
        let backend = open(path.to_str().unwrap()).await.unwrap();
        let router = router(backend.clone());

        let (status, _) = ask(&router, "POST", "/users", json!({ "name": "alex" })).await;
        assert_eq!(status, StatusCode::CREATED);
        let message = |text: &str| json!({ "text": text });
        ask(&router, "POST", "/users/alex/messages", message("I moved to Lisbon last week.")).await;
        let (status, reply) = ask(&router, "POST", "/users/alex/messages", message("How is it?")).await;
        assert_eq!(status, StatusCode::OK);
        assert!(reply["context"].as_str().unwrap().contains("I moved to Lisbon last week."), "{reply}");
        let (_, account) = ask(&router, "GET", "/users/alex", Value::Null).await;
        assert_eq!(account, json!({ "plan": "free", "turns": 2 }));

        // What sqlx deletes, Thermocline has no longer.
        let id: Uuid = sqlx::query_scalar("SELECT id FROM users").fetch_one(&backend.db).await.unwrap();
        let id = UserId::from_uuid(id);
        assert!(backend.memory.find_user_by_id(id).await.unwrap().is_some());
        sqlx::query("DELETE FROM users WHERE name = 'alex'").execute(&backend.db).await.unwrap();
        assert!(backend.memory.find_user_by_id(id).await.unwrap().is_none());
        assert!(backend.memory.doctor().await.unwrap().is_healthy());
    }

    #[tokio::test]
    async fn they_write_side_by_side() {
        let folder = tempfile::tempdir().unwrap();
        let backend = open(folder.path().join("backend.db").to_str().unwrap()).await.unwrap();
        let router = router(backend.clone());
        ask(&router, "POST", "/users", json!({ "name": "alex" })).await;
        let talks = (0..20).map(|n| {
            let router = router.clone();
            tokio::spawn(async move {
                let user = ask(&router, "POST", "/users", json!({ "name": format!("user {n}") })).await;
                let text = json!({ "text": format!("Message {n}.") });
                (user.0, ask(&router, "POST", "/users/alex/messages", text).await.0)
            })
        });
        for talk in talks.collect::<Vec<_>>() {
            assert_eq!(talk.await.unwrap(), (StatusCode::CREATED, StatusCode::OK));
        }
        let (_, account) = ask(&router, "GET", "/users/alex", Value::Null).await;
        assert_eq!(account["turns"], 20);
    }
}
