//! `memory_session`: records a turn of the running session, sets its state, or ends it.

use serde_json::json;

use crate::{
    mcp::{
        core::{Arguments, PlannedCall, rows, strict, take_word},
        tool::McpTool,
    },
    ops::Row,
};

pub(super) fn tool(table: &'static [Row]) -> McpTool {
    McpTool::by_hand(
        ("memory_session", "Record or end a conversation"),
        "record keeps one user message and your reply as they were said; give each its own caller_id, so that a retry is \
         harmless. state keeps a working note that goes with the conversation. end closes it.",
        json!({
            "type": "object",
            "properties": {
                "op": { "type": "string", "enum": ["record", "state", "end"] },
                "session": { "type": "string", "description": "Your key for the conversation" },
                "user_message": { "type": "string" },
                "ai_response": { "type": "string" },
                "caller_id": { "type": "string" },
                "answering": { "type": "string", "description": "receipt of the memory_recall that helped" },
                "name": { "type": "string", "description": "Of the note" },
                "text": { "type": "string" },
            },
            "required": ["op", "session"],
            "additionalProperties": false,
        }),
        rows(table, &["record", "session_state_set", "session_end"]),
        plan,
    )
}

fn plan(mut arguments: Arguments) -> PlannedCall {
    let op = take_word(&mut arguments, "op");
    match op.as_str() {
        "record" => {
            let fields = ["session", "user_message", "ai_response", "caller_id", "answering"]
                .map(|field| (field, field));
            strict("record", "record", arguments, &["user_message", "ai_response"], &fields)
        }
        "state" => {
            let fields = ["session", "name", "text"].map(|field| (field, field));
            strict("session_state_set", "state", arguments, &["name", "text"], &fields)
        }
        _ => strict("session_end", "end", arguments, &[], &[("session", "session")]),
    }
}
