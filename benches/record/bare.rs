//! The plain alternative to records: rows of `conversation_turns` with the same values, written by rusqlite alone.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    thread,
};

use rusqlite::{Connection, TransactionBehavior, params, params_from_iter, types::Value};
use tokio::sync::{mpsc, oneshot};

use crate::{Rate, repeat, support::plain};

const SCHEMA: &str = include_str!("../../migrations/V1__sessions_and_turns.sql");

/// The creation time of the user and the sessions.
const AT: &str = "2025-01-06T08:00:00.000Z";

/// The limits of the crate's own queue: the records of a batch, and those that may wait.
const MAX_BATCH: usize = 256;
const QUEUE_LEN: usize = 1_024;

/// A row of `conversation_turns`: its values in the order of the columns.
pub type Row = Vec<Value>;

/// Makes rows with the values of recorded turns, and with new, ascending keys.
pub struct Rows {
    like: Vec<Row>,
    columns: Columns,
    made: AtomicI64,
}

/// The positions of the columns that get new values.
struct Columns {
    turn_key: usize,
    id: usize,
    user_id: usize,
    session_id: usize,
    turn_number: usize,
    seq: usize,
    memory_tier: usize,
}

impl Rows {
    /// Makes rows like these, which were read by `SELECT *`.
    pub fn new(like: Vec<Row>, names: &[String]) -> Self {
        let at = |name: &str| names.iter().position(|column| column == name).unwrap();
        let columns = Columns {
            turn_key: at("turn_key"),
            id: at("id"),
            user_id: at("user_id"),
            session_id: at("session_id"),
            turn_number: at("turn_number"),
            seq: at("seq"),
            memory_tier: at("memory_tier"),
        };
        Self { like, columns, made: AtomicI64::new(0) }
    }

    /// Returns the next row of a session.
    pub fn next(&self, session: i64) -> Row {
        let n = 1 + self.made.fetch_add(1, Ordering::Relaxed);
        let at = &self.columns;
        let like = usize::try_from(n).expect("it counts up") % self.like.len();
        let mut row = self.like[like].clone();
        row[at.turn_key] = Value::Integer(session << 24 | n);
        row[at.id] = Value::Blob(id(n).to_vec());
        row[at.user_id] = Value::Blob(id(0).to_vec());
        row[at.session_id] = Value::Blob(id(session).to_vec());
        row[at.turn_number] = Value::Integer(n);
        row[at.seq] = Value::Integer(n);
        row[at.memory_tier] = Value::Text("hot".to_owned());
        row
    }
}

pub struct Bare {
    conn: Connection,
    insert: String,
}

impl Bare {
    /// Creates a file with one user and this many sessions.
    pub fn start(path: &Path, sessions: usize) -> Self {
        let conn = plain::writer(path);
        conn.execute_batch(SCHEMA).unwrap();
        for column in ["row_check BLOB", "metadata TEXT", "recorded_by TEXT"] {
            conn.execute_batch(&format!("ALTER TABLE conversation_turns ADD COLUMN {column}")).unwrap();
        }
        conn.execute("INSERT INTO users (id, created_at) VALUES (?1, ?2)", params![id(0), AT]).unwrap();
        for session in 1..=i64::try_from(sessions).expect("there are 32 at most") {
            conn.execute(
                "INSERT INTO conversation_sessions (id, user_id, started_at, last_active_at)
                 VALUES (?1, ?2, ?3, ?3)",
                params![id(session), id(0), AT],
            )
            .unwrap();
        }
        let columns = conn.prepare("SELECT * FROM conversation_turns").unwrap().column_count();
        let marks: Vec<String> = (1..=columns).map(|n| format!("?{n}")).collect();
        let insert = format!("INSERT INTO conversation_turns VALUES ({})", marks.join(", "));
        Self { conn, insert }
    }

    /// Inserts the rows in one durable transaction.
    pub fn insert<'r>(&mut self, rows: impl IntoIterator<Item = &'r Row>) {
        let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
        {
            let mut stmt = tx.prepare_cached(&self.insert).unwrap();
            for row in rows {
                stmt.execute(params_from_iter(row)).unwrap();
            }
        }
        tx.commit().unwrap();
    }
}

/// Returns 16 bytes that ascend with `n`, as a `UUIDv7` does with time.
fn id(n: i64) -> [u8; 16] {
    let mut id = [0x70; 16];
    id[..8].copy_from_slice(&n.to_be_bytes());
    id
}

/// A row to write, and the caller that waits for it.
type Call = (Row, oneshot::Sender<()>);

/// A handle of a thread that inserts all waiting rows in one transaction, but at most `MAX_BATCH` at a time.
pub struct BareWriter {
    queue: mpsc::Sender<Call>,
    rows: Arc<Rows>,
}

impl BareWriter {
    pub fn start(mut bare: Bare, rows: Rows) -> Self {
        let (queue, mut calls) = mpsc::channel::<Call>(QUEUE_LEN);
        thread::spawn(move || {
            while let Some(first) = calls.blocking_recv() {
                let mut batch = vec![first];
                while batch.len() < MAX_BATCH
                    && let Ok(call) = calls.try_recv()
                {
                    batch.push(call);
                }
                bare.insert(batch.iter().map(|(row, _)| row));
                for (_, waiting) in batch {
                    let _ = waiting.send(());
                }
            }
        });
        Self { queue, rows: Arc::new(rows) }
    }

    /// Runs one of the concurrent callers, each with its own session.
    pub fn caller(&self, n: usize) -> impl Future<Output = Rate> + Send + use<> {
        let (queue, rows) = (self.queue.clone(), Arc::clone(&self.rows));
        let session = i64::try_from(n + 1).expect("there are 32 at most");
        repeat(move || {
            let (queue, row) = (queue.clone(), rows.next(session));
            async move {
                let (sender, receiver) = oneshot::channel();
                queue.send((row, sender)).await.unwrap();
                receiver.await.unwrap();
            }
        })
    }
}
