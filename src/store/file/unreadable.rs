//! Names a row that cannot be read as a caller would: what it is of, its id, and what to do about it.

use std::error::Error as _;

use rusqlite::{Row, types::ValueRef};
use uuid::Uuid;

use crate::{
    error::{Error, ErrorKind},
    store::{file::sql_words, sql::Unreadable},
};

/// What the rows of a table are of, and whether a caller can erase it by its id, which is then the column `id`.
const KINDS: &[(&str, &str, bool)] = &[
    ("archived_frames", "a frame of the archive", false),
    ("archived_turns", "the place of an archived turn", false),
    ("conversation_sessions", "session", true),
    ("conversation_summaries", "the summary of a turn", false),
    ("conversation_turns", "turn", true),
    ("derivations", "the evidence of an anchor", false),
    ("identity_anchors", "an anchor", false),
    ("jobs", "a job", false),
    ("memory_changes", "a change of a memory", false),
    ("memory_edges", "an edge between memories", false),
    ("memory_episodes", "an episode", false),
    ("memory_reviews", "a review", false),
    ("memory_sources", "a source of a memory", false),
    ("memory_units", "the unit of a memory", false),
    ("memory_state", "the state of a memory", false),
    ("recall_receipts", "a receipt", false),
    ("recall_units", "the unit of a turn or a memory", false),
    ("turns_aside", "turn", true),
    ("user_memories", "memory", true),
    ("user_scopes", "a user", false),
    ("users", "a user", false),
];

/// If the error is that the statement's row could not be read, returns one that names the row; otherwise the error.
#[cold]
pub(super) fn named(error: Error, sql: &str, row: &Row<'_>) -> Error {
    if !error.source().is_some_and(|source| source.is::<Unreadable>()) {
        return error;
    }
    let table = table_of(sql).unwrap_or_default();
    let known = KINDS.iter().find(|(name, ..)| *name == table);
    let message = match (known, id_of(row)) {
        (Some((table, kind, true)), Some(id)) => {
            let prefix = if *table == "user_memories" { "mem_" } else { "" };
            format!(
                "{kind} {prefix}{id} cannot be read, because its row is damaged; {LISTS}erase the {kind}, or {RESTORE}"
            )
        }
        (Some((_, kind, is_erasable)), _) => {
            let article = if *is_erasable { "a " } else { "" };
            format!("{article}{kind} cannot be read, because its row is damaged; {LISTS}{RESTORE}")
        }
        (None, _) => format!("a row of the file cannot be read; {LISTS}{RESTORE}"),
    };
    Error::new(ErrorKind::Corrupt, message)
}

const LISTS: &str = "doctor lists all damage; ";
const RESTORE: &str = "restore a backup";

/// The table whose rows a statement reads: the first one outside of all parentheses.
fn table_of(sql: &str) -> Option<String> {
    let mut depth = 0;
    let mut words = sql_words::words(sql).into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "(" => depth += 1,
            ")" => depth -= 1,
            "FROM" | "INTO" | "UPDATE" if depth == 0 => return words.next(),
            _ => {}
        }
    }
    None
}

/// The UUID in the row's column `id`.
fn id_of(row: &Row<'_>) -> Option<Uuid> {
    match row.get_ref("id") {
        Ok(ValueRef::Blob(id)) => Uuid::from_slice(id).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_a_statement_is_outside_of_its_parentheses() {
        for (sql, table) in [
            (
                "SELECT a, (SELECT epoch FROM users) AS e FROM conversation_sessions AS s JOIN b ON x = y",
                "conversation_sessions",
            ),
            ("DELETE FROM turns_aside WHERE id IN (SELECT id FROM b) RETURNING id", "turns_aside"),
            ("INSERT INTO archived_frames (a) VALUES (?1) RETURNING frame_no", "archived_frames"),
        ] {
            assert_eq!(table_of(sql).as_deref(), Some(table), "{sql}");
        }
        assert_eq!(table_of("SELECT EXISTS (SELECT 1 FROM jobs)"), None);
    }
}
