//! `thermocline turn`: one turn, whole.

use std::{fmt::Write as _, path::Path};

use thermocline::{ErrorKind, Origin, Turn, TurnId, blocking::User};

use crate::{args::TurnShowArgs, exit::Failure, find, output::Output, plain};

pub(crate) fn show(db: &Path, args: &TurnShowArgs, out: &Output) -> Result<(), Failure> {
    let memory = find::memory(db)?;
    let user = find::user(&memory, &args.user)?;
    out.answer(&turn(&user, &args.turn)?, text)
}

/// By its id, by its caller's id, or by its session and place: the first of them that is there.
fn turn(user: &User, name: &str) -> Result<Turn, Failure> {
    if let Ok(id) = name.parse::<TurnId>()
        && let Some(turn) = found(user.turn(id))?
    {
        return Ok(turn);
    }
    if let Some(turn) = found(user.turn_by_caller_id(name))? {
        return Ok(turn);
    }
    if let Some((session, place)) = name.rsplit_once('/')
        && let Ok(turn_number) = place.parse()
        && let Some(turn) = find::session(user, session)?.turn(turn_number)?
    {
        return Ok(turn);
    }
    Err(Failure::not_found(
        "this user has no such turn; name it by its id, its caller's id, or SESSION/NUMBER as session show does",
    ))
}

fn found(turn: thermocline::Result<Turn>) -> Result<Option<Turn>, Failure> {
    match turn {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        turn => Ok(Some(turn?)),
    }
}

fn text(turn: &Turn) -> String {
    let mut text = format!(
        "id         {}\n\
         caller id  {}\n\
         session    {}, turn {}\n\
         said       {}\n\
         tier       {}{}\n\
         tokens     {} = {} + {} ({}; {} in a context)\n",
        turn.id,
        turn.caller_id.as_deref().map_or_else(|| "none".to_owned(), |id| plain::line(id, usize::MAX)),
        turn.session_id,
        turn.turn_number,
        turn.timestamp.format("%Y-%m-%d %H:%M:%S UTC"),
        turn.memory_tier.as_str(),
        if turn.is_identity_critical { ", critical" } else { "" },
        turn.tokens.total_tokens,
        turn.tokens.user_message_tokens,
        turn.tokens.ai_response_tokens,
        plain::line(&turn.tokens.counted_by, 40),
        turn.tokens.piece_tokens,
    );
    let said = &turn.said;
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

/// How a side of a turn is called: by its name, else by what it comes from.
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
