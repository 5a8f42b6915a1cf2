//! Reading for the job that looks through an ended session: its turns wherever they are, what it used, what is known.

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

/// Turns that are read at once, and their bytes.
const TURNS: usize = 16;
const BYTES: usize = 1 << 20;

impl Snapshot<'_> {
    /// Whether a session was looked through.
    pub(crate) fn is_extracted(&self, scope: &Scope, session: &SessionRow) -> Result<bool> {
        self.ask(|sql| extracted::is_extracted(sql, scope, session.session_no))
    }

    /// The next turns of a session from a number on, at most 16, and the number behind them. What is damaged or has no
    /// original any more is left out.
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
                Err(error) if error.kind() == ErrorKind::Corrupt => {} // Doctor says where.
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

    /// All that a memory says, if it can be read.
    pub(crate) fn said_by_memory(&self, scope: &Scope, memory_no: MemoryNo) -> Result<Option<String>> {
        let row = sound(self.ask(|sql| find::by_no(sql, scope, memory_no)))?;
        Ok(row.map(|row| {
            let steps = row.procedure.iter().flat_map(Procedure::lines);
            [row.title.as_str(), &row.content].into_iter().chain(steps).collect::<Vec<_>>().join("\n")
        }))
    }

    /// What memories say that have one of these words: those that hold, and those that somebody took back or hid.
    pub(crate) fn memories_with(&self, scope: &Scope, words: [&str; 3]) -> Result<Vec<String>> {
        self.ask(|sql| extracted::with_words(sql, scope, words))
    }

    /// What is known of somebody by this turn.
    pub(crate) fn stated_by(&self, scope: &Scope, turn: TurnId) -> Result<Vec<FoundAnchor>> {
        let stated = self.ask(|sql| anchors::stated_by(sql, scope, turn))?;
        Ok(stated.into_iter().map(|stated| stated.found).collect())
    }
}
