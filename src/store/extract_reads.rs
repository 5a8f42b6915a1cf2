//! Reads for the job that extracts from an ended session: its turns in any tier, what it used, what is known.

use crate::{
    error::{ErrorKind, Result, sound},
    model::{anchor::FoundAnchor, ids::TurnId, memory::procedure::Procedure, place::MemoryNo, turn::Turn},
    store::{
        rows::{
            anchors,
            memories::{
                extracted::{self, NotedUse},
                find,
            },
            sessions::SessionRow,
        },
        scope::Scope,
        snapshot::Snapshot,
    },
};

/// How many turns are read at once, and how many bytes of them.
const TURNS: usize = 16;
const BYTES: usize = 1 << 20;

impl Snapshot<'_> {
    /// Whether a session has been extracted.
    pub(crate) fn is_extracted(&self, scope: &Scope, session: &SessionRow) -> Result<bool> {
        self.ask(|sql| extracted::is_extracted(sql, scope, session.session_no))
    }

    /// The next turns of a session from a number on, at most 16, and the number after them. Turns that are damaged or have
    /// no original any more are omitted.
    pub(crate) fn turns_from(
        &self,
        scope: &Scope,
        session: &SessionRow,
        first: u32,
    ) -> Result<(Vec<Turn>, u32)> {
        let (mut turns, mut bytes, mut next) = (Vec::new(), 0, first);
        let mut originals = self.originals(scope);
        while next <= session.info.turn_count && turns.len() < TURNS && bytes < BYTES {
            let read = originals.turn_at(session.place(next));
            next += 1;
            match read {
                Ok(Some(turn)) => {
                    bytes += turn.text_bytes();
                    turns.push(turn);
                }
                Ok(None) => {}
                Err(error) if error.kind() == ErrorKind::Corrupt => {} // Doctor reports where.
                Err(error) => return Err(error),
            }
        }
        Ok((turns, next))
    }

    /// One turn of a session, if its original can be read.
    pub(crate) fn turn_heard(
        &self,
        scope: &Scope,
        session: &SessionRow,
        number: u32,
    ) -> Result<Option<Turn>> {
        sound(self.originals(scope).turn_at(session.place(number)))
    }

    /// The uses of memories that were noted in a session, in the order of its turns.
    pub(crate) fn noted_uses(&self, scope: &Scope, session: &SessionRow) -> Result<Vec<NotedUse>> {
        self.ask(|sql| extracted::noted_uses(sql, scope, session.session_no))
    }

    /// The whole text of a memory, if it can be read.
    pub(crate) fn said_by_memory(&self, scope: &Scope, memory_no: MemoryNo) -> Result<Option<String>> {
        let row = sound(self.ask(|sql| find::by_no(sql, scope, memory_no)))?;
        Ok(row.map(|row| {
            let steps = row.procedure.iter().flat_map(Procedure::lines);
            [row.title.as_str(), &row.content].into_iter().chain(steps).collect::<Vec<_>>().join("\n")
        }))
    }

    /// The texts of memories that have one of these words: active, forgotten and quarantined ones.
    pub(crate) fn memories_with(&self, scope: &Scope, words: [&str; 3]) -> Result<Vec<String>> {
        self.ask(|sql| extracted::with_words(sql, scope, words))
    }

    /// The anchors that this turn states.
    pub(crate) fn stated_by(&self, scope: &Scope, turn: TurnId) -> Result<Vec<FoundAnchor>> {
        let stated = self.ask(|sql| anchors::stated_by(sql, scope, turn))?;
        Ok(stated.into_iter().map(|stated| stated.found).collect())
    }
}
