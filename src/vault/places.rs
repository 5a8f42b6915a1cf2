//! What a path in a vault says about its file.

use std::{fmt::Write as _, path::Path};

use crate::{
    memory::slug,
    model::{memory::words::MemoryKind, vault::Layout},
    vault::state::STATE,
};

/// The maximum size of a memory's file, and of any other that is not a page of the cognitive layout: 1 MiB.
const MAX_BYTES: u64 = 1 << 20;
/// The maximum size of a generated page: a page of a day or an index of many memories is large.
const MAX_PAGE_BYTES: u64 = 64 << 20;

/// The path of the log of relations.
pub(crate) const LOG: &str = "memory/graph.jsonl";

/// Whether a path has this extension, in any case.
pub(crate) fn has_ending(path: &str, ending: &str) -> bool {
    Path::new(path).extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

/// Whether a path is that of a memory's file.
pub(crate) fn is_of_memory(path: &str) -> bool {
    has_ending(path, "md")
        && !path.ends_with(".conflict.md")
        && (path.starts_with("vault/") || (path.starts_with("graph/") && !path.starts_with("graph/edges/")))
}

/// Whether a vault may have a file of ours at a path: a memory, an edge, a day, or a page at the top; in layouts other than
/// the cognitive one, any markdown, or the log of relations.
pub(crate) fn is_ours(path: &str, layout: Layout) -> bool {
    match layout {
        Layout::Cognitive => is_of_memory(path) || is_page(path),
        Layout::Continuum | Layout::Entry => {
            (has_ending(path, "md") && !path.ends_with(".conflict.md")) || path == LOG
        }
    }
}

/// Whether a path is that of a generated file, which is about many memories or an edge.
fn is_page(path: &str) -> bool {
    (has_ending(path, "md")
        && !path.ends_with(".conflict.md")
        && (path.starts_with("graph/edges/") || path.starts_with("episodes/") || !path.contains('/')))
        || (path.starts_with('_') && has_ending(path, "json") && path != STATE)
        || path == LOG
}

/// Returns the maximum size of the file at this path, in bytes.
pub(crate) fn most_bytes(path: &str) -> u64 {
    if is_page(path) { MAX_PAGE_BYTES } else { MAX_BYTES }
}

/// Returns the path as the target of a markdown link, escaped because people choose any file names.
pub(crate) fn as_link(path: &str) -> String {
    let mut link = String::with_capacity(path.len());
    for c in path.chars() {
        match c {
            ' ' | '%' | '#' | '?' | '(' | ')' | '<' | '>' | '[' | ']' | '\\' | '"' | '|' | ':' | '&' => {
                let _ = write!(link, "%{:02X}", u32::from(c));
            }
            c => link.push(c),
        }
    }
    link
}

/// Whether Obsidian finds a file by this name: some characters have a special meaning there.
pub(crate) fn can_be_linked(path: &str) -> bool {
    !path.contains(['#', '|', '^', '[', ']'])
}

/// Returns the kind of memories in the folder that a file is in.
pub(crate) fn kind_of_folder(path: &str) -> Option<MemoryKind> {
    let is_in = |kind: &&MemoryKind| path.starts_with(&format!("graph/{}/", slug::folder(**kind)));
    MemoryKind::ALL.iter().find(is_in).copied()
}

/// Returns the path as a file system sees it that ignores case.
pub(crate) fn without_case(path: &str) -> String {
    path.to_lowercase()
}
