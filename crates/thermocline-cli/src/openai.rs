//! Conversations in OpenAI's formats: a ChatGPT export (`conversations.json`), and lists of messages from its chat API.
//! Errors name the place of an invalid conversation, never its text.
//!
//! User messages and the replies to them become turns. Instructions, tool calls and their results, thoughts, hidden
//! messages, abandoned branches, and attachments are left out, and counted.

#![expect(clippy::doc_markdown, reason = "names of products are no code")]

use std::{
    fmt,
    io::{BufReader, Read},
};

use chrono::{DateTime, Utc};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::{Map, Value};
use thermocline::Config;

use crate::{
    counts::counted,
    exit::{Exit, Failure},
    transcript::TranscriptLine,
};

/// All conversations of a file as turns, oldest first.
#[derive(Debug)]
pub(crate) struct Conversations {
    /// The turns. The number of each is that of its conversation in the file.
    pub(crate) lines: Vec<TranscriptLine>,
    pub(crate) left_out: LeftOut,
}

/// The messages that are in no turn, by reason.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct LeftOut {
    /// Messages from the system, the developer, or the user's settings.
    instructions: usize,
    /// Tool calls and their results.
    tools: usize,
    /// Messages that the program did not show: thoughts, placeholders, hidden messages.
    hidden: usize,
    /// Messages on branches that were abandoned by an edit or another reply.
    branches: usize,
    /// Images, sound and files. Their messages may also have text.
    attachments: usize,
}

impl LeftOut {
    fn add(&mut self, other: &Self) {
        self.instructions += other.instructions;
        self.tools += other.tools;
        self.hidden += other.hidden;
        self.branches += other.branches;
        self.attachments += other.attachments;
    }

    /// Returns a line for a person; `None` if nothing is left out.
    pub(crate) fn line(&self) -> Option<String> {
        let counts = [
            (self.instructions, "instruction"),
            (self.tools, "tool message"),
            (self.hidden, "hidden message"),
            (self.branches, "message on another branch"),
            (self.attachments, "attachment"),
        ];
        let said: Vec<String> = counts
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| match what.split_once(' ') {
                Some((message, rest)) if message == "message" && count > 1 => {
                    format!("{count} messages {rest}")
                }
                _ => counted(count, what),
            })
            .collect();
        (!said.is_empty()).then(|| format!("Left out: {}.", said.join(", ")))
    }
}

/// Reads all of `input`, before anything is recorded. Conversations without an id are named `name/1`, `name/2` ..., by
/// their position in the file.
pub(crate) fn read(input: impl Read, name: Option<&str>) -> Result<Conversations, Failure> {
    let mut found = Vec::new();
    let mut left_out = LeftOut::default();
    for (number, read) in (1..).zip(conversations(input)?) {
        let refused = |reason: String| Failure::refused(reason).at("conversation", number);
        let (conversation, more) = read.map_err(refused)?;
        left_out.add(&more);
        let started_at = conversation.started_at();
        let lines = conversation.into_lines(number, name).map_err(refused)?;
        for line in &lines {
            let checked = line.to_turn().check(Config::default().max_side_bytes);
            checked.map_err(|error| refused(error.to_string()))?;
        }
        found.push((started_at, lines));
    }
    found.sort_by_key(|(started_at, _)| *started_at);
    Ok(Conversations { lines: found.into_iter().flat_map(|(_, lines)| lines).collect(), left_out })
}

/// Reads the conversations of a file, in its order. A list is read one conversation at a time, because an export is far
/// larger than its text.
fn conversations(input: impl Read) -> Result<Vec<Parsed>, Failure> {
    let (mut all, mut lines) = (Vec::new(), Vec::new());
    for document in serde_json::Deserializer::from_reader(BufReader::new(input)).into_iter() {
        match document.map_err(|error| no_document(&error))? {
            // Each message is a line of its own; all of them together are one conversation.
            Document::Message(message) => lines.push(message),
            Document::Conversations(conversations) => {
                all.extend(of_messages(&std::mem::take(&mut lines)));
                all.extend(conversations);
            }
        }
    }
    all.extend(of_messages(&lines));
    Ok(all)
}

/// Says what is wrong with the JSON, without quoting it.
fn no_document(error: &serde_json::Error) -> Failure {
    let place = format!("at line {}, column {}", error.line(), error.column());
    match error.classify() {
        serde_json::error::Category::Io => Failure::new(Exit::FileUnusable, "the transcript cannot be read"),
        serde_json::error::Category::Data => Failure::refused(format!(
            "the file is neither a ChatGPT export (conversations.json) nor lists of messages, {place}"
        )),
        _ => {
            let text = error.to_string();
            let what = text.split(" at line ").next().unwrap_or_default();
            Failure::refused(format!("the file is not valid JSON: {what} {place}"))
        }
    }
}

/// A JSON value of the file: the whole file, or a line.
enum Document {
    Message(Value),
    Conversations(Vec<Parsed>),
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct OfDocument;

        impl<'de> Visitor<'de> for OfDocument {
            type Value = Document;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("conversations or messages")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Document, A::Error> {
                let fields = Map::deserialize(MapAccessDeserializer::new(map))?;
                Ok(if is_message(&fields) {
                    Document::Message(Value::Object(fields))
                } else {
                    Document::Conversations(vec![of_fields(&fields)])
                })
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Document, A::Error> {
                let (mut conversations, mut messages) = (Vec::new(), Vec::new());
                while let Some(element) = list.next_element()? {
                    match element {
                        Value::Array(messages) => conversations.extend(of_messages(&messages)),
                        Value::Object(fields) if !is_message(&fields) => {
                            conversations.push(of_fields(&fields));
                        }
                        message => messages.push(message),
                    }
                }
                conversations.extend(of_messages(&messages));
                Ok(Document::Conversations(conversations))
            }
        }

        input.deserialize_any(OfDocument)
    }
}

fn is_message(fields: &Map<String, Value>) -> bool {
    fields.contains_key("role") && !fields.contains_key("mapping") && !fields.contains_key("messages")
}

/// A conversation and the counts of what it leaves out, or why it is invalid. Everything else in the export is discarded.
type Parsed = Result<(Conversation, LeftOut), String>;

fn of_fields(fields: &Map<String, Value>) -> Parsed {
    let mut left_out = LeftOut::default();
    let messages = match (fields.get("mapping"), fields.get("messages")) {
        (Some(Value::Object(mapping)), _) => exported(fields, mapping, &mut left_out)?,
        (None, Some(Value::Array(messages))) => listed(messages, &mut left_out)?,
        _ => return Err("it has neither a mapping, as exports have, nor a list of messages".to_owned()),
    };
    let id = ["conversation_id", "id"].into_iter().find_map(|field| fields.get(field)?.as_str());
    let created_at = time(fields.get("create_time"))?;
    Ok((Conversation { id: id.map(str::to_owned), created_at, turns: turns(messages) }, left_out))
}

/// Returns the messages as a conversation; `None` if there are none.
fn of_messages(messages: &[Value]) -> Option<Parsed> {
    let mut left_out = LeftOut::default();
    let of = |messages| Conversation { id: None, created_at: None, turns: turns(messages) };
    (!messages.is_empty()).then(|| listed(messages, &mut left_out).map(|messages| (of(messages), left_out)))
}

/// A conversation, as turns.
#[derive(Debug)]
struct Conversation {
    id: Option<String>,
    created_at: Option<DateTime<Utc>>,
    turns: Vec<OpenAiTurn>,
}

#[derive(Debug, Default)]
struct OpenAiTurn {
    /// The id of the turn's last message, so that another reply to the same message makes another turn.
    id: String,
    user: String,
    assistant: String,
    user_name: Option<String>,
    assistant_name: Option<String>,
    said_at: Option<DateTime<Utc>>,
}

impl Conversation {
    fn started_at(&self) -> Option<DateTime<Utc>> {
        self.created_at.or_else(|| self.turns.first()?.said_at)
    }

    fn into_lines(self, number: u64, name: Option<&str>) -> Result<Vec<TranscriptLine>, String> {
        let key = match (self.id, name) {
            (Some(id), _) => id,
            (None, Some(name)) => format!("{name}/{number}"),
            (None, None) => {
                return Err("it has no id; name conversations without one with --name NAME".to_owned());
            }
        };
        let mut last = self.created_at;
        let line = |turn: OpenAiTurn| {
            last = turn.said_at.or(last);
            TranscriptLine {
                number,
                end_bytes: 0,
                session: key.clone(),
                id: format!("{key}/{}", turn.id),
                user: turn.user,
                assistant: turn.assistant,
                said_at: last,
                user_name: turn.user_name,
                assistant_name: turn.assistant_name,
                is_critical: false,
                snapshot: None,
            }
        };
        Ok(self.turns.into_iter().map(line).collect())
    }
}

/// A message of the user, or a reply.
#[derive(Debug)]
struct OpenAiMessage {
    id: String,
    is_reply: bool,
    name: Option<String>,
    text: String,
    said_at: Option<DateTime<Utc>>,
}

/// Makes a turn of each user message and all replies before the next one. Replies before the first message get an empty
/// message.
fn turns(messages: Vec<OpenAiMessage>) -> Vec<OpenAiTurn> {
    let mut turns: Vec<OpenAiTurn> = Vec::new();
    for OpenAiMessage { id, is_reply, name, text, said_at } in messages {
        if !is_reply {
            turns.push(OpenAiTurn { id, user: text, user_name: name, said_at, ..OpenAiTurn::default() });
            continue;
        }
        if turns.is_empty() {
            turns.push(OpenAiTurn { said_at, ..OpenAiTurn::default() });
        }
        let turn = turns.last_mut().expect("there is one");
        if !turn.assistant.is_empty() {
            turn.assistant.push_str("\n\n");
        }
        turn.assistant.push_str(&text);
        turn.assistant_name = turn.assistant_name.take().or(name);
        turn.id = id;
    }
    turns
}

/// Returns the messages of an export that ChatGPT shows: the branch of the node tree that ends in `current_node`.
fn exported(
    fields: &Map<String, Value>,
    mapping: &Map<String, Value>,
    left_out: &mut LeftOut,
) -> Result<Vec<OpenAiMessage>, String> {
    let mut next = match fields.get("current_node").and_then(Value::as_str) {
        Some(current) if mapping.contains_key(current) => Some(current),
        Some(_) => return Err("its current_node is not in its mapping".to_owned()),
        None => newest_leaf(mapping),
    };
    let mut branch = Vec::new();
    while let Some((id, node)) = next.and_then(|id| mapping.get_key_value(id)) {
        if branch.len() == mapping.len() {
            return Err("its nodes are their own ancestors".to_owned());
        }
        branch.push((id, node));
        next = node["parent"].as_str();
    }
    let has_message = |node: &Value| node["message"].is_object();
    let on_branch = branch.iter().filter(|(_, node)| has_message(node)).count();
    left_out.branches += mapping.values().filter(|node| has_message(node)).count() - on_branch;
    let mut messages = Vec::new();
    for (id, node) in branch.into_iter().rev().filter(|(_, node)| has_message(node)) {
        messages.extend(shown(id, &node["message"], left_out)?);
    }
    Ok(messages)
}

/// Returns the leaf whose message is the newest, for exports that do not name the current node.
fn newest_leaf(mapping: &Map<String, Value>) -> Option<&str> {
    let leaves = mapping.iter().filter(|(_, node)| node["children"].as_array().is_none_or(Vec::is_empty));
    let said_at = |node: &Value| node["message"]["create_time"].as_f64().unwrap_or_default();
    let newest = leaves.max_by(|(_, a), (_, b)| said_at(a).total_cmp(&said_at(b)));
    newest.map(|(id, _)| id.as_str())
}

/// Returns a message of an export, if ChatGPT shows it and it has text.
fn shown(id: &str, message: &Value, left_out: &mut LeftOut) -> Result<Option<OpenAiMessage>, String> {
    let (content, role) = (&message["content"], message["author"]["role"].as_str());
    let is_hidden = message["metadata"]["is_visually_hidden_from_conversation"] == true
        || message["weight"].as_f64() == Some(0.0)
        || matches!(message["channel"].as_str(), Some("analysis" | "commentary"));
    // A message is a tool call if it is addressed to a tool: its recipient is not `all`.
    let is_call = message["recipient"].as_str().is_some_and(|recipient| recipient != "all");
    let count = match (role, content["content_type"].as_str()) {
        (Some("system"), _) | (_, Some("user_editable_context" | "model_editable_context")) => {
            &mut left_out.instructions
        }
        (Some("tool"), _) => &mut left_out.tools,
        _ if is_hidden => &mut left_out.hidden,
        _ if is_call => &mut left_out.tools,
        (Some("user" | "assistant"), Some("text" | "multimodal_text" | "code")) => {
            let text = match &content["text"] {
                Value::String(code) => code.clone(),
                _ => text_of_parts(&content["parts"], left_out),
            };
            let said_at = time(message.get("create_time"))?;
            let is_reply = role == Some("assistant");
            let message = OpenAiMessage { id: id.to_owned(), is_reply, name: None, text, said_at };
            return Ok(Some(message).filter(has_text));
        }
        // Thoughts and their summaries, errors, and types that later versions may add.
        _ => &mut left_out.hidden,
    };
    *count += 1;
    Ok(None)
}

/// Returns the messages in a list that the user and the assistant wrote to each other.
fn listed(list: &[Value], left_out: &mut LeftOut) -> Result<Vec<OpenAiMessage>, String> {
    let mut messages = Vec::new();
    for (number, message) in (1..).zip(list) {
        let said = said(number, message, left_out);
        messages.extend(said.map_err(|reason| format!("message {number}: {reason}"))?);
    }
    Ok(messages)
}

/// Reads a message in the chat API's format; `None` if it is not the user's or the assistant's, or has no text.
fn said(number: u64, message: &Value, left_out: &mut LeftOut) -> Result<Option<OpenAiMessage>, String> {
    let is_reply = match message["role"].as_str() {
        Some("user") => false,
        Some("assistant") => true,
        Some("system" | "developer") => {
            left_out.instructions += 1;
            return Ok(None);
        }
        Some("tool" | "function") => {
            left_out.tools += 1;
            return Ok(None);
        }
        _ => {
            return Err(
                "its role is not one of system, developer, user, assistant, tool and function".to_owned()
            );
        }
    };
    let calls = message["tool_calls"].as_array().map_or(0, Vec::len);
    left_out.tools += calls + usize::from(message["function_call"].is_object());
    let text = match &message["content"] {
        Value::String(text) => text.clone(),
        parts @ Value::Array(_) => text_of_parts(parts, left_out),
        Value::Null => message["refusal"].as_str().unwrap_or_default().to_owned(),
        _ => return Err("its content is neither text nor a list of parts".to_owned()),
    };
    let id = message["id"].as_str().map_or_else(|| number.to_string(), str::to_owned);
    let name = message["name"].as_str().map(str::to_owned);
    let said_at = time(message.get("create_time").or_else(|| message.get("created_at")))?;
    Ok(Some(OpenAiMessage { id, is_reply, name, text, said_at }).filter(has_text))
}

fn has_text(message: &OpenAiMessage) -> bool {
    !message.text.trim().is_empty()
}

/// Joins the texts of a message's parts. A part is a text, or has one in a field, such as the transcript of speech. Other
/// parts are images, sound and files.
fn text_of_parts(parts: &Value, left_out: &mut LeftOut) -> String {
    let mut texts = Vec::new();
    for part in parts.as_array().into_iter().flatten() {
        let text = ["text", "refusal"].into_iter().find_map(|field| part[field].as_str());
        match part.as_str().or(text) {
            Some(text) => texts.push(text),
            None => left_out.attachments += 1,
        }
    }
    texts.join("\n")
}

/// Parses a time in seconds since 1970, or in RFC 3339.
fn time(value: Option<&Value>) -> Result<Option<DateTime<Utc>>, String> {
    let time = match value {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Number(seconds)) => seconds.as_f64().and_then(|seconds| {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "what is out of range becomes a time that is refused"
            )]
            DateTime::from_timestamp_millis((seconds * 1_000.0).round() as i64)
        }),
        Some(Value::String(text)) => DateTime::parse_from_rfc3339(text).ok().map(|at| at.with_timezone(&Utc)),
        Some(_) => None,
    };
    match time {
        Some(_) => Ok(time),
        None => Err("a time is neither seconds since 1970 nor RFC 3339".to_owned()),
    }
}
