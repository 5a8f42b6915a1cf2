//! `thermocline turn`: shows one turn in full, or its summary.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use serde::Serialize;
use thermocline::{MemoryTier, Origin, Said, SessionId, Summary, Turn, TurnId, TurnState, blocking::User};

use crate::{
    args::TurnShowArgs,
    exit::Failure,
    find::{self, Db},
    output::Output,
    plain,
};

/// Where the original of a turn is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OriginalLocation {
    /// Among the turns, verbatim.
    Kept,
    /// In the archive.
    Archived,
    /// Nowhere: it was deleted, and only its summary is left.
    Deleted,
}

/// A turn, the location of its original, and its summary if it has one.
#[derive(Debug, Serialize)]
struct ShownTurn {
    #[serde(flatten)]
    turn: FoundTurn,
    original: OriginalLocation,
    summary: Option<Summary>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum FoundTurn {
    Whole(Box<Turn>),
    Deleted(Trace),
}

/// What is known about a turn whose text was deleted. The fields are those of a whole turn.
#[derive(Debug, Serialize)]
struct Trace {
    id: TurnId,
    session_id: SessionId,
    turn_number: u32,
    timestamp: DateTime<Utc>,
    memory_tier: MemoryTier,
}

impl ShownTurn {
    fn id(&self) -> TurnId {
        match &self.turn {
            FoundTurn::Whole(turn) => turn.id,
            FoundTurn::Deleted(trace) => trace.id,
        }
    }

    fn whole(turn: Turn, summary: Option<Summary>) -> Self {
        let original = if summary.is_some() { OriginalLocation::Archived } else { OriginalLocation::Kept };
        Self { turn: FoundTurn::Whole(Box::new(turn)), original, summary }
    }

    fn deleted(summary: Summary) -> Self {
        let trace = Trace {
            id: summary.original_turn_id,
            session_id: summary.session_id,
            turn_number: summary.turn_number,
            timestamp: summary.timestamp,
            memory_tier: MemoryTier::Cold,
        };
        Self { turn: FoundTurn::Deleted(trace), original: OriginalLocation::Deleted, summary: Some(summary) }
    }
}

pub(crate) fn show(db: &Db, args: &TurnShowArgs, out: &Output) -> Result<(), Failure> {
    let memory = find::memory(db)?;
    let user = find::user(&memory, &args.user)?;
    out.answer(&shown(&user, &args.turn)?, text)
}

/// Returns the turn with this name, even if only its summary is left: its id, and its session and place in words.
pub(crate) fn named(user: &User, name: &str) -> Result<(TurnId, String), Failure> {
    let shown = shown(user, name)?;
    let (session, number, said) = match &shown.turn {
        FoundTurn::Whole(turn) => (turn.session_id, turn.turn_number, turn.timestamp),
        FoundTurn::Deleted(trace) => (trace.session_id, trace.turn_number, trace.timestamp),
    };
    let info = user.session_by_id(session)?.info()?;
    let session = info.caller_id.map_or_else(|| info.id.to_string(), |key| plain::line(&key, usize::MAX));
    Ok((
        shown.id(),
        format!("turn {number} of session {session}, said on {}", said.format("%Y-%m-%d at %H:%M UTC")),
    ))
}

/// Finds a turn by its id, by its caller's id, or by its session and place.
fn shown(user: &User, name: &str) -> Result<ShownTurn, Failure> {
    let mut found = Vec::new();
    if let Ok(id) = name.parse::<TurnId>() {
        found.extend(either(user, find::found(user.turn(id))?, || Ok(user.summary(id)?))?);
    }
    let turn = find::found(user.turn_by_caller_id(name))?;
    found.extend(either(user, turn, || Ok(user.summary_by_caller_id(name)?))?);
    if let Some((session, place)) = name.rsplit_once('/')
        && let Ok(turn_number) = place.parse::<u32>()
    {
        match find::session(user, session) {
            Ok(session) => {
                let summary = || {
                    let summaries = session.summaries(turn_number.checked_sub(1), 1)?;
                    Ok(summaries.into_iter().find(|summary| summary.turn_number == turn_number))
                };
                found.extend(either(user, session.turn(turn_number)?, summary)?);
            }
            Err(failure) if found.is_empty() => return Err(failure),
            Err(_) => {}
        }
    }
    // A caller's id may look like a place, so two names may find the same turn.
    found.dedup_by_key(|shown| shown.id());
    match (found.pop(), found.pop()) {
        (Some(one), None) => Ok(one),
        (Some(one), Some(other)) => Err(Failure::refused(format!(
            "this names two turns, one by its caller's id and one by its place; use an id instead: {} or {}",
            other.id(),
            one.id()
        ))),
        (None, _) => Err(Failure::not_found(
            "this user has no such turn; name it by its id, its caller's id, or SESSION/NUMBER as session show does",
        )),
    }
}

/// Returns the turn with its summary; only the summary if the turn's original was deleted.
fn either(
    user: &User,
    turn: Option<Turn>,
    summary: impl FnOnce() -> Result<Option<Summary>, Failure>,
) -> Result<Option<ShownTurn>, Failure> {
    match turn {
        Some(turn) => {
            let summary = user.summary(turn.id)?;
            Ok(Some(ShownTurn::whole(turn, summary)))
        }
        None => Ok(summary()?.map(ShownTurn::deleted)),
    }
}

fn text(shown: &ShownTurn) -> String {
    let mut text = match &shown.turn {
        FoundTurn::Whole(turn) => whole(turn, shown.original),
        FoundTurn::Deleted(trace) => deleted(trace),
    };
    if let Some(summary) = &shown.summary {
        let said = plain::line(&summary.summary_text, usize::MAX);
        let by = plain::line(&summary.summarizer, 40);
        let _ = write!(text, "\nSummary ({by}, {} tokens):\n{said}\n", summary.summary_tokens);
        if !summary.topic_keywords.is_empty() {
            let _ = writeln!(text, "Topics: {}", plain::line(&summary.topic_keywords.join(", "), usize::MAX));
        }
    }
    text
}

fn deleted(trace: &Trace) -> String {
    format!(
        "id         {}\n\
         session    {}, turn {}\n\
         said       {}\n\
         tier       {}; the original was deleted, its summary stands for it\n",
        trace.id,
        trace.session_id,
        trace.turn_number,
        trace.timestamp.format("%Y-%m-%d %H:%M:%S UTC"),
        trace.memory_tier.as_str(),
    )
}

fn whole(turn: &Turn, original: OriginalLocation) -> String {
    let mut text = format!(
        "id         {}\n\
         caller id  {}\n\
         session    {}, turn {}\n\
         said       {}\n\
         tier       {}{}{}{}\n\
         tokens     {} = {} + {} ({}; {} in a context)\n",
        turn.id,
        turn.caller_id.as_deref().map_or_else(|| "none".to_owned(), |id| plain::line(id, usize::MAX)),
        turn.session_id,
        turn.turn_number,
        turn.timestamp.format("%Y-%m-%d %H:%M:%S UTC"),
        turn.memory_tier.as_str(),
        if original == OriginalLocation::Archived { ", in the archive" } else { "" },
        critical(turn),
        state(turn),
        turn.tokens.total_tokens,
        turn.tokens.user_message_tokens,
        turn.tokens.ai_response_tokens,
        plain::line(&turn.tokens.counted_by, 40),
        turn.tokens.piece_tokens,
    );
    if let Some(metadata) = &turn.metadata {
        let _ = writeln!(text, "metadata   {}", plain::line(&metadata.to_string(), usize::MAX));
    }
    text + &sides(&turn.said)
}

/// Returns what each side said, in full.
pub(crate) fn sides(said: &Said) -> String {
    let mut text = String::new();
    for (side, message) in [
        (speaker(said.user_name.as_deref(), said.user_origin), &said.user_message),
        (speaker(said.assistant_name.as_deref(), said.assistant_origin), &said.ai_response),
    ] {
        if !message.is_empty() {
            let _ = writeln!(text, "\n{side}:\n{}", plain::block(message).trim_end());
        }
    }
    text
}

/// Says why the turn is not part of the memory, if it is incomplete or was replaced.
fn state(turn: &Turn) -> &'static str {
    match turn.state {
        TurnState::Incomplete => ", waiting for its reply",
        TurnState::Replaced => ", replaced by another turn",
        _ => "",
    }
}

/// Says whether and why the turn is kept verbatim forever.
fn critical(turn: &Turn) -> String {
    match turn.critical_rule {
        _ if !turn.is_identity_critical => String::new(),
        Some(rule) => format!(", critical ({})", rule.as_str()),
        None => ", critical".to_owned(),
    }
}

/// Returns the name of a turn's side, otherwise its origin.
pub(crate) fn speaker(name: Option<&str>, origin: Origin) -> String {
    let name = plain::line(name.unwrap_or_default(), 40);
    match (name.as_str(), origin) {
        ("", Origin::User) => "User".to_owned(),
        ("", Origin::Assistant) => "Assistant".to_owned(),
        ("", origin) => origin.as_str().to_owned(),
        (_, Origin::User | Origin::Assistant) => name,
        (_, origin) => format!("{name} ({})", origin.as_str()),
    }
}
