//! The words, facts and pieces of units, read from wherever their texts are stored: a turn's row, the archive, a summary, or
//! a memory.

use chrono::DateTime;

use crate::{
    embed::pieces::{EmbedPiece, pieces},
    error::{ErrorKind, Result},
    index::facts::UnitFacts,
    model::{
        place::{Owner, Place, Seq},
        turn::{NewTurn, Turn},
    },
    store::{
        rows::{
            memories, originals, summaries, turns,
            units::{self, ListedUnit},
        },
        scope::Scope,
        sql::Sql,
    },
    text::words::{EncodedWords, WordCounts},
    times::EventDays,
};

/// How many units are read at once.
const READ_AT_ONCE: u32 = 256;

/// A unit with its words.
#[derive(Clone, Debug)]
pub(crate) struct UnitWithWords {
    pub(crate) facts: UnitFacts,
    /// The unit's encoded forward list. Empty if it is damaged.
    pub(crate) words: Vec<u8>,
}

/// Reads units. An archived turn's words are computed from its text. Few turns need this, because the index has most of
/// them.
pub(crate) struct UnitReader<'s> {
    sql: &'s dyn Sql,
    scope: Scope,
    originals: originals::OriginalsReader<'s>,
}

impl<'s> UnitReader<'s> {
    pub(crate) fn new(sql: &'s dyn Sql, scope: &Scope) -> Self {
        Self { sql, scope: *scope, originals: originals::OriginalsReader::new(sql, scope) }
    }

    /// Passes the units after `after` up to `until` to `each`, in order.
    pub(crate) fn for_each(
        &mut self,
        (after, until): (Seq, Seq),
        mut each: impl FnMut(UnitWithWords) -> Result<()>,
    ) -> Result<()> {
        let mut known = after;
        while known < until {
            let next = Seq(known.0.saturating_add(READ_AT_ONCE).min(until.0));
            for ListedUnit { unit, words, opening } in units::list(self.sql, &self.scope, (known, next))? {
                let (words, opening) = match (words, unit.owner) {
                    (Some(words), _) => (words, opening),
                    (None, Owner::Turn(place)) => self.archived_or_none(place)?,
                    (None, Owner::Memory) => (Vec::new(), None),
                };
                let said_at = DateTime::from_timestamp_millis(unit.said_at_ms);
                let event =
                    said_at.zip(opening).and_then(|(said_at, opening)| EventDays::of(&opening, said_at));
                let facts = UnitFacts { event, ..UnitFacts::new(unit.seq, unit.owner, unit.said_at_ms) };
                let facts = EncodedWords::parse(&words).map_or(facts, |words| facts.with_words(words));
                each(UnitWithWords { facts, words })?;
            }
            known = next;
        }
        Ok(())
    }

    /// The words of one turn, wherever it is stored. `None` if it does not exist.
    pub(crate) fn words_at(&mut self, place: Place) -> Result<Option<Vec<u8>>> {
        match units::words_at(self.sql, &self.scope, place)? {
            Some(words) => Ok(Some(words)),
            None => Ok(self.originals.archived_at(place)?.map(|turn| words_of(&turn))),
        }
    }

    /// The words and the user message of an archived turn. Empty and `None` if the turn is damaged or does not exist.
    fn archived_or_none(&mut self, place: Place) -> Result<(Vec<u8>, Option<String>)> {
        match self.originals.archived_at(place) {
            Err(error) if error.kind() == ErrorKind::Corrupt => Ok((Vec::new(), None)),
            turn => {
                Ok(turn?.map_or((Vec::new(), None), |turn| (words_of(&turn), Some(turn.said.user_message))))
            }
        }
    }

    /// The words of one turn. `None` if the data they come from is damaged.
    pub(crate) fn sound_words_at(&mut self, place: Place) -> Result<Option<Vec<u8>>> {
        let (sql, scope) = (self.sql, self.scope);
        let mut look = || -> Result<Option<Vec<u8>>> {
            let words = self.words_at(place)?.unwrap_or_default();
            // The checksum of a turn's row does not cover its words.
            let has_its_words = |turn: Turn| words == words_of(&turn);
            let is_sound = turns::by_number(sql, &scope, place)?.is_none_or(has_its_words)
                && originals::is_place_sound(sql, &scope, place)?;
            summaries::at(sql, &scope, place)?; // Fails if it is damaged.
            Ok(is_sound.then_some(words))
        };
        match look() {
            Err(error) if error.kind() == ErrorKind::Corrupt => Ok(None),
            words => words,
        }
    }
}

fn words_of(turn: &Turn) -> Vec<u8> {
    WordCounts::of(&turn.said).encode()
}

/// What is embedded for a unit: the pieces of its turn or, if its original was deleted, of its summary. For a memory, the
/// pieces of its current text; an older text has none.
pub(crate) fn pieces_of(
    sql: &dyn Sql,
    scope: &Scope,
    originals: &mut originals::OriginalsReader<'_>,
    (seq, owner): (Seq, Owner),
) -> Result<Vec<EmbedPiece>> {
    let place = match owner {
        Owner::Turn(place) => place,
        Owner::Memory => {
            let memory = match memories::units::memory_of(sql, scope, seq) {
                // A damaged memory is found by its words only.
                Err(error) if error.kind() == ErrorKind::Corrupt => None,
                memory => memory?,
            };
            return Ok(memory.map_or(Vec::new(), |memory| pieces(&memory.text().said())));
        }
    };
    let original = match originals.by_number(place) {
        // A turn with a damaged original is found by its words, and by the vectors of its summary.
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
