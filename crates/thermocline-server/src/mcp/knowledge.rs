//! The knowledge profile: the eighteen tools of the paper of cognitive memories, each a row of the table.

use crate::{mcp::tool::Tool, ops::Row};

/// The paper's name for it, what a person is shown, and the row.
const TOOLS: [(&str, &str, &str); 18] = [
    ("memory_store", "Store", "memory_save"),
    ("memory_search", "Search", "recall"),
    ("memory_get", "Get", "memory_show"),
    ("memory_update", "Update", "memory_edit"),
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
    ("memory_config", "Counts", "stats"),
];

/// The eighteen, in the order of the paper.
pub(super) fn tools(table: &'static [Row]) -> Vec<Tool> {
    let find = |row: &str| table.iter().find(|other| other.spec.name == row);
    TOOLS
        .iter()
        .filter_map(|(name, title, row)| find(row).map(|row| Tool::of_row(row, name, title)))
        .collect()
}
