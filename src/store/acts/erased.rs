//! The result of an erase, for the caller.

use serde::Serialize;

/// What was erased, as numbers of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Erased {
    /// Sessions.
    pub sessions: u64,
    /// Turns, wherever they were stored: as rows, in the archive, or only as a summary.
    pub turns: u64,
    /// How many of these were in the archive.
    pub archived_turns: u64,
    /// Summaries.
    pub summaries: u64,
    /// Anchors. Those with other evidence were folded again and are not counted.
    pub anchors: u64,
    /// Pieces of evidence.
    pub derivations: u64,
    /// Recorded transitions between tiers.
    pub transitions: u64,
    /// Memories.
    pub memories: u64,
    /// Jobs that had not run.
    pub jobs: u64,
    /// Whether the file or its write-ahead log still holds old bytes because a reader, perhaps in another process, holds the
    /// log. A job overwrites them once the reader is gone.
    pub is_pending: bool,
}

impl Erased {
    pub(super) fn add(&mut self, table: &str, rows: u64) {
        match table {
            "conversation_sessions" => self.sessions += rows,
            "recall_units" => self.turns += rows,
            "archived_turns" => self.archived_turns += rows,
            "conversation_summaries" => self.summaries += rows,
            "identity_anchors" => self.anchors += rows,
            "derivations" => self.derivations += rows,
            "memory_tier_transitions" => self.transitions += rows,
            "user_memories" => self.memories += rows,
            _ => {}
        }
    }

    /// Adds a later slice. Whether old bytes remain is taken from the later one, because it empties the log for both.
    #[must_use]
    pub fn and(mut self, slice: Self) -> Self {
        self.sessions += slice.sessions;
        self.turns += slice.turns;
        self.archived_turns += slice.archived_turns;
        self.summaries += slice.summaries;
        self.anchors += slice.anchors;
        self.derivations += slice.derivations;
        self.transitions += slice.transitions;
        self.memories += slice.memories;
        self.jobs += slice.jobs;
        self.is_pending = slice.is_pending;
        self
    }
}
