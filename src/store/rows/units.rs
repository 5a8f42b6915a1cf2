//! A user's recall units in their order: what they are, and the words by which they are found.

use rusqlite::{OptionalExtension, Row, params};

use crate::{
    embed::pieces::{Piece, pieces},
    error::{ErrorKind, Result},
    index::facts::Facts,
    model::turn::{NewTurn, Turn},
    store::{
        columns::instant_at,
        file::row_check,
        rows::{
            originals, summaries,
            turns::{self, turn_key},
        },
        scope::Scope,
        sql::Sql,
    },
    text::words::{EncodedWords, WordCounts},
};

/// How far a user's units are, and how far they are indexed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Raised when something of the user was erased or replaced.
    pub(crate) epoch: i64,
    /// The newest unit; 0: none.
    pub(crate) last_seq: u32,
    /// Units up to here are in the postings and blocks.
    pub(crate) indexed_seq: u32,
    /// Raised when an anchor changes.
    pub(crate) anchor_version: i64,
}

/// A unit with its words.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    pub(crate) facts: Facts,
    /// The encoded forward list.
    pub(crate) words: Vec<u8>,
}

/// How far the user's units are; nothing: the user is gone.
pub(crate) fn extent(conn: &dyn Sql, scope: &Scope) -> Result<Extent> {
    let mut stmt = conn.prepare_cached(
        "SELECT epoch, last_seq, indexed_seq, anchor_version FROM user_scopes WHERE user_no = ?1 AND user_id = ?2",
    )?;
    let read = |row: &Row<'_>| {
        Ok(Extent {
            epoch: row.get("epoch")?,
            last_seq: row.get("last_seq")?,
            indexed_seq: row.get("indexed_seq")?,
            anchor_version: row.get("anchor_version")?,
        })
    };
    Ok(stmt.query_row(params![scope.user_no, scope.user_id], read).optional()?.unwrap_or_default())
}

/// Shows the units after `after` up to `until`, in their order, with their words wherever they are: in the turn's row,
/// in the archive, or, where the original was deleted, those of the summary.
pub(crate) fn for_each(
    conn: &dyn Sql,
    scope: &Scope,
    (after, until): (u32, u32),
    mut each: impl FnMut(Unit) -> Result<()>,
) -> Result<()> {
    let mut stmt = conn.prepare_cached(
        "SELECT r.seq AS seq, r.session_no AS session_no, r.turn_number AS turn_number, r.said_at AS said_at,
                coalesce(t.words, a.words) AS words, m.summary_text AS summary_text, m.topic_keywords AS topic_keywords
         FROM recall_units AS r
         LEFT JOIN conversation_turns AS t ON t.turn_key = (r.session_no << 24 | r.turn_number) AND t.user_id = ?4
         LEFT JOIN archived_turns AS a ON a.turn_key = (r.session_no << 24 | r.turn_number) AND a.user_no = ?1
         LEFT JOIN conversation_summaries AS m ON m.turn_key = (r.session_no << 24 | r.turn_number)
           AND m.user_id = ?4 AND m.original = 'deleted'
         WHERE r.user_no = ?1 AND r.seq > ?2 AND r.seq <= ?3 ORDER BY r.seq",
    )?;
    let mut rows = stmt.query(params![scope.user_no, after, until, scope.user_id])?;
    while let Some(row) = rows.next()? {
        each(read(row)?)?;
    }
    Ok(())
}

fn read(row: &Row<'_>) -> Result<Unit> {
    let words = words_in(row)?;
    let facts = Facts {
        seq: row.get("seq")?,
        session_no: row.get("session_no").unwrap_or_default(),
        turn_number: row.get("turn_number").unwrap_or_default(),
        said_at_ms: instant_at(row, "said_at").map_or(0, |at| at.timestamp_millis()),
        ..Facts::default()
    };
    // A unit that is damaged is found by what is left of it; doctor finds the damage.
    let facts = EncodedWords::parse(&words).map_or(facts, |words| facts.with_words(words));
    Ok(Unit { facts, words })
}

/// The words of a row: the turn's own, else those of the summary in its place.
fn words_in(row: &Row<'_>) -> Result<Vec<u8>> {
    match row.get("words") {
        Ok(Some(words)) => return Ok(words),
        Ok(None) => {}
        Err(_) => return Ok(Vec::new()), // It is damaged.
    }
    let summary: Option<String> = row.get("summary_text")?;
    let keywords: Option<String> = row.get("topic_keywords")?;
    Ok(words_of_summary(&summary.unwrap_or_default(), &keywords.unwrap_or_default()))
}

/// The words by which a turn is found whose original was deleted: its summary's, and its keywords, which stand there as
/// a JSON array.
pub(crate) fn words_of_summary(summary_text: &str, topic_keywords: &str) -> Vec<u8> {
    WordCounts::of_text(&format!("{summary_text}\n{topic_keywords}")).encode()
}

/// The words of one turn, from wherever it is; `None`: it is nowhere.
pub(crate) fn words_at(
    conn: &dyn Sql,
    scope: &Scope,
    (session_no, turn_number): (i64, u32),
) -> Result<Option<Vec<u8>>> {
    let mut stmt = conn.prepare_cached(
        "SELECT words, NULL AS summary_text, NULL AS topic_keywords FROM conversation_turns
         WHERE turn_key = ?1 AND user_id = ?2
         UNION ALL SELECT words, NULL, NULL FROM archived_turns WHERE turn_key = ?1 AND user_no = ?3
         UNION ALL SELECT NULL, summary_text, topic_keywords FROM conversation_summaries
         WHERE turn_key = ?1 AND user_id = ?2 AND original = 'deleted'",
    )?;
    let mut rows = stmt.query(params![turn_key(session_no, turn_number), scope.user_id, scope.user_no])?;
    rows.next()?.map(words_in).transpose()
}

/// Whether what has the words of one turn, wherever that is, is what was written.
pub(crate) fn is_sound(conn: &dyn Sql, scope: &Scope, place: (i64, u32)) -> Result<bool> {
    let mut stmt = conn.prepare_cached(
        "SELECT turn_key, turn_id, user_no, frame_no, position, turn_number, seq, words, row_check
         FROM archived_turns WHERE turn_key = ?1 AND user_no = ?2",
    )?;
    let mut rows = stmt.query(params![turn_key(place.0, place.1), scope.user_no])?;
    let is_archive_sound = rows.next()?.map_or(Ok(true), |row| row_check::holds(row, 8))?;
    // The checksum of a turn's row leaves its words out.
    let has_its_words = |turn: Option<Turn>| match turn {
        Some(turn) => Ok(words_at(conn, scope, place)? == Some(WordCounts::of(&turn.said).encode())),
        None => Ok(true),
    };
    let of_turn = turns::by_number(conn, scope, place.0, place.1).and_then(has_its_words);
    match of_turn.and_then(|is_sound| summaries::at(conn, scope, place).map(|_| is_sound)) {
        Ok(is_sound) => Ok(is_sound && is_archive_sound),
        Err(error) if error.kind() == ErrorKind::Corrupt => Ok(false),
        Err(error) => Err(error),
    }
}

/// What is embedded of a turn: its pieces, or, where its original was deleted, its summary.
pub(crate) fn pieces_at(
    conn: &dyn Sql,
    scope: &Scope,
    (originals, (session_no, turn_number)): (&mut originals::Reader<'_>, (i64, u32)),
) -> Result<Vec<Piece>> {
    let original = match originals.by_number(session_no, turn_number) {
        // Found by its words and its summary's meaning.
        Err(error) if error.kind() == ErrorKind::Corrupt => None,
        original => original?,
    };
    let said = match original {
        Some(turn) => turn.said,
        None => match summaries::at(conn, scope, (session_no, turn_number))? {
            Some(summary) => NewTurn::new(summary.summary_text, "").said,
            None => return Ok(Vec::new()),
        },
    };
    Ok(pieces(&said))
}

/// Says that the user's units up to `seq` are indexed.
pub(crate) fn set_indexed(tx: &dyn Sql, scope: &Scope, seq: u32) -> Result<()> {
    tx.prepare_cached("UPDATE user_scopes SET indexed_seq = ?3 WHERE user_no = ?1 AND user_id = ?2")?
        .execute(params![scope.user_no, scope.user_id, seq])?;
    Ok(())
}
