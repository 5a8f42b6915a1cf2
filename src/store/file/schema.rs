//! Compares a file's schema with the one that the migrations make.
//!
//! A trigger that somebody has planted can copy what is erased, or delete what is recorded, in our own transactions. So our
//! tables, indexes, views and triggers must be those of the migrations, to the letter, and nothing of anybody else may stand
//! on our tables. A backend's own tables beside ours are its own business, with their indexes and views, and with triggers
//! that name nothing of ours.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::Path,
    sync::OnceLock,
};

use rusqlite::{Connection, ErrorCode, Row, Transaction};
use sha2::{Digest, Sha256};

use crate::{
    error::{Error, ErrorKind, Result},
    model::hex::hex,
    store::file::{migrate, row_check, sql_words},
};

/// The SHA-256 of the schema of a new file, in which everything is ours. It saves making the schema in memory (several
/// milliseconds) to compare; a wrong one costs that time, and nothing else. A test says what it is.
const OF_A_NEW_FILE: &str = "d38bcdc53613b9245b0a1be27ea88ce45ab91daf5fa94a6d32985c1131c6d5dc";

/// Functions of SQLite that are asked as tables. A table of the same name would answer in their place: the scrub of an erase
/// asks `dbstat` where our pages are.
const ASKED_AS_TABLES: &[&str] = &["dbstat", "json_each", "json_tree", "jsonb_each", "jsonb_tree"];
/// The beginning of the names of further such functions.
const PRAGMA: &str = "pragma_";

/// A row of `sqlite_schema`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Object {
    kind: String,
    name: String,
    table: String,
    sql: Option<String>,
}

/// The kind and folded name of an object. Triggers may have the names of tables, so they are named apart.
type Key = (bool, String);

impl Object {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            kind: row.get("type")?,
            name: row.get("name")?,
            table: row.get("tbl_name")?,
            sql: row.get("sql")?,
        })
    }

    fn key(&self) -> Key {
        (self.kind == "trigger", self.name.to_ascii_lowercase())
    }

    /// Returns the statement without the checksums' column, which is added to some tables only after the migrations. That of
    /// the migrations' history is refinery's, which may lay it out differently one day.
    fn sql_as_migrated(&self) -> Option<String> {
        let sql = self.sql.as_ref()?.replace(&format!(", {}", row_check::COLUMN_ADDED), "");
        Some(if self.name == migrate::HISTORY {
            sql_words::words(&sql).join(" ").to_ascii_lowercase()
        } else {
            sql
        })
    }
}

/// How the schema differs from the one that the migrations make.
#[derive(Clone, Debug)]
pub(crate) struct Difference {
    object: Object,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// Of ours, and not in the file.
    Missing,
    /// Of ours, and not what the migrations make.
    Changed,
    /// Not ours, and it stands on a table of ours, names one, or is asked in place of something that we ask.
    Foreign,
}

impl Difference {
    /// Returns whether it can be made again from what is in the file: it holds nothing of its own.
    fn can_be_made_again(&self) -> bool {
        self.what == What::Missing && self.object.kind != "table"
    }

    /// Returns whether it can change what a reader reads.
    fn is_met_by_readers(&self) -> bool {
        match self.what {
            What::Missing => self.object.kind == "table",
            What::Changed | What::Foreign => matches!(self.object.kind.as_str(), "table" | "view"),
        }
    }

    fn error(&self, path: &Path) -> Error {
        let path = path.display();
        match self.what {
            What::Foreign => {
                let drop = self.object.kind.to_ascii_uppercase();
                let message = format!(
                    "{path} has something that is not Thermocline's and can act on its tables: {self}; find out who made \
                     it, then remove it (DROP {drop} in sqlite3) or put a backup back (thermocline restore)"
                );
                Error::new(ErrorKind::ForeignFile, message)
            }
            What::Missing | What::Changed => {
                let message = format!(
                    "another program has changed the schema of {path}: {self}; undo that change, or put a backup back \
                     (thermocline restore)"
                );
                Error::new(ErrorKind::Corrupt, message)
            }
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// A name may be as long as whoever chose it liked.
        const MOST_CHARS: usize = 100;
        let shown = |name: &str| name.escape_debug().take(MOST_CHARS).collect::<String>();
        let Object { kind, name, table, .. } = &self.object;
        write!(f, "the {} {}", shown(kind), shown(name))?;
        if !name.eq_ignore_ascii_case(table) {
            write!(f, " on {}", shown(table))?;
        }
        match self.what {
            What::Missing => f.write_str(" is missing"),
            What::Changed => f.write_str(" is not as this version makes it"),
            What::Foreign => Ok(()),
        }
    }
}

/// Returns a number that changes with every change of the file's schema by any connection.
pub(super) fn cookie(conn: &Connection) -> rusqlite::Result<i64> {
    conn.prepare_cached("PRAGMA schema_version")?.query_row([], |row| row.get(0))
}

/// Checks that the schema can be written under, and returns what is missing and can be made again. Fails with the first
/// difference that cannot be made good.
pub(super) fn check(conn: &Connection, path: &Path) -> Result<Vec<Difference>> {
    let (missing, refused): (Vec<_>, Vec<_>) =
        differences(conn)?.into_iter().partition(Difference::can_be_made_again);
    refused.first().map_or(Ok(missing), |difference| Err(difference.error(path)))
}

/// Checks the schema in a transaction that may write, and creates the indexes, views and triggers that are missing. Returns
/// `true` if nothing was.
pub(super) fn settle(tx: &Transaction<'_>, path: &Path) -> Result<bool> {
    let missing = check(tx, path)?;
    for difference in &missing {
        if let Some(sql) = &difference.object.sql {
            tx.execute_batch(sql).map_err(|error| match error.sqlite_error_code() {
                // Rows that a unique index would have refused.
                Some(ErrorCode::ConstraintViolation) => difference.error(path),
                _ => error.into(),
            })?;
        }
    }
    Ok(missing.is_empty())
}

/// Checks that the schema can be read. What acts only on writes, such as a trigger, does no harm.
pub(super) fn check_readable(conn: &Connection, path: &Path) -> Result<()> {
    let found = differences(conn)?.into_iter().find(Difference::is_met_by_readers);
    found.map_or(Ok(()), |difference| Err(difference.error(path)))
}

/// Returns how the file's schema differs from the one that the migrations make, in the order of names. Before the first
/// migration, only what would act on our tables counts.
pub(crate) fn differences(conn: &Connection) -> Result<Vec<Difference>> {
    let found = objects(conn)?;
    if fingerprint(&found) == OF_A_NEW_FILE {
        return Ok(Vec::new());
    }
    let version = migrate::version(conn)?;
    let mut ours = made_by(version)?;
    let shared_and_ours = row_check::shared(conn)?;
    let is_backends = |table: &str| {
        migrate::SHARED.contains(&table) && !shared_and_ours.iter().any(|shared| shared == table)
    };
    ours.retain(|_, object| !is_backends(&object.table));
    let names: BTreeSet<String> = ours
        .values()
        .filter(|object| matches!(object.kind.as_str(), "table" | "view"))
        .map(|object| object.name.to_ascii_lowercase())
        .collect();
    let mut differences = Vec::new();
    let (known, others): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|object| ours.contains_key(&object.key()));
    for object in known {
        let is_as_made = ours.remove(&object.key()).is_some_and(|made| {
            (&made.kind, &made.name, &made.table, made.sql_as_migrated())
                == (&object.kind, &object.name, &object.table, object.sql_as_migrated())
        });
        if !is_as_made {
            differences.push(Difference { object, what: What::Changed });
        }
    }
    if version.is_some() {
        differences.extend(ours.into_values().map(|object| Difference { object, what: What::Missing }));
    }
    differences.extend(
        acting(conn, others, names)?.into_iter().map(|object| Difference { object, what: What::Foreign }),
    );
    differences.sort_by_key(|difference| difference.object.key());
    Ok(differences)
}

/// Returns those of others' objects that can act on our tables. `names` has the names of our tables and views.
fn acting(conn: &Connection, others: Vec<Object>, mut names: BTreeSet<String>) -> Result<Vec<Object>> {
    let ours = names.clone();
    // A view of our tables is harmless, but a trigger that names it names ours.
    loop {
        let reading = others.iter().filter(|object| object.kind == "view" || is_virtual(object));
        let reading: Vec<String> = reading
            .filter(|object| is_named_in(object, &names))
            .map(|object| object.name.to_ascii_lowercase())
            .filter(|name| !names.contains(name))
            .collect();
        if reading.is_empty() {
            break;
        }
        names.extend(reading);
    }
    let mut acting = Vec::new();
    for object in others {
        if acts(&object, &names) || holds_rows(conn, &object, &ours)? {
            acting.push(object);
        }
    }
    Ok(acting)
}

/// Whether somebody else's table has a foreign key to a table of ours that keeps a row of ours from being erased.
fn holds_rows(conn: &Connection, object: &Object, ours: &BTreeSet<String>) -> Result<bool> {
    if object.kind != "table" {
        return Ok(false);
    }
    let mut keys =
        conn.prepare(&format!("PRAGMA main.foreign_key_list(\"{}\")", object.name.replace('"', "\"\"")))?;
    let mut keys = keys.query([])?;
    while let Some(key) = keys.next()? {
        let (table, on_delete): (String, String) = (key.get("table")?, key.get("on_delete")?);
        if ours.contains(&table.to_ascii_lowercase())
            && matches!(on_delete.as_str(), "NO ACTION" | "RESTRICT")
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether somebody else's object can act on our tables, or is not what it says it is.
fn acts(object: &Object, names: &BTreeSet<String>) -> bool {
    let is_ours = |name: &str| names.contains(&name.to_ascii_lowercase());
    let Some(sql) = &object.sql else {
        return object.kind != "index" || is_ours(&object.table); // SQLite's own index for a key.
    };
    let Some(created) = sql_words::created(sql) else { return true };
    if created.kind != object.kind || !created.name.eq_ignore_ascii_case(&object.name) {
        return true; // SQLite goes by the statement, and other programs by the columns.
    }
    match created.kind.as_str() {
        "trigger" => created.rest.iter().any(|word| is_ours(word)),
        "index" => match created.rest.as_slice() {
            [on, table, ..] if on.eq_ignore_ascii_case("on") => {
                is_ours(table) || !table.eq_ignore_ascii_case(&object.table)
            }
            _ => true,
        },
        _ => {
            let name = created.name.to_ascii_lowercase();
            name.starts_with(PRAGMA) || ASKED_AS_TABLES.contains(&name.as_str())
        }
    }
}

fn is_virtual(object: &Object) -> bool {
    let words = object.sql.as_deref().map(sql_words::words).unwrap_or_default();
    words.get(1).is_some_and(|word| word.eq_ignore_ascii_case("virtual"))
}

fn is_named_in(object: &Object, names: &BTreeSet<String>) -> bool {
    let words = object.sql.as_deref().map(sql_words::words).unwrap_or_default();
    words.iter().any(|word| names.contains(&word.to_ascii_lowercase()))
}

fn objects(conn: &Connection) -> Result<Vec<Object>> {
    let mut stmt =
        conn.prepare("SELECT type, name, tbl_name, sql FROM main.sqlite_schema ORDER BY type, name")?;
    let objects = stmt.query_map([], Object::read)?;
    Ok(objects.collect::<rusqlite::Result<_>>()?)
}

fn fingerprint(objects: &[Object]) -> String {
    let mut hash = Sha256::new();
    for Object { kind, name, table, sql } in objects {
        for text in [kind, name, table, sql.as_ref().unwrap_or(&String::new())] {
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text);
        }
    }
    hex(&hash.finalize())
}

/// Returns what the migrations up to a version make in a file of ours alone. `None` means all of them.
fn made_by(version: Option<i64>) -> Result<BTreeMap<Key, Object>> {
    static BY_ALL: OnceLock<BTreeMap<Key, Object>> = OnceLock::new();
    let run = |version| -> Result<BTreeMap<Key, Object>> {
        let made = objects(&migrate::in_memory(version)?)?;
        Ok(made.into_iter().map(|object| (object.key(), object)).collect())
    };
    match version.filter(|&version| version < migrate::LATEST) {
        Some(older) => run(older),
        None => match BY_ALL.get() {
            Some(made) => Ok(made.clone()),
            None => run(migrate::LATEST).map(|made| BY_ALL.get_or_init(|| made).clone()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::Config,
        store::{Store, file::connect},
    };

    #[test]
    fn a_new_file_is_known_without_making_its_schema_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.db");
        Store::open(&path, Config::default()).unwrap().close().unwrap();
        let made = objects(&connect::reader(&path).unwrap()).unwrap();
        assert_eq!(fingerprint(&made), OF_A_NEW_FILE);
    }
}
