//! `memory_recall`: finds what fits a question, and returns it as text.

use serde_json::json;

use crate::{
    mcp::{
        core::{rows, step},
        tool::McpTool,
    },
    ops::Row,
};

/// The default budget in tokens: the result is one of several things that the model reads.
const BUDGET_TOKENS: u32 = 1_200;

pub(super) fn tool(table: &'static [Row]) -> McpTool {
    McpTool::by_hand(
        ("memory_recall", "Recall"),
        "What is known about the user and was said before that fits a question, as quoted text with dates. Call it before you \
         answer anything that may depend on earlier conversations.",
        json!({
            "type": "object",
            "properties": {
                "query": { "type": "string", "description": "The user's message or a question, in their words" },
                "budget_tokens": { "type": "integer", "minimum": 100, "maximum": 20000, "description": "Default 1200" },
                "session": { "type": "string", "description": "Key of the running conversation, to include its turns" },
                "now": { "type": "string", "description": "As of this time (RFC 3339)" },
            },
            "required": ["query"],
            "additionalProperties": false,
        }),
        rows(table, &["context"]),
        |mut arguments| {
            arguments.entry("budget_tokens").or_insert(BUDGET_TOKENS.into());
            let fields = [
                ("query", "message"),
                ("budget_tokens", "budget_tokens"),
                ("session", "session"),
                ("now", "now"),
            ];
            Ok(step("context", arguments, &fields))
        },
    )
}
