//! `thermocline memory save` and `supersede`: save a memory, or put a new or an existing memory in the place of another.

use std::fmt::Write as _;

use thermocline::{Memory, MemoryKind, SaveOutcome, Saved};

use crate::{
    exit::Failure,
    find::{self, Db},
    memory::{
        args::{SaveArgs, SupersedeArgs},
        batch, content, named, show,
    },
    output::Output,
    plain,
};

pub(crate) fn run(db: &Db, args: &SaveArgs, out: &Output) -> Result<(), Failure> {
    if args.batch.is_some() {
        return batch::run(db, args, out);
    }
    let origin = args.content.origin.or_who_sits_there(out);
    let text = content::title_and_content(&args.content)?;
    let kind = content::kind_of(&args.content, MemoryKind::General);
    let described = content::described(&args.content, (kind, origin), text.clone());
    described.check()?;
    let file = find::made(db, find::verb_config())?;
    // Only a user who exists has sessions and turns to name.
    let saved = if args.content.session.is_some() || !args.content.source.is_empty() {
        let user = find::user(&file, &args.user)?;
        user.memories().save(content::new(&user, &args.content, (kind, origin), text)?)?
    } else {
        file.save_memory(find::key(&file, &args.user)?, described)?.1
    };
    out.answer(&saved, saved_as)
}

pub(crate) fn supersede(db: &Db, args: &SupersedeArgs, out: &Output) -> Result<(), Failure> {
    let origin = args.content.origin.or_who_sits_there(out);
    let (_file, user, memories) = named::to_change(db, &args.memory.user)?;
    let memories = memories.by(origin);
    let old = named::memory(&memories, &args.memory.memory)?;
    let saved = if let Some(by) = &args.by {
        memories.supersede_by(old.id, named::memory(&memories, by)?.id)?
    } else {
        let text = content::title_and_content(&args.content)?;
        memories.supersede(old.id, content::new(&user, &args.content, (old.kind, origin), text)?)?
    };
    out.answer(&saved, saved_as)
}

/// Describes the outcome of saving, and the state of the memory now.
fn saved_as(saved: &Saved) -> String {
    let Saved { memory, outcome, not_taken, .. } = saved;
    let mut text = match outcome {
        SaveOutcome::New => "saved\n".to_owned(),
        SaveOutcome::Known => "already known\n".to_owned(),
        SaveOutcome::PutAway => {
            format!("already known, and {}: it stays so and is not recalled\n", memory.status.as_str())
        }
        SaveOutcome::Restored => "known, and holds again\n".to_owned(),
        SaveOutcome::Superseded(old) => format!("saved in place of {old}\n"),
        SaveOutcome::Waits(review) => {
            format!("saved, and waits for a person (review {review}): it contradicts what is trusted more\n")
        }
        _ => "saved with an outcome that this version does not know\n".to_owned(),
    };
    let _ = write!(text, "{}", brief(memory));
    if !not_taken.is_empty() {
        let fields = not_taken.join(", ").replace("goal_signature", "slot");
        let _ = writeln!(text, "  not applied: {fields}; memory edit changes most fields");
    }
    text
}

/// Shows a memory in three lines.
pub(super) fn brief(memory: &Memory) -> String {
    let tags = show::tags(memory);
    format!(
        "{}\n  {}\n  {}, {}, {}{tags}\n",
        plain::line(&memory.title, usize::MAX),
        memory.id,
        memory.kind.as_str(),
        memory.frequency.as_str(),
        format_args!("trust {}", show::trust(memory)),
    )
}

/// Shows a memory like [`brief`], with its status and revision.
pub(super) fn brief_now(memory: &Memory) -> String {
    format!("{}  {}, revision {}\n", brief(memory), memory.status.as_str(), memory.revision)
}
