//! What a path of a vault says of its file.

use std::{fmt::Write as _, path::Path};

use crate::{model::vault::Layout, vault::state::STATE};

/// The most bytes of a memory's file that is read, and of any other file of a stranger: 1 MiB.
const MAX_BYTES: u64 = 1 << 20;
/// The most of a page that is written here: a day or an index of many memories is large.
const MAX_PAGE_BYTES: u64 = 64 << 20;

/// The log of relations.
pub(crate) const LOG: &str = "memory/graph.jsonl";

/// Whether a file has an ending, in whatever case.
pub(crate) fn has_ending(path: &str, ending: &str) -> bool {
    Path::new(path).extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

/// The files of memories, as their paths say it.
pub(crate) fn is_of_memory(path: &str) -> bool {
    has_ending(path, "md")
        && !path.ends_with(".conflict.md")
        && (path.starts_with("vault/") || (path.starts_with("graph/") && !path.starts_with("graph/edges/")))
}

/// Whether a vault has files in this place: memories, edges, days, and pages at the top; of another layout than the cognitive
/// paper's all markdown, and the log of its graph.
pub(crate) fn is_ours(path: &str, layout: Layout) -> bool {
    match layout {
        Layout::Cognitive => is_of_memory(path) || is_page(path),
        Layout::Continuum | Layout::Entry => {
            (has_ending(path, "md") && !path.ends_with(".conflict.md")) || path == LOG
        }
    }
}

/// Whether it is one that is written here and about many memories, or about an edge.
fn is_page(path: &str) -> bool {
    (has_ending(path, "md")
        && !path.ends_with(".conflict.md")
        && (path.starts_with("graph/edges/") || path.starts_with("episodes/") || !path.contains('/')))
        || (path.starts_with('_') && has_ending(path, "json") && path != STATE)
        || path == LOG
}

/// The most bytes that a file may have.
pub(crate) fn most_bytes(path: &str) -> u64 {
    if is_page(path) { MAX_PAGE_BYTES } else { MAX_BYTES }
}

/// The path as a link of markdown has it: people name files as they like.
pub(crate) fn as_link(path: &str) -> String {
    let mut link = String::with_capacity(path.len());
    for c in path.chars() {
        match c {
            ' ' | '%' | '#' | '?' | '(' | ')' | '<' | '>' | '[' | ']' | '\\' | '"' | '|' => {
                let _ = write!(link, "%{:02X}", u32::from(c));
            }
            c => link.push(c),
        }
    }
    link
}

/// Whether Obsidian finds a file by its name: of some characters it has a use of its own.
pub(crate) fn can_be_linked(path: &str) -> bool {
    !path.contains(['#', '|', '^', '[', ']'])
}

/// The path as a folder has it that ignores case.
pub(crate) fn without_case(path: &str) -> String {
    path.to_lowercase()
}
