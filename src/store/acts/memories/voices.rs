//! Whose words a memory has, and who may change them: what is trusted less changes nothing that is trusted more.

use crate::{
    error::Result,
    memory::slot::{Voice, is_raised_by},
    model::{change::ChangeOp, memory::trust::Trust, turn::Origin},
    store::{
        acts::memories::{
            before::MemoryBefore,
            operation::{MemoryOperation, Note, conflict},
        },
        rows::memories::row::MemoryRow,
    },
};

/// Whose words a memory has.
pub(super) fn voice(row: &MemoryRow) -> Voice {
    Voice { origin: row.origin, trust: row.trust }
}

/// Fails if a memory is trusted more than who would change it.
pub(super) fn check_may_change_words(row: &MemoryRow, trust: Trust) -> Result<()> {
    if trust.may_change(row.trust) {
        return Ok(());
    }
    Err(conflict(format!(
        "the {} stated {}, and whoever is trusted less cannot change it; save yours as a new memory: it waits for a \
         person; whoever acts for the user, such as a key made with `--origin user`, may change it",
        row.origin.as_str(),
        row.id
    )))
}

/// Fails if a tool or a document would contradict a memory that is trusted more, or take its place. Whoever else is trusted
/// less may say so: a person decides.
pub(super) fn check_may_contradict(row: &MemoryRow, trust: Trust) -> Result<()> {
    if trust > Trust::Foreign { Ok(()) } else { check_may_change_words(row, trust) }
}

/// Fails if a tool or a document asks for an operation that is more than saying something. `what` completes the message.
pub(super) fn check_is_not_foreign(by: Origin, what: &str) -> Result<()> {
    if Trust::of(by) > Trust::Foreign {
        return Ok(());
    }
    Err(conflict(format!("a tool or a document {what}; the {} tried to", by.as_str())))
}

/// Fails if `by` may not undo a change, because somebody who is trusted more made it. Whoever may change the memory may undo
/// what a job did.
pub(super) fn check_may_take_back(row: &MemoryRow, made_by: &str, by: Origin) -> Result<()> {
    check_may_change_words(row, Trust::of(by))?;
    match Origin::from_word(made_by) {
        Some(maker) if !Trust::of(by).may_change(Trust::of(maker)) => Err(conflict(format!(
            "the {made_by} changed {}, and the {} may not undo that",
            row.id,
            by.as_str()
        ))),
        _ => Ok(()),
    }
}

impl MemoryOperation<'_, '_> {
    /// Makes somebody who says the same again, and is trusted more, the author of a memory.
    pub(super) fn raise(&mut self, held: MemoryBefore, by: Voice) -> Result<MemoryBefore> {
        let known = voice(&held.row);
        if !is_raised_by(known, by) {
            return Ok(held);
        }
        let mut after = held.clone();
        (after.row.origin, after.row.trust) = (by.origin, by.trust);
        let [old, new] = [known, by].map(|voice| voice.trust.number().to_string());
        let (old_value, new_value) = (Some(old.as_str()), Some(new.as_str()));
        let note = Note { old_value, new_value, reason: "said again", ..Note::of(ChangeOp::Trust) };
        let raised = self.change(&held, after, note)?;
        self.add_caller(raised.row.memory_no, by.origin)?;
        Ok(raised)
    }
}
