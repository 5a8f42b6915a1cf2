//! The result of an erase, for the caller.

use serde::Serialize;

/// What an erase removed, as numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Erased {
    /// Number of sessions.
    pub sessions: u64,
    /// Number of turns, wherever they were stored: as rows, in the archive, or only as a summary, including incomplete and
    /// replaced turns.
    pub turns: u64,
    /// How many of these turns were in the archive.
    pub archived_turns: u64,
    /// Number of summaries.
    pub summaries: u64,
    /// Number of anchors of which no evidence is left. Anchors with other evidence were folded again and are not counted.
    pub anchors: u64,
    /// Number of pieces of evidence for anchors.
    pub derivations: u64,
    /// Number of recorded transitions between tiers.
    pub transitions: u64,
    /// Number of memories, without the entries of an erased session's state.
    pub memories: u64,
    /// Number of jobs on the erased data that had not finished or were given up.
    pub jobs: u64,
    /// Whether the file or its write-ahead log may still hold old bytes, because a reader, perhaps in another process, holds
    /// the log. A job overwrites them once the reader is gone.
    pub is_pending: bool,
}

impl Erased {
    pub(super) fn add(&mut self, table: &str, rows: u64) {
        match table {
            "conversation_sessions" => self.sessions += rows,
            "recall_units" | "turns_aside" => self.turns += rows,
            "archived_turns" => self.archived_turns += rows,
            "conversation_summaries" => self.summaries += rows,
            "identity_anchors" => self.anchors += rows,
            "derivations" => self.derivations += rows,
            "memory_tier_transitions" => self.transitions += rows,
            "user_memories" => self.memories += rows,
            _ => {}
        }
    }

    /// Adds the counts of a later slice. `is_pending` is that of the later slice, which empties the log for both.
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
