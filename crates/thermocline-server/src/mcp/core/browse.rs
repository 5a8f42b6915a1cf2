//! `memory_browse`: lists and shows parts of the memory, without a query.

use serde_json::json;

use crate::{
    mcp::{
        core::{Arguments, PlannedCall, rows, strict, take_word},
        tool::McpTool,
    },
    ops::Row,
};

/// A view: its name, the row that it reads, the row's field for the id if the view needs one, and whether it has pages.
type View = (&'static str, &'static str, Option<&'static str>, bool);

/// All views.
const VIEWS: [View; 13] = [
    ("core", "core", None, false),
    ("facts", "anchor_list", None, true),
    ("memories", "memory_list", None, true),
    ("memory", "memory_show", Some("memory"), false),
    ("neighbours", "memory_neighbours", Some("memory"), true),
    ("timeline", "episode_list", None, true),
    ("due", "due_list", None, false),
    ("sessions", "session_list", None, true),
    ("turns", "turn_list", Some("session"), true),
    ("summaries", "session_summaries", Some("session"), true),
    ("state", "session_state", Some("session"), false),
    ("turn", "turn_show", Some("turn"), false),
    ("receipt", "receipt_show", Some("receipt"), false),
];

pub(super) fn tool(table: &'static [Row]) -> McpTool {
    let words = VIEWS.map(|(word, ..)| word);
    McpTool::by_hand(
        ("memory_browse", "Browse"),
        "Read the memory by place instead of by meaning.",
        json!({
            "type": "object",
            "properties": {
                "view": { "type": "string", "enum": words },
                "id": {
                    "type": "string",
                    "description": "Of the memory, turn or receipt (why something was recalled); for turns, summaries and state the session's key",
                },
                "cursor": { "type": "string", "description": "next_cursor of the page before" },
            },
            "required": ["view"],
            "additionalProperties": false,
        }),
        rows(table, &VIEWS.map(|(_, row, ..)| row)),
        plan,
    )
}

fn plan(mut arguments: Arguments) -> PlannedCall {
    let view = take_word(&mut arguments, "view");
    let found = VIEWS.iter().find(|(word, ..)| *word == view);
    let (word, row, id, has_pages) = found.ok_or("there is no such view")?;
    let mut fields = Vec::new();
    fields.extend(id.map(|field| ("id", field)));
    fields.extend(has_pages.then_some(("cursor", "cursor")));
    let needs: &[&str] = if id.is_some() { &["id"] } else { &[] };
    strict(row, word, arguments, needs, &fields)
}
