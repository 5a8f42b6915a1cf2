//! The plain alternative: rusqlite as a careful person would use it without this crate. Connections are kept and
//! statements prepared; each query reads only the columns that a chat needs.

use std::path::Path;

use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, params};

/// The columns of a turn that a chat needs: six, far fewer than the crate's own `Turn` has.
#[derive(Debug)]
pub struct PlainTurn {
    pub id: Vec<u8>,
    pub turn_number: u32,
    pub timestamp: String,
    pub total_tokens: u32,
    pub user_message: String,
    pub ai_response: String,
}

const COLUMNS: &str = "id, turn_number, timestamp, total_tokens, user_message, ai_response";

/// The pragmas of all the crate's own connections (src/store/file/connect.rs).
const SETTINGS: &str = "PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;
    PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0;";

/// Opens a connection for reading, with the crate's pragmas.
pub fn reader(path: &Path) -> Connection {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags).unwrap();
    conn.execute_batch(SETTINGS).unwrap();
    conn.execute_batch("PRAGMA query_only = ON; PRAGMA cache_size = -1024;").unwrap();
    conn
}

/// Opens a durable connection for writing. It has the crate's pragmas except one: it checkpoints by itself every 1,000
/// pages, as SQLite does by default.
pub fn writer(path: &Path) -> Connection {
    let conn = Connection::open(path).unwrap();
    conn.execute_batch(SETTINGS).unwrap();
    conn.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -2048;
         PRAGMA secure_delete = ON; PRAGMA journal_size_limit = 16777216; PRAGMA wal_autocheckpoint = 1000;",
    )
    .unwrap();
    conn
}

/// Returns the id of a session by the name of its user and its key.
pub fn session_id(conn: &Connection, user: &str, key: &str) -> Vec<u8> {
    conn.prepare_cached(
        "SELECT s.id FROM users AS u JOIN conversation_sessions AS s ON s.user_id = u.id
         WHERE u.name = ?1 AND s.caller_id = ?2",
    )
    .unwrap()
    .query_row([user, key], |row| row.get(0))
    .optional()
    .unwrap()
    .expect("the session is in the file")
}

/// Returns the newest turns of a session.
pub fn newest(conn: &Connection, session_id: &[u8], count: usize) -> Vec<PlainTurn> {
    let mut stmt = conn
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM conversation_turns WHERE session_id = ?1 ORDER BY turn_number DESC LIMIT ?2"
        ))
        .unwrap();
    stmt.query_map(params![session_id, count], read).unwrap().map(Result::unwrap).collect()
}

/// Returns the newest turns of a session that contain any of three words.
pub fn like(conn: &Connection, session_id: &[u8], words: &[String; 3], count: usize) -> Vec<PlainTurn> {
    let [a, b, c] = words.each_ref().map(|word| format!("%{word}%"));
    let mut stmt = conn
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM conversation_turns WHERE session_id = ?1
             AND (user_message LIKE ?2 OR ai_response LIKE ?2 OR user_message LIKE ?3 OR ai_response LIKE ?3
                  OR user_message LIKE ?4 OR ai_response LIKE ?4)
             ORDER BY turn_number DESC LIMIT ?5"
        ))
        .unwrap();
    stmt.query_map(params![session_id, a, b, c, count], read).unwrap().map(Result::unwrap).collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<PlainTurn> {
    Ok(PlainTurn {
        id: row.get(0)?,
        turn_number: row.get(1)?,
        timestamp: row.get(2)?,
        total_tokens: row.get(3)?,
        user_message: row.get(4)?,
        ai_response: row.get(5)?,
    })
}
