//! The knowledge profile: the eighteen tools of the cognitive memory paper, which run rows of the table.
//!
//! `memory_reindex` and `memory_embed` concern the whole file, so only callers with access to all users, and with the
//! scope that the row needs, see them.

use serde_json::json;

use crate::{
    mcp::{
        core::{self, Arguments, PlannedCall, step, strict, take_word},
        tool::McpTool,
    },
    ops::Row,
};

/// For each tool: the paper's name, the title for people, and the row. The row is empty for tools written by hand.
const TOOLS: [(&str, &str, &str); 18] = [
    ("memory_store", "Store", "memory_save"),
    ("memory_search", "Search", "recall"),
    ("memory_get", "Get", ""),
    ("memory_update", "Update", ""),
    ("memory_forget", "Forget", "memory_forget"),
    ("memory_relate", "Relate", "edge_set"),
    ("memory_edge", "Edge", "edge_show"),
    ("memory_related", "Related", "memory_neighbours"),
    ("memory_episode", "Episodes", "episode_list"),
    ("memory_pin", "Pin", "memory_pin"),
    ("memory_stats", "List", "memory_list"),
    ("memory_core", "Core", "core"),
    ("memory_reflection", "Reflection", "reflection"),
    ("memory_reflect", "Reflect", "reflect"),
    ("memory_decay", "Tend", "tend"),
    ("memory_reindex", "Reindex", "embed_rebuild"),
    ("memory_embed", "Embedding", "embed_status"),
    ("memory_config", "Counts", "user_show"),
];

/// Returns the eighteen tools, in the order of the paper.
pub(super) fn tools(table: &'static [Row]) -> Vec<McpTool> {
    let of_row = |(name, title, row): (&'static str, &'static str, &str)| {
        let row = table.iter().find(|other| other.spec.name == row)?;
        Some(McpTool::of_row(row, name, title))
    };
    TOOLS
        .into_iter()
        .filter_map(|tool| match tool.0 {
            "memory_get" => Some(get(table)),
            "memory_update" => Some(update(table)),
            _ => of_row(tool),
        })
        .collect()
}

/// Shows a memory, or its history.
fn get(table: &'static [Row]) -> McpTool {
    McpTool::by_hand(
        ("memory_get", "Get"),
        "One memory, whatever its status; with history what was done to it, newest first.",
        json!({
            "type": "object",
            "properties": {
                "memory": { "type": "string" },
                "history": { "type": "boolean" },
            },
            "required": ["memory"],
            "additionalProperties": false,
        }),
        core::rows(table, &["memory_show", "memory_history"]),
        |mut arguments| {
            let is_history = arguments.remove("history").is_some_and(|asked| asked == true);
            let row = if is_history { "memory_history" } else { "memory_show" };
            Ok(step(row, arguments, &[("memory", "memory")]))
        },
    )
}

/// Edits a memory, supersedes it, undoes a change, unpins it, or counts a use.
fn update(table: &'static [Row]) -> McpTool {
    McpTool::by_hand(
        ("memory_update", "Update"),
        "Change one memory: edit it, supersede it by a new text, undo its last change, unpin it; used says how relying on it went.",
        json!({
            "type": "object",
            "properties": {
                "op": { "type": "string", "enum": ["edit", "supersede", "undo", "unpin", "used"], "description": "Default edit" },
                "memory": { "type": "string" },
                "title": { "type": "string" },
                "content": { "type": "string" },
                "summary": { "type": "string" },
                "tags": { "type": "array", "items": { "type": "string" } },
                "importance": { "type": "number" },
                "confidence": { "type": "number" },
                "project": { "type": "string" },
                "outcome": { "type": "string", "enum": ["success", "failure", "correction"] },
                "receipt": { "type": "string", "description": "With used: the receipt of the memory_recall that showed it" },
            },
            "required": ["memory"],
            "additionalProperties": false,
        }),
        core::rows(table, &["memory_edit", "memory_supersede", "memory_undo", "memory_unpin", "memory_used"]),
        plan_update,
    )
}

fn plan_update(mut arguments: Arguments) -> PlannedCall {
    let op = take_word(&mut arguments, "op");
    let memory = ("memory", "memory");
    let texts = ["memory", "title", "content", "summary", "tags", "importance", "confidence", "project"]
        .map(|field| (field, field));
    match op.as_str() {
        "supersede" => core::supersede(arguments, &texts),
        "undo" => strict("memory_undo", "undo", arguments, &[], &[memory]),
        "unpin" => strict("memory_unpin", "unpin", arguments, &[], &[memory]),
        "used" => {
            let fields = [memory, ("outcome", "outcome"), ("receipt", "receipt")];
            strict("memory_used", "used", arguments, &["outcome"], &fields)
        }
        _ => strict("memory_edit", "edit", arguments, &[], &texts),
    }
}
