//! Rows of `recall_receipts`: what recalls considered; and what came of them, counted when a turn says what it answers.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, Row, params};
use serde::Serialize;
use uuid::Uuid;

use crate::{
    error::{Error, ErrorKind, Result},
    model::{
        critical::CriticalRule,
        ids::{ReceiptId, SessionId},
        profile::{Parts, Profile, Weights},
        receipt::{PROMOTED, Receipt, ReceiptItem},
        tier::{MemoryTier, MoveReason},
    },
    store::{
        columns::{Instant, instant_at, json_at, optional_instant_at},
        file::row_check,
        rows::{sessions::SessionRow, turns, units, users},
        scope::Scope,
        sql::Sql,
        write_tx::WriteTx,
    },
};

/// A receipt to be kept, and the user's epoch at the recall.
#[derive(Debug)]
pub(crate) struct NewReceipt {
    pub(crate) receipt: Receipt,
    pub(crate) epoch: i64,
}

/// Writes a receipt, and lets the oldest of the user go. Nothing if the user is gone or being erased, or if anything of it
/// was erased since: that must not come back in a receipt, and a query may repeat it.
pub(crate) fn insert(tx: &WriteTx<'_>, scope: &Scope, new: &NewReceipt) -> Result<()> {
    let NewReceipt { receipt, epoch } = new;
    if users::check_is_there(tx.sql, scope).is_err() || units::extent(tx.sql, scope)?.epoch != *epoch {
        return Ok(());
    }
    tx.sql
        .prepare_cached(
            "INSERT INTO recall_receipts
               (id, user_no, session_no, asked_at, now, query, profile, weights, understood, missing, budget_tokens,
                tokens, took_us)
             VALUES (?1, ?2, (SELECT session_no FROM conversation_sessions WHERE id = ?3 AND user_id = ?4), ?5, ?6, ?7,
                     ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        )?
        .execute(params![
            receipt.id,
            scope.user_no,
            receipt.session_id,
            scope.user_id,
            Instant(receipt.asked_at),
            Instant(receipt.now),
            receipt.query,
            receipt.profile.as_str(),
            json(&receipt.profile.weights())?,
            json(&receipt.understood)?,
            json(&receipt.missing)?,
            receipt.budget_tokens,
            receipt.tokens,
            i64::try_from(receipt.took_us).unwrap_or(i64::MAX),
        ])?;
    let receipt_no = tx.sql.last_insert_rowid();
    let mut stmt = tx.sql.prepare_cached(
        "INSERT INTO recall_receipt_items
           (receipt_no, rank, user_no, kind, unit_seq, owner_id, memory_tier, score, parts, packed_as, outcome, tokens)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )?;
    for item in &receipt.items {
        stmt.execute(params![
            receipt_no,
            item.rank,
            scope.user_no,
            item.kind,
            item.seq,
            item.owner_id.as_bytes(),
            item.memory_tier,
            item.score,
            json(&shares(&item.parts))?,
            item.packed_as,
            item.outcome,
            item.tokens,
        ])?;
    }
    prune(tx.sql, scope, tx.config.receipts)
}

/// The parts that have a share in the score: most have none, and a receipt has many items.
fn shares(parts: &Parts) -> BTreeMap<&'static str, f64> {
    parts.named().into_iter().filter(|(_, share)| *share != 0.0).collect()
}

/// Keeps the newest receipts of a user.
fn prune(tx: &dyn Sql, scope: &Scope, keep: u32) -> Result<()> {
    tx.prepare_cached(
        "DELETE FROM recall_receipts WHERE user_no = ?1 AND receipt_no <=
           (SELECT receipt_no FROM recall_receipts WHERE user_no = ?1 ORDER BY receipt_no DESC LIMIT 1 OFFSET ?2)",
    )?
    .execute(params![scope.user_no, keep])?;
    Ok(())
}

/// A receipt by its id.
pub(crate) fn by_id(conn: &dyn Sql, scope: &Scope, id: ReceiptId) -> Result<Option<Receipt>> {
    let mut stmt = conn.prepare_cached(&format!("{SELECT} AND r.id = ?2"))?;
    let mut rows = stmt.query(params![scope.user_no, id])?;
    let found = rows.next()?.map(read).transpose()?;
    found.map(|(no, receipt)| with_items(conn, scope, no, receipt)).transpose()
}

/// The newest receipts of a user, newest first, without their items.
pub(crate) fn newest(conn: &dyn Sql, scope: &Scope, limit: u32) -> Result<Vec<Receipt>> {
    let mut stmt = conn.prepare_cached(&format!("{SELECT} ORDER BY r.receipt_no DESC LIMIT ?2"))?;
    let rows = stmt.query_and_then(params![scope.user_no, limit], read)?;
    rows.map(|row| row.map(|(_, receipt)| receipt)).collect()
}

/// What the row's checksum covers, in the table's order, then the checksum.
const SELECT: &str = "SELECT r.receipt_no AS receipt_no, r.id AS id, r.user_no, r.session_no, r.asked_at AS asked_at,
        r.now AS now, r.query AS query, r.profile AS profile, r.weights AS weights, r.understood AS understood,
        r.missing AS missing, r.budget_tokens AS budget_tokens, r.tokens AS tokens, r.took_us AS took_us,
        r.used_at AS used_at, r.row_check, s.id AS session_id
     FROM recall_receipts AS r LEFT JOIN conversation_sessions AS s ON s.session_no = r.session_no
     WHERE r.user_no = ?1";

fn read(row: &Row<'_>) -> Result<(i64, Receipt)> {
    if !row_check::holds(row, 15)? {
        let id: ReceiptId = row.get("id")?;
        return Err(crate::store::rows::row_check::damaged(format_args!("receipt {id}")));
    }
    let profile = match row.get::<_, String>("profile")?.as_str() {
        "paper" => Profile::Paper,
        "recency" => Profile::Recency,
        "custom" => Profile::Custom(json_at(row, "weights")?),
        // By the weights that the default had when it ranked.
        _ => match json_at::<Option<Weights>>(row, "weights")? {
            Some(weights) if weights != Weights::default() => Profile::Custom(weights),
            _ => Profile::Default,
        },
    };
    let receipt = Receipt {
        id: row.get("id")?,
        session_id: row.get::<_, Option<SessionId>>("session_id")?,
        asked_at: instant_at(row, "asked_at")?,
        now: instant_at(row, "now")?,
        query: row.get("query")?,
        profile,
        understood: json_at(row, "understood")?,
        missing: json_at(row, "missing")?,
        budget_tokens: row.get("budget_tokens")?,
        tokens: row.get("tokens")?,
        took_us: u64::try_from(row.get::<_, i64>("took_us")?).unwrap_or(0),
        used_at: optional_instant_at(row, "used_at")?,
        items: Vec::new(),
    };
    Ok((row.get("receipt_no")?, receipt))
}

fn with_items(conn: &dyn Sql, scope: &Scope, receipt_no: i64, receipt: Receipt) -> Result<Receipt> {
    let mut stmt = conn.prepare_cached(
        "SELECT rank, kind, unit_seq, owner_id, memory_tier, score, parts, packed_as, outcome, tokens
         FROM recall_receipt_items WHERE receipt_no = ?1 AND user_no = ?2 ORDER BY rank",
    )?;
    let rows = stmt.query_map(params![receipt_no, scope.user_no], |row| {
        Ok(ReceiptItem {
            rank: row.get("rank")?,
            kind: row.get("kind")?,
            seq: row.get("unit_seq")?,
            owner_id: Uuid::from_bytes(row.get("owner_id")?),
            memory_tier: row.get("memory_tier")?,
            score: row.get("score")?,
            parts: json_at(row, "parts")?,
            packed_as: row.get("packed_as")?,
            outcome: row.get("outcome")?,
            tokens: row.get("tokens")?,
        })
    })?;
    Ok(Receipt { items: rows.collect::<rusqlite::Result<_>>()?, ..receipt })
}

/// A turn says what it answers: what the receipt's context showed was of use. Counts it once; cold turns become warm in
/// the session until that ends. A receipt that is gone counts nothing.
pub(crate) fn count_use(tx: &WriteTx<'_>, scope: &Scope, session: &SessionRow, id: ReceiptId) -> Result<()> {
    let now = tx.now();
    let used = tx
        .sql
        .prepare_cached(
            "UPDATE recall_receipts SET used_at = ?3 WHERE id = ?2 AND user_no = ?1 AND used_at IS NULL
             RETURNING receipt_no, profile",
        )?
        .query_row(params![scope.user_no, id, Instant(now)], |row| {
            Ok((row.get::<_, i64>("receipt_no")?, row.get::<_, String>("profile")?))
        })
        .optional()?;
    let Some((receipt_no, profile)) = used else { return Ok(()) };
    count(tx.sql, scope, "profile", &profile)?;
    for shown in shown(tx.sql, scope, receipt_no)? {
        count(tx.sql, scope, "packed_as", &shown.packed_as)?;
        if let Some(tier) = shown.memory_tier {
            count(tx.sql, scope, "tier", tier.as_str())?;
        }
        if let Some(rule) = shown.rule {
            count(tx.sql, scope, "rule", rule.as_str())?;
        }
        if let Some(seq) = shown.seq {
            tx.sql
                .prepare_cached(
                    "INSERT INTO unit_uses (user_no, seq, hits, last_hit) VALUES (?1, ?2, 1, ?3)
                     ON CONFLICT (user_no, seq) DO UPDATE SET hits = hits + 1, last_hit = excluded.last_hit",
                )?
                .execute(params![scope.user_no, seq, Instant(now)])?;
            if shown.memory_tier == Some(MemoryTier::Cold) {
                promote(tx, scope, session.session_no, seq)?;
            }
        }
    }
    Ok(())
}

/// Something that a context showed, but for what it showed only since it had been of use before.
struct Shown {
    seq: Option<i64>,
    memory_tier: Option<MemoryTier>,
    packed_as: String,
    /// Why the turn was kept verbatim.
    rule: Option<CriticalRule>,
}

fn shown(conn: &dyn Sql, scope: &Scope, receipt_no: i64) -> Result<Vec<Shown>> {
    let mut stmt = conn.prepare_cached(
        "SELECT i.unit_seq AS unit_seq, i.memory_tier AS memory_tier, i.packed_as AS packed_as,
                t.critical_rule AS critical_rule
         FROM recall_receipt_items AS i
         LEFT JOIN recall_units AS u ON u.user_no = i.user_no AND u.seq = i.unit_seq
         LEFT JOIN conversation_turns AS t
           ON t.turn_key = (u.session_no << 24 | u.turn_number) AND t.user_id = ?3
         WHERE i.receipt_no = ?1 AND i.user_no = ?2 AND i.packed_as IS NOT NULL AND i.outcome <> ?4
           AND (i.unit_seq IS NULL OR u.seq IS NOT NULL)",
    )?;
    let rows = stmt.query_map(params![receipt_no, scope.user_no, scope.user_id, PROMOTED], |row| {
        Ok(Shown {
            seq: row.get("unit_seq")?,
            memory_tier: row.get("memory_tier")?,
            packed_as: row.get("packed_as")?,
            rule: row.get("critical_rule")?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn count(tx: &dyn Sql, scope: &Scope, aspect: &str, name: &str) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO use_counts (user_no, aspect, name, hits) VALUES (?1, ?2, ?3, 1)
         ON CONFLICT (user_no, aspect, name) DO UPDATE SET hits = hits + 1",
    )?
    .execute(params![scope.user_no, aspect, name])?;
    Ok(())
}

/// Makes a cold turn warm in the session that used it.
fn promote(tx: &WriteTx<'_>, scope: &Scope, session_no: i64, seq: i64) -> Result<()> {
    let now = tx.now();
    let is_new = tx
        .sql
        .prepare_cached(
            "INSERT INTO promotions (user_no, session_no, seq, promoted_at) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (user_no, session_no, seq) DO NOTHING",
        )?
        .execute(params![scope.user_no, session_no, seq, Instant(now)])?;
    let seq = u32::try_from(seq).unwrap_or(u32::MAX);
    if is_new == 1
        && let Some(unit) = turns::unit_by_seq(tx.sql, scope, seq)?
    {
        let place = (unit.session_no, unit.turn_number);
        turns::record_move(tx.sql, scope, place, ("cold", "warm"), MoveReason::Recall, now)?;
    }
    Ok(())
}

/// The turns that are warm in a session for they were of use in it, the newest of use first.
pub(crate) fn promoted(conn: &dyn Sql, scope: &Scope, session_no: i64, limit: u32) -> Result<Vec<u32>> {
    let mut stmt = conn.prepare_cached(
        "SELECT seq FROM promotions WHERE user_no = ?1 AND session_no = ?2
         ORDER BY promoted_at DESC, seq DESC LIMIT ?3",
    )?;
    let rows = stmt.query_map(params![scope.user_no, session_no, limit], |row| row.get("seq"))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The session ends: what was warm in it for its use is cold again.
pub(crate) fn end_promotions(tx: &WriteTx<'_>, scope: &Scope, session_no: i64) -> Result<()> {
    for seq in promoted(tx.sql, scope, session_no, u32::MAX)? {
        if let Some(unit) = turns::unit_by_seq(tx.sql, scope, seq)? {
            let place = (unit.session_no, unit.turn_number);
            turns::record_move(tx.sql, scope, place, ("warm", "cold"), MoveReason::RecallEnd, tx.now())?;
        }
    }
    tx.sql
        .prepare_cached("DELETE FROM promotions WHERE user_no = ?1 AND session_no = ?2")?
        .execute(params![scope.user_no, session_no])?;
    Ok(())
}

fn json<T: Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value)
        .map_err(|error| Error::caused(ErrorKind::Io, "a receipt could not be written", error))
}
