//! Export and import: a user's memory as lines of JSON.
//!
//! The lines refer to each other by id and by order, not by a number that another file would not have, so that an export of
//! imported data has the same bytes. An import computes words and indexes again. Jobs, receipts, promotions and volatile
//! memories are not exported, but the counts that come from receipts are.

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
mod times;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::{
    model::{
        anchor::{Attribute, Stance},
        edge::Edge,
        ids::{AnchorId, SessionId, SnapshotId, TurnId},
        memory::trust::Trust,
        session::SessionInfo,
        summary::Summary,
        tier::Transition,
        turn::Turn,
        uses::Aspect,
    },
    store::transfer::memories::{EpisodeLine, ErasedLine, ExtractedLine, KnowledgeLine},
};

/// The format of an export of turns. Raised when the meaning of a line changes.
const FORMAT: u32 = 3;
/// The format of an export with memories. Older builds refuse it, but still read exports without memories.
const FORMAT_WITH_MEMORIES: u32 = 4;

/// How many things of each kind were exported or imported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Transferred {
    /// Sessions.
    pub sessions: u64,
    /// Turns: those with a row, those in the archive, and those whose originals were deleted.
    pub turns: u64,
    /// Summaries.
    pub summaries: u64,
    /// Anchors.
    pub anchors: u64,
    /// Pieces of evidence for anchors.
    pub derivations: u64,
    /// Transitions between tiers.
    pub transitions: u64,
    /// Turns outside the memory: incomplete ones, whose message waits for its reply, and replaced ones.
    #[serde(default)]
    pub aside: u64,
    /// Counters of use: by turn, profile, tier, rule and form; also those of the chances of rules, and of reached tiers.
    #[serde(default)]
    pub uses: u64,
    /// Memories that are not volatile. This field and the following ones are omitted from the JSON where they are 0.
    #[serde(default, skip_serializing_if = "is_none")]
    pub memories: u64,
    /// Edges between memories.
    #[serde(default, skip_serializing_if = "is_none")]
    pub edges: u64,
    /// Episodes: births and uses of memories, and notes.
    #[serde(default, skip_serializing_if = "is_none")]
    pub episodes: u64,
    /// Sessions from which memories have been extracted.
    #[serde(default, skip_serializing_if = "is_none")]
    pub extracted: u64,
    /// Erased memories, of which only the hashes of their ids are left.
    #[serde(default, skip_serializing_if = "is_none")]
    pub erased: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference to the field")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// The versions of the rules that derived what an import does not compute again: the reasons why turns are kept verbatim,
/// and the statements about anchors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::store) struct DerivedBy {
    pub(in crate::store) critical: u32,
    pub(in crate::store) anchors: u32,
}

impl DerivedBy {
    /// The versions to assume if a line has none, because the first format did not write them.
    pub(in crate::store) const FIRST: Self = Self { critical: 1, anchors: 1 };
}

/// A line of an export. Lines are in the order of these variants, except that `Turn`, `Archived` and `Deleted` lines are
/// mixed, in the order of recording.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub(in crate::store) enum TransferLine {
    /// The first line.
    Memory {
        format: u32,
        /// The versions of the rules that derived the data. `None` means the first versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rules: Option<DerivedBy>,
    },
    Session(SessionInfo),
    /// A turn with a row.
    Turn(Turn),
    /// A turn that is in the archive.
    Archived(Turn),
    /// A turn whose original was deleted, with what its unit still says about it.
    Deleted(DeletedTurn),
    /// An incomplete or a replaced turn.
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
    /// The last line. A file without it is truncated.
    End(Transferred),
}

#[derive(Debug, Serialize, Deserialize)]
pub(in crate::store) struct AsideLine {
    /// The turn that replaced this one. `None` if this turn waits for its reply.
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
    /// The hash of the turn's text: 16 bytes in hexadecimal.
    pub(in crate::store) content_hash: String,
}

/// How often a turn was of use.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::store) struct UseLine {
    pub(in crate::store) turn_id: TurnId,
    pub(in crate::store) hits: u32,
    /// How many of these hits were as the best of what was recalled.
    pub(in crate::store) best: u32,
    pub(in crate::store) last_hit: DateTime<Utc>,
}

/// A use count of an aspect, for example of a tier or a rule.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::store) struct UseCountLine {
    pub(in crate::store) aspect: Aspect,
    pub(in crate::store) name: String,
    pub(in crate::store) hits: u64,
}

/// The columns of an anchor that do not follow from its derivations.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::store) struct AnchorLine {
    pub(in crate::store) id: AnchorId,
    pub(in crate::store) subject: String,
    pub(in crate::store) attribute: Attribute,
    pub(in crate::store) value: String,
    pub(in crate::store) retracted_at: Option<DateTime<Utc>>,
    /// The user's newest turn when the anchor was retracted. `None` if there was no turn yet.
    pub(in crate::store) retracted_after: Option<TurnId>,
    pub(in crate::store) is_retracted_since: bool,
    /// How far who retracted the anchor is trusted.
    #[serde(default = "Trust::users", skip_serializing_if = "Trust::is_users")]
    pub(in crate::store) retracted_trust: Trust,
}

#[derive(Debug, Serialize, Deserialize)]
pub(in crate::store) struct DerivationLine {
    pub(in crate::store) anchor_id: AnchorId,
    /// The turn that makes the statement. `None` if the derivation was set by hand.
    pub(in crate::store) turn_id: Option<TurnId>,
    /// The derivation's own id if it was set by hand. `None` if a turn makes the statement.
    pub(in crate::store) source_id: Option<TurnId>,
    /// The user's newest turn when the derivation was set by hand. `None` if there was none, or if a turn makes the
    /// statement.
    pub(in crate::store) after: Option<TurnId>,
    pub(in crate::store) stance: Stance,
    pub(in crate::store) said_at: DateTime<Utc>,
    pub(in crate::store) made_by: String,
    pub(in crate::store) value: String,
    pub(in crate::store) quote: String,
    #[serde(default = "Trust::users", skip_serializing_if = "Trust::is_users")]
    pub(in crate::store) trust: Trust,
}
