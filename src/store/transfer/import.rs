//! Reading a user's memory: all of it in one transaction, or nothing.
//!
//! The lines are checked before ([`check`](super::check)); hashes, words, archive and anchors are worked out again.

use std::{
    collections::{BTreeSet, HashMap},
    io::BufRead,
};

use rusqlite::params;

use crate::{
    compress::{archive, fold::value_key, plan},
    error::{Error, ErrorKind, Result},
    model::{
        anchor::Cardinality,
        ids::{SessionId, TurnId},
        job::JobKind,
        session::SessionInfo,
        summary::Original,
        tier::{MemoryTier, Transition},
        turn::Turn,
    },
    store::{
        acts::index,
        columns::Instant,
        rows::{
            anchors::{self, Fold},
            jobs, originals, sessions, summaries,
            turns::{self, turn_key},
            users,
        },
        scope::{Scope, UserKey},
        sql::Sql,
        transfer::{AnchorLine, DeletedTurn, DerivationLine, Line, Transferred, check},
        write_tx::WriteTx,
    },
    text::{
        measure::{self, ContentHash},
        words::WordCounts,
    },
};

/// The longest line: two sides of 10 MiB, each byte escaped.
const MAX_LINE_BYTES: usize = 128 << 20;

/// A file that was read to its end.
#[derive(Debug)]
pub(crate) struct Import {
    lines: Vec<Line>,
    counts: Transferred,
}

/// Reads and checks what can be checked without the database. Nothing is written if any line is wrong.
pub(crate) fn read(mut from: impl BufRead, max_side_bytes: usize) -> Result<Import> {
    let (mut lines, mut text) = (Vec::new(), Vec::new());
    loop {
        text.clear();
        let mut limited = std::io::Read::take(&mut from, MAX_LINE_BYTES as u64);
        let length = limited
            .read_until(b'\n', &mut text)
            .map_err(|error| Error::caused(ErrorKind::Io, "the import could not be read", error))?;
        let number = lines.len() + 1;
        if length == 0 {
            return Err(Error::invalid("the file ends before its last line: it was cut short"));
        }
        // serde_json quotes what it stumbles over; only the place is passed on.
        let line: Line = serde_json::from_slice(&text).map_err(|error| {
            Error::invalid(format!("line {number} is no line of an export (column {})", error.column()))
        })?;
        if let Line::End(counts) = line {
            check::check_whole(&lines, counts)?;
            return Ok(Import { lines, counts });
        }
        check::check_line(&line, number, max_side_bytes).map_err(|error| at_line(&error, number))?;
        lines.push(line);
    }
}

fn at_line(error: &Error, number: usize) -> Error {
    Error::new(error.kind(), format!("line {number}: {error}"))
}

/// Writes all of it as the memory of a user who has none yet.
pub(crate) fn write(tx: &mut WriteTx<'_>, user: &UserKey, import: Import) -> Result<Transferred> {
    let scope = users::find_or_add(tx.sql, user, tx.now())?;
    if users::has_memory(tx.sql, &scope)? {
        return Err(Error::new(
            ErrorKind::Conflict,
            "this user has a memory already; import as another user, or erase it first",
        ));
    }
    let mut writing =
        Writing { tx, scope, sessions: HashMap::new(), seqs: HashMap::new(), folds: BTreeSet::new() };
    for line in import.lines {
        writing.line(line).map_err(taken)?;
    }
    writing.end()?;
    Ok(import.counts)
}

/// Ids are unique in a file, over all of its users.
fn taken(error: Error) -> Error {
    let cause = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref::<rusqlite::Error>());
    if cause.and_then(rusqlite::Error::sqlite_error_code) == Some(rusqlite::ErrorCode::ConstraintViolation) {
        return Error::new(
            ErrorKind::Conflict,
            "what is to be imported is in this file already, or contradicts itself; nothing was written",
        );
    }
    error
}

struct Writing<'a, 'b> {
    tx: &'a mut WriteTx<'b>,
    scope: Scope,
    sessions: HashMap<SessionId, Imported>,
    seqs: HashMap<TurnId, (i64, Original)>,
    folds: BTreeSet<Fold>,
}

/// A session that was written.
struct Imported {
    info: SessionInfo,
    /// Its number here.
    session_no: i64,
    /// Its turns for the archive, which have no frame yet.
    unpacked: Vec<Turn>,
}

impl Writing<'_, '_> {
    fn line(&mut self, line: Line) -> Result<()> {
        match line {
            Line::Session(session) => self.session(session),
            Line::Turn(turn) => self.turn(turn),
            Line::Archived(turn) => self.archived(turn),
            Line::Deleted(turn) => self.deleted(&turn),
            Line::Summary { snapshot_id, summary } => {
                let (seq, original) = self.seq(Some(summary.original_turn_id))?;
                let session_no = self.session_no(summary.session_id)?;
                if original != summary.original {
                    return Err(Error::invalid("a summary's original is not where it says"));
                }
                summaries::insert(self.tx.sql, &self.scope, session_no, seq, snapshot_id, &summary)
            }
            Line::Anchor(anchor) => self.anchor(&anchor),
            Line::Derivation(derivation) => self.derivation(&derivation),
            Line::Transition(transition) => self.transition(&transition),
            Line::Memory { .. } | Line::End(_) => Ok(()),
        }
    }

    fn session_no(&self, id: SessionId) -> Result<i64> {
        let session = self.sessions.get(&id);
        Ok(session.ok_or_else(|| Error::invalid("a line's session is missing"))?.session_no)
    }

    /// Where a turn stands now; before all of them for none.
    fn seq(&self, turn: Option<TurnId>) -> Result<(i64, Original)> {
        turn.map_or(Ok((0, Original::Deleted)), |turn| {
            self.seqs.get(&turn).copied().ok_or_else(|| Error::invalid("a line's turn is missing"))
        })
    }

    fn session(&mut self, info: SessionInfo) -> Result<()> {
        let session_no = sessions::insert_imported(self.tx.sql, &self.scope, &info)?;
        self.sessions.insert(info.id, Imported { info, session_no, unpacked: Vec::new() });
        Ok(())
    }

    fn unit(&mut self, turn: &Turn, hash: ContentHash, original: Original) -> Result<i64> {
        let session_no = self.session_no(turn.session_id)?;
        let seq = turns::insert_unit(self.tx.sql, &self.scope, session_no, turn, hash)?;
        index::queue_if_due(self.tx, &self.scope, seq)?;
        self.seqs.insert(turn.id, (seq, original));
        Ok(seq)
    }

    fn turn(&mut self, turn: Turn) -> Result<()> {
        let hash = measure::content_hash(&turn.said.user_message, &turn.said.ai_response);
        let seq = self.unit(&turn, hash, Original::Archived)?;
        if let Some(snapshot) = turn.snapshot_id {
            users::add_snapshot(self.tx.sql, snapshot, self.tx.now())?;
        }
        let words = WordCounts::of(&turn.said).encode();
        let session_no = self.session_no(turn.session_id)?;
        turns::insert_row(self.tx.sql, &self.scope, session_no, &Turn { seq, ..turn }, &words)
    }

    fn archived(&mut self, turn: Turn) -> Result<()> {
        let hash = measure::content_hash(&turn.said.user_message, &turn.said.ai_response);
        let seq = self.unit(&turn, hash, Original::Archived)?;
        if let Some(session) = self.sessions.get_mut(&turn.session_id) {
            session.unpacked.push(Turn { seq, ..turn });
        }
        Ok(())
    }

    fn deleted(&mut self, turn: &DeletedTurn) -> Result<()> {
        let session_no = self.session_no(turn.session_id)?;
        let hash = hash_from_hex(&turn.content_hash)?;
        let place = (session_no, turn.turn_number);
        let unit = (turn.id, turn.caller_id.as_deref(), hash, turn.timestamp);
        let seq = turns::insert_unit_of(self.tx.sql, &self.scope, place, unit)?;
        index::queue_if_due(self.tx, &self.scope, seq)?;
        self.seqs.insert(turn.id, (seq, Original::Deleted));
        Ok(())
    }

    fn anchor(&mut self, anchor: &AnchorLine) -> Result<()> {
        let (retracted_seq, _) = self.seq(anchor.retracted_after)?;
        let cardinality = match anchor.attribute.cardinality() {
            Cardinality::One => "one",
            Cardinality::Many => "many",
        };
        let key = value_key(&anchor.value);
        self.folds.insert(Fold::of(&anchor.subject, anchor.attribute, &key));
        self.tx
            .sql
            .prepare_cached(
                "INSERT INTO identity_anchors
                   (id, user_id, subject, attribute, value_key, value, cardinality, strength, valid_from,
                    retracted_at, retracted_seq)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0.0, '', ?8, ?9)",
            )?
            .execute(params![
                anchor.id,
                self.scope.user_id,
                anchor.subject,
                anchor.attribute,
                key,
                anchor.value,
                cardinality,
                anchor.retracted_at.map(Instant),
                anchor.is_retracted_since.then_some(retracted_seq),
            ])?;
        Ok(())
    }

    fn derivation(&mut self, derivation: &DerivationLine) -> Result<()> {
        let (source_kind, source_id) = match (derivation.turn_id, derivation.source_id) {
            (Some(turn), None) => ("turn", turn),
            (None, Some(source)) => ("caller", source),
            _ => return Err(Error::invalid("a derivation needs one source")),
        };
        let (seq, _) = self.seq(derivation.turn_id.or(derivation.after))?;
        self.tx
            .sql
            .prepare_cached(
                "INSERT INTO derivations
                   (user_id, product_kind, product_id, source_kind, source_id, stance, seq, said_at, made_by, value,
                    quote)
                 VALUES (?1, 'anchor', ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?
            .execute(params![
                self.scope.user_id,
                derivation.anchor_id,
                source_kind,
                source_id,
                derivation.stance,
                seq,
                Instant(derivation.said_at),
                derivation.made_by,
                derivation.value,
                derivation.quote,
            ])?;
        Ok(())
    }

    fn transition(&mut self, moved: &Transition) -> Result<()> {
        let place = (self.session_no(moved.session_id)?, moved.turn_number);
        let tiers = (moved.from.as_str(), moved.to.as_str());
        turns::record_move(self.tx.sql, &self.scope, place, tiers, moved.reason, moved.moved_at)
    }

    /// Packs the archive, folds the anchors, and queues what an open or restored session waits for.
    fn end(mut self) -> Result<()> {
        for session in std::mem::take(&mut self.sessions).into_values() {
            self.pack(&session)?;
            let info = session.info;
            if info.memory_tier == MemoryTier::Warm && info.turn_count > 0 {
                jobs::enqueue(self.tx, &self.scope, JobKind::Compress, Some(info.id), info.turn_count)?;
            }
        }
        anchors::refold(self.tx.sql, &self.scope, &self.folds).map(drop)
    }

    fn pack(&self, session: &Imported) -> Result<()> {
        let sizes: Vec<usize> = session.unpacked.iter().map(Turn::text_bytes).collect();
        for slice in plan::slices(&sizes) {
            let turns: Vec<&Turn> = session.unpacked[slice].iter().collect();
            let frame = archive::pack(&turns)?;
            let frame_no = originals::insert_frame(self.tx.sql, &self.scope, session.info.id, &frame)?;
            for (position, turn) in turns.iter().enumerate() {
                insert_archived(self.tx.sql, &self.scope, session.session_no, turn, (frame_no, position))?;
            }
        }
        Ok(())
    }
}

fn insert_archived(
    tx: &dyn Sql,
    scope: &Scope,
    session_no: i64,
    turn: &Turn,
    (frame_no, position): (i64, usize),
) -> Result<()> {
    let words = WordCounts::of(&turn.said).encode();
    tx.prepare_cached(
        "INSERT INTO archived_turns (turn_key, turn_id, user_no, frame_no, position, turn_number, seq, words)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![
        turn_key(session_no, turn.turn_number),
        turn.id,
        scope.user_no,
        frame_no,
        position,
        turn.turn_number,
        turn.seq,
        words
    ])?;
    Ok(())
}

fn hash_from_hex(text: &str) -> Result<ContentHash> {
    let wrong = || Error::invalid("a content hash is no 16 bytes in hexadecimal");
    if text.len() != 32 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(wrong());
    }
    u128::from_str_radix(text, 16).map(u128::to_be_bytes).map_err(|_| wrong())
}
