//! Which tools a caller sees. The profile and the caller's rights decide; the order is fixed, so that an LLM's prompt cache
//! stays valid.

use serde::{Deserialize, Serialize};

use crate::{
    mcp::{core, knowledge, tool::McpTool},
    ops::Row,
};

/// A selection of tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolProfile {
    /// Six tools, written by hand, because a model chooses better among six.
    #[default]
    Core,
    /// Four tools of `Core`, and one tool for each other operation that has one.
    Full,
    /// The tools of `Full` that only read.
    Readonly,
    /// The eighteen tools of the cognitive memory paper.
    Knowledge,
}

impl ToolProfile {
    /// All profiles.
    pub const EVERY: [Self; 4] = [Self::Core, Self::Full, Self::Readonly, Self::Knowledge];

    /// The profile's name, in lower case.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Full => "full",
            Self::Readonly => "readonly",
            Self::Knowledge => "knowledge",
        }
    }

    /// Returns the profile with this name.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::EVERY.into_iter().find(|profile| profile.as_str() == word)
    }

    /// Returns the tools of the profile, over a table.
    pub(super) fn tools(self, table: &'static [Row]) -> Vec<McpTool> {
        match self {
            Self::Core => core::tools(table),
            Self::Full => full(table).collect(),
            Self::Readonly => full(table).filter(McpTool::only_reads).collect(),
            Self::Knowledge => knowledge::tools(table),
        }
    }
}

/// Four tools of core, which handle facts and memories together, and a tool for each row whose tool has another name.
fn full(table: &'static [Row]) -> impl Iterator<Item = McpTool> {
    let bundled = core::four(table);
    let names: Vec<&str> = bundled.iter().map(|tool| tool.name).collect();
    let rows = table.iter().filter_map(|row| row.spec.tool.map(|tool| (row, tool)));
    let rows = rows.filter(move |(_, tool)| !names.contains(&tool.name));
    bundled.into_iter().chain(rows.map(|(row, tool)| McpTool::of_row(row, tool.name, tool.title)))
}
