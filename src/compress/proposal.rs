//! A memory that LLM#1 proposes.

use crate::model::{
    ids::TurnId,
    memory::words::{MemoryKind, Outcome, Volatility},
};

/// Something that LLM#1 holds to be worth knowing later. It is kept only if every quote stands in its turn, and nothing is
/// said that they do not say.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Proposal {
    /// What sort of memory it is; not [`MemoryKind::Insight`].
    pub kind: MemoryKind,
    /// At most 200 bytes, on one line.
    pub title: String,
    /// At most 2,000 bytes, in the language of its turns.
    pub content: String,
    /// The words that prove it, each copied to the letter from the turn with this id. At least one, at most 8.
    pub quotes: Vec<(TurnId, String)>,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// At most 8, of the turns' own words; others are left out.
    pub tags: Vec<String>,
    /// Of a [`MemoryKind::Procedure`], at most 20.
    pub steps: Vec<String>,
    /// How fast the world outdates it. What holds for hours is not kept.
    pub volatility: Option<Volatility>,
    /// The slot that it would hold. One that is taken is not taken over: a person decides.
    pub slot: Option<String>,
}

impl Proposal {
    /// A proposal that says this, proved by the words of one turn.
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
