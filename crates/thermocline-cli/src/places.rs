//! Looks up the names and the first words of turns and memories, so that people can read receipts and contexts, whose items
//! have only ids.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use thermocline::{
    Anchor, AnchorId, Context, ContextItem, ErrorKind, Memory, MemoryFlags, MemoryId, Origin, Said, Section,
    SessionId, Trust, TurnId, blocking::User,
};

use crate::{exit::Failure, find, pages, plain, session, turn};

/// The maximum number of characters of a turn's text in a list.
const SHOWN_CHARS: usize = 88;

/// Looks up the names of a user's turns, sessions, anchors and memories.
pub(crate) struct Places<'u> {
    user: &'u User,
    sessions: HashMap<SessionId, String>,
    anchors: Option<HashMap<AnchorId, Anchor>>,
}

/// A turn for a list.
pub(crate) struct PlacedTurn {
    pub(crate) said_at: DateTime<Utc>,
    /// The name of the turn: its session, and its place there, such as `s1/3`.
    pub(crate) name: String,
    /// The first words of the turn.
    pub(crate) words: String,
}

impl<'u> Places<'u> {
    pub(crate) fn of(user: &'u User) -> Result<Self, Failure> {
        let sessions = pages::sessions(user)?.into_iter().map(|info| (info.id, session::name(&info)));
        Ok(Self { user, sessions: sessions.collect(), anchors: None })
    }

    /// Returns the session's key, otherwise its id.
    pub(crate) fn session(&self, id: SessionId) -> String {
        self.sessions.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }

    /// Returns the name of a turn, such as `s1/3`, which `turn show` accepts.
    pub(crate) fn name(&self, session: SessionId, turn_number: u32) -> String {
        format!("{}/{turn_number}", plain::line(&self.session(session), 40))
    }

    /// Returns a turn from any tier, or the summary that replaces it; `None` if neither exists any more.
    pub(crate) fn turn(&self, id: TurnId) -> Result<Option<PlacedTurn>, Failure> {
        match self.user.turn(id) {
            Ok(turn) => Ok(Some(PlacedTurn {
                said_at: turn.timestamp,
                name: self.name(turn.session_id, turn.turn_number),
                words: beginning(&turn.said),
            })),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Ok(self.user.summary(id)?.map(|summary| PlacedTurn {
                    said_at: summary.timestamp,
                    name: self.name(summary.session_id, summary.turn_number),
                    words: plain::line(&summary.summary_text, SHOWN_CHARS),
                }))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Returns an anchor as text, such as `user.home: Lisbon`; `None` if it does not exist any more.
    pub(crate) fn anchor(&mut self, id: AnchorId) -> Result<Option<String>, Failure> {
        if self.anchors.is_none() {
            self.anchors =
                Some(pages::anchors(self.user)?.into_iter().map(|anchor| (anchor.id, anchor)).collect());
        }
        Ok(self.anchors.as_ref().and_then(|all| all.get(&id)).map(anchor_line))
    }

    /// Returns a memory; `None` if it does not exist any more.
    pub(crate) fn memory(&self, id: MemoryId) -> Result<Option<Memory>, Failure> {
        find::found(self.user.memories().get(id))
    }

    /// Returns a line for each item that a context recalled: its kind, its score, how much of it is included, and its
    /// first words.
    pub(crate) fn recalled(&mut self, context: &Context) -> Result<Vec<String>, Failure> {
        let mut lines = Vec::new();
        for item in &context.items {
            lines.extend(self.recalled_line(item)?);
        }
        Ok(lines)
    }

    fn recalled_line(&mut self, item: &ContextItem) -> Result<Option<String>, Failure> {
        if let Some(id) = item.anchor_id {
            return Ok(self.anchor(id)?.map(|anchor| format!("known     {anchor}")));
        }
        if let Some(id) = item.memory_id {
            let Some(memory) = self.memory(id)? else { return Ok(None) };
            let (on, score) = (memory.said_at.format("%Y-%m-%d"), item.score.unwrap_or_default());
            let words = plain::line(&memory.title, SHOWN_CHARS);
            return Ok(Some(format!(
                "recalled  {on}  {score:.3}  {:<9}  {}  {words}",
                item.packed_as.as_str(),
                memory.kind.as_str()
            )));
        }
        let Some(id) = item.turn_id else { return Ok(None) };
        let (what, score) = match item.score {
            Some(score) if item.section == Section::Wishes => ("wished  ", format!("{score:.3}")),
            Some(score) => ("recalled", format!("{score:.3}")),
            None if item.section == Section::EarlierConversations => ("promoted", "-".to_owned()),
            None => return Ok(None),
        };
        Ok(self.turn(id)?.map(|place| {
            let on = place.said_at.format("%Y-%m-%d");
            format!(
                "{what}  {on}  {score:<5}  {:<9}  {}  {}",
                item.packed_as.as_str(),
                place.name,
                place.words
            )
        }))
    }
}

/// Returns `turn s1/3`, in the form that `turn show` accepts; `turn` and the id if neither the turn nor its summary
/// exists any more.
pub(crate) fn of_turn(user: &User, id: TurnId) -> Result<String, Failure> {
    Ok(match session_and_number(user, id)? {
        Some((session, number)) => format!("turn {session}/{number}"),
        None => format!("turn {id}"),
    })
}

/// Returns the session of a turn and its place there, even if its original was deleted.
fn session_and_number(user: &User, id: TurnId) -> Result<Option<(String, u32)>, Failure> {
    let (session_id, number) = match find::found(user.turn(id))? {
        Some(turn) => (turn.session_id, turn.turn_number),
        None => match user.summary(id)? {
            Some(summary) => (summary.session_id, summary.turn_number),
            None => return Ok(None),
        },
    };
    match find::found(user.session_by_id(session_id))? {
        Some(session) => Ok(Some((session::name(&session.info()?), number))),
        None => Ok(None),
    }
}

/// Returns an anchor as a line: `user.home: Lisbon`.
pub(crate) fn anchor_line(anchor: &Anchor) -> String {
    plain::line(&format!("{}: {}", anchor.key(), anchor.value), SHOWN_CHARS)
}

/// Returns a memory's title, its first words, and what to consider: its flags, and its origin if that is a tool or a
/// document.
pub(crate) fn memory_lines(memory: &Memory, flags: &MemoryFlags) -> Vec<String> {
    let mut lines = vec![
        format!("{}: {}", memory.kind.as_str(), plain::line(&memory.title, SHOWN_CHARS)),
        plain::line(&memory.content, SHOWN_CHARS),
    ];
    let minds: Vec<String> = foreign(memory)
        .map(str::to_owned)
        .into_iter()
        .chain(Some(flags.to_string()).filter(|flags| !flags.is_empty()))
        .collect();
    if !minds.is_empty() {
        lines.push(format!("mind: {}", plain::line(&minds.join(", "), SHOWN_CHARS)));
    }
    lines
}

/// Returns the origin of a memory with the lowest trust, in the words that a context uses.
fn foreign(memory: &Memory) -> Option<&'static str> {
    (memory.trust == Trust::Foreign).then_some(match memory.origin {
        Origin::Tool => "from a tool",
        Origin::Document => "from a document",
        _ => "out of a tool or a document",
    })
}

/// Returns the first words of a turn: the first side with a text, and its speaker.
fn beginning(said: &Said) -> String {
    sides(said).into_iter().next().unwrap_or_default()
}

/// Returns a line for each side that has a text, cut if it is long.
pub(crate) fn sides(said: &Said) -> Vec<String> {
    let sides = [
        (turn::speaker(said.user_name.as_deref(), said.user_origin), &said.user_message),
        (turn::speaker(said.assistant_name.as_deref(), said.assistant_origin), &said.ai_response),
    ];
    let is_said = |side: &(String, &String)| !side.1.trim().is_empty();
    sides
        .into_iter()
        .filter(is_said)
        .map(|(speaker, text)| format!("{speaker}: {}", plain::line(text, SHOWN_CHARS)))
        .collect()
}
