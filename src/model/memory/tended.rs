//! The daily look at a user's memories: what it moves, and what it asks.

use serde::{Deserialize, Serialize};

use crate::model::{
    ids::{GroupId, MemoryId},
    memory::words::Frequency,
    word_enum::word_enum,
};

/// How memories are tended by hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TendOptions {
    /// Only say what would move and why; nothing is written. Default: false.
    pub dry_run: bool,
}

impl TendOptions {
    /// Says what would move and why, and writes nothing.
    #[must_use]
    pub fn dry_run(mut self) -> Self {
        self.dry_run = true;
        self
    }
}

word_enum! {
    /// What the daily look does with a memory.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum TendAction {
        /// It settles one frequency further.
        Consolidate = "consolidate",
        /// It falls back one frequency.
        Downgrade = "downgrade",
        /// It is put away; a use or a person brings it back.
        Archive = "archive",
        /// A person is asked.
        Review = "review",
    }
    pub fn from_word;
}

/// What a look found of one memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TendMove {
    /// The memory.
    pub memory_id: MemoryId,
    /// Its title.
    pub title: String,
    /// What is done with it.
    pub action: TendAction,
    /// How settled it was.
    pub from: Frequency,
    /// How settled it is from then on; of what is archived or asked about the same.
    pub to: Frequency,
    /// The numbers that decide: `confidence 0.81 >= 0.75, 1 success`.
    pub why: String,
}

/// How many of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TendCounts {
    /// Memories that settled one frequency further.
    pub consolidated: u64,
    /// Memories that fell back.
    pub downgraded: u64,
    /// Memories that were put away.
    pub archived: u64,
    /// Reviews that were opened.
    pub reviews: u64,
}

impl TendCounts {
    /// Of all of these.
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
    /// The operation: [`undo_group`](crate::Memories::undo_group) takes all moves back. None: nothing moved.
    pub group: Option<GroupId>,
    /// Nothing was written.
    pub dry_run: bool,
    /// Active memories that were looked at.
    pub memories: u64,
    /// How many moved, and how.
    pub moved: TendCounts,
    /// Which they are, in the order of saving.
    pub moves: Vec<TendMove>,
    /// Uses that nobody rated for a week, and that are kept no longer.
    pub dropped_uses: u64,
    /// Edits so many edits ago that what they changed is kept no longer.
    pub forgotten_edits: u64,
}
