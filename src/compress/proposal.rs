//! A memory that LLM#1 proposes.

use crate::model::{
    ids::TurnId,
    memory::words::{MemoryKind, Outcome, Volatility},
};

/// Something that LLM#1 considers worth knowing later. It is kept only if every quote is in its turn, and if it says nothing
/// that the quotes do not say.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Proposal {
    /// The kind of memory; not [`MemoryKind::Insight`].
    pub kind: MemoryKind,
    /// At most 200 bytes, on one line.
    pub title: String,
    /// At most 2,000 bytes, in the language of its turns.
    pub content: String,
    /// The words that prove it, each copied verbatim from the turn with this id. At least one, at most 8.
    pub quotes: Vec<(TurnId, String)>,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// At most 8, in words of the turns; others are ignored.
    pub tags: Vec<String>,
    /// For a [`MemoryKind::Procedure`], at most 20.
    pub steps: Vec<String>,
    /// How fast the world outdates it. Anything that holds only for hours is not kept.
    pub volatility: Option<Volatility>,
    /// The slot that it would hold. If the slot is taken, a person decides.
    pub slot: Option<String>,
}

impl Proposal {
    /// A proposal with this content, proved by the words of one turn.
    pub fn new(
        kind: MemoryKind,
        title: impl Into<String>,
        content: impl Into<String>,
        turn_id: TurnId,
        quote: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            title: title.into(),
            content: content.into(),
            quotes: vec![(turn_id, quote.into())],
            outcome: None,
            tags: Vec::new(),
            steps: Vec::new(),
            volatility: None,
            slot: None,
        }
    }
}
