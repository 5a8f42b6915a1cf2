//! A memory that LLM#1 proposes.

use crate::model::{
    ids::TurnId,
    memory::words::{MemoryKind, Outcome, Volatility},
};

/// Something that LLM#1 considers worth knowing later.
///
/// It is kept only if every quote is in its turn, and if it says nothing that the quotes do not say.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Proposal {
    /// The kind of memory; not [`MemoryKind::Insight`].
    pub kind: MemoryKind,
    /// The title: one line of at most 200 bytes.
    pub title: String,
    /// The text: one line of at most 2,000 bytes, in the language of its quotes, and not a question.
    pub content: String,
    /// The sentences that prove the memory, each copied verbatim from the turn with this id. From 1 to 8, each of at most
    /// 1,000 bytes.
    pub quotes: Vec<(TurnId, String)>,
    /// The outcome of the task that the memory comes from; `None` if the turns do not say.
    pub outcome: Option<Outcome>,
    /// Tags, in words of the quotes. The first 8 are read; a tag in other words is ignored.
    pub tags: Vec<String>,
    /// What to do, in order, at most 20 steps of at most 500 bytes: required for a [`MemoryKind::Procedure`], and empty for
    /// any other kind.
    pub steps: Vec<String>,
    /// How fast the world outdates the memory. A proposal that holds only for hours or minutes is not kept.
    pub volatility: Option<Volatility>,
    /// The slot of the memory. If another memory has it, a person decides.
    pub slot: Option<String>,
}

impl Proposal {
    /// Creates a proposal with this content, proved by a quote from one turn.
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
