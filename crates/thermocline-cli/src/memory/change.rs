//! `thermocline memory edit`, `pin`, `unpin` and `undo`: change a memory, and undo changes.

use std::fmt::Write as _;

use indicatif::HumanCount;
use thermocline::{Edit, Memory, Undone};

use crate::{
    exit::Failure,
    find::Db,
    memory::{
        args::{ChangeArgs, EditArgs},
        content, named,
        save::{brief, brief_now},
        tending_args::UndoArgs,
    },
    output::Output,
};

pub(crate) fn edit(db: &Db, args: &EditArgs, out: &Output) -> Result<(), Failure> {
    let origin = args.origin.or_who_sits_there(out);
    let mut edit = edit_of(args)?;
    if edit.is_empty() {
        return Err(Failure::refused("no change was given; memory edit --help lists what can be changed"));
    }
    let (_file, _user, memories) = named::to_change(db, &args.memory.user)?;
    let memories = memories.by(origin);
    let before = named::memory(&memories, &args.memory.memory)?;
    // If the title was taken from the text, the new title is taken from the new text.
    if let (Some(content), None) = (&edit.content, &edit.title)
        && before.title == content::title_of(&before.content)
    {
        edit.title = Some(content::title_of(content)).filter(|title| !title.is_empty());
    }
    let after = memories.edit(before.id, edit)?;
    out.answer(&after, |after| changed(&before, after))
}

pub(crate) fn pin(db: &Db, args: &ChangeArgs, is_pinned: bool, out: &Output) -> Result<(), Failure> {
    let origin = args.origin.or_who_sits_there(out);
    let (_file, _user, memories) = named::to_change(db, &args.memory.user)?;
    let memories = memories.by(origin);
    let before = named::memory(&memories, &args.memory.memory)?;
    let after = if is_pinned { memories.pin(before.id)? } else { memories.unpin(before.id)? };
    out.answer(&after, |after| changed(&before, after))
}

fn edit_of(args: &EditArgs) -> Result<Edit, Failure> {
    let mut edit = Edit::default();
    edit.expected_revision = args.expect_revision;
    edit.title.clone_from(&args.title);
    edit.content = match &args.content_file {
        Some(file) => Some(content::read(file)?),
        None => args.content.clone(),
    };
    edit.summary.clone_from(&args.summary);
    edit.kind = args.kind;
    if !args.step.is_empty() {
        edit = edit.procedure(Some(thermocline::Procedure::new(args.step.iter().cloned())));
    }
    edit.tags = names(&args.tag);
    edit.entities = names(&args.entity);
    edit.importance = args.importance;
    edit.confidence = args.confidence;
    edit.reliability = args.reliability.map(Some);
    edit.frequency = args.frequency;
    edit.volatility = args.volatility;
    edit.validity_window = args.window.map(|window| window.0);
    edit.goal_signature = args.slot.as_ref().map(|slot| Some(slot.clone()).filter(|slot| !slot.is_empty()));
    edit.project = args.project.as_ref().map(|name| Some(name.clone()).filter(|name| !name.is_empty()));
    edit.resurfacing = args.resurfacing;
    Ok(edit)
}

/// Returns the names that replace all existing ones. A single empty name removes all; `None` if there are no names.
fn names(names: &[String]) -> Option<Vec<String>> {
    match names {
        [] => None,
        [one] if one.is_empty() => Some(Vec::new()),
        names => Some(names.to_vec()),
    }
}

fn changed(before: &Memory, after: &Memory) -> String {
    let what = if before.revision == after.revision { "unchanged" } else { "changed" };
    format!("{what}, revision {}\n{}", after.revision, brief(after))
}

pub(crate) fn undo(db: &Db, args: &UndoArgs, out: &Output) -> Result<(), Failure> {
    let origin = args.origin.or_who_sits_there(out);
    let (_file, _user, memories) = named::to_change(db, &args.user)?;
    let memories = memories.by(origin);
    let undone = match (&args.group, &args.memory) {
        (Some(group), _) => memories.undo_group(*group)?,
        (None, name) => memories.undo(named::memory(&memories, name.as_deref().unwrap_or_default())?.id)?,
    };
    out.answer(&undone, |Undone { memories, .. }| {
        let few = &memories[..memories.len().min(SHOWN)];
        let now = |text: String, memory| text + &brief_now(memory);
        let mut text = few.iter().fold("undone; these memories are now:\n".to_owned(), now);
        if memories.len() > few.len() {
            let _ = writeln!(text, "and {} more", HumanCount((memories.len() - few.len()) as u64));
        }
        text
    })
}

/// The number of memories of an undone operation that are shown; the rest are counted.
const SHOWN: usize = 20;
