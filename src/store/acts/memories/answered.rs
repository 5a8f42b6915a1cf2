//! Records the memories that an answered context showed. Each counts as a use whose outcome is not reported yet. This is
//! written after the acknowledgement, together with the uses of turns.

use crate::{
    error::{ErrorKind, Result},
    model::{
        ids::{EpisodeId, MemoryId},
        memory::words::MemoryStatus,
        place::MemoryNo,
        turn::Origin,
    },
    store::{
        acts::memories::operation::MemoryOperation,
        rows::{
            jobs,
            memories::{
                find, state,
                uses::{self, AnsweringTurn},
            },
        },
        scope::Scope,
        write_tx::WriteTx,
    },
};

impl WriteTx<'_> {
    /// Records, once each, that these memories were used in a context that a turn answers. Returns those with a new use: the
    /// others were recorded before, or are erased or hidden. Returns none if the session is being erased.
    pub(in crate::store::acts) fn note_answered(
        &self,
        scope: &Scope,
        answer: &AnsweringTurn,
        memories: &[MemoryId],
    ) -> Result<Vec<MemoryNo>> {
        let mut noted = Vec::with_capacity(memories.len());
        if memories.is_empty() || jobs::is_erasing(self.sql, scope, Some(answer.session_id))? {
            return Ok(noted);
        }
        for &memory in memories {
            let named = (EpisodeId::new(*self.now()), memory);
            noted.extend(uses::insert_answered(self.sql, scope, named, answer)?);
        }
        Ok(noted)
    }

    /// Counts how many answered contexts showed a memory. A memory that was archived becomes active again if it can.
    pub(in crate::store::acts) fn count_answered(
        &mut self,
        scope: &Scope,
        memory_no: MemoryNo,
        contexts: u32,
    ) -> Result<()> {
        state::count_access(self.sql, scope, memory_no, contexts, self.now())?;
        if uses::status_of(self.sql, scope, memory_no)? != Some(MemoryStatus::Archived) {
            return Ok(());
        }
        match self.restore_answered(scope, memory_no) {
            // A memory that is damaged or cannot become active again must not lose the counts of others.
            Err(error) if matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Conflict) => Ok(()),
            done => done,
        }
    }

    fn restore_answered(&mut self, scope: &Scope, memory_no: MemoryNo) -> Result<()> {
        let mut operation = MemoryOperation::begin(self, scope, Origin::Assistant.as_str())?;
        match find::by_no(operation.tx.sql, scope, memory_no)? {
            Some(row) => operation.restore_used(&row),
            None => Ok(()),
        }
    }
}
