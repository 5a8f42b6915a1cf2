//! Recognizes and reads files that other programs made with the tables printed in the tiering paper.

use std::path::Path;

use chrono::{DateTime, Utc};
use rusqlite::{Connection, types::ValueRef};
use uuid::Uuid;

use crate::{
    error::{Error, ErrorKind, Result},
    model::{ids::SnapshotId, stored_time::StoredTime, turn::NewTurn},
    store::file::connect,
};

/// A file with the tables that the tiering paper prints, made by another program and opened for reading.
///
/// The tables are `conversation_turns` and `conversation_sessions`.
#[derive(Debug)]
pub struct PaperFile {
    conn: Connection,
}

/// A turn of a [`PaperFile`].
///
/// Ids are text: a BLOB of 16 bytes becomes a UUID, any other BLOB hexadecimal digits, a number its decimal digits, and NULL
/// an empty text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PaperTurn {
    /// The id of the turn's session.
    pub session: String,
    /// The id of the turn.
    pub id: String,
    /// The user's message.
    pub user_message: String,
    /// The reply.
    pub ai_response: String,
    /// When the turn was said.
    pub timestamp: DateTime<Utc>,
    /// Whether the turn is marked as critical.
    pub is_identity_critical: bool,
    /// The id of the backend's state at the turn. `None` if it is not a BLOB of 16 bytes.
    pub snapshot_id: Option<SnapshotId>,
}

impl PaperTurn {
    /// Converts the turn to one that can be recorded.
    ///
    /// Its id becomes the caller's id. The time, the critical mark and the snapshot's id are kept; the file's own token
    /// counts are not.
    pub fn to_turn(&self) -> NewTurn {
        let mut turn = NewTurn::new(&*self.user_message, &*self.ai_response)
            .caller_id(&*self.id)
            .said_at(self.timestamp);
        if self.is_identity_critical {
            turn = turn.critical();
        }
        match self.snapshot_id {
            Some(snapshot) => turn.snapshot(snapshot),
            None => turn,
        }
    }
}

/// An iterator over the turns of one user in a [`PaperFile`], in order.
#[derive(Debug)]
#[must_use]
pub struct PaperTurns<'f> {
    file: &'f PaperFile,
    rowids: std::vec::IntoIter<i64>,
}

impl PaperFile {
    /// Opens a file for reading.
    ///
    /// Returns `None` if the file is an SQLite database that lacks these tables or some of their columns, or if Thermocline
    /// made it.
    ///
    /// Errors: `Corrupt` if the file is damaged or not an SQLite database, `ReadOnly` or `Io` if it cannot be opened, `Busy`
    /// if another process keeps it locked.
    pub fn open(path: impl AsRef<Path>) -> Result<Option<Self>> {
        let conn = connect::reader(path.as_ref())?;
        Ok(if is_papers(&conn)? { Some(Self { conn }) } else { None })
    }

    /// Returns the ids of the users who have turns in the file, in the order in which SQLite sorts them.
    ///
    /// The ids are text, as in [`PaperTurn`].
    pub fn users(&self) -> Result<Vec<String>> {
        let mut stmt =
            self.conn.prepare("SELECT DISTINCT user_id FROM conversation_turns ORDER BY user_id")?;
        let users = stmt.query_map([], |row| Ok(id_text(row.get_ref("user_id")?)))?;
        Ok(users.collect::<rusqlite::Result<_>>()?)
    }

    /// Returns the turns of a user: sessions in the order in which they started, each session's turns by `turn_number`.
    /// Turns whose session has no row come first.
    ///
    /// `user` is one of the ids that [`users`](Self::users) returns.
    pub fn turns(&self, user: &str) -> Result<PaperTurns<'_>> {
        let mut stmt = self.conn.prepare(
            "SELECT t.rowid, t.user_id FROM conversation_turns AS t
             LEFT JOIN conversation_sessions AS s ON s.id = t.session_id
             ORDER BY julianday(s.started_at), s.rowid, t.session_id, t.turn_number, t.rowid",
        )?;
        let (mut rows, mut rowids) = (stmt.query([])?, Vec::new());
        while let Some(row) = rows.next()? {
            if id_text(row.get_ref("user_id")?) == user {
                rowids.push(row.get("rowid")?);
            }
        }
        Ok(PaperTurns { file: self, rowids: rowids.into_iter() })
    }

    fn turn(&self, rowid: i64) -> Result<PaperTurn> {
        let mut stmt = self.conn.prepare_cached(
            "SELECT id, session_id, user_message, ai_response, snapshot_id, is_identity_critical = 1 AS is_critical,
                    strftime('%Y-%m-%dT%H:%M:%fZ', timestamp) AS said_at
             FROM conversation_turns WHERE rowid = ?1",
        )?;
        let read = |row: &rusqlite::Row<'_>| {
            let said_at: Option<String> = row.get("said_at")?;
            Ok(PaperTurn {
                session: id_text(row.get_ref("session_id")?),
                id: id_text(row.get_ref("id")?),
                user_message: row.get("user_message")?,
                ai_response: row.get("ai_response")?,
                // A placeholder, which `map_err` below replaces.
                timestamp: *said_at
                    .as_deref()
                    .and_then(StoredTime::from_text)
                    .ok_or(rusqlite::Error::InvalidQuery)?,
                is_identity_critical: row.get::<_, Option<bool>>("is_critical")?.unwrap_or(false),
                snapshot_id: row
                    .get_ref("snapshot_id")?
                    .as_blob()
                    .ok()
                    .and_then(uuid)
                    .map(SnapshotId::from_uuid),
            })
        };
        stmt.query_row([rowid], read).map_err(|error| match error {
            rusqlite::Error::InvalidQuery => Error::invalid("the turn's timestamp is not a time"),
            // rusqlite's message about a wrong type names the column and contains no text.
            error => Error::caused(ErrorKind::InvalidInput, "the turn's row cannot be read", error),
        })
    }
}

impl Iterator for PaperTurns<'_> {
    type Item = Result<PaperTurn>;

    fn next(&mut self) -> Option<Self::Item> {
        self.rowids.next().map(|rowid| self.file.turn(rowid))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.rowids.size_hint()
    }
}

impl ExactSizeIterator for PaperTurns<'_> {}

/// Returns whether the file has the paper's two tables with the columns that are read here, and is not one of ours.
pub(super) fn is_papers(conn: &Connection) -> Result<bool> {
    const COLUMNS: &str = r#"["id", "user_id", "session_id", "turn_number", "user_message", "ai_response", "timestamp",
        "snapshot_id", "is_identity_critical"]"#;
    let look = "SELECT NOT EXISTS (SELECT 1 FROM json_each(?1)
                                   WHERE value NOT IN (SELECT name FROM pragma_table_info('conversation_turns')))
                  AND 2 = (SELECT count(*) FROM pragma_table_info('conversation_sessions')
                           WHERE name IN ('id', 'started_at'))
                  AND NOT EXISTS (SELECT 1 FROM pragma_table_info('conversation_turns') WHERE name = 'turn_key')";
    Ok(conn.query_row(look, [COLUMNS], |row| row.get(0))?)
}

fn uuid(bytes: &[u8]) -> Option<Uuid> {
    Uuid::from_slice(bytes).ok()
}

/// Formats an id as text. NULL becomes an empty string.
fn id_text(id: ValueRef<'_>) -> String {
    match id {
        ValueRef::Blob(bytes) => uuid(bytes).map_or_else(
            || {
                let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
                digits.map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)])).collect()
            },
            |uuid| uuid.to_string(),
        ),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Null => String::new(),
    }
}
