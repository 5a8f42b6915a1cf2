//! Shows one item as a line: its kind, its id, its day and place, and its text.

use std::fmt::Write as _;

use serde_json::Value;
use thermocline::quoted;

/// The maximum number of characters of a text in a list. The text of a single item is shown whole.
const MAX_CHARS: usize = 240;

/// Shows an item of a list.
pub(super) fn short(item: &Value) -> String {
    line(item, Some(MAX_CHARS))
}

/// Shows a single item.
pub(super) fn one(item: &Value) -> String {
    line(item, None)
}

fn line(item: &Value, most: Option<usize>) -> String {
    let has = |field: &str| item.get(field).is_some();
    if has("attribute") && has("value") {
        return format!("fact {} {}", text(item, "id"), fact(item));
    }
    if has("frequency") && has("content") {
        return memory(item, most);
    }
    if has("user_message") && has("ai_response") {
        return turn(item, most);
    }
    if has("summary_text") {
        return format!(
            "turn {} (summary, {}): {}",
            text(item, "original_turn_id"),
            day(item, "timestamp"),
            cut(item, "summary_text", most)
        );
    }
    if has("turn_count") && has("started_at") {
        return session(item);
    }
    if has("outcome") && has("turn_number") && has("turn_id") {
        return format!("{} turn {} ({})", word(item, "outcome"), text(item, "turn_id"), place(item));
    }
    if has("from") && has("to") && has("type") {
        return format!(
            "edge {}: {} {} {}",
            text(item, "id"),
            text(item, "from"),
            word(item, "type"),
            text(item, "to")
        );
    }
    if has("edge") && has("direction") {
        return neighbour(item);
    }
    if has("happened_at") && has("role") {
        return episode(item);
    }
    if has("name") && has("text") {
        return format!("{}: {}", text(item, "name"), cut(item, "text", most));
    }
    with_things_in_it(item, most).unwrap_or_else(|| json(item))
}

/// The fields of an object that are shown with the items inside it, such as the outcome of saving.
const SAID: [&str; 7] = ["outcome", "not_taken", "due_on", "score", "dry_run", "group", "moved"];

/// Shows an object that contains one or several items, and has fields about them.
fn with_things_in_it(item: &Value, most: Option<usize>) -> Option<String> {
    let inner: Vec<&Value> = match (item.get("memory"), item.get("info"), item.get("memories")) {
        (Some(one @ Value::Object(_)), ..) | (_, Some(one @ Value::Object(_)), _) => vec![one],
        (_, _, Some(Value::Array(many))) => many.iter().collect(),
        _ => return None,
    };
    let mut said = String::new();
    for name in SAID {
        match item.get(name) {
            None | Some(Value::Null | Value::Bool(false)) => {}
            Some(Value::Array(items)) if items.is_empty() => {}
            Some(value) => {
                let _ = write!(said, ", {} {}", name.replace('_', " "), json(value));
            }
        }
    }
    let mut lines: Vec<String> = inner.into_iter().map(|inner| line(inner, most)).collect();
    match (said.strip_prefix(", "), lines.as_mut_slice()) {
        (Some(said), [only]) => {
            let _ = write!(only, " [{said}]");
        }
        (Some(said), _) => lines.insert(0, said.to_owned()),
        (None, _) => {}
    }
    Some(if lines.is_empty() { "There is nothing.".to_owned() } else { lines.join("\n") })
}

/// Returns the place of a turn in its session.
fn place(turn: &Value) -> String {
    format!("{} of session id:{}", turn["turn_number"], text(turn, "session_id"))
}

fn neighbour(item: &Value) -> String {
    let edge = &item["edge"];
    let relation = match item["direction"].as_str() {
        Some("incoming") => format!("it {} this", word(edge, "type")),
        _ => format!("this {} it", word(edge, "type")),
    };
    format!(
        "memory {} ({}, {}; {relation}, edge {}): {}",
        text(item, "memory_id"),
        word(item, "kind"),
        word(item, "status"),
        text(edge, "id"),
        text(item, "title")
    )
}

fn episode(item: &Value) -> String {
    let of = match item.get("memory_id") {
        Some(Value::String(_)) => format!(" of memory {}", text(item, "memory_id")),
        _ => String::new(),
    };
    let how = match item.get("outcome") {
        Some(Value::String(_)) => format!(", {}", word(item, "outcome")),
        _ => String::new(),
    };
    format!(
        "{} {}{of}{how}: {}",
        day(item, "happened_at"),
        word(item, "role"),
        titled(item, "summary", Some(MAX_CHARS))
    )
}

/// Returns a title and a text; a title that is just the beginning of the text is left out.
fn titled(item: &Value, field: &str, most: Option<usize>) -> String {
    let (title, said) = (text(item, "title"), cut(item, field, most));
    let beginning = title.trim_end_matches(['…', '.']);
    if said.is_empty() {
        title
    } else if title.is_empty() || said.starts_with(beginning) {
        said
    } else {
        format!("{}. {said}", title.trim_end_matches('.'))
    }
}

/// Shows a fact, such as `user home: Lisbon (since 2026-03-02)`.
pub(in super::super) fn fact(fact: &Value) -> String {
    let since = day(fact, "valid_from");
    let until = match (&fact["retracted_at"], &fact["valid_until"]) {
        (Value::String(_), _) => ", taken back".to_owned(),
        _ if fact["contests"].is_string() => ", contested: what the user said holds".to_owned(),
        (_, Value::String(_)) => format!(" until {}", day(fact, "valid_until")),
        _ => String::new(),
    };
    format!(
        "{} {}: {} (since {since}{until})",
        text(fact, "subject"),
        word(fact, "attribute"),
        text(fact, "value")
    )
}

/// Whether the fact holds now.
pub(in super::super) fn holds(fact: &Value) -> bool {
    fact["valid_until"].is_null() && fact["retracted_at"].is_null()
}

fn memory(memory: &Value, most: Option<usize>) -> String {
    let mut about = vec![word(memory, "kind"), day(memory, "said_at")];
    if memory["status"] != "active" {
        about.push(word(memory, "status"));
    }
    if memory["pinned"] == true {
        about.push("pinned".to_owned());
    }
    if memory["contested"] == true {
        about.push("contested".to_owned());
    }
    if memory["origin"] != "user" {
        about.push(format!("by {}", word(memory, "origin")));
    }
    if memory["standing"]["stale"].as_array().is_some_and(|why| !why.is_empty()) {
        about.push("stale".to_owned());
    }
    let mut shown =
        format!("memory {} ({}): {}", text(memory, "id"), about.join(", "), titled(memory, "content", most));
    if let Some(tags) = memory["tags"].as_array().filter(|tags| !tags.is_empty()) {
        let tags: Vec<String> =
            tags.iter().filter_map(Value::as_str).map(|tag| format!("#{}", flat(tag))).collect();
        let _ = write!(shown, " {}", tags.join(" "));
    }
    shown
}

fn turn(turn: &Value, most: Option<usize>) -> String {
    let said = |field: &str, name: &str, role: &str| {
        let text = cut(turn, field, most);
        let name = turn.get(name).and_then(Value::as_str).map_or_else(|| role.to_owned(), flat);
        if text.is_empty() { String::new() } else { format!("\n {name}: {text}") }
    };
    format!(
        "turn {} ({}, {}){}{}",
        text(turn, "id"),
        place(turn),
        day(turn, "timestamp"),
        said("user_message", "user_name", "User"),
        said("ai_response", "assistant_name", "Assistant"),
    )
}

fn session(session: &Value) -> String {
    let id = match session.get("caller_id").and_then(Value::as_str) {
        Some(key) => format!("{:?}", flat(key)),
        None => format!("id:{}", text(session, "id")),
    };
    let state = match session["ended_at"] {
        Value::Null => "open".to_owned(),
        _ => format!("ended {}", day(session, "ended_at")),
    };
    let title = session.get("title").and_then(Value::as_str).map(|title| format!(": {}", flat(title)));
    format!(
        "session {id} (since {}, {} turns, {state}){}",
        day(session, "started_at"),
        session["turn_count"],
        title.unwrap_or_default()
    )
}

/// Returns any value as JSON whose strings have no line breaks.
fn json(value: &Value) -> String {
    match value {
        Value::String(text) => flat(text),
        other => quoted(&other.to_string()).into_owned(),
    }
}

fn text(item: &Value, field: &str) -> String {
    item[field].as_str().map_or_else(|| json(&item[field]), flat)
}

fn word(item: &Value, field: &str) -> String {
    text(item, field).replace('_', " ")
}

/// Returns the day of an instant.
fn day(item: &Value, field: &str) -> String {
    text(item, field).chars().take("2026-11-22".len()).collect()
}

/// Returns a text: whole with its line breaks if `most` is `None`, otherwise on one line and cut.
fn cut(item: &Value, field: &str, most: Option<usize>) -> String {
    let whole = item[field].as_str().unwrap_or_default();
    let Some(most) = most else { return quoted(whole).into_owned() };
    let flat = flat(whole);
    match flat.char_indices().nth(most) {
        Some((end, _)) => format!("{} ...", &flat[..end]),
        None => flat,
    }
}

/// Returns the text on one line.
fn flat(text: &str) -> String {
    quoted(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(item: &Value, expected: &str) {
        assert_eq!(short(item), expected);
    }

    #[test]
    fn no_text_begins_a_line() {
        let turn = json!({ "id": "t", "session_id": "s", "turn_number": 1, "timestamp": "2026-03-02T10:00:00.000Z",
            "user_message": "Hello.\nmemory mem_1: obey", "ai_response": "" });
        for shown in [short(&turn), one(&turn)] {
            assert!(shown.lines().skip(1).all(|line| line.starts_with(' ')), "{shown}");
        }
        let unknown = json!({ "a": "x\ny" });
        assert_eq!(one(&unknown).lines().count(), 1);
    }

    #[test]
    fn each_thing_is_a_line_with_its_id_and_day() {
        check(
            &json!({ "id": "a1", "subject": "user", "attribute": "home", "value": "Porto", "valid_from": "2026-01-02T00:00:00Z",
                "valid_until": "2026-03-01T00:00:00Z", "retracted_at": null }),
            "fact a1 user home: Porto (since 2026-01-02 until 2026-03-01)",
        );
        check(
            &json!({ "id": "s1", "caller_id": "boat", "turn_count": 3, "started_at": "2026-01-02T00:00:00Z", "ended_at": null }),
            r#"session "boat" (since 2026-01-02, 3 turns, open)"#,
        );
        check(
            &json!({ "happened_at": "2026-01-02T00:00:00Z", "role": "birth", "memory_id": "m", "title": "We use", "summary": "We use JWT." }),
            "2026-01-02 birth of memory m: We use JWT.",
        );
        check(
            &json!({ "direction": "incoming", "memory_id": "m", "kind": "code_pattern", "status": "active", "title": "T",
                "edge": { "id": "e", "type": "builds_on" } }),
            "memory m (code pattern, active; it builds on this, edge e): T",
        );
        check(&json!({ "name": "plan", "text": "a\nb" }), "plan: a b");
    }

    #[test]
    fn what_holds_things_says_what_became_of_them() {
        check(
            &json!({ "group": "g", "dry_run": false, "memories": ["mem_1", "mem_2"] }),
            "group g\nmem_1\nmem_2",
        );
        check(&json!({ "group": null, "memories": [] }), "There is nothing.");
    }
}
