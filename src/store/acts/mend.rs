//! What of a user's index and vectors is damaged, and having it made anew: all of it can be worked out from the turns.

use rusqlite::{Row, params};

use crate::{
    error::Result,
    model::job::JobKind,
    store::{
        acts::index,
        file::row_check,
        rows::{
            jobs::{self, Lease},
            users, vectors,
        },
        scope::Scope,
        sql::Sql,
        write_tx::WriteTx,
    },
};

/// The tables of what can be worked out again.
pub(crate) const TABLES: &[&str] = &["postings", "unit_blocks", "vector_blocks"];

/// What is to be made anew of one user.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Damage {
    /// Rows of postings, or blocks of facts.
    index: bool,
    /// Blocks of vectors: their rows, spaces, and numbers, if those can be read.
    vectors: Vec<(i64, i64, Option<u32>)>,
}

/// Looks at every row of the user's index.
pub(crate) fn damage(conn: &dyn Sql, scope: &Scope) -> Result<Damage> {
    let is_damaged = |row: &Row<'_>, columns| Ok(!row_check::holds(row, columns).unwrap_or(false));
    let any = |sql: &str, columns| -> Result<bool> {
        let mut stmt = conn.prepare(sql)?;
        let rows = stmt.query_map([scope.user_no], |row| is_damaged(row, columns))?;
        Ok(rows.collect::<rusqlite::Result<Vec<bool>>>()?.contains(&true))
    };
    let index = any(
        "SELECT user_no, word, first_seq, last_seq, unit_count, data, row_check FROM postings WHERE user_no = ?1",
        6,
    )? || any(
        "SELECT user_no, block_no, body, row_check FROM unit_blocks WHERE user_no = ?1",
        3,
    )?;
    let mut stmt = conn.prepare(
        "SELECT user_no, space_no, block_no, body, row_check, rowid FROM vector_blocks WHERE user_no = ?1",
    )?;
    let mut rows = stmt.query([scope.user_no])?;
    let mut vectors = Vec::new();
    while let Some(row) = rows.next()? {
        if is_damaged(row, 4)? {
            vectors.push((row.get(5)?, row.get(1)?, row.get(2).ok()));
        }
    }
    Ok(Damage { index, vectors })
}

/// Takes what is damaged away, queues what makes it anew, and ends the job.
pub(crate) fn mend(tx: &mut WriteTx<'_>, scope: &Scope, lease: &Lease, damage: &Damage) -> Result<()> {
    if damage.index {
        index::begin_anew(tx, scope)?;
    }
    for &(rowid, space_no, block_no) in &damage.vectors {
        tx.sql
            .prepare_cached("DELETE FROM vector_blocks WHERE rowid = ?1 AND user_no = ?2")?
            .execute(params![rowid, scope.user_no])?;
        if let Some(block_no) = block_no {
            vectors::reopen_block(tx.sql, scope, space_no, block_no)?;
        }
    }
    if !damage.vectors.is_empty() {
        users::raise_epoch(tx.sql, scope)?;
        jobs::enqueue_if_none(tx, scope, JobKind::Embed)?;
    }
    jobs::finish(tx.sql, lease)
}

/// Queues the job for a user whose index was found damaged.
pub(crate) fn queue(tx: &mut WriteTx<'_>, scope: &Scope) -> Result<()> {
    users::check_is_there(tx.sql, scope)?;
    jobs::enqueue_if_none(tx, scope, JobKind::Mend)
}

/// Queues it for everybody: somebody's index was found damaged.
pub(crate) fn queue_all(tx: &mut WriteTx<'_>) -> Result<()> {
    let mut stmt = tx.sql.prepare("SELECT user_id, user_no FROM user_scopes ORDER BY user_no")?;
    let read = |row: &Row<'_>| Ok(Scope { user_id: row.get("user_id")?, user_no: row.get("user_no")? });
    let users: Vec<Scope> = stmt.query_map([], read)?.collect::<rusqlite::Result<_>>()?;
    drop(stmt);
    users.iter().try_for_each(|scope| jobs::enqueue_if_none(tx, scope, JobKind::Mend))
}
