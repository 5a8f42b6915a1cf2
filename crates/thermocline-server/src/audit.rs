//! The audit file: one line of JSON for each run of an operation that changes, replaces, destroys or administers, and for each call
//! that is refused because of its caller's rights or rate, whatever the operation (`mcp` and `metrics` stand for the routes
//! of that name). A line says by ids who called what, when, and, if the call was not refused, for which user. It never
//! contains a text, a user's name, a caller's own id, a number that a caller states, or the text of a key: of a request
//! that could be read, and of a response, it has the fields that are listed here, and of any other request nothing. A
//! request without a valid key gets no line, so that nobody without
//! a key can fill the file; nor does one that is refused because the server is busy. The server's log has both. The audit is
//! a file and not a table, so that erasing a user needs no exception for it.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::Path,
    sync::{Mutex, PoisonError},
};

use serde::Serialize;
use serde_json::{Map, Value};
use thermocline::{Clock, SystemClock, UserId};
use uuid::Uuid;

use crate::ops::spec::{Effect, KeyScope, Replaces, Spec};

/// The fields of requests and responses that name things by our ids. Anything else in such a field, such as the caller's key
/// of a session, is left out.
const IDS: [&str; 20] = [
    "anchor",
    "answering",
    "by",
    "continues",
    "edge",
    "from",
    "group",
    "id",
    "memory",
    "receipt",
    "replacing",
    "review",
    "session",
    "session_id",
    "successor_id",
    "superseded_by",
    "to",
    "turn",
    "turn_id",
    "user_id",
];

/// The fields of responses that count what was done.
const COUNTS: [&str; 29] = [
    "anchors",
    "archived_turns",
    "aside",
    "built_in_summaries",
    "derivations",
    "done",
    "dropped_uses",
    "edges",
    "ended_sessions",
    "episodes",
    "erased",
    "erased_turns",
    "extracted",
    "failed",
    "fallbacks",
    "forgotten_edits",
    "jobs",
    "later",
    "memories",
    "rated_uses",
    "revision",
    "sessions",
    "size_bytes",
    "summaries",
    "transitions",
    "turn_number",
    "turns",
    "users",
    "uses",
];

/// The fields that say whether something was done at all, or is still to be done.
const FLAGS: [&str; 2] = ["dry_run", "is_pending"];

/// The most bytes of a line. The lists above keep a line far below it; a longer one says `cut` instead of what it is about.
const MOST_BYTES: usize = 4_096;

/// The audit file, opened for appending.
#[derive(Debug)]
pub struct Audit(Mutex<File>);

/// The fields of a line, except its time.
#[derive(Debug, Serialize)]
pub(crate) struct AuditLine<'a> {
    pub(crate) key: &'a str,
    pub(crate) surface: &'static str,
    pub(crate) operation: &'static str,
    /// `None` for operations on the file, for unknown users, and for refused calls.
    pub(crate) user_id: Option<UserId>,
    /// `ok`, or a problem's code.
    pub(crate) outcome: &'static str,
    /// Ids and counts from the request and the response, under the names of their fields.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(crate) about: Map<String, Value>,
}

impl Audit {
    /// Opens the file, or creates it with access for its owner only.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(Self(Mutex::new(options.open(path)?)))
    }

    /// Whether a run of an operation with this request is logged. Calls that are refused for rights or rate are logged for
    /// every operation.
    pub(crate) fn is_for(spec: &Spec, request: &Value) -> bool {
        let replaces = match spec.replaces {
            Replaces::Nothing => false,
            Replaces::WhatIsNamed => names_what_it_replaces(request),
            Replaces::Something => true,
        };
        replaces || matches!(spec.effect, Effect::Changes | Effect::Destroys) || spec.scope == KeyScope::Admin
    }

    /// Appends a line; if `is_synced`, it is on disk before this returns.
    pub(crate) fn write(&self, line: &AuditLine<'_>, is_synced: bool) -> io::Result<()> {
        let text = line_of(line, &SystemClock.now().to_rfc3339_opts(chrono::SecondsFormat::Millis, true))?;
        // Lines stay whole: each is a single write to a file opened for appending.
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(text.as_bytes())?;
        if is_synced { file.sync_data() } else { Ok(()) }
    }
}

/// Whether a request, or an item of one of its lists, states what it replaces.
fn names_what_it_replaces(request: &Value) -> bool {
    let names = |of: &Value| of.get("replacing").is_some_and(|replacing| !replacing.is_null());
    let mut lists = request.as_object().into_iter().flatten().filter_map(|(_, value)| value.as_array());
    names(request) || lists.any(|list| list.iter().any(names))
}

/// A line as text, with its line break.
fn line_of(line: &AuditLine<'_>, at: &str) -> serde_json::Result<String> {
    #[derive(Serialize)]
    struct Timed<'a> {
        at: &'a str,
        #[serde(flatten)]
        line: &'a AuditLine<'a>,
    }
    let text = serde_json::to_string(&Timed { at, line })? + "\n";
    if text.len() <= MOST_BYTES {
        return Ok(text);
    }
    let about = Map::from_iter([("cut".to_owned(), true.into())]);
    Ok(serde_json::to_string(&Timed { at, line: &AuditLine { about, ..*line } })? + "\n")
}

/// What a line says of a request that could be read: ids, and whether it was a dry run. No number, because callers state
/// the numbers of requests.
pub(crate) fn of_request(request: &Value) -> Map<String, Value> {
    fields(request, |name, value| is_id(name, value) || is_flag(name, value))
}

/// What a line says of a response: ids, counts, and whether something is still to be done. The id of a memory that the
/// response has whole is its `id`, because the request's `memory` may be the one that it replaces.
pub(crate) fn of_response(response: &Value) -> Map<String, Value> {
    let is_count = |name: &str, value: &Value| COUNTS.contains(&name) && value.is_u64();
    let mut told =
        fields(response, |name, value| is_id(name, value) || is_flag(name, value) || is_count(name, value));
    told.extend(fields(&response["memory"], |name, value| name == "id" && is_id(name, value)));
    told
}

fn fields(of: &Value, is_told: impl Fn(&str, &Value) -> bool) -> Map<String, Value> {
    let told = of.as_object().into_iter().flatten().filter(|(name, value)| is_told(name, value));
    told.map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn is_id(name: &str, value: &Value) -> bool {
    let Some(text) = value.as_str().filter(|_| IDS.contains(&name)) else { return false };
    let id = match name {
        "session" => text.strip_prefix("id:"), // Without it, it is the caller's key, even if that is a UUID.
        _ => Some(text.strip_prefix("mem_").unwrap_or(text)),
    };
    id.is_some_and(|id| id.len() == 36 && Uuid::try_parse(id).is_ok())
}

fn is_flag(name: &str, value: &Value) -> bool {
    FLAGS.contains(&name) && value.is_boolean()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;
    use crate::ops::{self, schema};

    const ID: &str = "019e8d20-3f00-7c61-b7a4-8a6b6a3a3c5e";

    #[test]
    fn of_what_was_asked_and_answered_listed_ids_and_counts_are_kept_and_nothing_that_a_caller_states() {
        let said = json!({ "memory": format!("mem_{ID}"), "session": ID, "turns": 3, "dry_run": true, "by": "Alex",
            "title": "A secret", "tags": ["a"], "to": { "x": 1 }, "importance": 0.7, "expected_revision": 4_929,
            "caller_id": ID, "group": ID, "is_pending": 1 });
        let kept = json!({ "memory": format!("mem_{ID}"), "dry_run": true, "group": ID });
        assert_eq!(Value::Object(of_request(&said)), kept);
        let answered = json!({ "id": format!("mem_{ID}"), "turns": 3, "memories": [ID], "validity_window_s": 4_929,
            "is_pending": false, "sessions": -1, "session": format!("id:{ID}"), "pinned": true });
        let kept = json!({ "id": format!("mem_{ID}"), "turns": 3, "is_pending": false, "session": format!("id:{ID}") });
        assert_eq!(Value::Object(of_response(&answered)), kept);
        let saved = json!({ "memory": { "id": format!("mem_{ID}"), "to": ID, "title": "A secret" } });
        assert_eq!(Value::Object(of_response(&saved)), json!({ "id": format!("mem_{ID}") }));
    }

    #[test]
    fn a_line_that_would_be_too_long_says_so() {
        let about = (0..400).map(|n| (format!("turns{n}"), json!(1_000_000_u64))).collect();
        let line =
            AuditLine { key: "k", surface: "http", operation: "tend", user_id: None, outcome: "ok", about };
        let text = line_of(&line, "2026-03-01T12:00:00.000Z").unwrap();
        assert!(text.len() < MOST_BYTES && text.ends_with("\"about\":{\"cut\":true}}\n"), "{text}");
    }

    #[test]
    fn what_adds_has_a_line_where_it_can_replace_or_hide_what_was_there() {
        let only_adds = ["record", "record_message", "record_many", "episode_note"];
        let (plain, replacing) = (json!({ "turns": [{}] }), json!({ "turns": [{ "replacing": ID }] }));
        for row in ops::table() {
            let spec = row.spec;
            let is_read = spec.effect == Effect::Reads && spec.scope != KeyScope::Admin;
            let is_told = !is_read && !only_adds.contains(&spec.name);
            assert_eq!(Audit::is_for(spec, &plain), is_told, "{}", spec.name);
            let can_name = schema::request(row).to_string().contains("\"replacing\"");
            assert_eq!(Audit::is_for(spec, &replacing), is_told || can_name, "{}", spec.name);
        }
        assert!(!names_what_it_replaces(&json!({ "replacing": null })));
        assert!(names_what_it_replaces(&json!({ "replacing": "anything" })));
    }

    #[test]
    fn what_a_line_may_contain_are_fields_of_operations_of_the_type_that_the_list_says() {
        let (mut strings, mut counts, mut flags) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let replacing = json!({ "replacing": ID });
        for row in ops::table().iter().filter(|row| Audit::is_for(row.spec, &replacing)) {
            let (request, response) = (schema::request(row), schema::response(row));
            for (schema, is_response) in [(&request, false), (&response, true)] {
                let root = schema["$ref"].as_str().and_then(|name| name.rsplit('/').next());
                let object = root.map_or(schema, |name| &schema["$defs"][name]);
                for (name, field) in object["properties"].as_object().into_iter().flatten() {
                    let text = field.to_string();
                    if text.contains("\"$ref\"") || text.contains("\"string\"") {
                        strings.insert(name.clone());
                    }
                    if is_response && text.contains("\"integer\"") {
                        counts.insert(name.clone());
                    }
                    if text.contains("\"boolean\"") {
                        flags.insert(name.clone());
                    }
                }
            }
        }
        let missing = |listed: &[&str], found: &BTreeSet<String>| -> Vec<String> {
            listed.iter().filter(|name| !found.contains(**name)).map(|name| (*name).to_owned()).collect()
        };
        assert_eq!(missing(&IDS, &strings), Vec::<String>::new());
        assert_eq!(missing(&COUNTS, &counts), Vec::<String>::new());
        assert_eq!(missing(&FLAGS, &flags), Vec::<String>::new());
    }
}
