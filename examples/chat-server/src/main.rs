//! A chat backend: users and the operator's log are rows of its own, by sqlx; the talks are Thermocline's, in the same file.
//! Replies are streamed, and can be cut short, made again, edited and erased.
//!
//! ```sh
//! cargo run --manifest-path examples/chat-server/Cargo.toml -- backend.db
//! curl -s localhost:3000/users -H 'content-type: application/json' -d '{"name":"alex"}'
//! curl -sN localhost:3000/alex/trip -H 'content-type: application/json' -d '{"id":"m1","text":"I moved to Lisbon."}'
//! curl -sN -X POST localhost:3000/alex/trip/1/again
//! curl -sN -X PUT localhost:3000/alex/trip/1 -H 'content-type: application/json' -d '{"id":"m2","text":"I moved to Porto."}'
//! curl -s 'localhost:3000/alex/trip?limit=20'
//! curl -s -X DELETE localhost:3000/alex/trip/1
//! curl -s localhost:3000/log
//! ```

use std::{convert::Infallible, sync::Arc};

use axum::{
    Json, Router,
    body::Body,
    extract::{Path, Query, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post, put},
};
use serde::{Deserialize, Serialize};
use sqlx::{
    SqlitePool,
    sqlite::{SqliteConnectOptions, SqliteJournalMode},
};
use thermocline::{
    ChatMessage, Config, ContextOptions, ErrorKind, NewTurn, OnEvent, Reply, Session, Thermocline, Turn, TurnId, User,
    UserId,
};
use tokio::sync::mpsc;
use tokio_stream::{StreamExt, wrappers::ReceiverStream};
use uuid::Uuid;

#[cfg(test)]
mod tests;

/// The backend's own tables. Thermocline finds `users` there, and refers to it; its own tables come beside.
const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS users (id BLOB PRIMARY KEY, name TEXT UNIQUE, plan TEXT NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS operator_log (at TEXT NOT NULL DEFAULT current_timestamp, event TEXT NOT NULL) STRICT";

/// LLM#2: gives its reply part by part. Whoever drops the receiver tells it to stop.
type Llm = Arc<dyn Fn(Vec<ChatMessage>) -> mpsc::Receiver<String> + Send + Sync>;

#[derive(Clone)]
struct Backend {
    db: SqlitePool,
    memory: Thermocline,
    llm: Llm,
}

#[derive(Deserialize)]
struct NewUser {
    name: String,
}

/// What a client sends: its own id for the message makes sending it again harmless.
#[derive(Deserialize)]
struct Message {
    id: String,
    text: String,
}

#[derive(Deserialize)]
struct Page {
    before: Option<u32>,
    limit: Option<u32>,
}

/// One turn of the history.
#[derive(Serialize)]
struct Shown {
    number: u32,
    message: String,
    reply: String,
    /// How often it was made again or edited.
    versions_before: usize,
}

/// A failure as its text; a real backend says less.
struct Failed(StatusCode, String);

impl From<thermocline::Error> for Failed {
    fn from(error: thermocline::Error) -> Self {
        let status = match error.kind() {
            ErrorKind::NotFound => StatusCode::NOT_FOUND,
            ErrorKind::InvalidInput => StatusCode::BAD_REQUEST,
            ErrorKind::Conflict | ErrorKind::SessionEnded => StatusCode::CONFLICT,
            ErrorKind::Busy => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self(status, error.to_string())
    }
}

impl From<sqlx::Error> for Failed {
    fn from(error: sqlx::Error) -> Self {
        Self(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    }
}

impl IntoResponse for Failed {
    fn into_response(self) -> Response {
        (self.0, self.1).into_response()
    }
}

/// Opens the file by both. The backend's tables come first: Thermocline takes a `users` table that is there.
async fn open(path: &str, llm: Llm) -> Result<Backend, Box<dyn std::error::Error>> {
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let db = SqlitePool::connect_with(options.journal_mode(SqliteJournalMode::Wal).foreign_keys(true)).await?;
    sqlx::raw_sql(SCHEMA).execute(&db).await?;

    // The hook runs on Thermocline's threads: it passes events on, and a task of ours writes them down.
    let (sender, mut events) = mpsc::unbounded_channel();
    let mut config = Config::default();
    config.on_event = OnEvent::new(move |event| drop(sender.send(format!("{event:?}"))));
    let log = db.clone();
    tokio::spawn(async move {
        while let Some(event) = events.recv().await {
            let insert = sqlx::query("INSERT INTO operator_log (event) VALUES (?)").bind(event);
            if let Err(error) = insert.execute(&log).await {
                eprintln!("the operator's log: {error}");
            }
        }
    });
    Ok(Backend { memory: Thermocline::open_with(path, config).await?, db, llm })
}

fn router(backend: Backend) -> Router {
    Router::new()
        .route("/users", post(add_user))
        .route("/log", get(log))
        .route("/{user}/{chat}", post(send).get(history))
        .route("/{user}/{chat}/{turn}", put(edit).delete(erase))
        .route("/{user}/{chat}/{turn}/again", post(again))
        .with_state(backend)
}

/// A row of the backend's own, by sqlx.
async fn add_user(State(backend): State<Backend>, Json(user): Json<NewUser>) -> Result<StatusCode, Failed> {
    let insert = sqlx::query("INSERT INTO users (id, name, plan) VALUES (?, ?, 'free')");
    insert.bind(Uuid::new_v4()).bind(user.name).execute(&backend.db).await?;
    Ok(StatusCode::CREATED)
}

async fn log(State(backend): State<Backend>) -> Result<Json<Vec<String>>, Failed> {
    let newest = sqlx::query_scalar("SELECT event FROM operator_log ORDER BY rowid DESC LIMIT 100");
    Ok(Json(newest.fetch_all(&backend.db).await?))
}

/// A message and the reply to it.
async fn send(
    State(backend): State<Backend>,
    Path((user, chat)): Path<(String, String)>,
    Json(Message { id, text }): Json<Message>,
) -> Result<Response, Failed> {
    let session = backend.chat(&user, &chat).await?;
    backend.answer(session, NewTurn::new(text, "").caller_id(id)).await
}

/// Another message in the place of one, and the reply to it: what was said behind it is set aside.
async fn edit(
    State(backend): State<Backend>,
    Path((user, chat, turn)): Path<(String, String, u32)>,
    Json(Message { id, text }): Json<Message>,
) -> Result<Response, Failed> {
    let session = backend.chat(&user, &chat).await?;
    let replaced = turn_of(&session, turn).await?;
    backend.answer(session, NewTurn::new(text, "").caller_id(id).replacing(replaced.id)).await
}

/// The same message, and another reply.
async fn again(
    State(backend): State<Backend>,
    Path((user, chat, turn)): Path<(String, String, u32)>,
) -> Result<Response, Failed> {
    let session = backend.chat(&user, &chat).await?;
    let Turn { id, said, .. } = turn_of(&session, turn).await?;
    backend.answer(session, NewTurn::new(said.user_message, "").replacing(id)).await
}

async fn erase(
    State(backend): State<Backend>,
    Path((user, chat, turn)): Path<(String, String, u32)>,
) -> Result<StatusCode, Failed> {
    let session = backend.chat(&user, &chat).await?;
    let turn = turn_of(&session, turn).await?;
    backend.user(&user).await?.erase_turn(turn.id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A page of the chat, the newest turns first to be asked for, oldest first in it.
async fn history(
    State(backend): State<Backend>,
    Path((user, chat)): Path<(String, String)>,
    Query(page): Query<Page>,
) -> Result<Json<Vec<Shown>>, Failed> {
    let session = backend.chat(&user, &chat).await?;
    let mut shown = Vec::new();
    for turn in session.turns_before(page.before, page.limit.unwrap_or(50)).await? {
        let versions_before = session.replaced_at(turn.turn_number()).await?.len();
        if let Some(Turn { turn_number, said, .. }) = turn.turn() {
            let (message, reply) = (said.user_message.clone(), said.ai_response.clone());
            shown.push(Shown { number: *turn_number, message, reply, versions_before });
        }
    }
    Ok(Json(shown))
}

async fn turn_of(session: &Session, number: u32) -> Result<Turn, Failed> {
    let found = session.turn(number).await?;
    found.ok_or_else(|| Failed(StatusCode::NOT_FOUND, "no such turn".to_owned()))
}

impl Backend {
    async fn user(&self, name: &str) -> Result<User, Failed> {
        let found = sqlx::query_scalar("SELECT id FROM users WHERE name = ?").bind(name);
        let id: Option<Uuid> = found.fetch_optional(&self.db).await?;
        let id = id.ok_or_else(|| Failed(StatusCode::NOT_FOUND, "no such user".to_owned()))?;
        Ok(self.memory.user_by_id(UserId::from_uuid(id)).await?)
    }

    async fn chat(&self, user: &str, chat: &str) -> Result<Session, Failed> {
        Ok(self.user(user).await?.session_named(chat).await?)
    }

    /// Records the message, asks LLM#2 with what is remembered, and streams what it says. The message is safe before anything is
    /// paid for; what has arrived of the reply is safe also if the client goes away.
    async fn answer(&self, session: Session, message: NewTurn) -> Result<Response, Failed> {
        let recorded = session.record_message(message).await?;
        let Turn { id, said, .. } = turn_of(&session, recorded.turn_number).await?;
        let options = ContextOptions::default().for_messages();
        let context = session.context(&said.user_message, options).await?;
        let mut parts = (self.llm)(context.messages());
        let (client, stream) = mpsc::channel(16);
        tokio::spawn(async move {
            let mut reply = String::new();
            while let Some(part) = parts.recv().await {
                reply.push_str(&part);
                if client.send(part).await.is_err() {
                    break; // The client has cut it short.
                }
            }
            complete(&session, id, Reply::new(reply).answering(context.receipt)).await;
        });
        let parts = ReceiverStream::new(stream).map(Ok::<_, Infallible>);
        Ok(([("x-turn", recorded.turn_number.to_string())], Body::from_stream(parts)).into_response())
    }
}

async fn complete(session: &Session, turn: TurnId, reply: Reply) {
    // Replaced or erased meanwhile, or nothing has arrived: then there is no turn for it.
    if let Err(error) = session.complete(turn, reply).await {
        eprintln!("the reply to {turn}: {error}");
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "backend.db".to_owned());
    // In the place of an LLM.
    let llm: Llm = Arc::new(|messages| {
        let (sender, parts) = mpsc::channel(1);
        tokio::spawn(async move { sender.send(format!("I was handed {} messages.", messages.len())).await });
        parts
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    axum::serve(listener, router(open(&path, llm).await?)).await?;
    Ok(())
}
