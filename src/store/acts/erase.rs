//! Erasing: out of the rows, the indexes and the bytes of the file.
//!
//! A durable job comes first, so that an erase that is cut short is finished by whoever runs jobs next. Then slices
//! of at most [`SLICE`] rows, so that nobody waits long; the last one takes the session's or user's own row and queues
//! the scrubbing of the file. `secure_delete` overwrites rows where they are deleted; what it misses, and the
//! write-ahead log, is scrubbed ([`scrub`](crate::store::file::scrub)).

use rusqlite::{Row, ToSql, params};
use serde::Serialize;

use crate::{
    error::{ErrorKind, Result},
    model::{
        ids::{SessionId, TurnId},
        job::JobKind,
    },
    store::{
        acts::index,
        rows::{
            anchors,
            jobs::{self, Lease},
            sessions,
            turns::{place_of, turn_key},
            units, users, vectors,
        },
        scope::Scope,
        sql::Sql,
        write_tx::WriteTx,
    },
};

/// Rows of one slice: with all that hangs on them, about 3 ms.
const SLICE: u32 = 16;

/// Every table with a user's data, in an order that breaks no reference, and how to delete a slice of it: `?1` is the
/// user's id, `?2` its number, `?3` the rows. A test compares the list with the schema.
const USER_TABLES: &[(&str, &str)] = &[
    (
        "derivations",
        "DELETE FROM derivations WHERE user_id = ?1 AND (product_id, source_id, stance) IN
           (SELECT product_id, source_id, stance FROM derivations WHERE user_id = ?1 LIMIT ?3)",
    ),
    (
        "identity_anchors",
        "DELETE FROM identity_anchors WHERE rowid IN
           (SELECT rowid FROM identity_anchors WHERE user_id = ?1 LIMIT ?3)",
    ),
    (
        "conversation_summaries",
        "DELETE FROM conversation_summaries WHERE turn_key IN
           (SELECT turn_key FROM conversation_summaries WHERE user_id = ?1 LIMIT ?3)",
    ),
    (
        "archived_turns",
        "DELETE FROM archived_turns WHERE user_no = ?2 AND turn_key IN
           (SELECT a.turn_key FROM archived_frames AS f JOIN archived_turns AS a ON a.frame_no = f.frame_no
            WHERE f.user_id = ?1 LIMIT ?3)",
    ),
    (
        "archived_frames",
        "DELETE FROM archived_frames WHERE frame_no IN
           (SELECT frame_no FROM archived_frames WHERE user_id = ?1 LIMIT ?3)",
    ),
    (
        "conversation_turns",
        "DELETE FROM conversation_turns WHERE turn_key IN
           (SELECT turn_key FROM conversation_turns WHERE user_id = ?1 LIMIT ?3)",
    ),
    (
        "memory_tier_transitions",
        "DELETE FROM memory_tier_transitions WHERE user_no = ?2 AND (session_no, turn_number, move_number) IN
           (SELECT session_no, turn_number, move_number FROM memory_tier_transitions WHERE user_no = ?2 LIMIT ?3)",
    ),
    (
        "recall_receipt_items",
        "DELETE FROM recall_receipt_items WHERE user_no = ?2 AND (receipt_no, rank) IN
           (SELECT i.receipt_no, i.rank FROM recall_receipts AS r JOIN recall_receipt_items AS i USING (receipt_no)
            WHERE r.user_no = ?2 LIMIT ?3)",
    ),
    (
        "recall_receipts",
        "DELETE FROM recall_receipts WHERE receipt_no IN
           (SELECT receipt_no FROM recall_receipts WHERE user_no = ?2 LIMIT ?3)",
    ),
    (
        "unit_uses",
        "DELETE FROM unit_uses WHERE user_no = ?2 AND seq IN
           (SELECT seq FROM unit_uses WHERE user_no = ?2 LIMIT ?3)",
    ),
    (
        "use_counts",
        "DELETE FROM use_counts WHERE user_no = ?2 AND (aspect, name) IN
           (SELECT aspect, name FROM use_counts WHERE user_no = ?2 LIMIT ?3)",
    ),
    (
        "promotions",
        "DELETE FROM promotions WHERE user_no = ?2 AND (session_no, seq) IN
           (SELECT session_no, seq FROM promotions WHERE user_no = ?2 LIMIT ?3)",
    ),
    (
        "vector_gaps",
        "DELETE FROM vector_gaps WHERE user_no = ?2 AND (space_no, seq) IN
           (SELECT space_no, seq FROM vector_gaps WHERE user_no = ?2 LIMIT ?3)",
    ),
    (
        "vector_blocks",
        "DELETE FROM vector_blocks WHERE rowid IN
           (SELECT rowid FROM vector_blocks WHERE user_no = ?2 LIMIT ?3)",
    ),
    (
        "user_spaces",
        "DELETE FROM user_spaces WHERE user_no = ?2 AND space_no IN
           (SELECT space_no FROM user_spaces WHERE user_no = ?2 LIMIT ?3)",
    ),
    (
        "unit_blocks",
        "DELETE FROM unit_blocks WHERE rowid IN (SELECT rowid FROM unit_blocks WHERE user_no = ?2 LIMIT ?3)",
    ),
    (
        "postings",
        // A row is small, and a user has many.
        "DELETE FROM postings WHERE user_no = ?2 AND (word, first_seq) IN
           (SELECT word, first_seq FROM postings WHERE user_no = ?2 LIMIT 8 * ?3)",
    ),
    (
        "recall_units",
        "DELETE FROM recall_units WHERE user_no = ?2 AND seq IN
           (SELECT seq FROM recall_units WHERE user_no = ?2 LIMIT ?3)",
    ),
    (
        "conversation_sessions",
        "DELETE FROM conversation_sessions WHERE session_no IN
           (SELECT session_no FROM conversation_sessions WHERE user_id = ?1 LIMIT ?3)",
    ),
    // In the last slice, by other code: the job that erases is one of them, and the user is what all of them hang on.
    ("jobs", ""),
    ("user_scopes", ""),
];

/// What was erased, in rows. Counts only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Erased {
    /// Sessions.
    pub sessions: u64,
    /// Turns, wherever they were: as rows, in the archive, or only as a summary.
    pub turns: u64,
    /// Of these, turns in the archive.
    pub archived_turns: u64,
    /// Summaries.
    pub summaries: u64,
    /// Anchors; those with evidence elsewhere were folded anew and are not counted.
    pub anchors: u64,
    /// Pieces of evidence.
    pub derivations: u64,
    /// Moves between tiers on record.
    pub transitions: u64,
    /// Jobs that had not run.
    pub jobs: u64,
    /// Whether the file or its write-ahead log still holds old bytes, since some reader, perhaps of another process,
    /// holds the log. A job overwrites them once that has gone.
    pub is_pending: bool,
}

impl Erased {
    fn add(&mut self, table: &str, rows: u64) {
        match table {
            "conversation_sessions" => self.sessions += rows,
            "recall_units" => self.turns += rows,
            "archived_turns" => self.archived_turns += rows,
            "conversation_summaries" => self.summaries += rows,
            "identity_anchors" => self.anchors += rows,
            "derivations" => self.derivations += rows,
            "memory_tier_transitions" => self.transitions += rows,
            _ => {}
        }
    }

    /// Adds what another slice erased.
    pub(crate) fn and(mut self, slice: Self) -> Self {
        self.sessions += slice.sessions;
        self.turns += slice.turns;
        self.archived_turns += slice.archived_turns;
        self.summaries += slice.summaries;
        self.anchors += slice.anchors;
        self.derivations += slice.derivations;
        self.transitions += slice.transitions;
        self.jobs += slice.jobs;
        self
    }
}

/// What one slice did, and whether it was the last.
pub(crate) type Slice = (Erased, bool);

/// Makes the erase durable before anything goes: from here on it will be finished. Other jobs on the same data end,
/// and every cache of it is void.
///
/// The job is taken in the same transaction, so that no worker is faster than who waits for the receipt.
pub(crate) fn begin(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    session: Option<SessionId>,
) -> Result<(Erased, Lease)> {
    let turns = match session {
        Some(id) => sessions::existing(tx.sql, scope, id)?.info.turn_count,
        None => 0,
    };
    users::expect(tx.sql, scope)?;
    users::raise_epoch(tx.sql, scope)?;
    // From here on nothing is acknowledged that the erase would take away.
    let now = tx.now();
    sessions::close(tx.sql, scope, session, now)?;
    if session.is_none() {
        users::forget_name(tx.sql, scope)?;
    }
    let jobs = jobs::remove(tx.sql, scope, session, None)?;
    jobs::enqueue(tx, scope, JobKind::Erase, session, turns)?;
    tx.live.forget_all();
    let lease = jobs::take_of(tx, (JobKind::Erase, scope, session))?;
    Ok((Erased { jobs, ..Erased::default() }, lease))
}

/// Erases a slice of a user.
pub(crate) fn user_slice(tx: &mut WriteTx<'_>, scope: &Scope, lease: &Lease) -> Result<Slice> {
    users::raise_epoch(tx.sql, scope)?;
    let (mut erased, mut room) = (Erased::default(), SLICE);
    for &(table, sql) in USER_TABLES.iter().filter(|(_, sql)| !sql.is_empty()) {
        let params = params![scope.user_id, scope.user_no, room];
        let rows = u32::try_from(tx.sql.prepare_cached(sql)?.execute(params)?).unwrap_or(u32::MAX);
        erased.add(table, rows.into());
        room = room.saturating_sub(rows);
        if room == 0 {
            got_on(tx, lease, &erased)?;
            return Ok((erased, false));
        }
    }
    jobs::remove(tx.sql, scope, None, Some(lease))?;
    jobs::finish(tx.sql, lease)?;
    users::remove(tx.sql, scope)?;
    jobs::enqueue_scrub(tx)?;
    Ok((erased, true))
}

/// An erase that gets on is never given up, however often it is cut short.
fn got_on(tx: &WriteTx<'_>, lease: &Lease, slice: &Erased) -> Result<()> {
    jobs::progress(tx.sql, lease, u32::try_from(slice.turns).unwrap_or(u32::MAX), 1)
}

/// These are small, and many.
const TRACES_SLICE: u32 = 32 * SLICE;
/// Rows that say what was asked and found: any of them may repeat what is erased.
const TRACES: &[&str] = &["recall_receipt_items", "recall_receipts"];

/// Erases a slice of a session, and every receipt of the user: a query may repeat what was said. Anchors that have other
/// evidence are folded anew from it.
pub(crate) fn session_slice(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    lease: &Lease,
    session: SessionId,
) -> Result<Slice> {
    let mut erased = Erased::default();
    if let Some(row) = sessions::by_id(tx.sql, scope, session)? {
        for (_, sql) in USER_TABLES.iter().filter(|(table, _)| TRACES.contains(table)) {
            let params = params![scope.user_id, scope.user_no, TRACES_SLICE];
            if tx.sql.prepare_cached(sql)?.execute(params)? > 0 {
                return Ok((erased, false));
            }
        }
        let places = places(tx.sql, scope, row.session_no)?;
        if !places.is_empty() {
            // Whatever was read of them since the erase began, by whomever, is void.
            users::raise_epoch(tx.sql, scope)?;
            unindex(tx, scope, row.session_no, &places)?;
            for place in &places {
                erase_turn(tx.sql, scope, row.session_no, place, &mut erased)?;
            }
            got_on(tx, lease, &erased)?;
            return Ok((erased, false));
        }
        tx.sql
            .prepare_cached("DELETE FROM promotions WHERE user_no = ?1 AND session_no = ?2")?
            .execute(params![scope.user_no, row.session_no])?;
        let frames = tx
            .sql
            .prepare_cached(
                "DELETE FROM archived_frames WHERE frame_no IN
                   (SELECT frame_no FROM archived_frames WHERE session_id = ?1 AND user_id = ?2 LIMIT ?3)",
            )?
            .execute(params![session, scope.user_id, SLICE])?;
        if frames > 0 {
            return Ok((erased, false));
        }
        sessions::remove(tx.sql, scope, &row)?;
        erased.sessions += 1;
    }
    tx.staged.insert(session, None);
    jobs::remove(tx.sql, scope, Some(session), Some(lease))?;
    jobs::finish(tx.sql, lease)?;
    jobs::enqueue_scrub(tx)?;
    Ok((erased, true))
}

/// A turn to erase, wherever it is.
struct Place {
    turn_id: TurnId,
    turn_number: u32,
    seq: u32,
}

/// Some turns of a session: rows, in the archive, or only summaries.
fn places(conn: &dyn Sql, scope: &Scope, session_no: i64) -> Result<Vec<Place>> {
    let mut stmt = conn.prepare_cached(
        "SELECT id AS turn_id, turn_key, seq FROM conversation_turns
         WHERE turn_key BETWEEN ?1 AND ?2 AND user_id = ?3
         UNION ALL SELECT turn_id, turn_key, seq FROM archived_turns
         WHERE turn_key BETWEEN ?1 AND ?2 AND user_no = ?4
         UNION ALL SELECT original_turn_id, turn_key, seq FROM conversation_summaries
         WHERE turn_key BETWEEN ?1 AND ?2 AND user_id = ?3 AND original = 'deleted'
         LIMIT ?5",
    )?;
    let (first, last) = (turn_key(session_no, 0), turn_key(session_no + 1, 0) - 1);
    let rows =
        stmt.query_map(params![first, last, scope.user_id, scope.user_no, SLICE], |row: &Row<'_>| {
            Ok(Place {
                turn_id: row.get("turn_id")?,
                turn_number: place_of(row.get("turn_key")?).1,
                seq: row.get("seq")?,
            })
        })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Takes turns out of the words, the vectors and the counts of use.
fn unindex(tx: &mut WriteTx<'_>, scope: &Scope, session_no: i64, places: &[Place]) -> Result<()> {
    let sql = tx.sql;
    let (mut gone, mut is_sound) = (Vec::with_capacity(places.len()), true);
    for place in places {
        is_sound &= units::is_sound(sql, scope, (session_no, place.turn_number))?;
        let words = units::words_at(sql, scope, (session_no, place.turn_number))?.unwrap_or_default();
        gone.push((place.seq, words));
        for delete in [
            "DELETE FROM unit_uses WHERE user_no = ?1 AND seq = ?2",
            "DELETE FROM promotions WHERE user_no = ?1 AND seq = ?2",
        ] {
            sql.prepare_cached(delete)?.execute(params![scope.user_no, place.seq])?;
        }
    }
    match index::forget(sql, scope, &gone) {
        Ok(()) if is_sound => {}
        // Nobody knows under which words they stand in the index: all of it goes, and is made anew from the others.
        Err(error) if error.kind() != ErrorKind::Corrupt => return Err(error),
        _ => index::drop_all(tx, scope)?,
    }
    vectors::forget(sql, scope, &gone.iter().map(|(seq, _)| *seq).collect())
}

fn erase_turn(
    tx: &dyn Sql,
    scope: &Scope,
    session_no: i64,
    place: &Place,
    erased: &mut Erased,
) -> Result<()> {
    let gone = anchors::withdraw(tx, scope, place.turn_id)?;
    erased.derivations += gone.derivations;
    erased.anchors += anchors::refold(tx, scope, &gone.folds)?;
    let key = turn_key(session_no, place.turn_number);
    let (user_id, user_no): (&dyn ToSql, &dyn ToSql) = (&scope.user_id, &scope.user_no);
    let deletes = [
        (
            "memory_tier_transitions",
            "DELETE FROM memory_tier_transitions
             WHERE session_no = ?1 >> 24 AND turn_number = (?1 & 0xffffff) AND user_no = ?2",
            user_no,
        ),
        (
            "conversation_summaries",
            "DELETE FROM conversation_summaries WHERE turn_key = ?1 AND user_id = ?2",
            user_id,
        ),
        ("archived_turns", "DELETE FROM archived_turns WHERE turn_key = ?1 AND user_no = ?2", user_no),
        (
            "conversation_turns",
            "DELETE FROM conversation_turns WHERE turn_key = ?1 AND user_id = ?2",
            user_id,
        ),
    ];
    for (table, sql, user) in deletes {
        erased.add(table, tx.prepare_cached(sql)?.execute(params![key, user])? as u64);
    }
    tx.prepare_cached("DELETE FROM recall_units WHERE seq = ?1 AND user_no = ?2")?
        .execute(params![place.seq, scope.user_no])?;
    erased.turns += 1;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::store::file::{connect, migrate};

    #[test]
    fn the_list_of_tables_with_a_users_data_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.db");
        std::fs::write(&path, "").unwrap();
        let mut conn = connect::writer(&path, &crate::config::Config::default()).unwrap();
        migrate::migrate(&mut conn).unwrap();
        let mut stmt = conn
            .prepare(
                "SELECT DISTINCT t.name FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c
                 WHERE t.type = 'table' AND c.name IN ('user_id', 'user_no', 'session_id', 'turn_id')
                 ORDER BY t.name",
            )
            .unwrap();
        let in_schema: BTreeSet<String> =
            stmt.query_map([], |row| row.get(0)).unwrap().collect::<rusqlite::Result<_>>().unwrap();
        let listed: BTreeSet<String> = USER_TABLES.iter().map(|(table, _)| (*table).to_owned()).collect();
        assert_eq!(listed, in_schema);
    }
}
