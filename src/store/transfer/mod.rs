//! A user's whole memory as lines of JSON, out of one file and into another.
//!
//! The lines name things by their ids and by order, never by a number of this file, so that what was imported is
//! exported to the same bytes. Words and other indexes are worked out again; jobs and receipts stay behind, and so do
//! memories that go with their sessions. What was counted of receipts goes along.

pub(in crate::store) mod bounds;
mod check;
pub(in crate::store) mod check_memories;
pub(crate) mod export;
mod export_memories;
pub(crate) mod import;
mod lines;
pub(in crate::store) mod memories;
#[cfg(feature = "files")]
pub(crate) mod restore;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::{
    model::{
        anchor::{Attribute, Stance},
        edge::Edge,
        ids::{AnchorId, SessionId, SnapshotId, TurnId},
        session::SessionInfo,
        summary::Summary,
        tier::Transition,
        turn::Turn,
        uses::Aspect,
    },
    store::transfer::memories::{EpisodeLine, ErasedLine, ExtractedLine, KnowledgeLine},
};

/// Of an export of turns. Raised when a line changes its meaning.
const FORMAT: u32 = 3;
/// Of an export with memories: an older version refuses it, and reads the other still.
const FORMAT_WITH_MEMORIES: u32 = 4;

/// How much was exported or imported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Transferred {
    /// Sessions.
    pub sessions: u64,
    /// Turns, wherever their originals are.
    pub turns: u64,
    /// Summaries.
    pub summaries: u64,
    /// Anchors.
    pub anchors: u64,
    /// Pieces of evidence for anchors.
    pub derivations: u64,
    /// Moves between tiers.
    pub transitions: u64,
    /// Turns beside the memory: a message that waits for its reply, and turns that others replaced.
    #[serde(default)]
    pub aside: u64,
    /// What was of use and how often, by turns and by names.
    #[serde(default)]
    pub uses: u64,
    /// Memories. This and what follows is left out of an export where it is 0.
    #[serde(default, skip_serializing_if = "is_none")]
    pub memories: u64,
    /// Edges between them.
    #[serde(default, skip_serializing_if = "is_none")]
    pub edges: u64,
    /// Episodes: how memories began, when they were used, notes.
    #[serde(default, skip_serializing_if = "is_none")]
    pub episodes: u64,
    /// Sessions that were looked through for memories.
    #[serde(default, skip_serializing_if = "is_none")]
    pub extracted: u64,
    /// Memories that were erased, of which nothing is left but that.
    #[serde(default, skip_serializing_if = "is_none")]
    pub erased: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference to the field")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// By which rules was derived what is not worked out again: why turns are kept verbatim, and anchors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::store) struct DerivedBy {
    pub(in crate::store) critical: u32,
    pub(in crate::store) anchors: u32,
}

impl DerivedBy {
    /// What a line without any says: the first versions wrote none.
    pub(in crate::store) const FIRST: Self = Self { critical: 1, anchors: 1 };
}

/// One line. They stand in this order, turns in the order of recording.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub(in crate::store) enum TransferLine {
    /// The first.
    Memory {
        format: u32,
        /// By which rules it was derived; none: by the first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rules: Option<DerivedBy>,
    },
    Session(SessionInfo),
    /// A turn that is a row.
    Turn(Turn),
    /// A turn that is in the archive.
    Archived(Turn),
    /// A turn whose original was deleted: what its unit knows.
    Deleted(DeletedTurn),
    /// A turn that waits for its reply, or that another one replaced.
    Aside(AsideLine),
    Summary {
        snapshot_id: Option<SnapshotId>,
        #[serde(flatten)]
        summary: Summary,
    },
    Anchor(AnchorLine),
    Derivation(DerivationLine),
    Transition(Transition),
    Use(UseLine),
    UseCount(UseCountLine),
    Knowledge(Box<KnowledgeLine>),
    Edge(Edge),
    Episode(Box<EpisodeLine>),
    Extracted(ExtractedLine),
    Erased(ErasedLine),
    /// The last: a file without it was cut short.
    End(Transferred),
}

#[derive(Debug, Serialize, Deserialize)]
pub(in crate::store) struct AsideLine {
    /// None: it waits for its reply.
    pub(in crate::store) replaced_by: Option<TurnId>,
    pub(in crate::store) replaced_at: Option<DateTime<Utc>>,
    #[serde(flatten)]
    pub(in crate::store) turn: Turn,
}

#[derive(Debug, Serialize, Deserialize)]
pub(in crate::store) struct DeletedTurn {
    pub(in crate::store) id: TurnId,
    pub(in crate::store) session_id: SessionId,
    pub(in crate::store) turn_number: u32,
    pub(in crate::store) caller_id: Option<String>,
    pub(in crate::store) timestamp: DateTime<Utc>,
    /// 16 bytes, in hexadecimal.
    pub(in crate::store) content_hash: String,
}

/// How often a turn was of use.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::store) struct UseLine {
    pub(in crate::store) turn_id: TurnId,
    pub(in crate::store) hits: u32,
    /// Of these, as the best of what was recalled.
    pub(in crate::store) best: u32,
    pub(in crate::store) last_hit: DateTime<Utc>,
}

/// How often something of this name was counted.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::store) struct UseCountLine {
    pub(in crate::store) aspect: Aspect,
    pub(in crate::store) name: String,
    pub(in crate::store) hits: u64,
}

/// What the derivations do not say of an anchor; the rest is folded from them.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::store) struct AnchorLine {
    pub(in crate::store) id: AnchorId,
    pub(in crate::store) subject: String,
    pub(in crate::store) attribute: Attribute,
    pub(in crate::store) value: String,
    pub(in crate::store) retracted_at: Option<DateTime<Utc>>,
    /// The user's newest turn at that time. None if that was before the first.
    pub(in crate::store) retracted_after: Option<TurnId>,
    pub(in crate::store) is_retracted_since: bool,
}

#[derive(Debug, Serialize, Deserialize)]
pub(in crate::store) struct DerivationLine {
    pub(in crate::store) anchor_id: AnchorId,
    /// The turn. None if it was set by hand.
    pub(in crate::store) turn_id: Option<TurnId>,
    /// Of what was set by hand: its own id, and the user's newest turn at that time.
    pub(in crate::store) source_id: Option<TurnId>,
    pub(in crate::store) after: Option<TurnId>,
    pub(in crate::store) stance: Stance,
    pub(in crate::store) said_at: DateTime<Utc>,
    pub(in crate::store) made_by: String,
    pub(in crate::store) value: String,
    pub(in crate::store) quote: String,
}
