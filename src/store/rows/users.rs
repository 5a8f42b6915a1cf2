//! Rows of `user_scopes`, `users` and `state_snapshots`. The last two tables may be a backend's own.

use crate::{
    compress::derived::RuleVersions,
    error::{Error, ErrorKind, Result},
    model::{
        ids::{SnapshotId, UserId},
        place::{Seq, UserNo},
        stored_time::StoredTime,
    },
    store::{
        rows::{jobs, row_check},
        scope::{Scope, UserKey},
        sql::{RowExpectation, Sql, SqlRow, UserRow, missing, values},
    },
};

/// Selects a user's row by the user's number.
pub(crate) const ROW: &str =
    "SELECT user_id, epoch, last_seq, indexed_seq, anchor_version, words_rules, critical_rules, anchor_rules,
            inserted_seq
     FROM user_scopes WHERE user_no = ?1";

/// Reads the row found by [`ROW`].
pub(crate) fn read_row(row: &SqlRow<'_>) -> Result<UserRow> {
    Ok(UserRow {
        user_id: row.get(0)?,
        epoch: row.get(1)?,
        last_seq: row.get(2)?,
        indexed_seq: row.get(3)?,
        anchor_version: row.get(4)?,
        rules: RuleVersions {
            words: row.get::<Option<i64>>(5)?.unwrap_or(RuleVersions::FIRST),
            critical: row.get::<Option<i64>>(6)?.unwrap_or(RuleVersions::FIRST),
            anchors: row.get::<Option<i64>>(7)?.unwrap_or(RuleVersions::FIRST),
        },
        inserted_seq: row.get(8)?,
    })
}

/// The versions of the rules by which the user's stored data was derived.
pub(crate) fn rules(sql: &dyn Sql, scope: &Scope) -> Result<RuleVersions> {
    let found = sql.one(ROW, values![scope.user_no], read_row)?;
    Ok(found.map_or(RuleVersions::default(), |row| row.rules))
}

/// Sets the versions of the rules by which the user's stored data was derived.
pub(crate) fn set_rules(sql: &dyn Sql, scope: &Scope, rules: RuleVersions) -> Result<()> {
    sql.put(
        "UPDATE user_scopes SET words_rules = ?3, critical_rules = ?4, anchor_rules = ?5
         WHERE user_no = ?1 AND user_id = ?2",
        values![scope.user_no, scope.user_id, rules.words, rules.critical, rules.anchors],
        RowExpectation::One(missing),
    )
}

/// The user. `None` if this file has no such user.
pub(crate) fn find(sql: &dyn Sql, key: &UserKey) -> Result<Option<Scope>> {
    match key {
        UserKey::Id(user_id) => {
            sql.one("SELECT user_no FROM user_scopes WHERE user_id = ?1", values![*user_id], |row| {
                Ok(Scope { user_id: *user_id, user_no: row.get(0)? })
            })
        }
        UserKey::Name(name) => by_name(sql, name),
    }
}

/// The user, added to this file if missing. Nothing is inserted into a backend's own `users` table. Errors: that table has
/// no such user.
pub(crate) fn find_or_add(sql: &dyn Sql, key: &UserKey, now: StoredTime) -> Result<Scope> {
    if let Some(scope) = find(sql, key)? {
        return Ok(scope);
    }
    let (user_id, name) = match key {
        UserKey::Id(id) => (*id, None),
        UserKey::Name(name) => (UserId::new(*now), Some(name)),
    };
    if is_backends(sql, USERS)? {
        let known = "SELECT EXISTS (SELECT 1 FROM users WHERE id = ?1)";
        if !sql.scalar::<bool>(known, values![user_id])? {
            return Err(Error::not_found(
                "no such user in the backend's own users table; add it there first",
            ));
        }
    } else {
        sql.put(
            "INSERT INTO users (id, name, created_at) VALUES (?1, ?2, ?3) ON CONFLICT (id) DO NOTHING",
            values![user_id, name, now],
            RowExpectation::Any,
        )?;
    }
    let RuleVersions { words, critical, anchors } = RuleVersions::NOW;
    let user_no = sql.scalar(
        "INSERT INTO user_scopes (user_id, words_rules, critical_rules, anchor_rules) VALUES (?1, ?2, ?3, ?4)
         RETURNING user_no",
        values![user_id, words, critical, anchors],
    )?;
    Ok(Scope { user_id, user_no })
}

/// The user's name. `None` if it has none, or if the `users` table is a backend's own, which is not read for names.
pub(crate) fn name(sql: &dyn Sql, scope: &Scope) -> Result<Option<String>> {
    if is_backends(sql, USERS)? {
        return Ok(None);
    }
    let found = sql.one("SELECT name FROM users WHERE id = ?1", values![scope.user_id], |row| row.get(0))?;
    Ok(found.flatten())
}

/// Whether a session, an anchor, a memory or an episode is stored for the user.
pub(crate) fn has_memory(sql: &dyn Sql, scope: &Scope) -> Result<bool> {
    sql.scalar(
        "SELECT EXISTS (SELECT 1 FROM conversation_sessions WHERE user_id = ?1)
             OR EXISTS (SELECT 1 FROM identity_anchors WHERE user_id = ?1)
             OR EXISTS (SELECT 1 FROM user_memories WHERE user_no = ?2)
             OR EXISTS (SELECT 1 FROM memory_episodes WHERE user_no = ?2)",
        values![scope.user_id, scope.user_no],
    )
}

/// The error for a handle of an erased user.
pub(crate) fn gone() -> Error {
    Error::not_found("the user is gone from this file")
}

/// Fails if the user was erased, is being erased, or was deleted by a backend since its handle was made.
pub(crate) fn check_is_there(sql: &dyn Sql, scope: &Scope) -> Result<()> {
    if is_there(sql, scope)? && !jobs::is_erasing(sql, scope, None)? {
        return Ok(());
    }
    Err(gone())
}

/// Whether the user is in this file, even if being erased.
pub(crate) fn is_there(sql: &dyn Sql, scope: &Scope) -> Result<bool> {
    sql.scalar(
        "SELECT EXISTS (SELECT 1 FROM user_scopes WHERE user_id = ?1 AND user_no = ?2)",
        values![scope.user_id, scope.user_no],
    )
}

/// Frees the user's name, so that it can name another user. Does nothing if the `users` table is the backend's own.
pub(crate) fn forget_name(sql: &dyn Sql, scope: &Scope) -> Result<()> {
    if is_backends(sql, USERS)? {
        return Ok(());
    }
    sql.change_unless_damaged("UPDATE users SET name = NULL WHERE id = ?1", values![scope.user_id])
}

/// Invalidates what any process has cached of the user.
pub(crate) fn raise_epoch(sql: &dyn Sql, scope: &Scope) -> Result<()> {
    sql.put(RAISE_EPOCH, values![scope.user_id], RowExpectation::Any)
}

/// Like `raise_epoch`, for a user who is erased completely, whose damaged row need not be writable: it goes with the rest.
pub(crate) fn raise_epoch_of_doomed(sql: &dyn Sql, scope: &Scope) -> Result<()> {
    sql.change_unless_damaged(RAISE_EPOCH, values![scope.user_id])
}

const RAISE_EPOCH: &str = "UPDATE user_scopes SET epoch = epoch + 1 WHERE user_id = ?1";

/// Invalidates what any process has cached of the user's anchors.
pub(crate) fn raise_anchor_version(sql: &dyn Sql, scope: &Scope) -> Result<()> {
    sql.put(
        "UPDATE user_scopes SET anchor_version = anchor_version + 1 WHERE user_id = ?1",
        values![scope.user_id],
        RowExpectation::Any,
    )
}

/// Records that something of the user's was written. Does nothing if the user is gone, or if the row is damaged.
pub(crate) fn raise_revision(sql: &dyn Sql, scope: &Scope) -> Result<()> {
    sql.change_unless_damaged(
        "UPDATE user_scopes SET revision = revision + 1 WHERE user_no = ?1 AND user_id = ?2",
        values![scope.user_no, scope.user_id],
    )
}

/// How many times something of the user's was written.
pub(crate) fn revision(sql: &dyn Sql, scope: &Scope) -> Result<u64> {
    let found = sql.one(
        "SELECT revision FROM user_scopes WHERE user_no = ?1 AND user_id = ?2",
        values![scope.user_no, scope.user_id],
        |row| row.get(0),
    )?;
    found.ok_or_else(gone)
}

/// Sets the number of the user's newest unit.
pub(crate) fn set_last_seq(sql: &dyn Sql, scope: &Scope, seq: Seq) -> Result<()> {
    sql.put(
        "UPDATE user_scopes SET last_seq = ?3 WHERE user_no = ?1 AND user_id = ?2",
        values![scope.user_no, scope.user_id, seq],
        RowExpectation::One(missing),
    )
}

/// Sets from which unit on another program's turns must be taken over. `None` if there are none.
pub(crate) fn set_inserted(sql: &dyn Sql, scope: &Scope, first: Option<Seq>) -> Result<()> {
    sql.put(
        "UPDATE user_scopes SET inserted_seq = ?3 WHERE user_no = ?1 AND user_id = ?2",
        values![scope.user_no, scope.user_id, first],
        RowExpectation::One(missing),
    )
}

/// Removes a user of whom nothing is left. The user's row in a backend's own `users` table stays.
pub(crate) fn remove(sql: &dyn Sql, scope: &Scope) -> Result<()> {
    sql.put("DELETE FROM user_scopes WHERE user_id = ?1", values![scope.user_id], RowExpectation::Any)?;
    if is_backends(sql, USERS)? {
        return Ok(());
    }
    sql.put("DELETE FROM users WHERE id = ?1", values![scope.user_id], RowExpectation::Any)
}

/// Adds a snapshot that a turn refers to. If the table is the backend's own, it must already have the snapshot.
pub(crate) fn add_snapshot(sql: &dyn Sql, id: SnapshotId, now: StoredTime) -> Result<()> {
    if is_backends(sql, STATE_SNAPSHOTS)? {
        let known = "SELECT EXISTS (SELECT 1 FROM state_snapshots WHERE id = ?1)";
        if !sql.scalar::<bool>(known, values![id])? {
            return Err(Error::invalid("no such snapshot in the backend's own state_snapshots table"));
        }
        return Ok(());
    }
    sql.put(
        "INSERT INTO state_snapshots (id, created_at) VALUES (?1, ?2) ON CONFLICT (id) DO NOTHING",
        values![id, now],
        RowExpectation::Any,
    )
}

fn by_name(sql: &dyn Sql, name: &str) -> Result<Option<Scope>> {
    if is_backends(sql, USERS)? {
        return Err(Error::new(
            ErrorKind::Unsupported,
            "this file's users table is the backend's own; name the user by id",
        ));
    }
    let found = sql.one(
        "SELECT users.id, users.name, users.created_at, users.row_check, user_scopes.user_no
         FROM users LEFT JOIN user_scopes ON user_scopes.user_id = users.id WHERE users.name = ?1",
        values![name],
        |row| {
            // A damaged index of names may lead to another user's row.
            if !row_check::holds(row, 3)? {
                return Err(row_check::damaged("the row of this user, or what leads to it,"));
            }
            let (user_id, user_no) = (row.get(0)?, row.get::<Option<UserNo>>(4)?);
            Ok(user_no.map(|user_no| Scope { user_id, user_no }))
        },
    )?;
    Ok(found.flatten())
}

/// The settings that say whether a table existed before us.
pub(super) const USERS: &str = "users_table";
const STATE_SNAPSHOTS: &str = "state_snapshots_table";

/// Whether a table existed before us. Its rows then belong to the backend alone.
pub(super) fn is_backends(sql: &dyn Sql, setting: &str) -> Result<bool> {
    sql.scalar("SELECT value = 'backend' FROM thermocline_settings WHERE key = ?1", values![setting])
}
