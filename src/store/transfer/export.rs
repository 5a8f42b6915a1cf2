//! Writes the export of a user's memory, as of one moment.

use std::io::Write;

use chrono::DateTime;

use crate::{
    error::Result,
    model::{place::Seq, summary::Original, turn::Turn},
    store::{
        rows::{
            aside::{self, Aside},
            memories::transfer as memory_rows,
            originals,
            row_check::damaged,
            sessions, summaries,
            transfer::{self, UnitOfTurn},
            turns, users,
            uses::{self, UnitUse},
        },
        scope::Scope,
        sql::Sql,
        transfer::{
            AnchorLine, AsideLine, DeletedTurn, DerivationLine, DerivedBy, FORMAT, FORMAT_WITH_MEMORIES,
            TransferLine, Transferred, UseCountLine, UseLine, export_memories, lines::LineWriter,
        },
    },
};

/// Writes all lines of an export, and returns their counts.
pub(crate) fn export(sql: &dyn Sql, scope: &Scope, to: impl Write) -> Result<Transferred> {
    transfer::expect_sound(sql, scope)?;
    let mut out = LineWriter::to(to);
    let rules = users::rules(sql, scope)?;
    // A negative version means that a `derive` job has not finished, so it is not known which rules derived the data.
    let known = |version| u32::try_from(version).unwrap_or(0);
    let rules = DerivedBy { critical: known(rules.critical), anchors: known(rules.anchors) };
    let rules = (rules != DerivedBy::FIRST).then_some(rules);
    let has_memories = memory_rows::has_any(sql, scope)?;
    let format = if has_memories { FORMAT_WITH_MEMORIES } else { FORMAT };
    out.line(&TransferLine::Memory { format, rules })?;
    for session in sessions::list(sql, scope)?.into_iter().rev() {
        out.counts.sessions += 1;
        out.line(&TransferLine::Session(session.info))?;
    }
    turn_lines(sql, scope, &mut out)?;
    for session in sessions::list(sql, scope)?.into_iter().rev() {
        aside::each_of_session(sql, scope, session.info.id, &mut |Aside { turn, replaced, .. }| {
            out.counts.aside += 1;
            let (replaced_by, replaced_at) = replaced.unzip();
            // The turn no longer has a place among the user's turns.
            let turn = Turn { seq: 0, ..turn };
            out.line(&TransferLine::Aside(AsideLine {
                replaced_by,
                replaced_at: replaced_at.map(DateTime::from),
                turn,
            }))
        })?;
    }
    summary_lines(sql, scope, &mut out)?;
    anchor_lines(sql, scope, &mut out)?;
    derivation_lines(sql, scope, &mut out)?;
    for session in sessions::list(sql, scope)?.into_iter().rev() {
        for transition in
            turns::transitions(sql, scope, (session.info.id, session.session_no), (0, 0), u32::MAX)?
        {
            out.counts.transitions += 1;
            out.line(&TransferLine::Transition(transition))?;
        }
    }
    use_lines(sql, scope, &mut out)?;
    if has_memories {
        export_memories::lines(sql, scope, &mut out)?;
    }
    out.end()
}

/// Writes a line for every turn of the user in the order of recording, with its original if there is one.
fn turn_lines<W: Write>(sql: &dyn Sql, scope: &Scope, out: &mut LineWriter<W>) -> Result<()> {
    let (mut after, originals) = (Seq::default(), summaries::originals_of_user(sql, scope)?);
    loop {
        let units = transfer::units_after(sql, scope, after)?;
        let Some(last) = units.last() else { return Ok(()) };
        after = last.seq;
        for unit in units {
            out.counts.turns += 1;
            // The turn's `seq` in this file means nothing in another file. Its position among the user's turns does.
            let seq = i64::try_from(out.counts.turns).unwrap_or(i64::MAX);
            let line = if let Some(turn) = turns::by_id(sql, scope, unit.turn_id)? {
                TransferLine::Turn(Turn { seq, ..turn })
            } else {
                let archived = originals::by_id(sql, scope, unit.turn_id)?;
                match (archived, originals.get(&unit.turn_id)) {
                    (Some(turn), Some(Original::Archived)) => TransferLine::Archived(Turn { seq, ..turn }),
                    (None, Some(Original::Deleted)) => TransferLine::Deleted(deleted(unit)),
                    _ => return Err(damaged(format_args!("turn {} or its summary", unit.turn_id))),
                }
            };
            out.line(&line)?;
        }
    }
}

fn deleted(unit: UnitOfTurn) -> DeletedTurn {
    DeletedTurn {
        id: unit.turn_id,
        session_id: unit.session_id,
        turn_number: unit.turn_number,
        caller_id: unit.caller_id,
        timestamp: *unit.said_at,
        content_hash: format!("{:032x}", u128::from_be_bytes(unit.content_hash)),
    }
}

fn summary_lines<W: Write>(sql: &dyn Sql, scope: &Scope, out: &mut LineWriter<W>) -> Result<()> {
    summaries::each_of_user(sql, scope, &mut |snapshot_id, summary| {
        out.counts.summaries += 1;
        out.line(&TransferLine::Summary { snapshot_id, summary })
    })
}

fn anchor_lines<W: Write>(sql: &dyn Sql, scope: &Scope, out: &mut LineWriter<W>) -> Result<()> {
    for anchor in transfer::anchors(sql, scope)? {
        let newest = anchor.retracted_seq.map(|seq| transfer::newest_turn(sql, scope, seq));
        out.counts.anchors += 1;
        out.line(&TransferLine::Anchor(AnchorLine {
            id: anchor.id,
            subject: anchor.subject,
            attribute: anchor.attribute,
            value: anchor.value,
            retracted_at: anchor.retracted_at.map(DateTime::from),
            retracted_after: newest.transpose()?.flatten(),
            is_retracted_since: anchor.retracted_seq.is_some(),
            retracted_trust: anchor.retracted_trust,
        }))?;
    }
    Ok(())
}

fn use_lines<W: Write>(sql: &dyn Sql, scope: &Scope, out: &mut LineWriter<W>) -> Result<()> {
    for UnitUse { turn_id, hits, last_hit } in uses::of_units(sql, scope)? {
        out.counts.uses += 1;
        out.line(&TransferLine::Use(UseLine {
            turn_id,
            hits: hits.all,
            best: hits.best,
            last_hit: *last_hit,
        }))?;
    }
    for (aspect, name, hits) in uses::counts(sql, scope)? {
        out.counts.uses += 1;
        out.line(&TransferLine::UseCount(UseCountLine { aspect, name, hits }))?;
    }
    Ok(())
}

fn derivation_lines<W: Write>(sql: &dyn Sql, scope: &Scope, out: &mut LineWriter<W>) -> Result<()> {
    for derivation in transfer::derivations(sql, scope)? {
        let (is_of_turn, source) = (derivation.is_of_turn, derivation.source_id);
        out.counts.derivations += 1;
        out.line(&TransferLine::Derivation(DerivationLine {
            anchor_id: derivation.anchor_id,
            turn_id: is_of_turn.then_some(source),
            source_id: (!is_of_turn).then_some(source),
            after: if is_of_turn { None } else { transfer::newest_turn(sql, scope, derivation.seq)? },
            stance: derivation.stance,
            said_at: *derivation.said_at,
            made_by: derivation.made_by,
            value: derivation.value,
            quote: derivation.quote,
            trust: derivation.trust,
        }))?;
    }
    Ok(())
}
