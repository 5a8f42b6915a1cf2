//! `thermocline memory episodes` and `note`: list what happened, and add notes.

use std::fmt::Write as _;

use thermocline::{Episode, EpisodeFilter, EpisodeRole, NewNote};

use crate::{
    exit::Failure,
    find::{self, Db},
    memory::{
        content::set,
        list_args::{EpisodesArgs, NoteArgs},
        named,
        show::minute,
    },
    output::Output,
    pages, plain,
};

pub(crate) fn list(db: &Db, args: &EpisodesArgs, out: &Output) -> Result<(), Failure> {
    let (_file, _user, memories) = named::to_look(db, &args.user)?;
    let mut filter = EpisodeFilter::default();
    if !args.role.is_empty() {
        filter = filter.roles(args.role.iter().copied());
    }
    (filter.since, filter.until) = (args.since, args.until);
    let page = |after, limit| memories.episodes(filter.clone(), after, limit);
    let found = pages::list(None, args.limit, page, |episode: &Episode| episode.id)?;
    if found.is_empty() && !out.is_json() {
        out.talk("no episode matches");
        return Ok(());
    }
    out.answer(&found, |found| found.iter().map(line).collect())
}

pub(crate) fn note(db: &Db, args: &NoteArgs, out: &Output) -> Result<(), Failure> {
    let (_file, user, memories) = named::to_change(db, &args.user)?;
    let mut note = NewNote::new(args.title.as_str()).tags(args.tag.iter().cloned());
    if let Some(memory) = &args.memory {
        note = note.memory(named::memory(&memories, memory)?.id);
    }
    if let Some(session) = &args.session {
        note = note.session(find::session(&user, session)?.id());
    }
    let note = set(note, args.summary.as_deref(), NewNote::summary);
    let note = set(note, args.kind, NewNote::kind);
    let note = set(note, args.outcome, NewNote::outcome);
    let note = set(note, args.project.as_deref(), NewNote::project);
    let note = set(note, args.task.as_deref(), NewNote::task_name);
    let note = set(note, args.trigger.as_deref(), NewNote::trigger);
    let note = set(note, args.caller_id.as_deref(), NewNote::caller_id);
    let note = set(note, args.at, NewNote::happened_at);
    out.answer(&memories.note(note)?.episode, |episode| format!("noted, {}\n{}", episode.id, line(episode)))
}

/// Returns an episode as a line: `2026-03-01 12:00  began  fix  Redis timeouts: ..., success`.
fn line(episode: &Episode) -> String {
    let role = match episode.role {
        EpisodeRole::Birth => "began",
        EpisodeRole::Use => "used",
        EpisodeRole::Report => "told",
        _ => "note",
    };
    let kind = episode.kind.map_or("", |kind| kind.as_str());
    let mut text = format!("{}  {role:<5}  {kind:<13}  ", minute(episode.happened_at));
    text += match plain::line(&episode.title, usize::MAX) {
        title if title.is_empty() => "-".to_owned(),
        title => title,
    }
    .as_str();
    for (before, name) in [
        (", ", episode.outcome.map(|outcome| outcome.as_str().to_owned())),
        (", of project ", episode.project.clone()),
        (", task ", episode.task_name.clone().or(episode.task_id.clone())),
    ] {
        if let Some(name) = name {
            let _ = write!(text, "{before}{}", plain::line(&name, 40));
        }
    }
    for tag in &episode.tags {
        let _ = write!(text, " #{}", plain::line(tag, 40));
    }
    text.push('\n');
    if !episode.summary.is_empty() && episode.role == EpisodeRole::Note {
        let _ = writeln!(text, "    {}", plain::line(&episode.summary, usize::MAX));
    }
    text
}
