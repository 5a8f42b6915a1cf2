//! `memory_update` and `memory_forget`: correct, relate or retract what is known. Neither erases anything.

use serde::Deserialize;
use serde_json::{Value, json};
use thermocline::{Anchor, EdgeType, Memory, MemoryStatus, Trust};

use crate::{
    caller::Caller,
    mcp::{
        core::{Arguments, PlannedCall, is_memory, keep, rows, step, strict, take_word},
        tool::{CallLead, CallStep, McpTool},
    },
    ops::{Row, memories::forget::would_forget},
};

pub(super) fn update(table: &'static [Row]) -> McpTool {
    let relations: Vec<&str> = EdgeType::ALL.iter().map(|relation| relation.as_str()).collect();
    McpTool::by_hand(
        ("memory_update", "Correct"),
        "Change one fact or memory by its id. edit corrects it; supersede puts a new memory in its place, and keeps it; undo takes \
         back its last change; used says how relying on it went; relate connects it to another.",
        json!({
            "type": "object",
            "properties": {
                "op": { "type": "string", "enum": ["edit", "supersede", "undo", "pin", "unpin", "used", "relate"] },
                "id": { "type": "string" },
                "value": { "type": "string", "description": "Of a fact: the corrected value" },
                "title": { "type": "string" },
                "content": { "type": "string" },
                "tags": { "type": "array", "items": { "type": "string" } },
                "outcome": { "type": "string", "enum": ["success", "failure", "correction"] },
                "receipt": { "type": "string", "description": "With used: the receipt of the memory_recall that showed it" },
                "relation": { "type": "string", "enum": relations },
                "to": { "type": "string", "description": "The other memory" },
            },
            "required": ["op", "id"],
            "additionalProperties": false,
        }),
        rows(
            table,
            &[
                "anchor_replace",
                "memory_edit",
                "memory_supersede",
                "memory_undo",
                "memory_pin",
                "memory_unpin",
                "memory_used",
                "edge_set",
            ],
        ),
        plan_update,
    )
}

fn plan_update(mut arguments: Arguments) -> PlannedCall {
    let op = take_word(&mut arguments, "op");
    let id = ("id", "memory");
    if !is_memory(&arguments) {
        if op != "edit" {
            return Err(format!("{op} takes a memory's id, which begins with mem_; a fact can be edited"));
        }
        return strict(
            "anchor_replace",
            "edit of a fact",
            arguments,
            &["value"],
            &[("id", "anchor"), ("value", "value")],
        );
    }
    let texts = [id, ("title", "title"), ("content", "content"), ("tags", "tags")];
    match op.as_str() {
        "edit" => strict("memory_edit", "edit of a memory", arguments, &[], &texts),
        "supersede" => supersede(arguments, &texts),
        "undo" => strict("memory_undo", "undo", arguments, &[], &[id]),
        "pin" => strict("memory_pin", "pin", arguments, &[], &[id]),
        "unpin" => strict("memory_unpin", "unpin", arguments, &[], &[id]),
        "used" => {
            let fields = [id, ("outcome", "outcome"), ("receipt", "receipt")];
            strict("memory_used", "used", arguments, &["outcome"], &fields)
        }
        _ => {
            let fields = [("id", "from"), ("to", "to"), ("relation", "type")];
            strict("edge_set", "relate", arguments, &["to", "relation"], &fields)
        }
    }
}

/// Plans a call of `memory_supersede`. The replacement is nested in the request, as a memory of its own.
pub(in super::super) fn supersede(arguments: Arguments, texts: &[(&str, &str)]) -> PlannedCall {
    let mut step = strict("memory_supersede", "supersede", arguments, &["content"], texts)?;
    let id = step.request.remove("memory");
    let mut with = std::mem::take(&mut step.request);
    keep::name(&mut with);
    step.request.extend(id.map(|id| ("memory".to_owned(), id)));
    step.request.insert("with".to_owned(), Value::Object(with));
    Ok(step)
}

pub(super) fn forget(table: &'static [Row]) -> McpTool {
    McpTool::by_hand(
        ("memory_forget", "Forget"),
        "Take one fact or memory back: it is no longer recalled. It erases nothing: that is the user's own act.",
        json!({
            "type": "object",
            "properties": {
                "id": { "type": "string" },
                "dry_run": { "type": "boolean", "default": true, "description": "Only show what would be forgotten" },
            },
            "required": ["id"],
            "additionalProperties": false,
        }),
        rows(table, &["anchor_show", "anchor_retract", "memory_show", "memory_forget"]),
        |mut arguments| {
            let is_dry = arguments.remove("dry_run") != Some(Value::Bool(false));
            let (row, field, lead): (_, _, CallLead) = match (is_memory(&arguments), is_dry) {
                (true, true) => ("memory_show", "memory", of_memory),
                (true, false) => ("memory_forget", "memory", of_forgetting),
                (false, true) => ("anchor_show", "anchor", of_fact),
                (false, false) => {
                    ("anchor_retract", "anchor", |_, _| "This is taken back; it can be saved again:")
                }
            };
            Ok(CallStep { lead, ..step(row, arguments, &[("id", field)]) })
        },
    )
}

const WOULD_GO: &str = "Nothing was changed. This would be forgotten; with dry_run false it is:";
const WOULD_BE_REFUSED: &str = "Nothing was changed. This is trusted more than you; only the user can take it back; with dry_run false it is refused:";
const IS_GONE: &str = "Nothing was changed. This is forgotten already:";

/// Says of a shown memory what forgetting it would do.
fn of_memory(caller: &Caller, shown: &Value) -> &'static str {
    match Memory::deserialize(shown) {
        Ok(memory) if !would_forget(caller.origin, &memory) => match memory.status {
            MemoryStatus::Forgotten => IS_GONE,
            MemoryStatus::Quarantined => {
                "Nothing was changed. This is in quarantine, which hides it; forgetting would leave it there:"
            }
            _ => WOULD_BE_REFUSED,
        },
        _ => WOULD_GO,
    }
}

/// Says of a shown fact what taking it back would do.
fn of_fact(caller: &Caller, shown: &Value) -> &'static str {
    match Anchor::deserialize(shown) {
        _ if Trust::of(caller.origin) == Trust::Foreign => WOULD_BE_REFUSED,
        Ok(fact) if !Trust::of(caller.origin).may_change(fact.trust) => WOULD_BE_REFUSED,
        Ok(fact) if fact.retracted_at.is_some() => IS_GONE,
        _ => WOULD_GO,
    }
}

/// Says what forgetting has done, by its response.
fn of_forgetting(_: &Caller, done: &Value) -> &'static str {
    match done["memories"].as_array() {
        Some(memories) if memories.is_empty() => {
            "Nothing was changed. This is forgotten already, or in quarantine."
        }
        _ => "Forgotten; memory_update with op undo and its id brings it back:",
    }
}
