//! JSON in prompts and answers of an LLM: quotes what others wrote so that it cannot forge the prompt around it, and removes
//! code fences and leading thoughts around an answer's JSON.

use serde::Serialize;

use crate::text::{control, render};

/// Writes a value as one line of JSON, without hidden characters and without anything that could be taken for a chat
/// template's tag.
pub(crate) fn quoted(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string(value).expect("strings and lists of them are JSON");
    // These characters are escaped, not changed, because quotes must be copied verbatim. No control token begins with a
    // character that JSON itself needs.
    text = text.replace('<', "\\u003c");
    text = control::rewritten(&text, |first| format!("\\u{:04x}", u32::from(first))).into_owned();
    text.replace(|c: char| render::is_hidden(c) || (render::is_line_break(c) && c != '\n'), "\u{fffd}")
}

/// Removes from an answer a byte order mark, blanks at its ends, a code fence around everything, and the leading thoughts of
/// reasoning models. Prose around the JSON stays, because it often says that something is wrong.
pub(crate) fn bare(answer: &str) -> &str {
    let mut text = answer.trim_start_matches('\u{feff}').trim();
    if let Some(thoughts) = text.strip_prefix("<think>")
        && let Some((_, answer)) = thoughts.split_once("</think>")
    {
        text = answer.trim();
    }
    let fenced = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    fenced.map_or(text, |inside| inside.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).trim())
}
