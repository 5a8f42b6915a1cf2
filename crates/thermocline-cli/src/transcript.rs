//! A transcript: JSON Lines, one turn per line. Errors name an invalid line, never its text.

use std::io::{BufRead, Read};

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};
use thermocline::{Config, NewTurn, PaperTurn, SnapshotId};

use crate::exit::{Exit, Failure};

/// The maximum length of a line, in bytes. Two sides of 10 MiB fit, even if every character is escaped.
const MAX_LINE_BYTES: u64 = 64 << 20;

/// A line of a transcript.
#[derive(Debug)]
pub(crate) struct TranscriptLine {
    /// The number of the line in the file, from 1.
    pub(crate) number: u64,
    /// The position in the file, in bytes, where the next line begins.
    pub(crate) end_bytes: u64,
    pub(crate) session: String,
    pub(crate) id: String,
    pub(crate) user: String,
    pub(crate) assistant: String,
    /// When the turn was said; `None` if the line does not say.
    pub(crate) said_at: Option<DateTime<Utc>>,
    pub(crate) user_name: Option<String>,
    pub(crate) assistant_name: Option<String>,
    pub(crate) is_critical: bool,
    pub(crate) snapshot: Option<SnapshotId>,
}

impl TranscriptLine {
    /// Turns a turn of a database into a line, after the same checks as for a line of a transcript.
    pub(crate) fn of_turn(number: u64, turn: PaperTurn) -> Result<Self, Failure> {
        turn.to_turn().check(Config::default().max_side_bytes)?;
        Ok(Self {
            number,
            end_bytes: 0,
            session: turn.session,
            id: turn.id,
            user: turn.user_message,
            assistant: turn.ai_response,
            said_at: Some(turn.timestamp),
            user_name: None,
            assistant_name: None,
            is_critical: turn.is_identity_critical,
            snapshot: turn.snapshot_id,
        })
    }

    /// Returns the turn that the line describes.
    pub(crate) fn to_turn(&self) -> NewTurn {
        let mut turn = NewTurn::new(&*self.user, &*self.assistant).caller_id(&*self.id);
        if let Some(at) = self.said_at {
            turn = turn.said_at(at);
        }
        if let Some(name) = &self.user_name {
            turn = turn.user_name(name);
        }
        if let Some(name) = &self.assistant_name {
            turn = turn.assistant_name(name);
        }
        if self.is_critical {
            turn = turn.critical();
        }
        if let Some(snapshot) = self.snapshot {
            turn = turn.snapshot(snapshot);
        }
        turn
    }
}

/// The lines of a transcript, read one at a time, because a file may be larger than memory.
#[derive(Debug)]
pub(crate) struct Transcript<R> {
    input: R,
    number: u64,
    read_bytes: u64,
    buffer: Vec<u8>,
}

impl<R: BufRead> Transcript<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input, number: 0, read_bytes: 0, buffer: Vec::new() }
    }

    /// Reads the next line into the buffer; returns false at the end.
    fn read_line(&mut self) -> Result<bool, Failure> {
        self.buffer.clear();
        self.number += 1;
        let mut input = self.input.by_ref().take(MAX_LINE_BYTES + 1);
        let read = input
            .read_until(b'\n', &mut self.buffer)
            .map_err(|error| Failure::caused(Exit::FileUnusable, "the transcript cannot be read", error))?;
        self.read_bytes += read as u64;
        if read as u64 > MAX_LINE_BYTES {
            return Err(Failure::refused("the line is longer than 64 MiB"));
        }
        Ok(read > 0)
    }

    fn next_line(&mut self) -> Result<Option<TranscriptLine>, Failure> {
        while self.read_line()? {
            /// Some programs write this mark at the start of a UTF-8 file.
            const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
            let bytes = match self.buffer.strip_prefix(BYTE_ORDER_MARK) {
                Some(rest) if self.number == 1 => rest,
                _ => &self.buffer,
            };
            if !bytes.trim_ascii().is_empty() {
                let line = parsed(bytes).map_err(Failure::refused)?;
                return Ok(Some(TranscriptLine { number: self.number, end_bytes: self.read_bytes, ..line }));
            }
        }
        Ok(None)
    }
}

impl<R: BufRead> Iterator for Transcript<R> {
    type Item = Result<TranscriptLine, (u64, Failure)>;

    /// Returns the next line; an error carries the number of its line.
    fn next(&mut self) -> Option<Self::Item> {
        self.next_line().map_err(|failure| (self.number, failure)).transpose()
    }
}

/// Parses a line's fields. They are checked on their own; whether they fit what the file contains is checked when they
/// are recorded.
///
/// The fields are read by hand, because the errors of `serde_json` about wrong types quote the value.
fn parsed(bytes: &[u8]) -> Result<TranscriptLine, String> {
    let value = serde_json::from_slice(bytes).map_err(|error| no_json(&error))?;
    let Value::Object(mut fields) = value else {
        return Err("the line is not a JSON object".to_owned());
    };
    let line = TranscriptLine {
        number: 0,
        end_bytes: 0,
        session: needed(&mut fields, "session")?,
        id: needed(&mut fields, "id")?,
        user: needed(&mut fields, "user")?,
        assistant: optional(&mut fields, "assistant")?.unwrap_or_default(),
        said_at: optional(&mut fields, "at")?.map(|at| instant(&at)).transpose()?,
        user_name: optional(&mut fields, "user_name")?,
        assistant_name: optional(&mut fields, "assistant_name")?,
        is_critical: false,
        snapshot: None,
    };
    line.to_turn().check(Config::default().max_side_bytes).map_err(|error| error.to_string())?;
    Ok(line)
}

/// Says what is wrong with the JSON, and at which column. The line in the error is always 1; the caller reports the real
/// one.
fn no_json(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or_default();
    format!("the line is not valid JSON: {what} at column {}", error.column())
}

fn needed(fields: &mut Map<String, Value>, name: &str) -> Result<String, String> {
    match fields.remove(name) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(format!("the field {name} is not a string")),
        None => Err(format!("the field {name} is missing")),
    }
}

/// Takes a text field that may be missing or null.
fn optional(fields: &mut Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match fields.remove(name) {
        Some(Value::String(text)) => Ok(Some(text)),
        Some(Value::Null) | None => Ok(None),
        Some(_) => Err(format!("the field {name} is not a string")),
    }
}

fn instant(text: &str) -> Result<DateTime<Utc>, String> {
    DateTime::parse_from_rfc3339(text)
        .map(|at| at.with_timezone(&Utc))
        .map_err(|_| "the field at is not a time; expected RFC 3339, like 2026-03-02T18:10:00Z".to_owned())
}
