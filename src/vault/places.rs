//! What a path of a vault says of its file.

use std::path::Path;

use crate::vault::state::STATE;

/// The most bytes of a memory's file that is read, and of any other file of a stranger: 1 MiB.
const MAX_BYTES: u64 = 1 << 20;
/// The most of a page that is written here: a day or an index of many memories is large.
const MAX_PAGE_BYTES: u64 = 64 << 20;

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

/// Whether a vault has files in this place: memories, edges, days, and pages at the top.
pub(crate) fn is_ours(path: &str) -> bool {
    is_of_memory(path)
        || (has_ending(path, "md")
            && !path.ends_with(".conflict.md")
            && (path.starts_with("graph/edges/") || path.starts_with("episodes/") || !path.contains('/')))
        || (path.starts_with('_') && has_ending(path, "json") && path != STATE)
}

/// The most bytes that a file may have.
pub(crate) fn most_bytes(path: &str) -> u64 {
    if is_of_memory(path) || !is_ours(path) { MAX_BYTES } else { MAX_PAGE_BYTES }
}

/// The path as a folder has it that ignores case.
pub(crate) fn without_case(path: &str) -> String {
    path.to_lowercase()
}
