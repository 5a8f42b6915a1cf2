//! The audit file: one line of JSON for each run of an operation that changes, destroys or administers, and for each call
//! that is refused because of its caller's rights or rate, whatever the operation (`mcp` and `metrics` stand for the routes
//! of that name). A line says by ids who called what, when, and, if the call was not refused, for which user. It never
//! contains a text, a user's name, or the text of a key. A request without a valid key gets no line, so that nobody without
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

use crate::ops::spec::{Effect, KeyScope, Spec};

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
    /// Ids and counts from the request and the response, under their field names.
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

    /// Whether the runs of an operation are logged. Calls that are refused for rights or rate are logged for every
    /// operation.
    pub(crate) fn is_for(spec: &Spec) -> bool {
        matches!(spec.effect, Effect::Changes | Effect::Destroys) || spec.scope == KeyScope::Admin
    }

    /// Appends a line; if `is_synced`, it is on disk before this returns.
    pub(crate) fn write(&self, line: &AuditLine<'_>, is_synced: bool) -> io::Result<()> {
        #[derive(Serialize)]
        struct Timed<'a> {
            at: String,
            #[serde(flatten)]
            line: &'a AuditLine<'a>,
        }
        let at = SystemClock.now().to_rfc3339_opts(chrono::SecondsFormat::Millis, true);
        let mut text = serde_json::to_string(&Timed { at, line })?;
        text.push('\n');
        // Lines stay whole: each is a single write to a file opened for appending.
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(text.as_bytes())?;
        if is_synced { file.sync_data() } else { Ok(()) }
    }
}

/// The ids and counts among the fields of a request or a response, one level deep.
pub(crate) fn ids_and_counts(of: &Value) -> Map<String, Value> {
    let fields = of.as_object().into_iter().flatten();
    fields
        .filter(|(_, value)| is_id_or_count(value))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn is_id_or_count(value: &Value) -> bool {
    match value {
        Value::Number(_) | Value::Bool(_) => true,
        Value::String(text) => Uuid::try_parse(text.strip_prefix("mem_").unwrap_or(text)).is_ok(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn of_what_was_asked_and_answered_ids_and_counts_are_kept_and_no_words() {
        let id = "019e8d20-3f00-7c61-b7a4-8a6b6a3a3c5e";
        let said = json!({ "memory": format!("mem_{id}"), "session": "boat", "turns": 3, "is_pending": true,
            "title": "A secret", "tags": ["a"], "by": { "x": 1 } });
        let kept = json!({ "memory": format!("mem_{id}"), "turns": 3, "is_pending": true });
        assert_eq!(Value::Object(ids_and_counts(&said)), kept);
    }
}
