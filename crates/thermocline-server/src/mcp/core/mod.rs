//! The core profile: six tools, written by hand, each of which runs rows of the table.
//!
//! They cover what a model needs for turns, facts and memories. They add at most 1,200 tokens to every request that
//! includes them, so a new word in a description has to replace another one.

mod browse;
mod change;
mod keep;
mod recall;
mod session;

pub(super) use self::change::supersede;

use serde_json::{Map, Value};

use crate::{
    mcp::tool::{CallStep, McpTool, no_lead},
    ops::{Row, call::KEY},
};

/// Arguments that fit the tool's schema.
pub(super) type Arguments = Map<String, Value>;
/// The call of a row; the error says what is missing from the arguments.
pub(super) type PlannedCall = Result<CallStep, String>;

/// Returns the six tools, in a fixed order.
pub(super) fn tools(table: &'static [Row]) -> Vec<McpTool> {
    let mut tools = four(table);
    tools.extend([browse::tool(table), session::tool(table)]);
    tools
}

/// Returns the four tools that the full profile also has. Instead of the other two, it has a tool for each view and each
/// step of a session.
pub(super) fn four(table: &'static [Row]) -> Vec<McpTool> {
    vec![recall::tool(table), keep::save(table), change::update(table), change::forget(table)]
}

/// Returns the rows with these names.
pub(super) fn rows(table: &'static [Row], names: &[&str]) -> Vec<&'static Row> {
    let find = |name: &&str| table.iter().find(|row| row.spec.name == *name);
    names.iter().filter_map(find).collect()
}

/// Returns a call of this row. `fields` maps names of arguments to the row's own names; other arguments are left out.
pub(super) fn step(row: &'static str, mut arguments: Arguments, fields: &[(&str, &str)]) -> CallStep {
    let mut request = Map::new();
    for (ours, theirs) in fields {
        if let Some(value) = arguments.remove(*ours) {
            request.insert((*theirs).to_owned(), value);
        }
    }
    CallStep { row, request, lead: no_lead }
}

/// Returns a call like [`step`]. Errors: an argument in `needs` is missing, or an argument is not in `fields`.
pub(super) fn strict(
    row: &'static str,
    what: &str,
    arguments: Arguments,
    needs: &[&str],
    fields: &[(&str, &str)],
) -> PlannedCall {
    if let Some(missing) = needs.iter().find(|name| !arguments.contains_key(**name)) {
        return Err(format!("{what} needs {missing}"));
    }
    if arguments.keys().any(|name| !fields.iter().any(|(ours, _)| ours == name)) {
        let known: Vec<&str> = fields.iter().map(|(ours, _)| *ours).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(format!("of the other arguments {what} takes {known}"));
    }
    Ok(step(row, arguments, fields))
}

/// Returns the word given for an argument; the schema guarantees that it is text.
pub(super) fn take_word(arguments: &mut Arguments, name: &str) -> String {
    match arguments.remove(name) {
        Some(Value::String(word)) => word,
        _ => String::new(),
    }
}

/// Whether the argument `id` names a memory and not a fact. Facts have no ids of the caller's own.
fn is_memory(arguments: &Arguments) -> bool {
    let id = arguments.get("id").and_then(Value::as_str);
    id.is_some_and(|id| id.starts_with("mem_") || id.starts_with(KEY))
}
