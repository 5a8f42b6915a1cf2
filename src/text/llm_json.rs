//! JSON to an LLM and back: what others wrote, quoted so that it cannot forge what stands around it; and an answer without
//! what models put around it.

use serde::Serialize;

use crate::text::{control, render};

/// A value as one line of JSON. Nothing in it can be taken for a tag of a chat template, nothing hides.
pub(crate) fn quoted(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string(value).expect("strings and lists of them are JSON");
    // Escaped, not changed: quotes are to be copied to the letter. No token begins with what JSON itself needs.
    text = text.replace('<', "\\u003c");
    text = control::rewritten(&text, |first| format!("\\u{:04x}", u32::from(first))).into_owned();
    text.replace(|c: char| render::is_hidden(c) || (render::is_line_break(c) && c != '\n'), "\u{fffd}")
}

/// An answer without a byte order mark, blanks, a code fence around all, and the thoughts that reasoning models put in
/// front. Prose around it stays: there it often says that something is wrong.
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
