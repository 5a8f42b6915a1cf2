//! Rows of `identity_anchors`, and of `derivations` that they are folded from.
//!
//! Nothing edits an anchor: statements are added or taken away, and the attribute is folded anew.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use rusqlite::{OptionalExtension, Row, params};

use crate::{
    compress::fold::{self, Retracted, Statement, value_key},
    error::{Error, ErrorKind, Result},
    model::{
        anchor::{Anchor, Attribute, Cardinality, Evidence, FoundAnchor},
        ids::{AnchorId, TurnId},
    },
    store::{
        columns::{Instant, instant_at, optional_instant_at},
        file::row_check,
        rows::users,
        scope::Scope,
        sql::Sql,
    },
};

/// What is folded together: all values of an attribute of a subject, or, where values do not touch each other, one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fold {
    subject: String,
    attribute: Attribute,
    /// The first and the last key that belong to it.
    values: (String, String),
}

impl Fold {
    pub(crate) fn of(subject: &str, attribute: Attribute, value_key: &str) -> Self {
        let values = match attribute.cardinality() {
            Cardinality::One => (String::new(), char::MAX.to_string()),
            Cardinality::Many => (value_key.to_owned(), value_key.to_owned()),
        };
        Self { subject: subject.to_owned(), attribute, values }
    }
}

/// Where a statement comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    /// The turn; `None`: set by hand.
    pub(crate) turn: Option<TurnId>,
    pub(crate) seq: i64,
    pub(crate) said_at: DateTime<Utc>,
    pub(crate) made_by: &'a str,
}

/// Adds a statement, once, and returns the anchor it is about, and what the caller folds anew before the transaction
/// ends.
pub(crate) fn state(
    tx: &dyn Sql,
    scope: &Scope,
    found: &FoundAnchor,
    source: Source<'_>,
    now: DateTime<Utc>,
) -> Result<(AnchorId, Fold)> {
    let id = find_or_add(tx, scope, found, source.said_at, now)?;
    let (source_kind, source_id) = match source.turn {
        Some(turn) => ("turn", *turn.as_uuid()),
        None => ("caller", *AnchorId::new(now).as_uuid()),
    };
    tx.prepare_cached(
        "INSERT INTO derivations
           (user_id, product_kind, product_id, source_kind, source_id, stance, seq, said_at, made_by, value, quote)
         VALUES (?1, 'anchor', ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
         ON CONFLICT (user_id, product_id, source_id, stance) DO NOTHING",
    )?
    .execute(params![
        scope.user_id,
        id,
        source_kind,
        source_id.as_bytes(),
        found.stance,
        source.seq,
        Instant(source.said_at),
        source.made_by,
        found.value,
        found.quote,
    ])?;
    Ok((id, Fold::of(&found.subject, found.attribute, &value_key(&found.value))))
}

fn find_or_add(
    tx: &dyn Sql,
    scope: &Scope,
    found: &FoundAnchor,
    said_at: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Result<AnchorId> {
    let key = value_key(&found.value);
    if let Some(id) = id_of(tx, scope, (&found.subject, found.attribute), &key)? {
        return Ok(id);
    }
    let id = AnchorId::new(now);
    let cardinality = match found.attribute.cardinality() {
        Cardinality::One => "one",
        Cardinality::Many => "many",
    };
    tx.prepare_cached(
        "INSERT INTO identity_anchors
           (id, user_id, subject, attribute, value_key, value, cardinality, strength, valid_from)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0.0, ?8)",
    )?
    .execute(params![
        id,
        scope.user_id,
        found.subject,
        found.attribute,
        key,
        found.value,
        cardinality,
        Instant(said_at)
    ])?;
    Ok(id)
}

fn id_of(conn: &dyn Sql, scope: &Scope, key: (&str, Attribute), value: &str) -> Result<Option<AnchorId>> {
    let mut stmt = conn.prepare_cached(
        "SELECT id FROM identity_anchors
         WHERE user_id = ?1 AND subject = ?2 AND attribute = ?3 AND value_key = ?4",
    )?;
    Ok(stmt.query_row(params![scope.user_id, key.0, key.1, value], |row| row.get("id")).optional()?)
}

/// Hears all statements about these and writes what follows. A value without any goes; returns how many went.
pub(crate) fn refold(tx: &dyn Sql, scope: &Scope, folds: &BTreeSet<Fold>) -> Result<u64> {
    let mut gone = 0;
    if !folds.is_empty() {
        users::raise_anchor_version(tx, scope)?;
    }
    for fold in folds {
        let (ids, retracted) = values(tx, scope, fold)?;
        let states = fold::fold(fold.attribute.cardinality(), statements(tx, scope, fold)?, &retracted);
        for (key, id) in &ids {
            let Some(state) = states.get(key) else {
                tx.prepare_cached("DELETE FROM identity_anchors WHERE id = ?1 AND user_id = ?2")?
                    .execute(params![id, scope.user_id])?;
                gone += 1;
                continue;
            };
            let superseded_by = state.superseded_by.as_ref().and_then(|by| ids.get(by));
            let is_heard_again = state.count > 0 && retracted.contains_key(key);
            tx.prepare_cached(
                "UPDATE identity_anchors
                 SET value = ?3, strength = ?4, valid_from = ?5, valid_until = ?6, superseded_by = ?7,
                     retracted_at = CASE WHEN ?8 THEN NULL ELSE retracted_at END
                 WHERE id = ?1 AND user_id = ?2",
            )?
            .execute(params![
                id,
                scope.user_id,
                state.value,
                fold::strength(state.count),
                Instant(state.valid_from),
                state.valid_until.map(Instant),
                superseded_by,
                is_heard_again,
            ])?;
        }
    }
    Ok(gone)
}

/// The anchors of one attribute by their value's key, and up to where a person took them back.
fn values(conn: &dyn Sql, scope: &Scope, fold: &Fold) -> Result<(BTreeMap<String, AnchorId>, Retracted)> {
    let mut stmt = conn.prepare_cached(
        "SELECT id, value_key, retracted_seq FROM identity_anchors
         WHERE user_id = ?1 AND subject = ?2 AND attribute = ?3 AND value_key BETWEEN ?4 AND ?5",
    )?;
    let (first, last) = &fold.values;
    let mut rows = stmt.query(params![scope.user_id, fold.subject, fold.attribute, first, last])?;
    let (mut ids, mut retracted) = (BTreeMap::new(), Retracted::new());
    while let Some(row) = rows.next()? {
        let value: String = row.get("value_key")?;
        if let Some(seq) = row.get("retracted_seq")? {
            retracted.insert(value.clone(), seq);
        }
        ids.insert(value, row.get("id")?);
    }
    Ok((ids, retracted))
}

fn statements(conn: &dyn Sql, scope: &Scope, fold: &Fold) -> Result<Vec<Statement>> {
    let mut stmt = conn.prepare_cached(
        "SELECT d.user_id, d.product_kind, d.product_id, d.source_kind, d.source_id, d.stance AS stance, d.seq AS seq,
                d.said_at AS said_at, d.made_by, d.value AS value, d.quote, d.row_check, a.value_key AS value_key,
                d.source_kind = 'caller' AS by_hand
         FROM identity_anchors AS a JOIN derivations AS d ON d.user_id = a.user_id AND d.product_id = a.id
         WHERE a.user_id = ?1 AND a.subject = ?2 AND a.attribute = ?3 AND a.value_key BETWEEN ?4 AND ?5",
    )?;
    let (first, last) = &fold.values;
    let mut rows = stmt.query(params![scope.user_id, fold.subject, fold.attribute, first, last])?;
    let mut statements = Vec::new();
    while let Some(row) = rows.next()? {
        if !row_check::holds(row, CHECKED_COLUMNS[1])? {
            continue; // What is damaged is not heard: the anchor would say it as if it were sound.
        }
        statements.push(Statement {
            value_key: row.get("value_key")?,
            value: row.get("value")?,
            stance: row.get("stance")?,
            seq: row.get("seq")?,
            by_hand: row.get("by_hand")?,
            said_at: instant_at(row, "said_at")?,
        });
    }
    Ok(statements)
}

/// How many columns of an anchor and of a derivation their checksums cover.
const CHECKED_COLUMNS: [usize; 2] = [13, 11];

/// Every anchor of the user, by subject and attribute, the newest value first.
pub(crate) fn list(conn: &dyn Sql, scope: &Scope) -> Result<Vec<Anchor>> {
    each(conn, scope)?.into_iter().collect()
}

/// The same, but for those that are damaged, themselves or their evidence; and how many those are.
pub(crate) fn sound(conn: &dyn Sql, scope: &Scope) -> Result<(Vec<Anchor>, usize)> {
    let (mut anchors, mut damaged) = (Vec::new(), 0);
    for anchor in each(conn, scope)? {
        match anchor {
            Ok(anchor) => anchors.push(anchor),
            Err(error) if error.kind() == ErrorKind::Corrupt => damaged += 1,
            Err(error) => return Err(error),
        }
    }
    Ok((anchors, damaged))
}

fn each(conn: &dyn Sql, scope: &Scope) -> Result<Vec<Result<Anchor>>> {
    let mut stmt = conn.prepare_cached(
        "SELECT id, user_id, subject, attribute, value_key, value, cardinality, strength, valid_from, valid_until,
                superseded_by, retracted_at, retracted_seq, row_check
         FROM identity_anchors WHERE user_id = ?1
         ORDER BY subject, attribute, valid_until IS NOT NULL, valid_from DESC, value_key",
    )?;
    let mut rows = stmt.query([scope.user_id])?;
    let mut anchors = Vec::new();
    while let Some(row) = rows.next()? {
        anchors.push(read(row).and_then(|anchor| {
            let evidence = evidence(conn, scope, anchor.id)?;
            Ok(Anchor { evidence, ..anchor })
        }));
    }
    Ok(anchors)
}

fn damaged(row: &Row<'_>, column: &str) -> Result<Error> {
    let id: AnchorId = row.get(column)?;
    Ok(crate::store::rows::row_check::damaged(format_args!("anchor {id}, or its evidence,")))
}

fn read(row: &Row<'_>) -> Result<Anchor> {
    if !row_check::holds(row, CHECKED_COLUMNS[0])? {
        return Err(damaged(row, "id")?);
    }
    Ok(Anchor {
        id: row.get("id")?,
        subject: row.get("subject")?,
        attribute: row.get("attribute")?,
        value: row.get("value")?,
        strength: row.get("strength")?,
        evidence: Vec::new(),
        valid_from: instant_at(row, "valid_from")?,
        valid_until: optional_instant_at(row, "valid_until")?,
        superseded_by: row.get("superseded_by")?,
        retracted_at: optional_instant_at(row, "retracted_at")?,
    })
}

fn evidence(conn: &dyn Sql, scope: &Scope, anchor: AnchorId) -> Result<Vec<Evidence>> {
    let mut stmt = conn.prepare_cached(
        "SELECT user_id, product_kind, product_id, source_kind, source_id, stance, seq, said_at, made_by, value, quote,
                row_check
         FROM derivations
         WHERE user_id = ?1 AND product_id = ?2 ORDER BY seq, source_kind = 'caller', said_at, source_id",
    )?;
    let read = |row: &Row<'_>| {
        if !row_check::holds(row, CHECKED_COLUMNS[1])? {
            return Err(damaged(row, "product_id")?);
        }
        let is_turn = row.get::<_, String>("source_kind")? == "turn";
        Ok(Evidence {
            turn_id: if is_turn { Some(row.get("source_id")?) } else { None },
            stance: row.get("stance")?,
            said_at: instant_at(row, "said_at")?,
            made_by: row.get("made_by")?,
            quote: row.get("quote")?,
        })
    };
    stmt.query_and_then(params![scope.user_id, anchor], read)?.collect()
}

/// The turns that say that an anchor holds, by their numbers.
pub(crate) fn sources(conn: &dyn Sql, scope: &Scope, anchor: AnchorId) -> Result<Vec<u32>> {
    let mut stmt = conn.prepare_cached(
        "SELECT seq FROM derivations
         WHERE user_id = ?1 AND product_id = ?2 AND source_kind = 'turn' AND stance = 'holds' ORDER BY seq",
    )?;
    let rows = stmt.query_map(params![scope.user_id, anchor], |row| row.get("seq"))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Sets a value by hand, as of the user's newest turn; what was taken back counts again.
pub(crate) fn set(tx: &dyn Sql, scope: &Scope, found: &FoundAnchor, now: DateTime<Utc>) -> Result<AnchorId> {
    users::expect(tx, scope)?;
    users::check_is_there(tx, scope)?;
    let source = Source { turn: None, seq: newest_seq(tx, scope)?, said_at: now, made_by: "caller" };
    let (id, fold) = state(tx, scope, found, source, now)?;
    set_retracted(tx, scope, id, None)?;
    refold(tx, scope, &BTreeSet::from([fold]))?;
    Ok(id)
}

/// Takes a value back: nothing that was said up to now counts for it. What it had superseded holds again.
pub(crate) fn retract(tx: &dyn Sql, scope: &Scope, id: AnchorId, now: DateTime<Utc>) -> Result<()> {
    let mut stmt = tx.prepare_cached(
        "SELECT subject, attribute, value_key FROM identity_anchors WHERE id = ?1 AND user_id = ?2",
    )?;
    let fold = stmt.query_row(params![id, scope.user_id], read_fold).optional()?;
    let fold = fold.ok_or_else(|| Error::not_found("this user has no such anchor"))?;
    set_retracted(tx, scope, id, Some((now, newest_seq(tx, scope)?)))?;
    refold(tx, scope, &BTreeSet::from([fold])).map(drop)
}

fn set_retracted(
    tx: &dyn Sql,
    scope: &Scope,
    id: AnchorId,
    retracted: Option<(DateTime<Utc>, i64)>,
) -> Result<()> {
    tx.prepare_cached(
        "UPDATE identity_anchors SET retracted_at = ?3, retracted_seq = ?4 WHERE id = ?1 AND user_id = ?2",
    )?
    .execute(params![
        id,
        scope.user_id,
        retracted.map(|(at, _)| Instant(at)),
        retracted.map(|(_, seq)| seq)
    ])?;
    Ok(())
}

/// The place of the user's newest turn in the order of recording; 0 if there is none.
fn newest_seq(conn: &dyn Sql, scope: &Scope) -> Result<i64> {
    let mut stmt =
        conn.prepare_cached("SELECT coalesce(max(seq), 0) AS seq FROM recall_units WHERE user_no = ?1")?;
    Ok(stmt.query_row([scope.user_no], |row| row.get("seq"))?)
}

/// What a turn was evidence for, now taken away.
pub(crate) struct Withdrawn {
    /// What must be folded anew.
    pub(crate) folds: BTreeSet<Fold>,
    pub(crate) derivations: u64,
}

/// Takes away what a turn was evidence for. The caller folds anew before the transaction ends.
pub(crate) fn withdraw(tx: &dyn Sql, scope: &Scope, turn: TurnId) -> Result<Withdrawn> {
    let mut stmt = tx.prepare_cached(
        "SELECT a.subject AS subject, a.attribute AS attribute, a.value_key AS value_key
         FROM derivations AS d JOIN identity_anchors AS a ON a.id = d.product_id AND a.user_id = d.user_id
         WHERE d.user_id = ?1 AND d.source_id = ?2",
    )?;
    let rows = stmt.query_map(params![scope.user_id, turn], read_fold)?;
    let folds: BTreeSet<Fold> = rows.collect::<rusqlite::Result<_>>()?;
    let mut derivations = 0;
    if !folds.is_empty() {
        derivations = tx
            .prepare_cached("DELETE FROM derivations WHERE user_id = ?1 AND source_id = ?2")?
            .execute(params![scope.user_id, turn])?;
    }
    Ok(Withdrawn { folds, derivations: derivations as u64 })
}

fn read_fold(row: &Row<'_>) -> rusqlite::Result<Fold> {
    let value_key: String = row.get("value_key")?;
    Ok(Fold::of(&row.get::<_, String>("subject")?, row.get("attribute")?, &value_key))
}
