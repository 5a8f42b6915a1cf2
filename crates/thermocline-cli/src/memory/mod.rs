//! `thermocline memory`: saves, shows, changes and relates memories.

pub(crate) mod args;
mod batch;
mod change;
mod content;
mod edges;
mod episodes;
mod forget;
pub(crate) mod import;
mod life;
pub(crate) mod life_args;
mod list;
pub(crate) mod list_args;
pub(crate) mod named;
mod pages;
mod reviews;
mod save;
pub(crate) mod sensor_args;
mod sensors;
mod show;
mod tending;
pub(crate) mod tending_args;
pub(crate) mod verbs;
pub(crate) mod words;

use thermocline::Decision;

use crate::{exit::Failure, find::Db, memory::verbs::MemoryVerb, output::Output};

pub(crate) fn run(db: &Db, verb: &MemoryVerb, out: &Output) -> Result<(), Failure> {
    match verb {
        MemoryVerb::Save(args) => save::run(db, args, out),
        MemoryVerb::Import(args) => import::run(db, args, out),
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
        MemoryVerb::Used(args) => life::used(db, args, out),
        MemoryVerb::Due(args) => life::due(db, args, out),
        MemoryVerb::Surfaced(args) => life::surfaced(db, args, true, out),
        MemoryVerb::Dismiss(args) => life::surfaced(db, args, false, out),
        MemoryVerb::Review(args) => reviews::list(db, args, out),
        MemoryVerb::Approve(args) => reviews::decide(db, args, Decision::Approved, out),
        MemoryVerb::Reject(args) => reviews::decide(db, args, Decision::Rejected, out),
        MemoryVerb::Watch(args) => sensors::watch(db, args, out),
        MemoryVerb::Unwatch(args) => sensors::unwatch(db, args, out),
        MemoryVerb::Sensors(args) => sensors::list(db, args, out),
        MemoryVerb::Validate(args) => sensors::validate(db, args, out),
        MemoryVerb::Tend(args) => tending::tend(db, args, out),
        MemoryVerb::Quarantine(args) => tending::quarantine(db, args, out),
        MemoryVerb::Lift(args) => tending::lift(db, args, out),
        MemoryVerb::Core(args) => pages::core(db, args, out),
        MemoryVerb::Reflection(args) => pages::reflection(db, args, out),
        MemoryVerb::Reflect(args) => pages::reflect(db, args, out),
    }
}
