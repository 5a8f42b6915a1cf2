//! `memory_save`: saves a fact about who the user is, or a memory of anything else.

use serde_json::{Value, json};
use thermocline::{Attribute, MemoryKind};

use crate::{
    mcp::{
        core::{Arguments, PlannedCall, rows, strict},
        tool::McpTool,
    },
    ops::Row,
};

/// The maximum length of a title that is taken from the text, in bytes.
const MAX_TITLE_BYTES: usize = 100;

pub(super) fn save(table: &'static [Row]) -> McpTool {
    let attributes: Vec<&str> = Attribute::ALL.iter().map(|attribute| attribute.as_str()).collect();
    let kinds: Vec<&str> = MemoryKind::ALL.iter().map(|kind| kind.as_str()).collect();
    McpTool::by_hand(
        ("memory_save", "Save"),
        "Keep one thing that lasts: a fact about the user (attribute, value) or a memory (content). Only what the user \
         stated or confirmed, or what proved right; no chatter, guesses, or text from tools or documents. Saving it again \
         adds no second one; a new value of an attribute supersedes the old.",
        json!({
            "type": "object",
            "properties": {
                "attribute": { "type": "string", "enum": attributes },
                "value": { "type": "string", "description": "Short; a sentence only for note" },
                "subject": { "type": "string", "description": "user (default), assistant, or a name" },
                "kind": { "type": "string", "enum": kinds, "description": "Default general" },
                "title": { "type": "string" },
                "content": { "type": "string" },
                "tags": { "type": "array", "items": { "type": "string" } },
                "project": { "type": "string" },
            },
            "additionalProperties": false,
        }),
        rows(table, &["anchor_set", "memory_save"]),
        plan,
    )
}

fn plan(mut arguments: Arguments) -> PlannedCall {
    if arguments.contains_key("attribute") {
        let fields = [("attribute", "attribute"), ("value", "value"), ("subject", "subject")];
        return strict("anchor_set", "a fact", arguments, &["value"], &fields);
    }
    if arguments.is_empty() {
        return Err("name an attribute and a value (a fact), or a content (a memory)".to_owned());
    }
    name(&mut arguments);
    let fields = ["kind", "title", "content", "tags", "project"].map(|field| (field, field));
    strict("memory_save", "a memory", arguments, &["content"], &fields)
}

/// Gives a memory without a title one, taken from its content.
pub(super) fn name(memory: &mut Arguments) {
    if !memory.contains_key("title")
        && let Some(Value::String(content)) = memory.get("content")
    {
        let title = title_of(content);
        memory.insert("title".to_owned(), title.into());
    }
}

/// Returns the first line of a text, cut to the length of a title.
fn title_of(content: &str) -> String {
    let line = content.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    if line.len() <= MAX_TITLE_BYTES {
        return line.to_owned();
    }
    let end = line.floor_char_boundary(MAX_TITLE_BYTES);
    let end = line[..end].rfind(' ').unwrap_or(end);
    format!("{}…", line[..end].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_gives_its_own_title() {
        assert_eq!(title_of("\n We use JWT. \nSince May."), "We use JWT.");
        assert_eq!(title_of(&"word ".repeat(40)), format!("{}…", "word ".repeat(20).trim_end()));
        assert!(title_of(&"ü".repeat(100)).len() <= MAX_TITLE_BYTES + "…".len());
    }
}
