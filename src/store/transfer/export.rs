//! Writing a user's memory, as of one moment.

use std::{
    io::{BufWriter, Write},
    path::Path,
};

use rusqlite::{OptionalExtension, Row, params};

use crate::{
    error::{Error, ErrorKind, Result},
    model::{ids::TurnId, turn::Turn},
    store::{
        columns::{instant_at, optional_instant_at},
        file::{connect, row_check, sqlite::Sqlite},
        rows::{originals, sessions, summaries, turns},
        scope::Scope,
        sql::Sql,
        transfer::{AnchorLine, DeletedTurn, DerivationLine, FORMAT, Line, Transferred},
    },
    text::measure::ContentHash,
};

/// Writes every line, on a connection of its own: it may take as long as it takes.
pub(crate) fn export(tx: &dyn Sql, scope: &Scope, to: impl Write) -> Result<Transferred> {
    for (table, column) in [
        ("conversation_sessions", "user_id"),
        ("identity_anchors", "user_id"),
        ("derivations", "user_id"),
        ("recall_units", "user_no"),
        ("memory_tier_transitions", "user_no"),
    ] {
        row_check::expect_sound(tx.conn(), scope, table, column)?; // Turns and summaries say so themselves.
    }
    let mut out = Lines { to: BufWriter::new(to), counts: Transferred::default() };
    out.line(&Line::Memory { format: FORMAT })?;
    for session in sessions::list(tx, scope)?.into_iter().rev() {
        out.counts.sessions += 1;
        out.line(&Line::Session(session.info))?;
    }
    turn_lines(tx, scope, &mut out)?;
    summary_lines(tx, scope, &mut out)?;
    anchor_lines(tx, scope, &mut out)?;
    derivation_lines(tx, scope, &mut out)?;
    for session in sessions::list(tx, scope)?.into_iter().rev() {
        for transition in turns::transitions(tx, scope, (session.info.id, session.session_no))? {
            out.counts.transitions += 1;
            out.line(&Line::Transition(transition))?;
        }
    }
    out.line(&Line::End(out.counts))?;
    out.to.flush().map_err(cannot_write)?;
    Ok(out.counts)
}

struct Lines<W: Write> {
    to: BufWriter<W>,
    counts: Transferred,
}

impl<W: Write> Lines<W> {
    fn line(&mut self, line: &Line) -> Result<()> {
        let mut text = serde_json::to_vec(line)
            .map_err(|error| Error::caused(ErrorKind::Corrupt, "a row cannot be written as JSON", error))?;
        text.push(b'\n');
        self.to.write_all(&text).map_err(cannot_write)
    }
}

fn cannot_write(error: std::io::Error) -> Error {
    Error::caused(ErrorKind::Io, "the export could not be written", error)
}

/// Every unit of the user in the order of recording, with its original if there is one.
fn turn_lines<W: Write>(conn: &dyn Sql, scope: &Scope, out: &mut Lines<W>) -> Result<()> {
    let mut stmt = conn.prepare(
        "SELECT r.owner_id AS owner_id, s.id AS session_id, r.turn_number AS turn_number, r.caller_id AS caller_id,
                r.said_at AS said_at, r.content_hash AS content_hash
         FROM recall_units AS r JOIN conversation_sessions AS s ON s.session_no = r.session_no
         WHERE r.user_no = ?1 AND r.kind = 'turn' AND s.user_id = ?2 ORDER BY r.seq",
    )?;
    let mut rows = stmt.query(params![scope.user_no, scope.user_id])?;
    while let Some(row) = rows.next()? {
        let id: TurnId = row.get("owner_id")?;
        out.counts.turns += 1;
        // The file's own number means nothing elsewhere; the place among the user's turns does.
        let seq = i64::try_from(out.counts.turns).unwrap_or(i64::MAX);
        let line = if let Some(turn) = turns::by_id(conn, scope, id)? {
            Line::Turn(Turn { seq, ..turn })
        } else if let Some(turn) = originals::by_id(conn, scope, id)? {
            Line::Archived(Turn { seq, ..turn })
        } else {
            Line::Deleted(deleted(row, id)?)
        };
        out.line(&line)?;
    }
    Ok(())
}

fn deleted(row: &Row<'_>, id: TurnId) -> Result<DeletedTurn> {
    let hash: ContentHash = row.get("content_hash")?;
    Ok(DeletedTurn {
        id,
        session_id: row.get("session_id")?,
        turn_number: row.get("turn_number")?,
        caller_id: row.get("caller_id")?,
        timestamp: instant_at(row, "said_at")?,
        content_hash: format!("{:032x}", u128::from_be_bytes(hash)),
    })
}

fn summary_lines<W: Write>(conn: &dyn Sql, scope: &Scope, out: &mut Lines<W>) -> Result<()> {
    let (columns, read) = summaries::row_reader();
    let mut stmt = conn
        .prepare(&format!("SELECT {columns} FROM conversation_summaries WHERE user_id = ?1 ORDER BY seq"))?;
    let mut rows = stmt.query([scope.user_id])?;
    while let Some(row) = rows.next()? {
        out.counts.summaries += 1;
        out.line(&Line::Summary { snapshot_id: row.get("snapshot_id")?, summary: read(row)? })?;
    }
    Ok(())
}

fn anchor_lines<W: Write>(conn: &dyn Sql, scope: &Scope, out: &mut Lines<W>) -> Result<()> {
    let mut stmt = conn.prepare(
        "SELECT id, subject, attribute, value, retracted_at, retracted_seq FROM identity_anchors
         WHERE user_id = ?1 ORDER BY subject, attribute, value_key",
    )?;
    let mut rows = stmt.query([scope.user_id])?;
    while let Some(row) = rows.next()? {
        let retracted_seq: Option<i64> = row.get("retracted_seq")?;
        out.counts.anchors += 1;
        out.line(&Line::Anchor(AnchorLine {
            id: row.get("id")?,
            subject: row.get("subject")?,
            attribute: row.get("attribute")?,
            value: row.get("value")?,
            retracted_at: optional_instant_at(row, "retracted_at")?,
            retracted_after: retracted_seq.map(|seq| newest(conn, scope, seq)).transpose()?.flatten(),
            is_retracted_since: retracted_seq.is_some(),
        }))?;
    }
    Ok(())
}

fn derivation_lines<W: Write>(conn: &dyn Sql, scope: &Scope, out: &mut Lines<W>) -> Result<()> {
    let mut stmt = conn.prepare(
        "SELECT d.product_id AS product_id, d.source_kind = 'turn' AS is_turn, d.source_id AS source_id,
                d.stance AS stance, d.seq AS seq, d.said_at AS said_at, d.made_by AS made_by, d.value AS value,
                d.quote AS quote
         FROM derivations AS d JOIN identity_anchors AS a ON a.user_id = d.user_id AND a.id = d.product_id
         WHERE d.user_id = ?1
         ORDER BY a.subject, a.attribute, a.value_key, d.seq, is_turn DESC, d.said_at, d.source_id, d.stance",
    )?;
    let mut rows = stmt.query([scope.user_id])?;
    while let Some(row) = rows.next()? {
        let (is_turn, source): (bool, TurnId) = (row.get("is_turn")?, row.get("source_id")?);
        out.counts.derivations += 1;
        out.line(&Line::Derivation(DerivationLine {
            anchor_id: row.get("product_id")?,
            turn_id: is_turn.then_some(source),
            source_id: (!is_turn).then_some(source),
            after: if is_turn { None } else { newest(conn, scope, row.get("seq")?)? },
            stance: row.get("stance")?,
            said_at: instant_at(row, "said_at")?,
            made_by: row.get("made_by")?,
            value: row.get("value")?,
            quote: row.get("quote")?,
        }))?;
    }
    Ok(())
}

/// The user's newest turn up to a place in the order of recording: a name for that place that holds in any file.
fn newest(conn: &dyn Sql, scope: &Scope, seq: i64) -> Result<Option<TurnId>> {
    let mut stmt = conn.prepare_cached(
        "SELECT owner_id FROM recall_units WHERE user_no = ?1 AND seq <= ?2 AND kind = 'turn'
         ORDER BY seq DESC LIMIT 1",
    )?;
    Ok(stmt.query_row(params![scope.user_no, seq], |row| row.get("owner_id")).optional()?)
}
