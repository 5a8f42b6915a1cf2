//! Parses LLM#1's answer: one JSON object, from which the well-formed parts are taken. `verify` checks their content.

use std::{collections::HashMap, fmt};

use serde_json::{Map, Value};

use crate::{
    compress::{Verdict, digest::prompt},
    model::{
        anchor::{Attribute, FoundAnchor, Stance},
        ids::TurnId,
    },
    text::llm_json,
};

/// A verdict has about 1 kB, and a full chunk of them is far below this limit. Anything longer is not an answer, and is not
/// parsed.
const MAX_ANSWER_BYTES: usize = 1 << 20;
/// Entries beyond this are not read: no chunk has as many turns.
const MAX_ENTRIES: usize = 1_000;

/// Why an answer could not be read at all. Its text tells the model what was wrong with its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    TooLarge,
    NotJson,
    /// The answer lacks the list with this name.
    NoList(&'static str),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => f.write_str("the answer was too large"),
            Self::NotJson => f.write_str(
                "the answer was not one JSON object: no prose and no code fence around it, nothing cut off",
            ),
            Self::NoList(name) => write!(f, "the answer had no list named {name}"),
        }
    }
}

/// The verdicts of an answer, unchecked.
#[derive(Debug)]
pub(super) struct GivenVerdicts {
    pub(super) verdicts: Vec<Verdict>,
    /// How many entries were not read: those without an id, with an id that was not asked for, or beyond [`MAX_ENTRIES`].
    pub(super) foreign_count: usize,
}

/// Parses an answer about the turns with these ids.
pub(super) fn parse(text: &str, ids: &[TurnId]) -> Result<GivenVerdicts, Unreadable> {
    let entries = entries(text, "turns")?;
    let by_alias = by_alias(ids);
    let mut read =
        GivenVerdicts { verdicts: Vec::new(), foreign_count: entries.len().saturating_sub(MAX_ENTRIES) };
    for entry in entries.into_iter().take(MAX_ENTRIES) {
        let id =
            entry.get("id").and_then(Value::as_str).and_then(|alias| by_alias.get(alias.trim()).copied());
        match (id, entry) {
            (Some(id), Value::Object(entry)) => read.verdicts.push(verdict(id, entry)),
            _ => read.foreign_count += 1,
        }
    }
    Ok(read)
}

/// Returns the entries of the one list that an answer consists of.
///
/// The parser is strict about text around the JSON, because prose there often says that something is wrong with the answer.
/// It removes only a byte order mark, blanks, a code fence around everything, and the leading thoughts of reasoning models.
/// It is lenient inside: malformed parts are ignored, and the rest is read.
pub(super) fn entries(text: &str, name: &'static str) -> Result<Vec<Value>, Unreadable> {
    if text.len() > MAX_ANSWER_BYTES {
        return Err(Unreadable::TooLarge);
    }
    // serde_json rejects more than 127 levels, so no answer can overflow the stack.
    let value: Value = serde_json::from_str(llm_json::bare(text)).map_err(|_| Unreadable::NotJson)?;
    let Value::Object(mut answer) = value else { return Err(Unreadable::NotJson) };
    match answer.remove(name) {
        Some(Value::Array(entries)) => Ok(entries),
        _ => Err(Unreadable::NoList(name)),
    }
}

/// Returns the turns with these ids by their aliases in the prompt: t1, t2 ... in this order.
pub(super) fn by_alias(ids: &[TurnId]) -> HashMap<String, TurnId> {
    ids.iter().enumerate().map(|(at, &id)| (prompt::alias(at), id)).collect()
}

fn verdict(turn_id: TurnId, mut entry: Map<String, Value>) -> Verdict {
    Verdict {
        turn_id,
        is_critical: entry.get("critical").and_then(Value::as_bool).unwrap_or(false),
        summary_text: text(&mut entry, "summary").unwrap_or_default(),
        topic_keywords: texts(&mut entry, "keywords"),
        anchors: list(&mut entry, "anchors").filter_map(anchor).collect(),
    }
}

/// Parses an anchor. An unknown attribute becomes a note; any other error makes the result `None`.
fn anchor(value: Value) -> Option<FoundAnchor> {
    let Value::Object(mut entry) = value else { return None };
    let stance = match entry.get("stance") {
        None | Some(Value::Null) => Stance::Holds,
        Some(word) => Stance::from_word(word.as_str()?)?,
    };
    let attribute = Attribute::from_word(&text(&mut entry, "attribute")?).unwrap_or(Attribute::Note);
    Some(FoundAnchor {
        subject: text(&mut entry, "subject")?,
        attribute,
        value: text(&mut entry, "value")?,
        stance,
        quote: text(&mut entry, "quote")?,
    })
}

pub(super) fn text(entry: &mut Map<String, Value>, name: &str) -> Option<String> {
    match entry.remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

/// Removes a list and returns its strings. Other values are ignored.
pub(super) fn texts(entry: &mut Map<String, Value>, name: &str) -> Vec<String> {
    list(entry, name)
        .filter_map(|item| if let Value::String(text) = item { Some(text) } else { None })
        .collect()
}

pub(super) fn list(entry: &mut Map<String, Value>, name: &str) -> impl Iterator<Item = Value> {
    let items = match entry.remove(name) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    };
    items.into_iter()
}
