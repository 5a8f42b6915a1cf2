//! `thermocline memory forget` and `erase`: hide memories, or remove them from the file's bytes.

use thermocline::{Forgotten, Memory, Origin};

use crate::{
    args::LimitArg,
    counts::counted,
    erase,
    exit::Failure,
    find::Db,
    memory::{
        list,
        list_args::{ForgetArgs, MemoryEraseArgs},
        named,
    },
    output::Output,
    pages, plain,
};

pub(crate) fn run(db: &Db, args: &ForgetArgs, out: &Output) -> Result<(), Failure> {
    let origin = args.origin.or_who_sits_there(out);
    if args.memory.is_some() != args.filter.is_open() {
        return Err(Failure::refused(
            "name one memory, or select several with --tag, --kind or another filter",
        ));
    }
    let (_file, _user, memories) =
        if args.dry_run { named::to_look(db, &args.user)? } else { named::to_change(db, &args.user)? };
    let memories = memories.by(origin);
    let one = args.memory.as_ref().map(|name| named::memory(&memories, name)).transpose()?;
    let filter = args.filter.filter().project_alone(); // The same selection as when forgetting.
    let page = |after, limit| memories.list(filter.clone(), after, limit);
    let meant = match &one {
        Some(one) => vec![one.clone()],
        None => pages::list(None, LimitArg::default(), page, |memory: &Memory| memory.id)?,
    };
    if args.dry_run {
        return out.answer(&meant, |meant| match meant.len() {
            0 => "no memory would be forgotten\n".to_owned(),
            _ => list::listed(meant),
        });
    }
    let forgotten = if let Some(one) = one {
        memories.forget(one.id)?
    } else {
        if !args.yes {
            confirm(out, &format!("Forget {}?", counted(meant.len(), "memory")))?;
        }
        memories.forget_all(filter)?
    };
    out.answer(&forgotten, |Forgotten { memories, .. }| match memories.as_slice() {
        [] => "no memory was forgotten\n".to_owned(),
        [one] => format!("forgot 1 memory; memory undo {one} brings it back\n"),
        [one, ..] => {
            format!("forgot {}; memory undo {one} brings them back\n", counted(memories.len(), "memory"))
        }
    })
}

pub(crate) fn erase(db: &Db, args: &MemoryEraseArgs, out: &Output) -> Result<(), Failure> {
    let (_file, _user, memories) = named::to_change(db, &args.memory.user)?;
    let memories = memories.by(Origin::User); // Whoever has the file erases for its user.
    let memory = named::memory(&memories, &args.memory.memory)?;
    if !args.yes {
        let title = plain::line(&memory.title, 60);
        confirm(out, &format!("Erase {title}, and what was derived from it? This cannot be undone."))?;
    }
    let erased = {
        let _progress = out.progress(None, "erasing");
        memories.erase(memory.id)?
    };
    erase::answer(&erased, out)
}

/// Asks for confirmation at the terminal; without a terminal, nothing happens unless `--yes` is given.
fn confirm(out: &Output, question: &str) -> Result<(), Failure> {
    match out.ask(&format!("{question} Type yes:"))? {
        Some(answer) if answer.trim() == "yes" => Ok(()),
        Some(_) => Err(Failure::refused("not confirmed; nothing was changed")),
        None => Err(Failure::refused("nothing was changed without --yes")),
    }
}
