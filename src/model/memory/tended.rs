//! The daily tending of a user's memories: which memories settle, fall back or are archived, and which questions are
//! asked.

use serde::{Deserialize, Serialize};

use crate::model::{
    ids::{GroupId, MemoryId},
    memory::words::Frequency,
    word_enum::word_enum,
};

/// Options for [`Memories::tend`](crate::Memories::tend).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TendOptions {
    /// Whether the call only reports what would change and why, and writes nothing. Default: false.
    pub dry_run: bool,
}

impl TendOptions {
    /// Makes the call only report what would change and why, and write nothing.
    #[must_use]
    pub fn dry_run(mut self) -> Self {
        self.dry_run = true;
        self
    }
}

word_enum! {
    /// What tending does to a memory.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum TendAction {
        /// The memory settles one frequency further.
        Consolidate = "consolidate",
        /// The memory falls back one frequency.
        Downgrade = "downgrade",
        /// The memory is archived. A use, another save of the same memory or an undo can bring it back.
        Archive = "archive",
        /// A person is asked about the memory.
        Review = "review",
    }
    pub fn from_word;
}

/// What tending decided about one memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TendMove {
    /// The memory.
    pub memory_id: MemoryId,
    /// The memory's title.
    pub title: String,
    /// What is done to the memory.
    pub action: TendAction,
    /// The frequency before.
    pub from: Frequency,
    /// The frequency after; the same as before if the memory is archived or a person is asked.
    pub to: Frequency,
    /// The numbers that decided: `confidence 0.81 >= 0.75, 1 success`.
    pub why: String,
}

/// The number of moves of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TendCounts {
    /// The number of memories that settled one frequency further.
    pub consolidated: u64,
    /// The number of memories that fell back one frequency.
    pub downgraded: u64,
    /// The number of memories that were archived.
    pub archived: u64,
    /// The number of reviews that were opened.
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

/// What tending did to a user's memories, or would do in a dry run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Tended {
    /// The id of the operation; `None` if no memory was changed. [`undo_group`](crate::Memories::undo_group) takes all
    /// changes of memories back; reviews stay open.
    pub group: Option<GroupId>,
    /// Whether this was a dry run, which writes nothing.
    pub dry_run: bool,
    /// The number of active memories that were looked at.
    pub memories: u64,
    /// The number of moves of each kind.
    pub moved: TendCounts,
    /// The moves, in the order in which the memories were saved.
    pub moves: Vec<TendMove>,
    /// The number of uses that were removed because nobody rated them within a week.
    pub dropped_uses: u64,
    /// The number of edits whose previous values were removed. Each memory keeps the previous values of its newest 20
    /// edits.
    pub forgotten_edits: u64,
}
