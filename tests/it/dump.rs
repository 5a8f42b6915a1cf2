//! The rows of a file as text, without checksums, for comparing two states of it.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use rusqlite::{Connection, OpenFlags};

/// The rows of each table, sorted, by the table's name.
pub type Dump = BTreeMap<String, Vec<String>>;

/// What differs between two files with the same history: random ids, random numbers, and times.
pub const DRAWN: &[&str] = &[
    "sqlite_sequence.*",
    "archived_frames.*",
    "archived_turns.frame_no",
    "archived_turns.position",
    "conversation_summaries.id",
    "conversation_summaries.identity_anchor_ids",
    "derivations.product_id",
    "identity_anchors.id",
    "identity_anchors.superseded_by",
    "memory_tier_transitions.moved_at",
    "user_scopes.epoch",
    "user_scopes.revision",
];

pub fn reader(path: &Path) -> Connection {
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap()
}

/// Returns the single value that a query returns.
pub fn ask<T: rusqlite::types::FromSql>(path: &Path, sql: &str) -> T {
    reader(path).query_row(sql, [], |row| row.get(0)).unwrap_or_else(|error| panic!("{error}: {sql}"))
}

/// Changes the file without the library.
pub fn meddle(path: &Path, sql: &str) {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    Connection::open_with_flags(path, flags).unwrap().execute_batch(sql).unwrap();
}

/// Changes the file as a migration would: its rows get their checksums when it is next opened.
pub fn rewrite(path: &Path, sql: &str) {
    meddle(path, sql);
    let conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
    let tables = "SELECT t.name FROM pragma_table_list AS t JOIN pragma_table_info(t.name) AS c
                  WHERE t.type = 'table' AND c.name = 'row_check'";
    for table in strings(&conn, tables) {
        conn.execute_batch(&format!("UPDATE {table} SET row_check = x'00000000'")).unwrap();
    }
}

/// Returns every row of the file.
pub fn dump(path: &Path) -> Dump {
    dump_without(path, &[])
}

/// Returns every row of the file, without some columns (`table.column`) or tables (`table.*`).
pub fn dump_without(path: &Path, left_out: &[&str]) -> Dump {
    rows(path, left_out, |_| "true".to_owned())
}

/// Returns every row that names a user by id or number.
pub fn dump_of_user(path: &Path, name: &str) -> Dump {
    let id = format!("(SELECT id FROM users WHERE name = '{name}')");
    let number = format!("(SELECT user_no FROM user_scopes WHERE user_id = {id})");
    let dump = rows(path, &[], |columns| {
        let has = |column: &str| columns.contains(column);
        match () {
            () if has("user_id") => format!("user_id = {id}"),
            () if has("user_no") => format!("user_no = {number}"),
            () => "false".to_owned(),
        }
    });
    dump.into_iter().filter(|(_, rows)| !rows.is_empty()).collect()
}

fn rows(path: &Path, left_out: &[&str], which: impl Fn(&BTreeSet<String>) -> String) -> Dump {
    let conn = reader(path);
    let tx = conn.unchecked_transaction().unwrap();
    let names =
        strings(&tx, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'refinery%'");
    let mut dump = Dump::new();
    for table in names.into_iter().filter(|table| !left_out.contains(&format!("{table}.*").as_str())) {
        let columns = strings(&tx, &format!("SELECT name FROM pragma_table_info('{table}')"));
        let is_shown = |column: &str| {
            // The checksum also covers the columns that are left out.
            column != "row_check" && !left_out.contains(&format!("{table}.{column}").as_str())
        };
        let shown = columns.iter().filter(|column| is_shown(column));
        let shown: Vec<String> = shown.map(|column| format!("'{column}=' || quote({column})")).collect();
        let which = which(&columns.iter().cloned().collect());
        let sql = format!("SELECT {} FROM {table} WHERE {which} ORDER BY 1", shown.join(" || ' ' || "));
        dump.insert(table, strings(&tx, &sql));
    }
    dump
}

fn strings(conn: &Connection, sql: &str) -> Vec<String> {
    let mut stmt = conn.prepare(sql).unwrap();
    let rows = stmt.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

/// Checks that two dumps are the same. Shows only a few of the rows that differ, because whole dumps fill screens.
#[track_caller]
pub fn assert_same(left: &Dump, right: &Dump, what: &str) {
    let tables: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    for table in tables {
        let rows = |dump: &Dump| dump.get(table).cloned().unwrap_or_default();
        let (left, right) = (rows(left), rows(right));
        let only = |these: &[String], those: &[String]| -> Vec<String> {
            these
                .iter()
                .filter(|row| !those.contains(row))
                .take(3)
                .map(|row| row.chars().take(600).collect())
                .collect()
        };
        assert!(
            left == right,
            "{what}: {table} has {} and {} rows\nonly left: {:#?}\nonly right: {:#?}",
            left.len(),
            right.len(),
            only(&left, &right),
            only(&right, &left)
        );
    }
}
