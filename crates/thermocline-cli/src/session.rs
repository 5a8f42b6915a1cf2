//! `thermocline session`: lists, shows and ends a user's sessions.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use indicatif::HumanCount;
use serde::Serialize;
use thermocline::{MemoryTier, SessionInfo, Summary, Transition, Turn, blocking::Session};

use crate::{
    args::{SessionArgs, SessionListArgs, SessionShowArgs},
    counts::counted,
    exit::Failure,
    find::{self, Db},
    output::Output,
    pages, plain, turn,
};

/// A session, its turns, and their moves between tiers.
#[derive(Debug, Serialize)]
struct ShownSession {
    session: SessionInfo,
    /// The turns, oldest first, except those whose originals were deleted.
    turns: Vec<Turn>,
    /// The summaries of those turns whose originals are in the archive or deleted.
    summaries: Vec<Summary>,
    transitions: Vec<Transition>,
}

pub(crate) fn list(db: &Db, args: &SessionListArgs, out: &Output) -> Result<(), Failure> {
    let memory = find::memory(db)?;
    let user = find::user(&memory, &args.user)?;
    let after = args.after.as_deref().map(|name| find::session(&user, name)).transpose()?;
    let sessions = pages::sessions_after(&user, after.map(|session| session.id()), args.limit)?;
    if sessions.is_empty() && !out.is_json() {
        out.talk(if args.after.is_some() {
            "there are no older sessions"
        } else {
            "this user has no session yet"
        });
        return Ok(());
    }
    out.answer(&sessions, |sessions| listed(sessions))
}

pub(crate) fn show(db: &Db, args: &SessionShowArgs, out: &Output) -> Result<(), Failure> {
    let memory = find::memory(db)?;
    let session = find::session(&find::user(&memory, &args.session.user)?, &args.session.session)?;
    let info = session.info()?;
    let first = args.last.map_or(1, |last| info.turn_count.saturating_sub(last) + 1);
    let turns = turns_from(&session, first, info.turn_count)?;
    let summaries = pages::summaries_from(&session, first)?;
    let transitions = pages::transitions_from(&session, first)?;
    out.answer(&ShownSession { session: info, turns, summaries, transitions }, shown)
}

pub(crate) fn end(db: &Db, args: &SessionArgs, out: &Output) -> Result<(), Failure> {
    let memory = find::writable(db)?;
    let session = find::session(&find::user(&memory, &args.user)?, &args.session)?;
    out.answer(&session.end()?, about)
}

/// Returns the turns of a session from place `first` to place `last`, both inclusive.
pub(crate) fn turns_from(session: &Session, first: u32, last: u32) -> Result<Vec<Turn>, Failure> {
    let mut turns = Vec::new();
    for turn_number in first..=last {
        turns.extend(session.turn(turn_number)?);
    }
    Ok(turns)
}

/// Returns the session's key, otherwise its id; the command line accepts either.
pub(crate) fn name(info: &SessionInfo) -> String {
    info.caller_id.as_deref().map_or_else(|| info.id.to_string(), |key| plain::line(key, usize::MAX))
}

fn state(info: &SessionInfo) -> String {
    info.end_reason.map_or_else(|| "open".to_owned(), |reason| format!("ended by {}", reason.as_str()))
}

fn listed(sessions: &[SessionInfo]) -> String {
    /// The maximum width of the column with names. A longer name is shown in full, and makes its line wider.
    const WIDEST: usize = 40;
    let width = sessions.iter().map(|info| name(info).chars().count()).max().unwrap_or(0).clamp(7, WIDEST);
    let mut text = format!(
        "{:<width$}  {:<16}  {:<16}  {:<4}  {:>6}  {:>9}\n",
        "session", "started", "state", "tier", "turns", "tokens"
    );
    for info in sessions {
        let title = info.title.as_deref().map(|title| format!("  {}", plain::line(title, WIDEST)));
        let _ = writeln!(
            text,
            "{:<width$}  {:<16}  {:<16}  {:<4}  {:>6}  {:>9}{}",
            name(info),
            info.started_at.format("%Y-%m-%d %H:%M").to_string(),
            state(info),
            info.memory_tier.as_str(),
            HumanCount(info.turn_count.into()).to_string(),
            HumanCount(info.total_tokens).to_string(),
            title.unwrap_or_default()
        );
    }
    text
}

pub(crate) fn about(info: &SessionInfo) -> String {
    let mut text = format!("session  {}\n", name(info));
    if info.caller_id.is_some() {
        let _ = writeln!(text, "id       {}", info.id);
    }
    if let Some(title) = &info.title {
        let _ = writeln!(text, "title    {}", plain::line(title, usize::MAX));
    }
    if let Some(project) = &info.project {
        let _ = writeln!(text, "project  {}", plain::line(project, usize::MAX));
    }
    let _ = writeln!(text, "started  {}", info.started_at.format("%Y-%m-%d %H:%M UTC"));
    let ended = match info.ended_at {
        Some(at) => format!("{}, {}", at.format("%Y-%m-%d %H:%M UTC"), state(info)),
        None => "not yet".to_owned(),
    };
    let _ = writeln!(text, "ended    {ended}");
    if let Some(successor) = info.successor_id {
        let _ = writeln!(text, "went on  in {successor}");
    }
    let _ = writeln!(text, "tier     {}", info.memory_tier.as_str());
    let (turns, tokens) = (HumanCount(info.turn_count.into()), HumanCount(info.total_tokens));
    let _ = writeln!(text, "turns    {turns}, {tokens} tokens");
    if info.incomplete_turn.is_some() {
        text += "         one more waits for its reply\n";
    }
    if let Some(metadata) = &info.metadata {
        let _ = writeln!(text, "metadata {}", plain::line(&metadata.to_string(), usize::MAX));
    }
    text
}

fn shown(shown: &ShownSession) -> String {
    let ShownSession { session, turns, summaries, transitions } = shown;
    let mut text = about(session);
    let first =
        turns.iter().map(|turn| turn.turn_number).chain(summaries.iter().map(|s| s.turn_number)).min();
    if let Some(first) = first.filter(|&first| first > 1) {
        let _ = writeln!(text, "shown    from turn {first} on");
    }
    text += &moves(transitions);
    // The last move of a turn explains why it is in its tier.
    let reasons: BTreeMap<u32, &'static str> =
        transitions.iter().map(|moved| (moved.turn_number, moved.reason.as_str())).collect();
    text += &cold(turns, summaries);
    for tier in [MemoryTier::Warm, MemoryTier::Hot] {
        let turns: Vec<&Turn> = turns.iter().filter(|turn| turn.memory_tier == tier).collect();
        if turns.is_empty() {
            continue;
        }
        let count = counted(turns.len(), "turn");
        let _ = writeln!(text, "\n{}: {count}, {} tokens", tier.as_str(), HumanCount(tokens(&turns)));
        text += "     #  said              tokens  moved by      how it begins\n";
        for turn in turns {
            text += &row(turn, reasons.get(&turn.turn_number).copied().unwrap_or_default());
        }
    }
    text
}

/// Returns the cold turns, in order, including those whose originals were deleted. Compression moved all of them, so each
/// line shows how the turn is kept instead of the reason for its move.
fn cold(turns: &[Turn], summaries: &[Summary]) -> String {
    let turns: Vec<&Turn> = turns.iter().filter(|turn| turn.memory_tier == MemoryTier::Cold).collect();
    let mut rows: BTreeMap<u32, String> = BTreeMap::new();
    for summary in summaries {
        // This line is replaced below if the turn's original still exists.
        rows.insert(summary.turn_number, deleted_row(summary));
    }
    for turn in &turns {
        let kept_as = match turn.critical_rule {
            _ if rows.contains_key(&turn.turn_number) => "archive",
            Some(rule) if turn.is_identity_critical => rule.as_str(),
            _ => "short",
        };
        rows.insert(turn.turn_number, row(turn, kept_as));
    }
    if rows.is_empty() {
        return String::new();
    }
    let (count, tokens) = (counted(rows.len(), "turn"), HumanCount(tokens(&turns)));
    let deleted = match rows.len() - turns.len() {
        0 => String::new(),
        deleted => format!(" in those not deleted; {} deleted", HumanCount(deleted as u64)),
    };
    let head = "     #  said              tokens  kept as       how it begins\n";
    format!("\ncold: {count}, {tokens} tokens{deleted}\n{head}") + &rows.into_values().collect::<String>()
}

fn tokens(turns: &[&Turn]) -> u64 {
    turns.iter().map(|turn| u64::from(turn.tokens.total_tokens)).sum()
}

/// Describes how many turns moved where, and why; a turn that moved twice in the same way counts once.
fn moves(transitions: &[Transition]) -> String {
    let mut turns: BTreeMap<_, BTreeSet<u32>> = BTreeMap::new();
    for Transition { from, to, reason, turn_number, .. } in transitions {
        turns.entry([from.as_str(), to.as_str(), reason.as_str()]).or_default().insert(*turn_number);
    }
    turns.iter().fold(String::new(), |mut text, ([from, to, reason], turns)| {
        let _ = writeln!(text, "moved    {} {from} -> {to} ({reason})", counted(turns.len(), "turn"));
        text
    })
}

fn row(turn: &Turn, reason: &str) -> String {
    format!(
        "{:>6}  {}  {:>6}  {reason:<12}  {}\n",
        turn.turn_number,
        turn.timestamp.format("%Y-%m-%d %H:%M"),
        HumanCount(turn.tokens.total_tokens.into()).to_string(),
        preview(turn, 50)
    )
}

/// Returns the line of a turn whose original was deleted, so that only its summary is left.
fn deleted_row(summary: &Summary) -> String {
    format!(
        "{:>6}  {}  {:>6}  {:<12}  {}\n",
        summary.turn_number,
        summary.timestamp.format("%Y-%m-%d %H:%M"),
        "-",
        "summary",
        plain::line(&summary.summary_text, 50)
    )
}

/// Returns the first words of a turn, and who said them.
fn preview(of: &Turn, max_chars: usize) -> String {
    let said = &of.said;
    let (speaker, message) = if said.user_message.trim().is_empty() {
        (turn::speaker(said.assistant_name.as_deref(), said.assistant_origin), &said.ai_response)
    } else {
        (turn::speaker(said.user_name.as_deref(), said.user_origin), &said.user_message)
    };
    plain::line(&format!("{speaker}: {}", plain::line(message, max_chars)), max_chars)
}
