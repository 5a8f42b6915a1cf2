//! Stores notes of the day.

use crate::{
    error::Result,
    memory::terms::terms,
    model::{
        episode::{Episode, EpisodeRole, NewNote, Noted},
        ids::EpisodeId,
        stored_time::StoredTime,
    },
    store::{
        acts::memories::operation::{MemoryOperation, conflict, no_memory},
        rows::memories::{
            episodes::{self, EpisodeRow},
            find,
        },
        scope::Scope,
        write_tx::WriteTx,
    },
};

impl WriteTx<'_> {
    /// Stores a note, or returns the existing one with the same caller's id. Errors: a conflict if that says something else.
    pub(crate) fn note_episode(&mut self, scope: &Scope, note: &NewNote) -> Result<Noted> {
        let operation = MemoryOperation::begin(self, scope, "user")?;
        let (sql, now) = (operation.tx.sql, operation.now);
        if let Some(caller_id) = &note.caller_id
            && let Some(known) = episodes::by_caller_id(sql, scope, caller_id)?
        {
            return match known.role {
                EpisodeRole::Note if (&known.title, &known.summary) == (&note.title, &note.summary) => {
                    Ok(Noted { episode: shown(&operation, known)?, is_new: false })
                }
                _ => Err(conflict(
                    "an episode with this caller's id and other text already exists; use another id",
                )),
            };
        }
        let memory_no = match note.memory_id {
            Some(id) => Some(find::no_of(sql, scope, id)?.ok_or_else(no_memory)?),
            None => None,
        };
        let session_no = operation.session_no(note.session_id)?;
        let tags: Vec<String> = terms(&note.tags).into_iter().map(|term| term.name).collect();
        let happened_at = StoredTime::stated("happened_at", note.happened_at)?.unwrap_or(now);
        let id = EpisodeId::new(*now);
        episodes::insert_note(sql, scope, (id, note), (memory_no, session_no), (&tags, happened_at))?;
        let row = episodes::by_id(sql, scope, id)?.expect("it was written by this transaction");
        Ok(Noted { episode: shown(&operation, row)?, is_new: true })
    }
}

fn shown(operation: &MemoryOperation<'_, '_>, row: EpisodeRow) -> Result<Episode> {
    let mut shown = episodes::shown(operation.tx.sql, &operation.scope, vec![row])?;
    Ok(shown.pop().expect("a row is an episode"))
}
