//! `thermocline memory`: what is known beside what was said, saved, looked at, changed and related.

pub(crate) mod args;
mod batch;
mod change;
mod content;
mod edges;
mod episodes;
mod forget;
mod life;
pub(crate) mod life_args;
mod list;
pub(crate) mod list_args;
mod named;
mod pages;
mod save;
mod show;
pub(crate) mod verbs;
pub(crate) mod words;

use crate::{exit::Failure, find::Db, memory::verbs::MemoryVerb, output::Output};

pub(crate) fn run(db: &Db, verb: &MemoryVerb, out: &Output) -> Result<(), Failure> {
    match verb {
        MemoryVerb::Save(args) => save::run(db, args, out),
        MemoryVerb::Show(args) => show::run(db, args, out),
        MemoryVerb::List(args) => list::memories(db, args, out),
        MemoryVerb::Edit(args) => change::edit(db, args, out),
        MemoryVerb::Pin(args) => change::pin(db, args, true, out),
        MemoryVerb::Unpin(args) => change::pin(db, args, false, out),
        MemoryVerb::Supersede(args) => save::supersede(db, args, out),
        MemoryVerb::Undo(args) => change::undo(db, args, out),
        MemoryVerb::Forget(args) => forget::run(db, args, out),
        MemoryVerb::Erase(args) => forget::erase(db, args, out),
        MemoryVerb::Relate(args) => edges::relate(db, args, out),
        MemoryVerb::Unrelate(args) => edges::unrelate(db, args, out),
        MemoryVerb::Neighbours(args) => edges::neighbours(db, args, out),
        MemoryVerb::History(args) => list::history(db, args, out),
        MemoryVerb::Episodes(args) => episodes::list(db, args, out),
        MemoryVerb::Note(args) => episodes::note(db, args, out),
        MemoryVerb::Tags(args) => list::tags(db, args, out),
        MemoryVerb::Tend(args) => life::tend(db, args, out),
        MemoryVerb::Quarantine(args) => life::quarantine(db, args, out),
        MemoryVerb::Lift(args) => life::lift(db, args, out),
        MemoryVerb::Core(args) => pages::core(db, args, out),
        MemoryVerb::Reflection(args) => pages::reflection(db, args, out),
        MemoryVerb::Reflect(args) => pages::reflect(db, args, out),
    }
}
