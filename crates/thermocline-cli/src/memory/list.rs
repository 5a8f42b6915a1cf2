//! `thermocline memory list`, `history` and `tags`: list memories, changes and tags.

use std::fmt::Write as _;

use thermocline::{Change, Memory, MemoryFilter, MemoryStatus, TermCount};

use crate::{
    exit::Failure,
    find::Db,
    memory::{
        list_args::{BesideArgs, ListArgs, TagsArgs},
        named,
        show::{day, minute, tags as tags_of},
    },
    output::Output,
    pages, plain,
};

pub(crate) fn memories(db: &Db, args: &ListArgs, out: &Output) -> Result<(), Failure> {
    let (_file, _user, memories) = named::to_look(db, &args.user)?;
    let after = args.after.as_ref().map(|name| named::memory(&memories, name)).transpose()?;
    let mut filter = args.filter.filter();
    if args.all {
        filter = filter.statuses([]);
    } else if !args.status.is_empty() {
        filter = filter.statuses(args.status.iter().copied());
    }
    let page = |after, limit| memories.list(filter.clone(), after, limit);
    let found = pages::list(after.map(|memory| memory.id), args.limit, page, |memory| memory.id)?;
    if found.is_empty() && !out.is_json() {
        out.talk(if filter == MemoryFilter::default() {
            "no memory is active; --all shows inactive ones too"
        } else {
            "no active memory matches; --all searches every status"
        });
        return Ok(());
    }
    out.answer(&found, |found| listed(found))
}

/// Returns a table of memories.
pub(super) fn listed(memories: &[Memory]) -> String {
    /// The maximum width of the column with titles, in characters. Longer titles are cut.
    const WIDEST: usize = 48;
    let title = |memory: &Memory| plain::line(&memory.title, WIDEST);
    let titles =
        memories.iter().map(|memory| title(memory).chars().count()).max().unwrap_or(0).clamp(5, WIDEST);
    let mut text = format!(
        "{:<13}  {:<9}  {:<titles$}  {:<10}  {:<40}  mind       tags\n",
        "kind", "frequency", "title", "changed", "id"
    );
    for memory in memories {
        let _ = write!(
            text,
            "{:<13}  {:<9}  {:<titles$}  {}  {}",
            memory.kind.as_str(),
            memory.frequency.as_str(),
            title(memory),
            day(memory.updated_at),
            memory.id,
        );
        let mind = mind(memory);
        if !(mind.is_empty() && memory.tags.is_empty()) {
            let _ = write!(text, "  {:<9}", if mind.is_empty() { "-" } else { &mind });
        }
        if !memory.tags.is_empty() {
            let _ = write!(text, "  {}", tags_of(memory).trim_start_matches(", "));
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

/// Returns what to consider before trusting a memory, for a column: `archived, pinned`.
fn mind(memory: &Memory) -> String {
    let flags = [
        (memory.status.as_str(), memory.status != MemoryStatus::Active),
        ("pinned", memory.pinned),
        ("stale", memory.standing.is_stale()),
        ("contested", memory.contested),
    ];
    let flags: Vec<&str> = flags.into_iter().filter(|(_, is)| *is).map(|(flag, _)| flag).collect();
    flags.join(", ")
}

pub(crate) fn history(db: &Db, args: &BesideArgs, out: &Output) -> Result<(), Failure> {
    let (_file, user, memory) = named::one(db, &args.memory)?;
    let memories = user.memories();
    let page = |before, limit| memories.history(memory.id, before, limit);
    let changes = pages::list(None, args.limit, page, |change: &Change| change.change_no)?;
    out.answer(&changes, |changes| changes.iter().map(change).collect())
}

/// Returns a change as a line: `3  2026-03-01 12:00  edit by user: title, content (undone)`.
fn change(change: &Change) -> String {
    let mut text = format!(
        "{:>3}  {}  {} by {}",
        change.change_no,
        minute(change.made_at),
        change.op.as_str(),
        plain::line(&change.made_by, 40)
    );
    let before = change.before.as_ref().and_then(|before| before.as_object());
    let columns: Vec<&str> =
        before.into_iter().flat_map(|columns| columns.keys().map(String::as_str)).collect();
    match (&change.old_value, &change.new_value) {
        (Some(old), Some(new)) => {
            let _ = write!(text, ": {} to {}", plain::line(old, 40), plain::line(new, 40));
        }
        (None, Some(new)) => {
            let _ = write!(text, ": {}", plain::line(new, 40));
        }
        _ if !columns.is_empty() => {
            let _ = write!(text, ": {}", columns.join(", "));
        }
        _ => {}
    }
    if !change.reason.is_empty() {
        let _ = write!(text, "; {}", plain::line(&change.reason, usize::MAX));
    }
    if change.undone_by.is_some() {
        text += " (undone)";
    }
    text.push('\n');
    for (name, was) in before.into_iter().flatten() {
        let is_told = change.old_value.is_some() && ["status", "frequency", "trust"].contains(&name.as_str());
        if !is_told && !matches!(name.as_str(), "frequency_since" | "superseded_by") {
            let _ = writeln!(text, "       {name} was {}", shown(was));
        }
    }
    text
}

/// Returns a changed value on one line, as JSON unless it is text.
fn shown(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Null => "not set".to_owned(),
        serde_json::Value::String(text) if text.is_empty() => "empty".to_owned(),
        serde_json::Value::String(text) => format!("\"{}\"", plain::line(text, 100)),
        value => plain::line(&value.to_string(), 100),
    }
}

pub(crate) fn tags(db: &Db, args: &TagsArgs, out: &Output) -> Result<(), Failure> {
    let (_file, _user, memories) = named::to_look(db, &args.user)?;
    let page = |after: Option<String>, limit| {
        let after = after.as_deref();
        if args.entities { memories.entities(after, limit) } else { memories.tags(after, limit) }
    };
    let found = pages::list(None, args.limit, page, |term: &TermCount| term.term.clone())?;
    if found.is_empty() && !out.is_json() {
        out.talk("no active memory has one");
        return Ok(());
    }
    let before = if args.entities { "" } else { "#" };
    out.answer(&found, |found| {
        let line = |term: &TermCount| {
            format!("{:>6}  {before}{}\n", term.memories, plain::line(&term.name, usize::MAX))
        };
        found.iter().map(line).collect()
    })
}
