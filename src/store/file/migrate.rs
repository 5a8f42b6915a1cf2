//! Reads the schema's version and applies migrations.
//!
//! refinery applies all missing migrations, and the rows that record them, in one immediate transaction. If two processes
//! try at once, the second waits for the first, finds the tables, and rolls back.

use std::collections::BTreeSet;

use refinery::Target;
use rusqlite::{Connection, ErrorCode, OptionalExtension, config::DbConfig};

use crate::error::{Error, ErrorKind, Result};

mod embedded {
    #![allow(missing_docs, unreachable_pub, clippy::pedantic, reason = "written by refinery's macro")]
    refinery::embed_migrations!("migrations");
}

/// The table in which refinery records the applied migrations.
///
/// Its name is not refinery's default, because a backend may use refinery for its own tables. refinery creates it in a
/// transaction before the migrations, so after a crash it may be the only table, and empty.
pub(crate) const HISTORY: &str = "thermocline_schema_history";

/// The names of everything that the migrations create, except `users` and `state_snapshots`. A test compares the list with
/// the migrations.
pub(crate) const OUR_NAMES: &[&str] = &[
    "archived_frames",
    "archived_turns",
    "conversation_sessions",
    "conversation_summaries",
    "conversation_turns",
    "derivations",
    "embedding_spaces",
    "erased_memories",
    "extracted_sessions",
    "identity_anchors",
    "idx_archived_frame",
    "idx_aside_caller",
    "idx_aside_incomplete",
    "idx_aside_session",
    "idx_aside_user",
    "idx_derivations_source",
    "idx_frames_session",
    "idx_frames_user",
    "idx_jobs_due",
    "idx_jobs_user",
    "idx_memory_changes_group",
    "idx_memory_edges_both_ways",
    "idx_memory_edges_to",
    "idx_memory_episodes_birth",
    "idx_memory_episodes_caller",
    "idx_memory_episodes_day",
    "idx_memory_episodes_memory",
    "idx_memory_episodes_receipt",
    "idx_memory_episodes_session",
    "idx_memory_reviews_memory",
    "idx_memory_reviews_open",
    "idx_memory_reviews_other",
    "idx_memory_sensors_subject",
    "idx_memory_sources_source",
    "idx_memory_terms_term",
    "idx_memory_units_memory",
    "idx_receipts_user",
    "idx_scopes_inserted",
    "idx_scopes_tended",
    "idx_sessions_active",
    "idx_sessions_caller",
    "idx_sessions_user",
    "idx_summaries_session",
    "idx_summaries_time",
    "idx_summaries_user",
    "idx_turns_cold",
    "idx_turns_session",
    "idx_turns_snapshot",
    "idx_turns_tier",
    "idx_turns_timestamp",
    "idx_turns_user",
    "idx_turns_warm",
    "idx_units_caller",
    "idx_user_memories_caller",
    "idx_user_memories_hash",
    "idx_user_memories_hidden",
    "idx_user_memories_put_away",
    "idx_user_memories_session",
    "idx_user_memories_slot",
    "idx_user_memories_superseded",
    "idx_user_memories_user",
    "inserted_revision",
    "inserted_session",
    "inserted_turn",
    "jobs",
    "known_session",
    "known_turn",
    "memory_changes",
    "memory_edges",
    "memory_episodes",
    "memory_reviews",
    "memory_sensors",
    "memory_sources",
    "memory_state",
    "memory_terms",
    "memory_tier_transitions",
    "memory_units",
    "postings",
    "promotions",
    "recall_receipts",
    "recall_units",
    "thermocline_schema_history",
    "thermocline_settings",
    "turns_aside",
    "unit_blocks",
    "unit_uses",
    "use_counts",
    "user_memories",
    "user_scopes",
    "user_spaces",
    "v_anchors",
    "v_archive",
    "v_embedding",
    "v_jobs",
    "v_memories",
    "v_memory_changes",
    "v_memory_edges",
    "v_memory_episodes",
    "v_memory_reviews",
    "v_promotions",
    "v_receipt_items",
    "v_receipts",
    "v_sessions",
    "v_summaries",
    "v_tiers",
    "v_transitions",
    "v_turns",
    "v_turns_aside",
    "v_users",
    "vector_blocks",
    "vector_gaps",
];

/// The tables that are a backend's own if it had them before us.
pub(super) const SHARED: [&str; 2] = ["users", "state_snapshots"];

/// The newest schema version that this build knows: the last of `migrations/`. A constant, because refinery would compile a
/// regular expression to find it in every process that opens a file (1.3 ms).
pub(crate) const LATEST: i64 = 24;

/// Returns the schema version of the file. `None` if no migration has been applied. Reads the table directly, because
/// refinery's own check costs a millisecond at every opening.
pub(crate) fn version(conn: &Connection) -> Result<Option<i64>> {
    let has_history: bool = conn.query_row(
        "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1)",
        [HISTORY],
        |row| row.get(0),
    )?;
    if !has_history {
        return Ok(None);
    }
    let version = conn
        .query_row(&format!("SELECT max(version) FROM {HISTORY}"), [], |row| row.get::<_, Option<i64>>(0))
        .optional()?;
    Ok(version.flatten())
}

/// Returns a name that a migration after `version` would create, but that the file already has. `None` if there is none.
pub(crate) fn taken_name(conn: &Connection, version: i64) -> Result<Option<&'static str>> {
    let of_version = names_of(version)?;
    for name in OUR_NAMES.iter().copied().filter(|name| !of_version.contains(*name)) {
        if has(conn, name)? {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// Returns the names in a file of an older schema version.
fn names_of(version: i64) -> Result<BTreeSet<String>> {
    let conn = in_memory(version)?;
    let mut stmt = conn.prepare("SELECT name FROM sqlite_schema")?;
    let names = stmt.query_map([], |row| row.get(0))?;
    Ok(names.collect::<rusqlite::Result<_>>()?)
}

/// Makes a database of this schema version in memory, which takes a few milliseconds.
pub(super) fn in_memory(version: i64) -> Result<Connection> {
    let mut conn = Connection::open_in_memory()?;
    let target = version.try_into().map_or(Target::Latest, Target::Version);
    let mut runner = embedded::migrations::runner().set_grouped(true).set_target(target);
    runner.set_migration_table_name(HISTORY);
    let failed = |error| Error::caused(ErrorKind::Io, "the schema could not be made in memory", error);
    runner.run(&mut conn).map_err(failed)?;
    Ok(conn)
}

/// Returns whether anything in the schema has this name. Ignores case, as SQLite does when it compares names.
pub(crate) fn has(conn: &Connection, name: &str) -> Result<bool> {
    let found = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE)";
    Ok(conn.query_row(found, [name], |row| row.get(0))?)
}

/// Migrates the file to the newest version.
pub(crate) fn migrate(conn: &mut Connection) -> Result<()> {
    let mut runner = embedded::migrations::runner().set_grouped(true);
    runner.set_migration_table_name(HISTORY);
    // Some migrations change a column's default by writing to `sqlite_schema`, which this setting forbids.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)?;
    let ran = runner.run(conn);
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    let Err(error) = ran else { return Ok(()) };
    if version(conn)? == Some(LATEST) {
        return Ok(()); // Another process has migrated the file.
    }
    let code = std::error::Error::source(&error)
        .and_then(|source| source.downcast_ref::<rusqlite::Error>())
        .and_then(rusqlite::Error::sqlite_error_code);
    let (kind, why) = match code {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => (ErrorKind::Busy, "try again"),
        Some(ErrorCode::DiskFull) => (ErrorKind::DiskFull, "the disk is full"),
        // SQLite checks every row when a migration adds a column.
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::ConstraintViolation) => (
            ErrorKind::Corrupt,
            "the file is damaged; restore a backup, or keep using the build that wrote it",
        ),
        _ => (ErrorKind::Io, "the disk or the file system failed"),
    };
    let message = format!("the schema could not be upgraded, and nothing was changed: {why}");
    Err(Error::caused(kind, message, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_names_are_those_that_the_migrations_create() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.db");
        std::fs::write(&path, "").unwrap();
        let mut conn = crate::store::file::connect::writer(&path, &crate::config::Config::default()).unwrap();
        migrate(&mut conn).unwrap();
        let mut stmt = conn
            .prepare(
                "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                 AND name NOT IN ('users', 'state_snapshots') ORDER BY name",
            )
            .unwrap();
        let names = stmt.query_map([], |row| row.get(0)).unwrap();
        let names: Vec<String> = names.collect::<rusqlite::Result<_>>().unwrap();
        assert_eq!(names, OUR_NAMES);
        assert_eq!(version(&conn).unwrap(), Some(LATEST), "the newest file in migrations/");
    }

    #[test]
    fn what_a_version_has_is_no_name_that_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.db");
        std::fs::write(&path, "").unwrap();
        let mut conn = crate::store::file::connect::writer(&path, &crate::config::Config::default()).unwrap();
        migrate(&mut conn).unwrap();
        assert_eq!(taken_name(&conn, LATEST).unwrap(), None);
        assert_eq!(taken_name(&conn, 23).unwrap(), Some("idx_user_memories_hidden"));
        conn.execute_batch("DROP INDEX idx_user_memories_hidden").unwrap();
        assert_eq!(taken_name(&conn, 20).unwrap(), Some("inserted_revision"));
        conn.execute_batch("DROP TRIGGER inserted_revision").unwrap();
        assert_eq!(taken_name(&conn, 19).unwrap(), Some("erased_memories"));
        conn.execute_batch("DROP TABLE erased_memories").unwrap();
        assert_eq!(taken_name(&conn, 18).unwrap(), Some("v_memories"));
        assert_eq!(taken_name(&conn, 17).unwrap(), Some("extracted_sessions"));
        let older = Connection::open_in_memory().unwrap();
        older.execute_batch("CREATE TABLE User_Memories(id)").unwrap();
        assert_eq!(taken_name(&older, 17).unwrap(), Some("user_memories"));
    }

    #[test]
    fn a_migration_that_fails_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.db");
        std::fs::write(&path, "").unwrap();
        let mut conn = crate::store::file::connect::writer(&path, &crate::config::Config::default()).unwrap();
        conn.execute_batch("CREATE TABLE v_turns(taken)").unwrap(); // The name of a view that the last migration creates.
        assert!(migrate(&mut conn).is_err());
        let tables: Vec<String> = conn
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> ?1")
            .and_then(|mut stmt| stmt.query_map([HISTORY], |row| row.get(0))?.collect())
            .unwrap();
        assert_eq!((tables, version(&conn).unwrap()), (vec!["v_turns".to_owned()], None));
    }
}
