//! Rows of `identity_anchors`, and of the `derivations` that they are folded from.
//!
//! What an anchor says is never edited: statements are added or removed, or the anchor is retracted, and it is folded again.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    compress::fold::{self, Retracted, Retraction, ValueStatement, value_key},
    error::Result,
    model::{
        anchor::{Attribute, Cardinality, FoundAnchor, Stance},
        ids::{AnchorId, TurnId},
        memory::trust::Trust,
        place::Seq,
        stored_time::StoredTime,
    },
    store::{
        rows::{row_check, users},
        scope::Scope,
        sql::{RowExpectation, Sql, SqlRow, SqlValue, ToColumn, text, values},
    },
};

/// What is folded together: all values of a subject's attribute or, where values do not affect each other, a single one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fold {
    subject: String,
    attribute: Attribute,
    /// The first and the last value key of the fold, inclusive.
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

    /// The parameters of [`anchors_of`] and [`statements`].
    fn key<'f>(&'f self, scope: &'f Scope) -> Vec<SqlValue<'f>> {
        let Self { subject, attribute, values: (first, last) } = self;
        vec![
            scope.user_id.to_column(),
            subject.to_column(),
            attribute.to_column(),
            first.to_column(),
            last.to_column(),
        ]
    }
}

/// The columns covered by a derivation's checksum, in the table's order, then the checksum.
macro_rules! derivation {
    () => {
        "d.user_id, d.product_kind, d.product_id, d.source_kind, d.source_id, d.stance, d.seq, d.said_at, d.made_by,
         d.value, d.quote, d.trust, d.row_check"
    };
}
pub(super) use derivation;

/// How many columns of a derivation the checksum covers.
pub(super) const DERIVATION_COLUMNS: usize = 12;

/// The columns covered by an anchor's checksum, in the table's order, then the checksum.
macro_rules! anchor_columns {
    () => {
        "id, user_id, subject, attribute, value_key, value, cardinality, strength, valid_from, valid_until, superseded_by,
         retracted_at, retracted_seq, trust, retracted_trust, contests, row_check"
    };
}
pub(super) use anchor_columns;

/// How many columns of an anchor the checksum covers.
pub(super) const ANCHOR_COLUMNS: usize = 16;

/// The source of a statement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StatementSource<'a> {
    /// The turn. `None` if set by hand.
    pub(crate) turn: Option<TurnId>,
    pub(crate) seq: Seq,
    pub(crate) said_at: StoredTime,
    pub(crate) made_by: &'a str,
    pub(crate) trust: Trust,
}

/// Adds a statement, unless its turn has already made it. Returns its anchor, and what the caller must fold again before the
/// transaction ends.
pub(crate) fn state(
    sql: &dyn Sql,
    scope: &Scope,
    found: &FoundAnchor,
    source: StatementSource<'_>,
    now: StoredTime,
) -> Result<(AnchorId, Fold)> {
    let id = find_or_add(sql, scope, found, source.said_at, now)?;
    let (source_kind, source_id) = match source.turn {
        Some(turn) => ("turn", *turn.as_uuid()),
        None => ("caller", *AnchorId::new(*now).as_uuid()),
    };
    sql.put(
        "INSERT INTO derivations
           (user_id, product_kind, product_id, source_kind, source_id, stance, seq, said_at, made_by, value, quote, trust)
         VALUES (?1, 'anchor', ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
         ON CONFLICT (user_id, product_id, source_id, stance) DO NOTHING",
        values![
            scope.user_id,
            id,
            source_kind,
            source_id.as_bytes(),
            found.stance,
            source.seq,
            source.said_at,
            source.made_by,
            found.value,
            found.quote,
            source.trust.stored(),
        ],
        RowExpectation::Any,
    )?;
    Ok((id, Fold::of(&found.subject, found.attribute, &value_key(&found.value))))
}

/// The anchor with this value, whether or not it holds.
pub(crate) fn id_of(sql: &dyn Sql, scope: &Scope, found: &FoundAnchor) -> Result<Option<AnchorId>> {
    sql.one(
        "SELECT id FROM identity_anchors
         WHERE user_id = ?1 AND subject = ?2 AND attribute = ?3 AND value_key = ?4",
        values![scope.user_id, found.subject, found.attribute, value_key(&found.value)],
        |row| row.get(0),
    )
}

fn find_or_add(
    sql: &dyn Sql,
    scope: &Scope,
    found: &FoundAnchor,
    said_at: StoredTime,
    now: StoredTime,
) -> Result<AnchorId> {
    let FoundAnchor { subject, attribute, value, .. } = found;
    let key = value_key(value);
    if let Some(id) = id_of(sql, scope, found)? {
        return Ok(id);
    }
    let id = AnchorId::new(*now);
    let cardinality = match attribute.cardinality() {
        Cardinality::One => "one",
        Cardinality::Many => "many",
    };
    sql.put(
        "INSERT INTO identity_anchors
           (id, user_id, subject, attribute, value_key, value, cardinality, strength, valid_from)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0.0, ?8)",
        values![id, scope.user_id, subject, attribute, key, value, cardinality, said_at],
        RowExpectation::Any,
    )?;
    Ok(id)
}

/// Folds all statements of each fold again, and writes the resulting anchors. Removes anchors without statements, and
/// returns how many it removed.
pub(crate) fn refold(sql: &dyn Sql, scope: &Scope, folds: &BTreeSet<Fold>) -> Result<u64> {
    if folds.is_empty() {
        return Ok(0);
    }
    users::raise_anchor_version(sql, scope)?;
    let sets: Vec<Vec<SqlValue<'_>>> = folds.iter().map(|fold| fold.key(scope)).collect();
    let heard = folds.iter().zip(anchors_of(sql, &sets)?).zip(statements(sql, &sets)?);
    let mut gone = 0;
    for ((fold, (ids, retracted)), statements) in heard {
        let states = fold::fold(fold.attribute.cardinality(), statements, &retracted);
        for (key, id) in &ids {
            let Some(state) = states.get(key) else {
                sql.put(
                    "DELETE FROM identity_anchors WHERE id = ?1 AND user_id = ?2",
                    values![id, scope.user_id],
                    RowExpectation::Any,
                )?;
                gone += 1;
                continue;
            };
            let id_of = |key: &Option<String>| key.as_ref().and_then(|key| ids.get(key));
            sql.change_unless_damaged(
                "UPDATE identity_anchors
                 SET value = ?3, strength = ?4, valid_from = ?5, valid_until = ?6, superseded_by = ?7, trust = ?8,
                     contests = ?9
                 WHERE id = ?1 AND user_id = ?2",
                values![
                    id,
                    scope.user_id,
                    state.value,
                    fold::strength(state.count),
                    StoredTime::try_from(state.valid_from)?,
                    StoredTime::stated("valid_until", state.valid_until)?,
                    id_of(&state.superseded_by),
                    state.trust.stored(),
                    id_of(&state.contests),
                ],
            )?;
            if state.count > 0 && retracted.contains_key(key) {
                sql.change_unless_damaged(
                    "UPDATE identity_anchors SET retracted_at = NULL WHERE id = ?1 AND user_id = ?2",
                    values![id, scope.user_id],
                )?;
            }
        }
    }
    Ok(gone)
}

/// For each fold, the anchors by value key, and up to which unit who retracted them. A damaged anchor is skipped, and stays as
/// it is.
fn anchors_of(
    sql: &dyn Sql,
    folds: &[Vec<SqlValue<'_>>],
) -> Result<Vec<(BTreeMap<String, AnchorId>, Retracted)>> {
    let mut found = vec![Default::default(); folds.len()];
    sql.query_many(
        "SELECT id, value_key, retracted_seq, retracted_trust FROM identity_anchors
         WHERE user_id = ?1 AND subject = ?2 AND attribute = ?3 AND value_key BETWEEN ?4 AND ?5",
        folds,
        &mut |at, row| {
            let (ids, retracted): &mut (BTreeMap<_, _>, Retracted) = &mut found[at];
            let (Ok(id), Ok(value), Ok(until), Ok(trust)) =
                (row.get(0), row.get::<String>(1), row.get(2), row.get(3))
            else {
                return Ok(());
            };
            if let Some(until) = until {
                retracted.insert(value.clone(), Retraction { until, trust: Trust::of_stored(trust) });
            }
            ids.insert(value, id);
            Ok(())
        },
    )?;
    Ok(found)
}

/// For each fold, all statements. A damaged statement is skipped, because the anchor would present it as if it were sound.
fn statements(sql: &dyn Sql, folds: &[Vec<SqlValue<'_>>]) -> Result<Vec<Vec<ValueStatement>>> {
    let mut found = vec![Vec::new(); folds.len()];
    sql.query_many(
        concat!(
            "SELECT ",
            derivation!(),
            ", a.value_key FROM identity_anchors AS a
             JOIN derivations AS d ON d.user_id = a.user_id AND d.product_id = a.id
             WHERE a.user_id = ?1 AND a.subject = ?2 AND a.attribute = ?3 AND a.value_key BETWEEN ?4 AND ?5"
        ),
        folds,
        &mut |at, row| {
            if row_check::holds(row, DERIVATION_COLUMNS)? {
                found[at].push(ValueStatement {
                    value_key: row.get(13)?,
                    value: row.get(9)?,
                    stance: row.get(5)?,
                    trust: Trust::of_stored(row.get(11)?),
                    seq: row.get(6)?,
                    by_hand: text(row.value(3)?) == Some("caller"),
                    said_at: row.get(7)?,
                });
            }
            Ok(())
        },
    )?;
    Ok(found)
}

/// The fold that an anchor belongs to. `None` if the user has no such anchor.
pub(crate) fn fold_of(sql: &dyn Sql, scope: &Scope, id: AnchorId) -> Result<Option<Fold>> {
    sql.one(KEY, values![id, scope.user_id], |row| read_fold(row, 0))
}

/// Selects the subject, attribute and value key of an anchor by its id.
pub(super) const KEY: &str =
    "SELECT subject, attribute, value_key FROM identity_anchors WHERE id = ?1 AND user_id = ?2";

/// Sets when, and up to which unit, somebody retracted an anchor. `None` removes the retraction.
pub(crate) fn set_retracted(
    sql: &dyn Sql,
    scope: &Scope,
    id: AnchorId,
    retracted: Option<(StoredTime, Retraction)>,
) -> Result<()> {
    let (at, by) = retracted.unzip();
    sql.put(
        "UPDATE identity_anchors SET retracted_at = ?3, retracted_seq = ?4, retracted_trust = ?5
         WHERE id = ?1 AND user_id = ?2",
        values![id, scope.user_id, at, by.map(|by| by.until), by.and_then(|by| by.trust.stored())],
        RowExpectation::Any,
    )
}

/// How far an anchor, and who retracted it, are trusted. `None` if the user has no such anchor.
pub(crate) fn trust_of(sql: &dyn Sql, scope: &Scope, id: AnchorId) -> Result<Option<(Trust, Option<Trust>)>> {
    sql.one(
        "SELECT trust, retracted_trust, retracted_seq FROM identity_anchors WHERE id = ?1 AND user_id = ?2",
        values![id, scope.user_id],
        |row| {
            let retracted: Option<Seq> = row.get(2)?;
            let by = Trust::of_stored(row.get(1)?);
            Ok((Trust::of_stored(row.get(0)?), retracted.map(|_| by)))
        },
    )
}

/// One statement of a turn, and what found it.
pub(crate) struct Stated {
    pub(crate) anchor: AnchorId,
    pub(crate) found: FoundAnchor,
    pub(crate) made_by: String,
    pub(crate) trust: Trust,
}

/// The statements found in a turn.
pub(crate) fn stated_by(sql: &dyn Sql, scope: &Scope, turn: TurnId) -> Result<Vec<Stated>> {
    sql.list(
        "SELECT d.user_id, d.product_kind, d.product_id, d.source_kind, d.source_id, d.stance, d.seq, d.said_at,
                d.made_by, d.value, d.quote, d.trust, d.row_check, a.subject, a.attribute
         FROM derivations AS d JOIN identity_anchors AS a ON a.id = d.product_id AND a.user_id = d.user_id
         WHERE d.user_id = ?1 AND d.source_id = ?2 ORDER BY d.product_id, d.stance",
        values![scope.user_id, turn],
        |row| {
            if !row_check::holds(row, DERIVATION_COLUMNS)? {
                return Err(row_check::damaged("what is known of a turn"));
            }
            let found = FoundAnchor {
                subject: row.get(13)?,
                attribute: row.get(14)?,
                value: row.get(9)?,
                stance: row.get(5)?,
                quote: row.get(10)?,
            };
            let trust = Trust::of_stored(row.get(11)?);
            Ok(Stated { anchor: row.get(2)?, made_by: row.get(8)?, found, trust })
        },
    )
}

/// Removes one statement of a turn. The caller must fold again before the transaction ends.
pub(crate) fn take_away(
    sql: &dyn Sql,
    scope: &Scope,
    turn: TurnId,
    (anchor, stance): (AnchorId, Stance),
) -> Result<()> {
    sql.put(
        "DELETE FROM derivations WHERE user_id = ?1 AND product_id = ?2 AND source_id = ?3 AND stance = ?4",
        values![scope.user_id, anchor, turn, stance],
        RowExpectation::Any,
    )
}

/// The removed evidence of a turn.
#[derive(Default)]
pub(crate) struct Withdrawn {
    /// What must be folded again.
    pub(crate) folds: BTreeSet<Fold>,
    pub(crate) derivations: u64,
    /// How many damaged anchors were removed.
    pub(crate) anchors: u64,
}

/// Removes everything that a turn was evidence for. The caller must fold again before the transaction ends. A damaged anchor
/// cannot be folded again, so it is removed with all of its evidence: its value may be what the turn said.
pub(crate) fn withdraw(sql: &dyn Sql, scope: &Scope, turn: TurnId) -> Result<Withdrawn> {
    let found = sql.list(
        concat!(
            "SELECT ",
            anchor_columns!(),
            " FROM identity_anchors WHERE user_id = ?1 AND id IN
               (SELECT product_id FROM derivations WHERE user_id = ?1 AND source_id = ?2)"
        ),
        values![scope.user_id, turn],
        |row| {
            let is_sound = row_check::is_sound(row, ANCHOR_COLUMNS);
            Ok((row.get(0)?, is_sound.then(|| read_fold(row, 2)).and_then(Result::ok)))
        },
    )?;
    let mut gone = Withdrawn::default();
    if found.is_empty() {
        return Ok(gone);
    }
    gone.derivations = sql.change(
        "DELETE FROM derivations WHERE user_id = ?1 AND source_id = ?2",
        values![scope.user_id, turn],
    )?;
    for (id, fold) in found {
        let id: AnchorId = id;
        if let Some(fold) = fold {
            gone.folds.insert(fold);
            continue;
        }
        gone.derivations += sql.change(
            "DELETE FROM derivations WHERE user_id = ?1 AND product_id = ?2",
            values![scope.user_id, id],
        )?;
        gone.anchors += sql.change(
            "DELETE FROM identity_anchors WHERE user_id = ?1 AND id = ?2",
            values![scope.user_id, id],
        )?;
    }
    Ok(gone)
}

/// Reads a fold from three columns after `first` others: subject, attribute and value key.
fn read_fold(row: &SqlRow<'_>, first: usize) -> Result<Fold> {
    let (subject, value_key): (String, String) = (row.get(first)?, row.get(first + 2)?);
    Ok(Fold::of(&subject, row.get(first + 1)?, &value_key))
}
