//! Editing a memory by hand.

use crate::{
    error::{Error, ErrorKind, Result},
    memory::{
        bounds::{check_settled, check_together},
        copies::is_rewritten,
        entities::entities,
        frequency::most_settled,
        slot::tidy_slot,
        terms::terms,
    },
    model::{
        change::ChangeOp,
        ids::MemoryId,
        memory::{
            edit::Edit,
            known::Memory,
            procedure::Procedure,
            trust::Trust,
            words::{InformationType, MemoryStatus},
        },
        profile::rounded,
        turn::Origin,
    },
    store::{
        acts::memories::{
            before::MemoryBefore,
            operation::{MemoryOperation, Note, conflict},
            voices::check_may_change_words,
        },
        rows::memories::row::MemoryRow,
        scope::Scope,
        write_tx::WriteTx,
    },
};

/// The history's reason for an edit that changed a memory's text. Recall reads it: after such an edit, the turns that the
/// memory rests on no longer say what it says.
const ANOTHER_TEXT: &str = "another text";

impl WriteTx<'_> {
    /// Applies an edit to an active or archived memory. An edit that changes nothing writes nothing.
    pub(crate) fn edit_memory(&mut self, scope: &Scope, id: MemoryId, edit: &Edit) -> Result<Memory> {
        let editor = edit.origin.unwrap_or(Origin::Assistant);
        let mut operation = MemoryOperation::begin(self, scope, editor.as_str())?;
        let before = operation.memory(id)?;
        if let Some(expected) = edit.expected_revision.filter(|expected| *expected != before.row.revision) {
            return Err(conflict(format!(
                "{id} has revision {}, not {expected}: read it again",
                before.row.revision
            )));
        }
        check_may_change(&before)?;
        check_may_change_words(&before.row, Trust::of(editor))?;
        let mut after = edited(&before, edit)?;
        let is_trusted_less = Trust::of(editor) < before.row.trust;
        let (said_before, says) = (parts(&before.row), parts(&after.row));
        // A changed text becomes the editor's, with the editor's trust, if the editor is trusted less than the memory or has
        // rewritten the text. For a person's edit, that is decided on all parts together. For other editors, each part must
        // be rewritten: otherwise a title of less trusted words could stay and gain the editor's trust.
        let is_rewritten = match Trust::of(editor) {
            Trust::Foreign | Trust::Assistant => is_rewritten_in_all(&said_before, &says),
            Trust::User | Trust::Approved => is_rewritten(&said_before.join("\n"), &says.join("\n")),
        };
        if said_before != says && (is_trusted_less || is_rewritten) {
            (after.row.origin, after.row.trust) = (editor, Trust::of(editor));
        }
        check_together(after.row.kind, after.row.procedure.as_ref())?;
        let most = most_settled(after.row.volatility, after.row.trust);
        if edit.frequency.is_some() {
            check_settled(after.row.frequency, after.row.volatility, after.row.trust)
                .map_err(|error| Error::new(ErrorKind::Conflict, error.to_string()))?;
        }
        // The edit may have made the memory more volatile or less trusted, so that it may no longer be as settled.
        after.row.frequency = after.row.frequency.min(most);
        if after.row.frequency != before.row.frequency {
            after.row.frequency_since = operation.now;
        }
        let says_otherwise = before.row.text().content_hash() != after.row.text().content_hash();
        let reason = if says_otherwise { ANOTHER_TEXT } else { "" };
        let changed = operation.change(&before, after, Note { reason, ..note(&before, edit) })?;
        if says_otherwise && Trust::of(editor) >= Trust::User {
            operation.add_caller(changed.row.memory_no, editor)?;
        }
        operation.shown(changed.row.memory_no)
    }
}

/// A memory's texts: title, summary, content, steps.
fn parts(row: &MemoryRow) -> [String; 4] {
    let steps = row.procedure.iter().flat_map(Procedure::lines).collect::<Vec<_>>().join("\n");
    [row.title.clone(), row.summary.clone(), row.content.clone(), steps]
}

fn is_rewritten_in_all(before: &[String; 4], after: &[String; 4]) -> bool {
    before.iter().zip(after).all(|(before, after)| before.is_empty() || is_rewritten(before, after))
}

/// Fails if a memory is neither active nor archived, and so may not be changed.
pub(super) fn check_may_change(held: &MemoryBefore) -> Result<()> {
    let id = held.row.id;
    match (held.row.status, held.superseded_by) {
        (MemoryStatus::Active | MemoryStatus::Archived, _) => Ok(()),
        (MemoryStatus::Superseded, Some(by)) => {
            Err(conflict(format!("{id} was superseded by {by}; edit that")))
        }
        (status, _) => Err(conflict(format!("{id} is {}; undo that first", status.as_str()))),
    }
}

fn edited(before: &MemoryBefore, edit: &Edit) -> Result<MemoryBefore> {
    edit.check()?;
    let edit = edit.clone();
    let mut after = before.clone();
    let row = &mut after.row;
    let volatility_follows = row.volatility == row.information_type.default_volatility();
    // The old summary is dropped with the text that it was made from, unless a new summary is given.
    let content = edit.content.map(|content| content.trim().to_owned());
    if let Some(content) = content.filter(|content| *content != row.content) {
        row.content = content;
        row.summary = String::new();
    }
    set(&mut row.kind, edit.kind);
    set(&mut row.title, edit.title.map(|title| title.trim().to_owned()));
    set(&mut row.summary, edit.summary);
    set(&mut row.procedure, edit.procedure.map(|it| it.filter(|procedure| !procedure.is_empty())));
    set(&mut row.frequency, edit.frequency);
    set(&mut row.importance, edit.importance.map(rounded));
    set(&mut row.confidence, edit.confidence.map(rounded));
    set(&mut row.reliability, edit.reliability.map(|it| it.map(rounded)));
    set(&mut row.consolidation_threshold, edit.consolidation_threshold.map(|it| it.map(rounded)));
    set(&mut row.information_type, edit.information_type);
    let of_type = edit.information_type.map(InformationType::default_volatility);
    set(&mut row.volatility, edit.volatility.or(of_type.filter(|_| volatility_follows)));
    set(&mut row.validity_window, edit.validity_window.map(|it| it.map(whole_seconds)));
    set(&mut row.pinned, edit.pinned);
    set(&mut row.project, edit.project);
    set(&mut row.goal_signature, edit.goal_signature.map(|slot| slot.as_deref().map(tidy_slot)));
    set(&mut row.task_type, edit.task_type);
    set(&mut row.extra, edit.extra);
    let names = |names: Vec<String>| terms(names).into_iter().map(|term| term.name).collect();
    set(&mut after.names.tags, edit.tags.map(names));
    let named_anew = names_anew(&before.row, &after.row, &before.names.entities);
    set(&mut after.names.entities, edit.entities.map(names).or(named_anew));
    set(&mut after.resurfacing, edit.resurfacing);
    Ok(after)
}

/// The entities that the new text names. `None` if the text is unchanged, or if the entities were given by hand and stay.
/// Whether they were given is not stored: they count as given if they differ from those that the old text names.
fn names_anew(before: &MemoryRow, after: &MemoryRow, known: &[String]) -> Option<Vec<String>> {
    if (&before.title, &before.content) == (&after.title, &after.content) {
        return None;
    }
    let named = |row: &MemoryRow| entities(&row.title, &row.content);
    (named(before) == known).then(|| named(after))
}

fn set<T>(field: &mut T, new: Option<T>) {
    if let Some(new) = new {
        *field = new;
    }
}

fn whole_seconds(window: std::time::Duration) -> std::time::Duration {
    std::time::Duration::from_secs(window.as_secs())
}

/// The note for the history. If only the frequency changes, it has the old and the new one.
fn note<'n>(before: &MemoryBefore, edit: &Edit) -> Note<'n> {
    let of_frequency_alone = Edit {
        frequency: edit.frequency,
        expected_revision: edit.expected_revision,
        origin: edit.origin,
        ..Edit::default()
    };
    match edit.frequency {
        Some(frequency) if *edit == of_frequency_alone => Note {
            old_value: Some(before.row.frequency.as_str()),
            new_value: Some(frequency.as_str()),
            reason: "by hand",
            ..Note::of(ChangeOp::Frequency)
        },
        _ => Note::of(ChangeOp::Edit),
    }
}
