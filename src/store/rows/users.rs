//! Users: whose rows a statement may touch.

use chrono::{DateTime, Utc};
use rusqlite::{OptionalExtension, params};

use crate::{
    error::{Error, ErrorKind, Result},
    model::ids::UserId,
    store::{
        columns::Instant,
        file::row_check,
        rows::jobs,
        scope::{Scope, UserKey},
        sql::{Row, Sql, UserRow},
    },
};

/// A user's row, by its number.
pub(crate) const ROW: &str =
    "SELECT user_id, epoch, last_seq, indexed_seq, anchor_version FROM user_scopes WHERE user_no = ?1";

/// What was found by [`ROW`].
pub(crate) fn read_row(row: &Row<'_>) -> Result<UserRow> {
    Ok(UserRow {
        user_id: row.get(0)?,
        epoch: row.get(1)?,
        last_seq: row.get(2)?,
        indexed_seq: row.get(3)?,
        anchor_version: row.get(4)?,
    })
}

/// The user, if it has a place here.
pub(crate) fn find(conn: &dyn Sql, key: &UserKey) -> Result<Option<Scope>> {
    let user_id = match key {
        UserKey::Id(id) => *id,
        UserKey::Name(name) => match id_of(conn, name)? {
            Some(id) => id,
            None => return Ok(None),
        },
    };
    let mut stmt = conn.prepare_cached("SELECT user_no FROM user_scopes WHERE user_id = ?1")?;
    let user_no = stmt.query_row([user_id], |row| row.get("user_no")).optional()?;
    Ok(user_no.map(|user_no| Scope { user_id, user_no }))
}

/// The user's place, made if it is missing. In a backend's own table nothing is inserted.
pub(crate) fn find_or_add(tx: &dyn Sql, key: &UserKey, now: DateTime<Utc>) -> Result<Scope> {
    if let Some(scope) = find(tx, key)? {
        return Ok(scope);
    }
    let (user_id, name) = match key {
        UserKey::Id(id) => (*id, None),
        UserKey::Name(name) => (UserId::new(now), Some(name)),
    };
    if is_backends(tx, "users")? {
        let known = "SELECT EXISTS (SELECT 1 FROM users WHERE id = ?1)";
        if !tx.query_row(known, [user_id], |row| row.get(0))? {
            return Err(Error::not_found(
                "no such user in the backend's own users table; add it there first",
            ));
        }
    } else {
        tx.prepare_cached(
            "INSERT INTO users (id, name, created_at) VALUES (?1, ?2, ?3) ON CONFLICT (id) DO NOTHING",
        )?
        .execute(params![user_id, name, Instant(now)])?;
    }
    tx.prepare_cached("INSERT INTO user_scopes (user_id) VALUES (?1)")?.execute([user_id])?;
    Ok(Scope { user_id, user_no: tx.last_insert_rowid() })
}

/// Whether anything was ever kept of the user.
pub(crate) fn has_memory(conn: &dyn Sql, scope: &Scope) -> Result<bool> {
    let mut stmt = conn.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM conversation_sessions WHERE user_id = ?1)
             OR EXISTS (SELECT 1 FROM identity_anchors WHERE user_id = ?1)",
    )?;
    Ok(stmt.query_row([scope.user_id], |row| row.get(0))?)
}

/// Says whether the user has been erased since its handle was made.
pub(crate) fn expect(conn: &dyn Sql, scope: &Scope) -> Result<()> {
    let mut stmt = conn.prepare_cached("SELECT EXISTS (SELECT 1 FROM user_scopes WHERE user_id = ?1)")?;
    if stmt.query_row([scope.user_id], |row| row.get(0))? { Ok(()) } else { Err(gone()) }
}

/// What a handle of an erased user is told.
pub(crate) fn gone() -> Error {
    Error::not_found("the user is gone from this file")
}

/// Refuses to write for a user that was erased, is being erased, or was deleted by a backend, since its handle was made.
pub(crate) fn check_is_there(conn: &dyn Sql, scope: &Scope) -> Result<()> {
    let mut stmt =
        conn.prepare_cached("SELECT EXISTS (SELECT 1 FROM user_scopes WHERE user_id = ?1 AND user_no = ?2)")?;
    let is_there: bool = stmt.query_row(params![scope.user_id, scope.user_no], |row| row.get(0))?;
    if is_there && !jobs::is_erasing(conn, scope, None)? {
        return Ok(());
    }
    Err(Error::not_found("the user is gone from this file"))
}

/// Frees the user's name: who has it from now on is somebody else.
pub(crate) fn forget_name(tx: &dyn Sql, scope: &Scope) -> Result<()> {
    if !is_backends(tx, "users")? {
        tx.prepare_cached("UPDATE users SET name = NULL WHERE id = ?1")?.execute([scope.user_id])?;
    }
    Ok(())
}

/// Makes void whatever any process has cached of the user.
pub(crate) fn raise_epoch(tx: &dyn Sql, scope: &Scope) -> Result<()> {
    tx.prepare_cached("UPDATE user_scopes SET epoch = epoch + 1 WHERE user_id = ?1")?
        .execute([scope.user_id])?;
    Ok(())
}

/// Makes void whatever any process has cached of the user's anchors.
pub(crate) fn raise_anchor_version(tx: &dyn Sql, scope: &Scope) -> Result<()> {
    tx.prepare_cached("UPDATE user_scopes SET anchor_version = anchor_version + 1 WHERE user_id = ?1")?
        .execute([scope.user_id])?;
    Ok(())
}

/// The number of the user's next recall unit.
pub(crate) fn next_seq(tx: &dyn Sql, scope: &Scope) -> Result<i64> {
    let mut stmt = tx.prepare_cached(
        "UPDATE user_scopes SET last_seq = last_seq + 1 WHERE user_no = ?1 AND user_id = ?2 RETURNING last_seq",
    )?;
    Ok(stmt.query_row(params![scope.user_no, scope.user_id], |row| row.get("last_seq"))?)
}

/// Removes a user of whom nothing is left; a backend keeps its own row.
pub(crate) fn remove(tx: &dyn Sql, scope: &Scope) -> Result<()> {
    tx.prepare_cached("DELETE FROM user_scopes WHERE user_id = ?1")?.execute([scope.user_id])?;
    if !is_backends(tx, "users")? {
        tx.prepare_cached("DELETE FROM users WHERE id = ?1")?.execute([scope.user_id])?;
    }
    Ok(())
}

/// Names a snapshot that a turn refers to, unless the table is the backend's own.
pub(crate) fn add_snapshot(
    tx: &dyn Sql,
    id: crate::model::ids::SnapshotId,
    now: DateTime<Utc>,
) -> Result<()> {
    if is_backends(tx, "state_snapshots")? {
        let known = "SELECT EXISTS (SELECT 1 FROM state_snapshots WHERE id = ?1)";
        if !tx.query_row(known, [id], |row| row.get(0))? {
            return Err(Error::invalid("no such snapshot in the backend's own state_snapshots table"));
        }
        return Ok(());
    }
    tx.prepare_cached(
        "INSERT INTO state_snapshots (id, created_at) VALUES (?1, ?2) ON CONFLICT (id) DO NOTHING",
    )?
    .execute(params![id, Instant(now)])?;
    Ok(())
}

fn id_of(conn: &dyn Sql, name: &str) -> Result<Option<UserId>> {
    if is_backends(conn, "users")? {
        return Err(Error::new(
            ErrorKind::Unsupported,
            "this file's users table is the backend's own; name the user by id",
        ));
    }
    let mut stmt =
        conn.prepare_cached("SELECT id, name, created_at, row_check FROM users WHERE name = ?1")?;
    let mut rows = stmt.query([name])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    // An index that is damaged may lead to somebody else.
    if !row_check::holds(row, 3)? {
        return Err(crate::store::rows::row_check::damaged("the row of this user, or what leads to it,"));
    }
    Ok(Some(row.get("id")?))
}

/// Whether a table was there before us: then its rows are the backend's alone.
fn is_backends(conn: &dyn Sql, table: &str) -> Result<bool> {
    let mut stmt =
        conn.prepare_cached("SELECT value = 'backend' FROM thermocline_settings WHERE key = ?1 || '_table'")?;
    Ok(stmt.query_row([table], |row| row.get(0))?)
}
