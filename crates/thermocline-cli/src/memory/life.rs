//! `thermocline memory used`, `due`, `surfaced` and `dismiss`: report uses of memories, list the memories that a person
//! should see again, and report that the person saw or dismissed one.

use std::fmt::Write as _;

use thermocline::{Clock, Due, Memory, SystemClock, Use};

use crate::{
    exit::Failure,
    find::{self, Db},
    memory::{
        args::ChangeArgs,
        content::set,
        life_args::{DueArgs, UsedArgs},
        named,
        save::brief,
        show,
    },
    output::Output,
    plain,
};

pub(crate) fn used(db: &Db, args: &UsedArgs, out: &Output) -> Result<(), Failure> {
    let origin = args.origin.or_who_sits_there(out);
    let (_file, user, memories) = named::to_change(db, &args.memory.user)?;
    let memories = memories.by(origin);
    let mut report = args.outcome.map_or_else(Use::default, Use::of);
    if let Some(session) = &args.session {
        report = report.session(find::session(&user, session)?.id());
    }
    if let Some(receipt) = &args.receipt {
        report = report.receipt(receipt.parse()?);
    }
    report = set(report, args.project.as_deref(), Use::project);
    report = set(report, args.task.as_deref(), Use::task_name);
    report = set(report, args.trigger.as_deref(), Use::trigger);
    report = set(report, args.caller_id.as_deref(), Use::caller_id);
    let before = named::memory(&memories, &args.memory.memory)?;
    let after = memories.used(before.id, report)?;
    out.answer(&after, |after| {
        let what = if before.state == after.state {
            "counted nothing: it is known already, or its reporter is trusted less than the memory"
        } else {
            "counted"
        };
        format!(
            "{what}\n{}  used {}, confidence {:.2}, {}\n",
            brief(after),
            show::used(after),
            after.confidence,
            after.status.as_str()
        )
    })
}

pub(crate) fn due(db: &Db, args: &DueArgs, out: &Output) -> Result<(), Failure> {
    let (_file, _user, memories) = named::to_look(db, &args.user)?;
    let due = memories.due(args.on.unwrap_or_else(|| SystemClock.now().date_naive()), args.limit)?;
    if due.is_empty() && !out.is_json() {
        out.talk("no memory is due to be shown again");
        return Ok(());
    }
    out.answer(&due, |due| due.iter().map(line).collect())
}

/// Returns a due memory as a line: `2026-03-08  decision  Redis timeouts  mem_...`.
fn line(due: &Due) -> String {
    let Due { due_on, memory, .. } = due;
    let mut text = format!("{due_on}  {:<13}  ", memory.kind.as_str());
    let _ = writeln!(text, "{}  {}", plain::line(&memory.title, usize::MAX), memory.id);
    text
}

pub(crate) fn surfaced(db: &Db, args: &ChangeArgs, is_seen: bool, out: &Output) -> Result<(), Failure> {
    let origin = args.origin.or_who_sits_there(out);
    let (_file, _user, memories) = named::to_change(db, &args.memory.user)?;
    let memories = memories.by(origin);
    let before = named::memory(&memories, &args.memory.memory)?;
    let after = if is_seen { memories.resurfaced(before.id)? } else { memories.dismiss(before.id)? };
    out.answer(&after, |after: &Memory| {
        let what = if before.state == after.state { "already noted" } else { "noted" };
        let state = &after.state;
        format!(
            "{what}\n{}  looked at {} times, dismissed {} times, shown again: {}\n",
            brief(after),
            state.resurfaced_count,
            state.dismiss_count,
            state.resurfacing.as_str()
        )
    })
}
