//! What a unit says, read wherever that is: in its turn's row, in the archive, or in a summary.

use crate::{
    embed::pieces::{Piece, pieces},
    error::{ErrorKind, Result},
    model::{
        place::Place,
        turn::{NewTurn, Turn},
    },
    store::{
        rows::{originals, row_check, summaries, turns, units},
        scope::Scope,
        sql::{Sql, values},
    },
    text::words::WordCounts,
};

/// Whether what has the words of one turn, wherever that is, is what was written.
pub(crate) fn is_sound(sql: &dyn Sql, scope: &Scope, place: Place) -> Result<bool> {
    let archived = sql.one(
        "SELECT turn_key, turn_id, user_no, frame_no, position, turn_number, seq, words, row_check
         FROM archived_turns WHERE turn_key = ?1 AND user_no = ?2",
        values![place, scope.user_no],
        |row| row_check::holds(row, 8),
    )?;
    // The checksum of a turn's row leaves its words out.
    let has_its_words = |turn: Option<Turn>| match turn {
        Some(turn) => Ok(units::words_at(sql, scope, place)? == Some(WordCounts::of(&turn.said).encode())),
        None => Ok(true),
    };
    let of_turn = turns::by_number(sql, scope, place).and_then(has_its_words);
    match of_turn.and_then(|is_sound| summaries::at(sql, scope, place).map(|_| is_sound)) {
        Ok(is_sound) => Ok(is_sound && archived != Some(false)),
        Err(error) if error.kind() == ErrorKind::Corrupt => Ok(false),
        Err(error) => Err(error),
    }
}

/// What is embedded of a turn: its pieces, or, where its original was deleted, its summary.
pub(crate) fn pieces_at(
    sql: &dyn Sql,
    scope: &Scope,
    (originals, place): (&mut originals::Reader<'_>, Place),
) -> Result<Vec<Piece>> {
    let original = match originals.by_number(place) {
        // Found by its words and its summary's meaning.
        Err(error) if error.kind() == ErrorKind::Corrupt => None,
        original => original?,
    };
    let said = match original {
        Some(turn) => turn.said,
        None => match summaries::at(sql, scope, place)? {
            Some(summary) => NewTurn::new(summary.summary_text, "").said,
            None => return Ok(Vec::new()),
        },
    };
    Ok(pieces(&said))
}
