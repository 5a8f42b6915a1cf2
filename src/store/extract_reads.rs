//! Reads for the `extract` job of an ended session: its turns in any tier, the memories it used, and what is known already.

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

/// The maximum number of turns that one call reads, and the number of bytes after which it stops.
const TURNS: usize = 16;
const BYTES: usize = 1 << 20;

impl Snapshot<'_> {
    /// Returns whether the `extract` job has finished for a session.
    pub(crate) fn is_extracted(&self, scope: &Scope, session: &SessionRow) -> Result<bool> {
        self.ask(|sql| extracted::is_extracted(sql, scope, session.session_no))
    }

    /// Reads at most [`TURNS`] turns of a session, from turn number `first` on. Also returns the number to continue at.
    /// Omits turns that are damaged or no longer have their original.
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

    /// Returns one turn of a session. `None` if its original is gone or damaged.
    pub(crate) fn turn_heard(
        &self,
        scope: &Scope,
        session: &SessionRow,
        number: u32,
    ) -> Result<Option<Turn>> {
        sound(self.originals(scope).turn_at(session.place(number)))
    }

    /// Returns the uses of memories that were recorded in a session, in the order of its turns.
    pub(crate) fn noted_uses(&self, scope: &Scope, session: &SessionRow) -> Result<Vec<NotedUse>> {
        self.ask(|sql| extracted::noted_uses(sql, scope, session.session_no))
    }

    /// Returns the title, content and steps of a memory as one text. `None` if the memory is gone or damaged.
    pub(crate) fn said_by_memory(&self, scope: &Scope, memory_no: MemoryNo) -> Result<Option<String>> {
        let row = sound(self.ask(|sql| find::by_no(sql, scope, memory_no)))?;
        Ok(row.map(|row| {
            let steps = row.procedure.iter().flat_map(Procedure::lines);
            [row.title.as_str(), &row.content].into_iter().chain(steps).collect::<Vec<_>>().join("\n")
        }))
    }

    /// Returns the texts of active, forgotten and quarantined memories that contain at least one of these words.
    pub(crate) fn memories_with(&self, scope: &Scope, words: [&str; 3]) -> Result<Vec<String>> {
        self.ask(|sql| extracted::with_words(sql, scope, words))
    }

    /// Returns the statements about anchors that were found in a turn.
    pub(crate) fn stated_by(&self, scope: &Scope, turn: TurnId) -> Result<Vec<FoundAnchor>> {
        let stated = self.ask(|sql| anchors::stated_by(sql, scope, turn))?;
        Ok(stated.into_iter().map(|stated| stated.found).collect())
    }
}
