//! Maintains a checksum in each of our rows, which shows whether the row still is what was written.
//!
//! `row_check` is the CRC-32 of a row's other columns, except those in [`LEFT_OUT`]. The statements of `rows/` do not write
//! it. Temporary triggers of the writer's connection do. They are generated from the schema, so that no table and no
//! statement can forget it. An update of a damaged row does not change its checksum, so that the row stays damaged. A row
//! without a checksum gets one when it is updated. Code that shows the text of a row first checks the row's checksum
//! ([`row_check`]); doctor checks every row. If another program changes a column that is covered, that counts as damage.

use std::collections::BTreeSet;

use rusqlite::{Connection, Transaction, TransactionBehavior, functions::FunctionFlags, types::ValueRef};

use crate::{
    error::Result,
    store::{
        file::migrate,
        rows::row_check::{self, checksum},
        sql::{self, SqlValue},
    },
    text::measure,
};

/// The checksum's column: a BLOB of 4 bytes, big-endian, so that writing it never changes a row's size.
const COLUMN: &str = "row_check";
/// The column as it is added to the tables that no migration can add it to.
pub(super) const COLUMN_ADDED: &str =
    "row_check BLOB NOT NULL DEFAULT x'00000000' /* CRC-32 of the row's other columns. */";
/// The value of the column in a row that a migration or another program wrote, without our triggers.
const UNSEALED: &str = "x'00000000'";
/// The SQL function that computes a row's checksum from its other columns, in order.
const FUNCTION: &str = "thermocline_row_check";
/// The SQL function that computes a turn's content hash from its two sides.
const HASH_FUNCTION: &str = "thermocline_content_hash";
/// The SQL condition that a turn's text is not the recorded one, according to the hash in its unit. It never holds for an
/// inserted turn that is not taken over yet.
const IS_ANOTHER_TEXT: &str = "counted_by <> '' AND thermocline_content_hash(user_message, ai_response) <>
    (SELECT r.content_hash FROM user_scopes AS u JOIN recall_units AS r ON r.user_no = u.user_no
     WHERE u.user_id = conversation_turns.user_id AND r.seq = conversation_turns.seq)";
/// Columns that the checksums leave out.
///
/// A backend's connection, which does not have our triggers, may set `snapshot_id` to NULL (`ON DELETE SET NULL`). The other
/// columns of a turn identify it or are derived from it, and reading them only for the checksum made the warm tier slower
/// (benchmark `warm`). A user's `revision` is not part of what was said, and rises with every act. The
/// `hidden_hash` of a memory was added to rows that had checksums, and is computed from what they cover.
const LEFT_OUT: &[(&str, &str)] = &[
    ("conversation_turns", "turn_key"),
    ("conversation_turns", "user_id"),
    ("conversation_turns", "tier_pad"),
    ("conversation_turns", "words"),
    ("conversation_turns", "snapshot_id"),
    ("user_memories", "hidden_hash"),
    ("user_scopes", "revision"),
];

/// A table whose rows have checksums.
struct CheckedTable {
    name: String,
    /// The columns that the checksum covers, in order.
    columns: Vec<String>,
    /// The columns that identify a row.
    key: Vec<String>,
}

/// Adds the functions that compute checksums to this connection.
pub(crate) fn add_functions(conn: &Connection) -> Result<()> {
    let flags =
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    conn.create_scalar_function(FUNCTION, -1, flags, |context| {
        Ok(checksum((0..context.len()).map(|at| value(context.get_raw(at)))).to_vec())
    })?;
    conn.create_scalar_function(HASH_FUNCTION, 2, flags, |context| {
        // A value that is not text was never recorded.
        let hash = match (context.get_raw(0).as_str(), context.get_raw(1).as_str()) {
            (Ok(user), Ok(reply)) => measure::content_hash(user, reply).to_vec(),
            _ => Vec::new(),
        };
        Ok(hash)
    })?;
    Ok(())
}

/// Adds the triggers that maintain the checksums of the rows that this connection writes.
pub(crate) fn keep(conn: &Connection) -> Result<()> {
    let triggers: String = tables(conn)?.iter().map(triggers).collect();
    Ok(conn.execute_batch(&triggers)?)
}

fn triggers(table: &CheckedTable) -> String {
    let CheckedTable { name, columns, key } = table;
    let of = |row: &str| {
        let columns: Vec<String> = columns.iter().map(|column| format!("{row}.{column}")).collect();
        format!("{FUNCTION}({})", columns.join(", "))
    };
    let this: Vec<String> = key.iter().map(|column| format!("{column} = NEW.{column}")).collect();
    let (this, old, new, columns) = (this.join(" AND "), of("OLD"), of("NEW"), columns.join(", "));
    format!(
        "CREATE TEMP TRIGGER row_check_of_new_{name} AFTER INSERT ON main.{name} BEGIN
           UPDATE {name} SET {COLUMN} = {new} WHERE {this};
         END;
         CREATE TEMP TRIGGER row_check_of_changed_{name} AFTER UPDATE OF {columns} ON main.{name}
         WHEN OLD.{COLUMN} = {old} OR OLD.{COLUMN} = {UNSEALED} BEGIN
           UPDATE {name} SET {COLUMN} = {new} WHERE {this};
         END;"
    )
}

/// Returns whether [`seal`] has run since the last migration, by the checksums of the migration history.
pub(crate) fn is_sealed(conn: &Connection) -> Result<bool> {
    Ok(has_column(conn, migrate::HISTORY)?
        && conn.query_row(
            &format!("SELECT NOT EXISTS (SELECT 1 FROM {} WHERE {COLUMN} = {UNSEALED})", migrate::HISTORY),
            [],
            |row| row.get(0),
        )?)
}

/// Adds a checksum to every row that a migration left without one, in one transaction. The rows of the migration history get
/// theirs in it too, so they show whether this was done.
pub(crate) fn seal(conn: &Connection) -> Result<()> {
    if is_sealed(conn)? {
        return Ok(());
    }
    let tx = Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
    if is_sealed(&tx)? {
        return Ok(()); // Another process has done it.
    }
    // No migration can add the column to these tables, because whether they are ours differs between files.
    for table in shared(&tx)?.iter().chain([&migrate::HISTORY.to_owned()]) {
        if !has_column(&tx, table)? {
            tx.execute_batch(&format!("ALTER TABLE {table} ADD COLUMN {COLUMN_ADDED}"))?;
        }
    }
    for CheckedTable { name, columns, .. } in tables(&tx)? {
        // A turn whose text is not the recorded one gets a checksum that does not match, so that it counts as damaged.
        let is_known_damaged = if name == "conversation_turns" { IS_ANOTHER_TEXT } else { "false" };
        tx.execute_batch(&format!(
            "UPDATE {name} SET {COLUMN} = CASE WHEN {is_known_damaged} THEN x'00' ELSE {FUNCTION}({}) END
             WHERE {COLUMN} = {UNSEALED}",
            columns.join(", ")
        ))?;
    }
    Ok(tx.commit()?)
}

fn value(value: ValueRef<'_>) -> SqlValue<'_> {
    match value {
        ValueRef::Null => SqlValue::Null,
        ValueRef::Integer(number) => SqlValue::Integer(number),
        ValueRef::Real(number) => SqlValue::Real(number),
        ValueRef::Text(text) => SqlValue::Text(text),
        ValueRef::Blob(bytes) => SqlValue::Bytes(bytes),
    }
}

/// The number of damaged rows, and the places of the first ones in each table.
#[derive(Debug, Default)]
pub(crate) struct RowDamage {
    pub(crate) rows: u64,
    pub(crate) places: Vec<String>,
    /// The tables with damaged rows.
    pub(crate) tables: BTreeSet<String>,
}

/// Checks every row of each of our tables.
pub(crate) fn damage(conn: &Connection) -> Result<RowDamage> {
    let mut found = RowDamage::default();
    for table in tables(conn)? {
        let known = found.rows;
        look_at(conn, &table, &mut found)?;
        if found.rows > known {
            found.tables.insert(table.name);
        }
    }
    Ok(found)
}

fn look_at(
    conn: &Connection,
    CheckedTable { name, columns, key }: &CheckedTable,
    found: &mut RowDamage,
) -> Result<()> {
    /// The maximum number of places that are reported for one table.
    const MOST_PLACES: u32 = 20;
    let sql = format!("SELECT {}, {COLUMN}, {} FROM {name}", columns.join(", "), key.join(", "));
    let mut stmt = conn.prepare(&sql)?;
    let mut rows = stmt.query([])?;
    let mut places = 0;
    loop {
        match rows.next() {
            Ok(None) => return Ok(()),
            Ok(Some(row)) if row_check::is_sound(&sql::SqlRow::new(row), columns.len()) => {}
            Ok(Some(row)) => {
                found.rows += 1;
                places += 1;
                if places <= MOST_PLACES {
                    let value = |at| row.get_ref(at).map_or_else(|_| "?".to_owned(), shown);
                    let named = key.iter().zip(columns.len() + 1..);
                    let named: Vec<String> =
                        named.map(|(column, at)| format!("{column} = {}", value(at))).collect();
                    found.places.push(format!("{name} where {}", named.join(" and ")));
                }
            }
            Err(_) => {
                found.rows += 1;
                found.places.push(format!("{name}: from some row on it cannot be read"));
                return Ok(());
            }
        }
    }
}

/// Formats a part of a key for `sqlite3`. Shows numbers and ids, but no words or callers' text.
fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Blob(bytes) => match bytes.try_into() {
            Ok(id) => format!("x'{:032x}'", u128::from_be_bytes(id)),
            Err(_) => "x'...'".to_owned(),
        },
        _ => "'...'".to_owned(),
    }
}

/// Returns our tables in this file that have the checksum column.
fn tables(conn: &Connection) -> Result<Vec<CheckedTable>> {
    let shared = shared(conn)?;
    let ours = migrate::OUR_NAMES.iter().copied().chain(shared.iter().map(String::as_str));
    let ours = serde_json::json!(ours.collect::<Vec<_>>()).to_string();
    let mut stmt = conn.prepare(
        "SELECT t.name AS name, t.wr AS is_without_rowid, c.name AS column, c.pk AS pk
         FROM pragma_table_list AS t JOIN pragma_table_info(t.name) AS c
         WHERE t.schema = 'main' AND t.type = 'table' AND t.name IN (SELECT value FROM json_each(?1))
           AND EXISTS (SELECT 1 FROM pragma_table_info(t.name) WHERE name = ?2)
         ORDER BY t.name, c.cid",
    )?;
    let mut rows = stmt.query([ours.as_str(), COLUMN])?;
    let mut found: Vec<CheckedTable> = Vec::new();
    while let Some(row) = rows.next()? {
        let (name, column): (String, String) = (row.get("name")?, row.get("column")?);
        if found.last().is_none_or(|table| table.name != name) {
            let key = if row.get("is_without_rowid")? { Vec::new() } else { vec!["rowid".to_owned()] };
            found.push(CheckedTable { name, columns: Vec::new(), key });
        }
        let Some(table) = found.last_mut() else { continue };
        if row.get::<_, u32>("pk")? > 0 && table.key.first().is_none_or(|key| key != "rowid") {
            table.key.push(column.clone());
        }
        if column != COLUMN && !LEFT_OUT.contains(&(table.name.as_str(), column.as_str())) {
            table.columns.push(column);
        }
    }
    Ok(found)
}

/// Returns which of the tables `users` and `state_snapshots` are ours. A backend may have created its own before us.
pub(super) fn shared(conn: &Connection) -> Result<Vec<String>> {
    if migrate::version(conn)?.is_none() {
        return Ok(Vec::new());
    }
    let asked = conn.prepare(
        "SELECT replace(key, '_table', '') AS name FROM thermocline_settings
         WHERE key IN ('users_table', 'state_snapshots_table') AND value = 'thermocline'",
    );
    let Ok(mut stmt) = asked else { return Ok(Vec::new()) }; // Without its settings, a file can still be read.
    let rows = stmt.query_map([], |row| row.get("name"))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn has_column(conn: &Connection, table: &str) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2)";
    Ok(conn.query_row(sql, [table, COLUMN], |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use crate::{
        config::Config,
        store::{Store, file::connect},
    };

    #[test]
    fn no_table_of_ours_is_without_checksums() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.db");
        Store::open(&path, Config::default()).unwrap().close().unwrap();
        let conn = connect::reader(&path).unwrap();
        let without = "SELECT t.name FROM pragma_table_list AS t WHERE t.schema = 'main' AND t.type = 'table'
                       AND t.name NOT LIKE 'sqlite_%'
                       AND NOT EXISTS (SELECT 1 FROM pragma_table_info(t.name) WHERE name = 'row_check')";
        let mut stmt = conn.prepare(without).unwrap();
        let names: Vec<String> =
            stmt.query_map([], |row| row.get(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap();
        assert_eq!(names, Vec::<String>::new());
    }
}
