//! `thermocline memory tend`, `quarantine` and `lift`: tend all memories, and hide a source or show it again.

use std::fmt::Write as _;

use thermocline::{
    QuarantineSource, Quarantined, TendMove, TendOptions, Tended, Undone,
    blocking::{Memories, User},
};

use crate::{
    counts::counted,
    exit::Failure,
    find::{self, Db},
    memory::{
        content, named,
        save::brief,
        tending_args::{LiftArgs, QuarantineArgs, TendArgs},
    },
    output::Output,
    plain,
};

pub(crate) fn tend(db: &Db, args: &TendArgs, out: &Output) -> Result<(), Failure> {
    let mut options = TendOptions::default();
    options.dry_run = args.dry_run;
    let (_file, _user, memories) =
        if args.dry_run { named::to_look(db, &args.user)? } else { named::to_change(db, &args.user)? };
    let tended = {
        let _progress = out.progress(None, "looking at memories");
        memories.tend(options)?
    };
    out.answer(&tended, told)
}

fn told(tended: &Tended) -> String {
    let Tended { group, dry_run, memories, moved, moves, dropped_uses, forgotten_edits, .. } = tended;
    let mut text =
        format!("looked at {}\n", counted(usize::try_from(*memories).unwrap_or(usize::MAX), "memory"));
    for TendMove { memory_id, title, action, from, to, why, .. } in moves {
        let title = plain::line(title, 60);
        let frequency = if from == to {
            from.as_str().to_owned()
        } else {
            format!("{} to {}", from.as_str(), to.as_str())
        };
        let _ = writeln!(text, "  {}: {memory_id} \"{title}\", {frequency}: {why}", action.as_str());
    }
    let done = if *dry_run { "would be" } else { "were" };
    let _ = writeln!(
        text,
        "{} {done} consolidated, {} downgraded, {} archived; {} reviews {done} opened",
        moved.consolidated, moved.downgraded, moved.archived, moved.reviews
    );
    if dropped_uses + forgotten_edits > 0 {
        let _ =
            writeln!(text, "{dropped_uses} unrated uses and {forgotten_edits} old edits are no longer kept");
    }
    if let Some(group) = group {
        let _ = writeln!(text, "memory undo --group {group} undoes the moves");
    }
    text
}

pub(crate) fn quarantine(db: &Db, args: &QuarantineArgs, out: &Output) -> Result<(), Failure> {
    let origin = args.origin.or_who_sits_there(out);
    let (_file, user, memories) = named::to_change(db, &args.user)?;
    let memories = memories.by(origin);
    let source = source(&user, &memories, args)?;
    let quarantined = memories.quarantine(source, &args.why)?;
    out.answer(&quarantined, |Quarantined { group, memories, lowered, restored, .. }| match group {
        None => "nothing was derived from it\n".to_owned(),
        Some(group) => format!(
            "{} hidden, {} trusted less, {} restored\nmemory lift {group} undoes this\n",
            counted(memories.len(), "memory"),
            lowered.len(),
            restored.len()
        ),
    })
}

fn source(user: &User, memories: &Memories, args: &QuarantineArgs) -> Result<QuarantineSource, Failure> {
    let QuarantineArgs { turn, session, memory, call, of, .. } = args;
    if let Some(turn) = turn {
        return Ok(QuarantineSource::Turn(content::source(user, turn)?));
    }
    if let Some(session) = session {
        return Ok(QuarantineSource::Session(find::session(user, session)?.id()));
    }
    if let Some(memory) = memory {
        return Ok(QuarantineSource::Memory(named::memory(memories, memory)?.id));
    }
    match (call, of) {
        (Some(call), _) => Ok(QuarantineSource::Call(*call.as_uuid())),
        (None, Some(of)) => Ok(QuarantineSource::Origin(*of)),
        (None, None) => {
            Err(Failure::refused("say what to hide: --turn, --session, --memory, --call or --of"))
        }
    }
}

pub(crate) fn lift(db: &Db, args: &LiftArgs, out: &Output) -> Result<(), Failure> {
    let origin = args.origin.or_who_sits_there(out);
    let (_file, _user, memories) = named::to_change(db, &args.user)?;
    let undone = memories.by(origin).lift(args.group)?;
    out.answer(&undone, |Undone { memories, .. }| {
        memories
            .iter()
            .fold("lifted; these memories are now:\n".to_owned(), |text, memory| text + &brief(memory))
    })
}
