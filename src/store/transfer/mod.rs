//! A user's whole memory as lines of JSON, out of one file and into another.
//!
//! The lines name things by their ids and by order, never by a number of this file, so that what was imported is
//! exported to the same bytes. Words and other indexes are worked out again; jobs and receipts stay behind.

mod check;
pub(crate) mod export;
pub(crate) mod import;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::model::{
    anchor::{Attribute, Stance},
    ids::{AnchorId, SessionId, SnapshotId, TurnId},
    session::SessionInfo,
    summary::Summary,
    tier::Transition,
    turn::Turn,
};

/// Raised when a line changes its meaning.
const FORMAT: u32 = 1;

/// How much was exported or imported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
}

/// One line. They stand in this order, turns in the order of recording.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
enum Line {
    /// The first.
    Memory {
        format: u32,
    },
    Session(SessionInfo),
    /// A turn that is a row.
    Turn(Turn),
    /// A turn that is in the archive.
    Archived(Turn),
    /// A turn whose original was deleted: what its unit knows.
    Deleted(DeletedTurn),
    Summary {
        snapshot_id: Option<SnapshotId>,
        #[serde(flatten)]
        summary: Summary,
    },
    Anchor(AnchorLine),
    Derivation(DerivationLine),
    Transition(Transition),
    /// The last: a file without it was cut short.
    End(Transferred),
}

#[derive(Debug, Serialize, Deserialize)]
struct DeletedTurn {
    id: TurnId,
    session_id: SessionId,
    turn_number: u32,
    caller_id: Option<String>,
    timestamp: DateTime<Utc>,
    /// 16 bytes, in hexadecimal.
    content_hash: String,
}

/// What the derivations do not say of an anchor; the rest is folded from them.
#[derive(Debug, Serialize, Deserialize)]
struct AnchorLine {
    id: AnchorId,
    subject: String,
    attribute: Attribute,
    value: String,
    retracted_at: Option<DateTime<Utc>>,
    /// The user's newest turn at that time; none: before the first.
    retracted_after: Option<TurnId>,
    is_retracted_since: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct DerivationLine {
    anchor_id: AnchorId,
    /// The turn; none: set by hand.
    turn_id: Option<TurnId>,
    /// Of what was set by hand: its own id, and the user's newest turn at that time.
    source_id: Option<TurnId>,
    after: Option<TurnId>,
    stance: Stance,
    said_at: DateTime<Utc>,
    made_by: String,
    value: String,
    quote: String,
}
