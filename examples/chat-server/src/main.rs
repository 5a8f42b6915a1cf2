//! A chat backend that stores users and an operator's log in its own tables, with sqlx, and conversations in Thermocline,
//! in the same file. Replies are streamed, and can be stopped and regenerated. Messages can be edited, and turns erased.
//!
//! ```sh
//! cargo run --manifest-path examples/chat-server/Cargo.toml -- backend.db
//! curl -X PUT localhost:3000/alex
//! curl -N localhost:3000/alex/trip --json '{"id":"m1","text":"I moved to Lisbon."}'
//! curl -N -X POST localhost:3000/alex/trip/1
//! curl -N -X PUT localhost:3000/alex/trip/1 --json '{"id":"m2","text":"I moved to Porto."}'
//! curl 'localhost:3000/alex/trip?limit=20'
//! curl -X DELETE localhost:3000/alex/trip/1
//! curl localhost:3000
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
use serde::Deserialize;
use sqlx::{
    SqlitePool,
    sqlite::{SqliteConnectOptions, SqliteJournalMode},
};
use thermocline::{
    ChatMessage, ChatRole, Config, ContextOptions, ErrorKind, NewTurn, OnEvent, PastTurn, Reply, Session,
    Thermocline, Turn, TurnState, User, UserId,
};
use tokio::sync::mpsc;
use tokio_stream::{StreamExt, wrappers::ReceiverStream};
use uuid::Uuid;

#[cfg(test)]
mod tests;

/// The backend's own tables. Thermocline finds `users` there and refers to it, and adds its own tables next to them.
const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS users (id BLOB PRIMARY KEY, name TEXT UNIQUE, plan TEXT NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS operator_log (at TEXT NOT NULL DEFAULT current_timestamp, event TEXT NOT NULL) STRICT";

/// LLM#2, which returns its reply part by part. Dropping the receiver stops it.
type Llm = Arc<dyn Fn(Vec<ChatMessage>) -> mpsc::Receiver<String> + Send + Sync>;

#[derive(Clone)]
struct Backend {
    db: SqlitePool,
    memory: Thermocline,
    llm: Llm,
}

/// A message from a client. It has the client's own id, so that sending it again is harmless.
#[derive(Deserialize)]
struct Message {
    id: String,
    text: String,
}

/// The path parameters that select a chat: the user and the chat's name. `OfTurn` adds the turn's number.
type OfChat = Path<(String, String)>;
type OfTurn = Path<(String, String, u32)>;

#[derive(Deserialize)]
struct Page {
    before: Option<u32>,
    limit: Option<u32>,
}

/// An error, with its text for the client; a real backend would reveal less.
struct Failed(StatusCode, String);

impl<E: Into<Box<dyn std::error::Error + Send + Sync>>> From<E> for Failed {
    fn from(error: E) -> Self {
        let error = error.into();
        let status = match error.downcast_ref().map(thermocline::Error::kind) {
            Some(ErrorKind::NotFound) => StatusCode::NOT_FOUND,
            Some(ErrorKind::InvalidInput) => StatusCode::BAD_REQUEST,
            Some(ErrorKind::Conflict | ErrorKind::SessionEnded) => StatusCode::CONFLICT,
            Some(ErrorKind::Busy) => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self(status, error.to_string())
    }
}

impl IntoResponse for Failed {
    fn into_response(self) -> Response {
        (self.0, self.1).into_response()
    }
}

/// Opens the file for both sets of tables. The backend's tables are created first, because Thermocline uses a `users`
/// table that exists.
async fn open(path: &str, llm: Llm) -> Result<Backend, Box<dyn std::error::Error>> {
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let db =
        SqlitePool::connect_with(options.journal_mode(SqliteJournalMode::Wal).foreign_keys(true)).await?;
    sqlx::raw_sql(SCHEMA).execute(&db).await?;

    // The hook runs on Thermocline's threads, so it only forwards the events, and a task of the backend writes them.
    let (sender, mut events) = mpsc::unbounded_channel();
    let mut config = Config::default();
    config.on_event = OnEvent::new(move |event| drop(sender.send(event.to_string())));
    let log = db.clone();
    tokio::spawn(async move {
        while let Some(event) = events.recv().await {
            let insert = sqlx::query("INSERT INTO operator_log (event) VALUES (?)").bind(event);
            let _ = insert.execute(&log).await;
        }
    });
    Ok(Backend { memory: Thermocline::open_with(path, config).await?, db, llm })
}

fn router(backend: Backend) -> Router {
    Router::new()
        .route("/{user}", put(add_user))
        .route("/", get(log))
        .route("/{user}/{chat}", post(send).get(history))
        .route("/{user}/{chat}/{turn}", post(again).put(edit).delete(erase))
        .with_state(backend)
}

/// Adds a user to the backend's own table, with sqlx.
async fn add_user(State(backend): State<Backend>, Path(name): Path<String>) -> Result<StatusCode, Failed> {
    let insert = sqlx::query("INSERT INTO users (id, name, plan) VALUES (?, ?, 'free')");
    insert.bind(Uuid::new_v4()).bind(name).execute(&backend.db).await?;
    Ok(StatusCode::CREATED)
}

async fn log(State(backend): State<Backend>) -> Result<Json<Vec<String>>, Failed> {
    let newest = sqlx::query_scalar("SELECT event FROM operator_log ORDER BY rowid DESC LIMIT 100");
    Ok(Json(newest.fetch_all(&backend.db).await?))
}

/// Records a message, and streams the reply.
async fn send(
    State(backend): State<Backend>,
    Path((user, chat)): OfChat,
    Json(Message { id, text }): Json<Message>,
) -> Result<Response, Failed> {
    let chat = backend.chat(&user, &chat).await?;
    backend.answer(chat, NewTurn::new(text, "").caller_id(id)).await
}

/// Replaces a message, and streams the reply; everything said after it is set aside.
async fn edit(
    State(backend): State<Backend>,
    Path((user, chat, turn)): OfTurn,
    Json(Message { id, text }): Json<Message>,
) -> Result<Response, Failed> {
    let chat = backend.chat(&user, &chat).await?;
    let replaced = turn_of(&chat.1, turn).await?;
    backend.answer(chat, NewTurn::new(text, "").caller_id(id).replacing(replaced.id)).await
}

/// Regenerates the reply to a message.
async fn again(State(backend): State<Backend>, Path((user, chat, turn)): OfTurn) -> Result<Response, Failed> {
    let chat = backend.chat(&user, &chat).await?;
    let Turn { id, said, .. } = turn_of(&chat.1, turn).await?;
    backend.answer(chat, NewTurn::new(said.user_message, "").replacing(id)).await
}

async fn erase(
    State(backend): State<Backend>,
    Path((user, chat, turn)): OfTurn,
) -> Result<StatusCode, Failed> {
    let (user, session) = backend.chat(&user, &chat).await?;
    user.erase_turn(turn_of(&session, turn).await?.id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns a page of the chat, oldest turn first: the newest turns, or those before a given one.
async fn history(
    State(backend): State<Backend>,
    Path((user, chat)): OfChat,
    Query(page): Query<Page>,
) -> Result<Json<Vec<PastTurn>>, Failed> {
    let (_, session) = backend.chat(&user, &chat).await?;
    Ok(Json(session.turns_before(page.before, page.limit.unwrap_or(50)).await?))
}

async fn turn_of(session: &Session, number: u32) -> Result<Turn, Failed> {
    session.turn(number).await?.ok_or_else(|| Failed(StatusCode::NOT_FOUND, "no such turn".to_owned()))
}

impl Backend {
    async fn chat(&self, user: &str, chat: &str) -> Result<(User, Session), Failed> {
        let found = sqlx::query_scalar("SELECT id FROM users WHERE name = ?").bind(user);
        let id: Option<Uuid> = found.fetch_optional(&self.db).await?;
        let id = id.ok_or_else(|| Failed(StatusCode::NOT_FOUND, "no such user".to_owned()))?;
        let user = self.memory.user_by_id(UserId::from_uuid(id)).await?;
        let session = user.session_named(chat).await?;
        Ok((user, session))
    }

    /// Records the message, asks LLM#2 with a context, and streams the reply. The message is stored before the LLM call,
    /// which costs money. If the client disconnects, the part of the reply that has arrived is kept.
    async fn answer(&self, (user, session): (User, Session), message: NewTurn) -> Result<Response, Failed> {
        let recorded = session.record_message(message).await?;
        let Turn { state, said, .. } = user.turn(recorded.turn_id).await?;
        if state != TurnState::Incomplete {
            return Ok(said.ai_response.into_response()); // The message was sent again, and already has its reply.
        }
        let message = said.user_message;
        let context = session.context(&message, ContextOptions::default().for_messages()).await?;
        let mut messages = context.messages();
        messages.push(ChatMessage::new(ChatRole::User, message));
        let mut parts = (self.llm)(messages);
        let (client, stream) = mpsc::channel(16);
        tokio::spawn(async move {
            let mut reply = String::new();
            while let Some(part) = parts.recv().await {
                reply.push_str(&part);
                if client.send(part).await.is_err() {
                    break; // The client has disconnected, which stops the reply.
                }
            }
            let reply = Reply::new(reply).answering(context.receipt);
            // Fails if the turn was replaced or erased meanwhile, or if the reply is empty.
            if let Err(error) = session.complete(recorded.turn_id, reply).await {
                eprintln!("a reply: {error}");
            }
        });
        let parts = ReceiverStream::new(stream).map(Ok::<_, Infallible>);
        Ok(([("x-turn", recorded.turn_number.to_string())], Body::from_stream(parts)).into_response())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "backend.db".to_owned());
    // A stand-in for an LLM.
    let llm: Llm = Arc::new(|messages| {
        let (sender, parts) = mpsc::channel(1);
        tokio::spawn(async move { sender.send(format!("I was handed {} messages.", messages.len())).await });
        parts
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    axum::serve(listener, router(open(&path, llm).await?)).await?;
    Ok(())
}
