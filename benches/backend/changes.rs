//! What the library writes, as the statements that a careful person would write by hand.
//!
//! Nothing here names a table of the library, so this stays correct when the library changes what it writes. In a copy
//! of the file, every table has triggers that log which rows are inserted, changed and removed, and which columns differ.
//! What they log during one call of `record` is folded to one statement per row, with the row's final values. These include
//! checksums, so replaying the statements computes none.

use std::{
    collections::{BTreeSet, HashMap},
    path::Path,
    sync::Arc,
};

use rusqlite::{Connection, OptionalExtension, params, params_from_iter, types::Value};

use crate::support::plain;

/// One SQL statement that inserts, updates or deletes one row.
#[derive(Clone, Debug)]
pub struct Change {
    pub table: Arc<str>,
    pub kind: Kind,
    pub sql: Arc<str>,
    pub values: Vec<Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Insert,
    Update,
    Delete,
}

/// A table and its key columns.
struct Table {
    name: Arc<str>,
    columns: Vec<String>,
    key: Vec<String>,
}

/// The maximum number of key columns that the log can hold.
const KEY: usize = 4;

/// Reads the changes of a file that logs them.
pub struct Log {
    conn: Connection,
    tables: HashMap<Arc<str>, Table>,
    read_to: i64,
    /// The distinct statements so far, each stored once.
    statements: BTreeSet<Arc<str>>,
}

/// The net change of a row.
struct Fold {
    table: Arc<str>,
    key: Vec<Value>,
    is_inserted: bool,
    is_deleted: bool,
    changed: Vec<bool>,
}

impl Log {
    /// Starts to log all further writes to the file, by any connection.
    pub fn start(path: &Path) -> Self {
        let conn = plain::writer(path);
        let tables = tables(&conn);
        conn.execute_batch(
            "CREATE TABLE bench_log (n INTEGER PRIMARY KEY, name TEXT, kind TEXT, changed TEXT, k1, k2, k3, k4)",
        )
        .unwrap();
        for table in tables.values() {
            conn.execute_batch(&triggers(table)).unwrap();
        }
        drop(conn);
        Self { conn: plain::reader(path), tables, read_to: 0, statements: BTreeSet::new() }
    }

    /// Returns the changes since the last call, in the order in which their rows were first touched.
    pub fn read(&mut self) -> Vec<Change> {
        let tx = self.conn.unchecked_transaction().unwrap();
        let folds = folds(&tx, &self.tables, &mut self.read_to);
        let mut changes = Vec::new();
        for fold in folds {
            changes.extend(change(&tx, &self.tables[&fold.table], &fold));
        }
        drop(tx);
        for change in &mut changes {
            match self.statements.get(&change.sql) {
                Some(known) => change.sql = Arc::clone(known),
                None => drop(self.statements.insert(Arc::clone(&change.sql))),
            }
        }
        changes
    }
}

fn tables(conn: &Connection) -> HashMap<Arc<str>, Table> {
    let mut list = conn
        .prepare(
            "SELECT name, wr FROM pragma_table_list
             WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'",
        )
        .unwrap();
    let list = list.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get(1)?))).unwrap();
    list.map(Result::unwrap).map(|(name, has_no_rowid)| table(conn, &name, has_no_rowid)).collect()
}

fn table(conn: &Connection, name: &str, has_no_rowid: bool) -> (Arc<str>, Table) {
    let mut info = conn.prepare("SELECT name, type, pk FROM pragma_table_info(?1) ORDER BY cid").unwrap();
    let info = info.query_map([name], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    let info: Vec<(String, String, i64)> = info.map(Result::unwrap).collect();
    let mut columns: Vec<String> = info.iter().map(|(name, _, _)| name.clone()).collect();
    let mut key: Vec<_> = info.iter().filter(|(_, _, pk)| *pk > 0).collect();
    key.sort_by_key(|(_, _, pk)| *pk);
    let is_rowid = key.len() == 1 && key[0].1 == "INTEGER";
    let mut key: Vec<String> = key.into_iter().map(|(name, _, _)| name.clone()).collect();
    if !has_no_rowid && !is_rowid {
        columns.insert(0, "rowid".to_owned());
        key = vec!["rowid".to_owned()];
    }
    assert!(key.len() <= KEY, "the log has room for the key of {name}");
    let name: Arc<str> = name.into();
    (Arc::clone(&name), Table { name, columns, key })
}

fn triggers(table: &Table) -> String {
    let Table { name, columns, key } = table;
    let logged = |kind: &str, row: &str, changed: &str| {
        let keys: Vec<String> =
            (0..KEY).map(|n| key.get(n).map_or("NULL".to_owned(), |key| format!("{row}.{key}"))).collect();
        format!(
            "CREATE TRIGGER bench_log_{kind}_{name} AFTER {kind} ON {name} BEGIN
               INSERT INTO bench_log (name, kind, changed, k1, k2, k3, k4)
               VALUES ('{name}', '{kind}', {changed}, {});
             END;",
            keys.join(", ")
        )
    };
    let changed: Vec<String> =
        columns.iter().map(|column| format!("(OLD.{column} IS NOT NEW.{column})")).collect();
    logged("INSERT", "NEW", "''")
        + &logged("UPDATE", "OLD", &changed.join(" || "))
        + &logged("DELETE", "OLD", "''")
}

fn folds(conn: &Connection, tables: &HashMap<Arc<str>, Table>, read_to: &mut i64) -> Vec<Fold> {
    let mut lines = conn
        .prepare_cached(
            "SELECT n, name, kind, changed, k1, k2, k3, k4 FROM bench_log WHERE n > ?1 ORDER BY n",
        )
        .unwrap();
    let mut lines = lines.query(params![*read_to]).unwrap();
    let mut folds: Vec<Fold> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    while let Some(line) = lines.next().unwrap() {
        *read_to = line.get(0).unwrap();
        let (name, changed): (String, String) = (line.get(1).unwrap(), line.get(3).unwrap());
        let kind = match line.get_ref(2).unwrap().as_str().unwrap() {
            "INSERT" => Kind::Insert,
            "UPDATE" => Kind::Update,
            _ => Kind::Delete,
        };
        let table = &tables[name.as_str()];
        let key: Vec<Value> = (0..table.key.len()).map(|n| line.get(4 + n).unwrap()).collect();
        let changed: Vec<bool> = changed.bytes().map(|bit| bit == b'1').collect();
        let place = *places.entry(format!("{name} {key:?}")).or_insert_with(|| {
            let changed = vec![false; table.columns.len()];
            let table = Arc::clone(&table.name);
            folds.push(Fold { table, key, is_inserted: false, is_deleted: false, changed });
            folds.len() - 1
        });
        let fold = &mut folds[place];
        fold.is_inserted |= kind == Kind::Insert;
        fold.is_deleted |= kind == Kind::Delete;
        fold.changed.iter_mut().zip(changed).for_each(|(all, this)| *all |= this);
    }
    folds
}

/// Returns the statement for a row; `None` if the row was added and removed again, if nothing differs, or if the row no
/// longer exists. The library never removes a row and inserts it again.
fn change(conn: &Connection, table: &Table, fold: &Fold) -> Option<Change> {
    let Table { name, columns, key } = table;
    // The triggers that seal a new row change it before its insertion is logged, so the order of the two does not matter.
    let kind = match (fold.is_inserted, fold.is_deleted) {
        (true, true) => return None,
        (true, false) => Kind::Insert,
        (false, true) => Kind::Delete,
        (false, false) => Kind::Update,
    };
    let wanted = |from: usize| -> String {
        key.iter()
            .enumerate()
            .map(|(n, key)| format!("{key} = ?{}", from + n + 1))
            .collect::<Vec<_>>()
            .join(" AND ")
    };
    if kind == Kind::Delete {
        let sql = format!("DELETE FROM {name} WHERE {}", wanted(0)).into();
        return Some(Change { table: Arc::clone(name), kind, sql, values: fold.key.clone() });
    }
    let written: Vec<&String> = match kind {
        Kind::Insert => columns.iter().collect(),
        _ => columns
            .iter()
            .zip(&fold.changed)
            .filter_map(|(column, changed)| changed.then_some(column))
            .collect(),
    };
    if written.is_empty() {
        return None;
    }
    let names = written.iter().map(|name| name.as_str()).collect::<Vec<_>>();
    let mut stmt =
        conn.prepare_cached(&format!("SELECT {} FROM {name} WHERE {}", names.join(", "), wanted(0))).unwrap();
    let row = |row: &rusqlite::Row<'_>| (0..names.len()).map(|column| row.get(column)).collect();
    // A row that no longer exists was removed after the record.
    let mut values: Vec<Value> = stmt.query_row(params_from_iter(&fold.key), row).optional().unwrap()?;
    let sql = if kind == Kind::Insert {
        let marks: Vec<String> = (1..=names.len()).map(|n| format!("?{n}")).collect();
        format!("INSERT INTO {name} ({}) VALUES ({})", names.join(", "), marks.join(", "))
    } else {
        let sets: Vec<String> =
            names.iter().enumerate().map(|(n, name)| format!("{name} = ?{}", n + 1)).collect();
        values.extend(fold.key.iter().cloned());
        format!("UPDATE {name} SET {} WHERE {}", sets.join(", "), wanted(names.len()))
    };
    Some(Change { table: Arc::clone(name), kind, sql: sql.into(), values })
}
