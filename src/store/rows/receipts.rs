//! Rows of `recall_receipts` with their items: what recalls considered; of `unit_uses`, `use_counts` and `promotions`: what
//! came of them.

use std::{collections::BTreeMap, time::Duration};

use chrono::{DateTime, Utc};
use serde::Serialize;
use uuid::Uuid;

use crate::{
    error::{Error, ErrorKind, Result},
    model::{
        critical::CriticalRule,
        ids::ReceiptId,
        place::{Place, Seq, SessionNo},
        profile::{Parts, Profile, Weights},
        receipt::{ItemOutcome, PackedAs, Receipt, ReceiptItem},
        tier::MemoryTier,
    },
    store::{
        rows::row_check,
        scope::Scope,
        sql::{Expect, Row, Sql, missing, text, values},
    },
};

/// Writes a receipt with its items.
pub(crate) fn insert(sql: &dyn Sql, scope: &Scope, receipt: &Receipt) -> Result<()> {
    let receipt_no: Option<i64> = sql.one(
        "INSERT INTO recall_receipts
           (user_no, session_no, id, asked_at, now, query, profile, weights, understood, missing, budget_tokens, tokens,
            took_us)
         SELECT u.user_no, s.session_no, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13
         FROM user_scopes AS u LEFT JOIN conversation_sessions AS s ON s.id = ?2 AND s.user_id = u.user_id
         WHERE u.user_no = ?1
         RETURNING receipt_no",
        values![
            scope.user_no,
            receipt.session_id,
            receipt.id,
            receipt.asked_at,
            receipt.now,
            receipt.query,
            receipt.profile.as_str(),
            json(&receipt.profile.weights())?,
            json(&receipt.understood)?,
            json(&receipt.missing)?,
            receipt.budget_tokens,
            receipt.tokens,
            u64::try_from(receipt.took.as_micros()).unwrap_or(u64::MAX),
        ],
        |row| row.get(0),
    )?;
    let receipt_no = receipt_no.ok_or_else(missing)?;
    for item in &receipt.items {
        sql.put(
            "INSERT INTO recall_receipt_items
               (receipt_no, rank, user_no, kind, unit_seq, owner_id, memory_tier, score, parts, packed_as, outcome,
                tokens)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            values![
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
            ],
            Expect::Any,
        )?;
    }
    Ok(())
}

/// The parts that have a share in the score: most have none, and a receipt has many items.
fn shares(parts: &Parts) -> BTreeMap<&'static str, f64> {
    parts.named().into_iter().filter(|(_, share)| *share != 0.0).collect()
}

/// Keeps the newest receipts of a user.
pub(crate) fn prune(sql: &dyn Sql, scope: &Scope, keep: u32) -> Result<()> {
    sql.put(
        "DELETE FROM recall_receipts WHERE user_no = ?1 AND receipt_no <=
           (SELECT receipt_no FROM recall_receipts WHERE user_no = ?1 ORDER BY receipt_no DESC LIMIT 1 OFFSET ?2)",
        values![scope.user_no, keep],
        Expect::Any,
    )
}

/// What the row's checksum covers, in the table's order, then the checksum.
macro_rules! select {
    ($which:literal) => {
        concat!(
            "SELECT r.receipt_no, r.id, r.user_no, r.session_no, r.asked_at, r.now, r.query, r.profile, r.weights,
                    r.understood, r.missing, r.budget_tokens, r.tokens, r.took_us, r.used_at, r.row_check, s.id
             FROM recall_receipts AS r LEFT JOIN conversation_sessions AS s ON s.session_no = r.session_no
             WHERE r.user_no = ?1 ",
            $which
        )
    };
}
const CHECKED_COLUMNS: usize = 15;

/// A receipt by its id.
pub(crate) fn by_id(sql: &dyn Sql, scope: &Scope, id: ReceiptId) -> Result<Option<Receipt>> {
    let found =
        sql.one(select!("AND r.id = ?2"), values![scope.user_no, id], |row| Ok((row.get(0)?, read(row)?)))?;
    let Some((receipt_no, receipt)) = found else { return Ok(None) };
    Ok(Some(Receipt { items: items(sql, scope, receipt_no)?, ..receipt }))
}

/// The newest receipts of a user, newest first, without their items.
pub(crate) fn newest(sql: &dyn Sql, scope: &Scope, limit: u32) -> Result<Vec<Receipt>> {
    sql.list(select!("ORDER BY r.receipt_no DESC LIMIT ?2"), values![scope.user_no, limit], read)
}

fn read(row: &Row<'_>) -> Result<Receipt> {
    let id: ReceiptId = row.get(1)?;
    if !row_check::holds(row, CHECKED_COLUMNS)? {
        return Err(row_check::damaged(format_args!("receipt {id}")));
    }
    let profile = match text(row.value(7)?) {
        Some("paper") => Profile::Paper,
        Some("recency") => Profile::Recency,
        Some("custom") => Profile::Custom(row.json(8)?),
        // By the weights that the default had when it ranked.
        _ => match row.json::<Option<Weights>>(8)? {
            Some(weights) if weights != Weights::default() => Profile::Custom(weights),
            _ => Profile::Default,
        },
    };
    Ok(Receipt {
        id,
        session_id: row.get(16)?,
        asked_at: row.get(4)?,
        now: row.get(5)?,
        query: row.get(6)?,
        profile,
        understood: row.json(9)?,
        missing: row.json(10)?,
        budget_tokens: row.get(11)?,
        tokens: row.get(12)?,
        took: Duration::from_micros(row.get(13)?),
        used_at: row.get(14)?,
        items: Vec::new(),
    })
}

fn items(sql: &dyn Sql, scope: &Scope, receipt_no: i64) -> Result<Vec<ReceiptItem>> {
    sql.list(
        "SELECT rank, kind, unit_seq, owner_id, memory_tier, score, parts, packed_as, outcome, tokens
         FROM recall_receipt_items WHERE receipt_no = ?1 AND user_no = ?2 ORDER BY rank",
        values![receipt_no, scope.user_no],
        |row| {
            Ok(ReceiptItem {
                rank: row.get(0)?,
                kind: row.get(1)?,
                seq: row.get(2)?,
                owner_id: Uuid::from_bytes(row.get(3)?),
                memory_tier: row.get(4)?,
                score: row.get(5)?,
                parts: row.json(6)?,
                packed_as: row.get(7)?,
                outcome: row.get(8)?,
                tokens: row.get(9)?,
            })
        },
    )
}

/// A receipt whose context a turn answers.
pub(crate) struct Used {
    pub(crate) receipt_no: i64,
    pub(crate) profile: String,
}

/// Says that a receipt's context was of use. `None`: it was said before, or the receipt is gone.
pub(crate) fn set_used(
    sql: &dyn Sql,
    scope: &Scope,
    id: ReceiptId,
    now: DateTime<Utc>,
) -> Result<Option<Used>> {
    sql.one(
        "UPDATE recall_receipts SET used_at = ?3 WHERE id = ?2 AND user_no = ?1 AND used_at IS NULL
         RETURNING receipt_no, profile",
        values![scope.user_no, id, now],
        |row| Ok(Used { receipt_no: row.get(0)?, profile: row.get(1)? }),
    )
}

/// Something that a context showed, but for what it showed only since it had been of use before.
pub(crate) struct Shown {
    /// The unit; `None`: an anchor.
    pub(crate) seq: Option<Seq>,
    /// Where its turn is; `None`: that cannot be read.
    pub(crate) place: Option<Place>,
    pub(crate) memory_tier: Option<MemoryTier>,
    pub(crate) packed_as: PackedAs,
    /// Why the turn was kept verbatim.
    pub(crate) rule: Option<CriticalRule>,
}

pub(crate) fn shown(sql: &dyn Sql, scope: &Scope, receipt_no: i64) -> Result<Vec<Shown>> {
    sql.list(
        "SELECT i.unit_seq, u.session_no, u.turn_number, i.memory_tier, i.packed_as, t.critical_rule
         FROM recall_receipt_items AS i
         LEFT JOIN recall_units AS u ON u.user_no = i.user_no AND u.seq = i.unit_seq
         LEFT JOIN conversation_turns AS t
           ON t.turn_key = (u.session_no << 24 | u.turn_number) AND t.user_id = ?3
         WHERE i.receipt_no = ?1 AND i.user_no = ?2 AND i.packed_as IS NOT NULL AND i.outcome <> ?4
           AND (i.unit_seq IS NULL OR u.seq IS NOT NULL)
         ORDER BY i.rank",
        values![receipt_no, scope.user_no, scope.user_id, ItemOutcome::Promoted],
        |row| {
            Ok(Shown {
                seq: row.get(0)?,
                place: row
                    .get::<SessionNo>(1)
                    .ok()
                    .zip(row.get(2).ok())
                    .map(|(session, number)| session.turn(number)),
                memory_tier: row.get(3)?,
                packed_as: row.get(4)?,
                rule: row.get(5)?,
            })
        },
    )
}

/// Counts a unit that was of use.
pub(crate) fn count_unit(sql: &dyn Sql, scope: &Scope, seq: Seq, now: DateTime<Utc>) -> Result<()> {
    sql.put(
        "INSERT INTO unit_uses (user_no, seq, hits, last_hit) VALUES (?1, ?2, 1, ?3)
         ON CONFLICT (user_no, seq) DO UPDATE SET hits = unit_uses.hits + 1, last_hit = excluded.last_hit",
        values![scope.user_no, seq, now],
        Expect::Any,
    )
}

/// Counts how often something of this name, under this aspect, was of use.
pub(crate) fn count(sql: &dyn Sql, scope: &Scope, (aspect, name): (&str, &str), hits: u32) -> Result<()> {
    sql.put(
        "INSERT INTO use_counts (user_no, aspect, name, hits) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (user_no, aspect, name) DO UPDATE SET hits = use_counts.hits + excluded.hits",
        values![scope.user_no, aspect, name, hits],
        Expect::Any,
    )
}

/// Makes a unit warm in a session that used it.
pub(crate) fn promote(
    sql: &dyn Sql,
    scope: &Scope,
    session_no: SessionNo,
    seq: Seq,
    now: DateTime<Utc>,
) -> Result<()> {
    sql.put(
        "INSERT INTO promotions (user_no, session_no, seq, promoted_at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (user_no, session_no, seq) DO NOTHING",
        values![scope.user_no, session_no, seq, now],
        Expect::Any,
    )
}

/// The turns that are warm in a session for they were of use in it, the newest of use first.
pub(crate) fn promoted(sql: &dyn Sql, scope: &Scope, session_no: SessionNo, limit: u32) -> Result<Vec<Seq>> {
    sql.list(
        "SELECT seq FROM promotions WHERE user_no = ?1 AND session_no = ?2
         ORDER BY promoted_at DESC, seq DESC LIMIT ?3",
        values![scope.user_no, session_no, limit],
        |row| row.get(0),
    )
}

/// The same, with the places of their turns.
pub(crate) fn promoted_places(sql: &dyn Sql, scope: &Scope, session_no: SessionNo) -> Result<Vec<Place>> {
    sql.list(
        "SELECT u.session_no, u.turn_number
         FROM promotions AS p JOIN recall_units AS u ON u.user_no = p.user_no AND u.seq = p.seq
         WHERE p.user_no = ?1 AND p.session_no = ?2 AND u.kind = 'turn' ORDER BY p.seq",
        values![scope.user_no, session_no],
        |row| Ok(Place { session: row.get(0)?, turn_number: row.get(1)? }),
    )
}

/// What was warm in a session for its use is so no longer.
pub(crate) fn remove_promotions(sql: &dyn Sql, scope: &Scope, session_no: SessionNo) -> Result<()> {
    sql.put(
        "DELETE FROM promotions WHERE user_no = ?1 AND session_no = ?2",
        values![scope.user_no, session_no],
        Expect::Any,
    )
}

fn json<T: Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value)
        .map_err(|error| Error::caused(ErrorKind::Io, "a receipt could not be written", error))
}
