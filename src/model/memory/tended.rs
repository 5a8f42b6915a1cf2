//! The daily look at a user's memories: what it moves, and which questions it opens.

use serde::{Deserialize, Serialize};

use crate::model::{
    ids::{GroupId, MemoryId},
    memory::words::Frequency,
    word_enum::word_enum,
};

/// Options for tending memories by hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TendOptions {
    /// Only report what would move and why; nothing is written. Default: false.
    pub dry_run: bool,
}

impl TendOptions {
    /// Only reports what would move and why, and writes nothing.
    #[must_use]
    pub fn dry_run(mut self) -> Self {
        self.dry_run = true;
        self
    }
}

word_enum! {
    /// What the daily look does to a memory.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum TendAction {
        /// It settles one frequency further.
        Consolidate = "consolidate",
        /// It falls back one frequency.
        Downgrade = "downgrade",
        /// It is archived; a use or a person brings it back.
        Archive = "archive",
        /// A person is asked.
        Review = "review",
    }
    pub fn from_word;
}

/// What a look decided about one memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TendMove {
    /// The memory.
    pub memory_id: MemoryId,
    /// Its title.
    pub title: String,
    /// What is done to it.
    pub action: TendAction,
    /// How settled it was.
    pub from: Frequency,
    /// How settled it is now; unchanged for what is archived or asked about.
    pub to: Frequency,
    /// The deciding numbers: `confidence 0.81 >= 0.75, 1 success`.
    pub why: String,
}

/// How many moves of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TendCounts {
    /// Memories that settled one frequency further.
    pub consolidated: u64,
    /// Memories that fell back.
    pub downgraded: u64,
    /// Memories that were archived.
    pub archived: u64,
    /// Reviews that were opened.
    pub reviews: u64,
}

impl TendCounts {
    /// Counts these moves.
    pub(crate) fn of<'m>(moves: impl IntoIterator<Item = &'m TendMove>) -> Self {
        let mut counts = Self::default();
        for each in moves {
            *match each.action {
                TendAction::Consolidate => &mut counts.consolidated,
                TendAction::Downgrade => &mut counts.downgraded,
                TendAction::Archive => &mut counts.archived,
                TendAction::Review => &mut counts.reviews,
            } += 1;
        }
        counts
    }
}

/// What a look at all memories did, or would do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Tended {
    /// The operation: [`undo_group`](crate::Memories::undo_group) takes all moves back. `None` if nothing moved.
    pub group: Option<GroupId>,
    /// Whether nothing was written.
    pub dry_run: bool,
    /// Active memories that were looked at.
    pub memories: u64,
    /// How many moved, and how.
    pub moved: TendCounts,
    /// The moves, in the order of saving.
    pub moves: Vec<TendMove>,
    /// Uses that nobody rated for a week, and that are no longer kept.
    pub dropped_uses: u64,
    /// Edits old enough that their previous values are no longer kept.
    pub forgotten_edits: u64,
}
