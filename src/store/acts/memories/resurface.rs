//! Records a person's answer to a memory that is shown again: seen, or not now.

use crate::{
    error::Result,
    memory::resurface::MOST_DISMISSALS,
    model::{
        change::ChangeOp,
        ids::MemoryId,
        memory::{known::Memory, trust::Trust, words::Resurfacing},
        turn::Origin,
    },
    store::{
        acts::memories::{
            edit::check_may_change,
            operation::{MemoryOperation, Note, no_memory},
            voices::{check_is_not_foreign, check_may_change_words},
        },
        rows::memories::state,
        scope::Scope,
        write_tx::WriteTx,
    },
};

/// A person's answer to a memory that is shown again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResurfaceResponse {
    /// The person looked at it.
    Seen,
    /// Not now.
    Dismissed,
}

impl WriteTx<'_> {
    /// Records a person's answer to a memory that was shown again, at most once a day. After [`MOST_DISMISSALS`] dismissals
    /// the memory is not shown any more.
    pub(crate) fn resurface_memory(
        &mut self,
        scope: &Scope,
        id: MemoryId,
        (answered, by): (ResurfaceResponse, Origin),
    ) -> Result<Memory> {
        check_is_not_foreign(by, "cannot answer for a person")?;
        let operation = MemoryOperation::begin(self, scope, by.as_str())?;
        let held = operation.memory(id)?;
        check_may_change_words(&held.row, Trust::of(by))?;
        check_may_change(&held)?;
        let (sql, memory_no, today) = (operation.tx.sql, held.row.memory_no, operation.now.date_naive());
        let mut state = state::of_many(sql, scope, &[memory_no])?.pop().ok_or_else(no_memory)?;
        let is_over = answered == ResurfaceResponse::Dismissed && state.resurfacing != Resurfacing::On;
        if state.resurfaced_on == Some(today) || is_over {
            return operation.shown(memory_no);
        }
        let mut note = Note { new_value: Some("seen"), ..Note::of(ChangeOp::Resurface) };
        match answered {
            ResurfaceResponse::Seen => state.resurfaced_count = state.resurfaced_count.saturating_add(1),
            ResurfaceResponse::Dismissed => {
                state.dismiss_count = state.dismiss_count.saturating_add(1);
                note.new_value = Some("dismissed");
                if state.dismiss_count >= MOST_DISMISSALS {
                    state.resurfacing = Resurfacing::Dismissed;
                    note.reason = "for the last time";
                }
            }
        }
        state::set_resurfaced(sql, scope, memory_no, (&state, today))?;
        operation.note(memory_no, note, None)?;
        operation.shown(memory_no)
    }
}
