//! Anchors for display: rows of `identity_anchors` with their evidence.

use std::collections::HashMap;

use crate::{
    error::{Error, ErrorKind, Result},
    model::{
        anchor::{Anchor, Evidence},
        ids::AnchorId,
        memory::trust::Trust,
        page,
    },
    store::{
        rows::{
            anchors::{ANCHOR_COLUMNS, DERIVATION_COLUMNS, KEY, anchor_columns, derivation},
            row_check,
        },
        scope::Scope,
        sql::{Flow, Sql, SqlRow, ToColumn, text, values},
    },
};

/// At most `limit` anchors of the user after the given one, ordered by subject, attribute and folded value. `None` starts
/// with the first.
pub(crate) fn page(sql: &dyn Sql, scope: &Scope, after: Option<AnchorId>, limit: u32) -> Result<Vec<Anchor>> {
    let key =
        |id| sql.one(KEY, values![id, scope.user_id], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]));
    let [subject, attribute, value_key]: [String; 3] = match after {
        Some(id) => key(id)?.ok_or_else(|| page::nothing_there("anchor"))?,
        None => Default::default(),
    };
    let anchors = sql.list(
        concat!(
            "SELECT ",
            anchor_columns!(),
            " FROM identity_anchors WHERE user_id = ?1 AND (subject, attribute, value_key) > (?2, ?3, ?4)
               AND (strength > 0 OR retracted_at IS NOT NULL)
             ORDER BY subject, attribute, value_key LIMIT ?5"
        ),
        values![scope.user_id, subject, attribute, value_key, limit],
        read,
    )?;
    heard_of(sql, scope, anchors)
}

/// The anchor with its evidence. `None` if the user has no such anchor.
pub(crate) fn by_id(sql: &dyn Sql, scope: &Scope, id: AnchorId) -> Result<Option<Anchor>> {
    let anchors = sql.list(
        concat!(
            "SELECT ",
            anchor_columns!(),
            " FROM identity_anchors WHERE id = ?1 AND user_id = ?2 AND (strength > 0 OR retracted_at IS NOT NULL)"
        ),
        values![id, scope.user_id],
        read,
    )?;
    Ok(heard_of(sql, scope, anchors)?.pop())
}

/// Adds the evidence to anchors.
fn heard_of(sql: &dyn Sql, scope: &Scope, anchors: Vec<Anchor>) -> Result<Vec<Anchor>> {
    let mut evidence = HashMap::new();
    let sets: Vec<_> =
        anchors.iter().map(|anchor| vec![scope.user_id.to_column(), anchor.id.to_column()]).collect();
    sql.query_many(
        concat!(
            "SELECT ",
            derivation!(),
            " FROM derivations AS d WHERE d.user_id = ?1 AND d.product_id = ?2
             ORDER BY d.seq, d.source_kind = 'caller', d.said_at, d.source_id, d.stance"
        ),
        &sets,
        &mut |_, row| {
            hear(&mut evidence, row);
            Ok(())
        },
    )?;
    anchors.into_iter().map(|anchor| with_evidence(anchor, &mut evidence)).collect()
}

/// All anchors of the user that are sound and have sound evidence, and how many are not. Ordered by subject and attribute,
/// anchors that hold before those that no longer do.
pub(crate) fn sound(sql: &dyn Sql, scope: &Scope) -> Result<(Vec<Anchor>, usize)> {
    let (mut anchors, mut damaged) = (Vec::new(), 0);
    for anchor in each(sql, scope)? {
        match anchor {
            Ok(anchor) => anchors.push(anchor),
            Err(error) if error.kind() == ErrorKind::Corrupt => damaged += 1,
            Err(error) => return Err(error),
        }
    }
    Ok((anchors, damaged))
}

fn each(sql: &dyn Sql, scope: &Scope) -> Result<Vec<Result<Anchor>>> {
    let mut anchors = Vec::new();
    sql.query(
        concat!(
            "SELECT ",
            anchor_columns!(),
            " FROM identity_anchors WHERE user_id = ?1
         -- `I am not allergic to nuts` ends what held; a value that never held is no anchor.
           AND (strength > 0 OR retracted_at IS NOT NULL)
         ORDER BY subject, attribute, valid_until IS NOT NULL, valid_from DESC, value_key"
        ),
        values![scope.user_id],
        &mut |row| {
            anchors.push(read(row));
            Ok(Flow::Next)
        },
    )?;
    let mut evidence = evidence(sql, scope)?;
    let mut whole = |anchor| with_evidence(anchor, &mut evidence);
    Ok(anchors.into_iter().map(|anchor: Result<Anchor>| anchor.and_then(&mut whole)).collect())
}

/// The evidence of each anchor, in the order in which it was said, or an error if some of it is damaged.
type AnchorSourceOrder = HashMap<AnchorId, Result<Vec<Evidence>>>;

fn with_evidence(anchor: Anchor, heard: &mut AnchorSourceOrder) -> Result<Anchor> {
    let evidence = heard.remove(&anchor.id).transpose()?.unwrap_or_default();
    Ok(Anchor { evidence, ..anchor })
}

fn hear(heard: &mut AnchorSourceOrder, row: &SqlRow<'_>) {
    // Evidence whose anchor cannot be identified is ignored.
    let Ok(anchor) = row.get(2) else { return };
    let known = heard.entry(anchor).or_insert_with(|| Ok(Vec::new()));
    match (&mut *known, read_evidence(row)) {
        (Ok(known), Ok(evidence)) => known.push(evidence),
        (Ok(_), Err(error)) => *known = Err(error),
        (Err(_), _) => {}
    }
}

fn damaged(row: &SqlRow<'_>, column: usize) -> Result<Error> {
    let id: AnchorId = row.get(column)?;
    Ok(row_check::damaged(format_args!("anchor {id}, or its evidence,")))
}

fn read(row: &SqlRow<'_>) -> Result<Anchor> {
    if !row_check::holds(row, ANCHOR_COLUMNS)? {
        return Err(damaged(row, 0)?);
    }
    Ok(Anchor {
        id: row.get(0)?,
        subject: row.get(2)?,
        attribute: row.get(3)?,
        value: row.get(5)?,
        strength: row.get(7)?,
        evidence: Vec::new(),
        valid_from: row.get(8)?,
        valid_until: row.get(9)?,
        superseded_by: row.get(10)?,
        retracted_at: row.get(11)?,
        trust: Trust::of_stored(row.get(13)?),
        contests: row.get(15)?,
    })
}

/// The evidence of every anchor of the user.
fn evidence(sql: &dyn Sql, scope: &Scope) -> Result<AnchorSourceOrder> {
    let mut found = AnchorSourceOrder::new();
    sql.query(
        concat!(
            "SELECT ",
            derivation!(),
            " FROM derivations AS d WHERE d.user_id = ?1
             ORDER BY d.product_id, d.seq, d.source_kind = 'caller', d.said_at, d.source_id, d.stance"
        ),
        values![scope.user_id],
        &mut |row| {
            hear(&mut found, row);
            Ok(Flow::Next)
        },
    )?;
    Ok(found)
}

fn read_evidence(row: &SqlRow<'_>) -> Result<Evidence> {
    if !row_check::holds(row, DERIVATION_COLUMNS)? {
        return Err(damaged(row, 2)?);
    }
    let is_turn = text(row.value(3)?) == Some("turn");
    Ok(Evidence {
        turn_id: if is_turn { Some(row.get(4)?) } else { None },
        stance: row.get(5)?,
        said_at: row.get(7)?,
        made_by: row.get(8)?,
        quote: row.get(10)?,
        trust: Trust::of_stored(row.get(11)?),
    })
}

/// The unit numbers of the turns that say that an anchor holds.
pub(crate) fn sources(sql: &dyn Sql, scope: &Scope, anchor: AnchorId) -> Result<Vec<u32>> {
    sql.list(
        "SELECT seq FROM derivations
         WHERE user_id = ?1 AND product_id = ?2 AND source_kind = 'turn' AND stance = 'holds' ORDER BY seq, source_id",
        values![scope.user_id, anchor],
        |row| row.get(0),
    )
}
