//! Which sorts of things are recalled: turns, memories, or both.

use crate::{
    error::Result,
    model::{
        memory::filter::{MemoryFilter, Of},
        profile::Profile,
    },
};

/// What is recalled, and which memories.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecallOf {
    pub(crate) of: Of,
    /// None: what holds, and what is archived.
    pub(crate) memories: Option<MemoryFilter>,
    /// Whether memories lend to what they stand beside.
    pub(crate) graph: bool,
}

/// What the continuum asks of a memory where nobody says.
const CONTINUUM_CONFIDENCE: f64 = 0.75;

impl RecallOf {
    /// The continuum knows memories alone, of some confidence.
    pub(crate) fn in_profile(mut self, profile: &Profile) -> Self {
        if *profile == Profile::Continuum {
            self.of = Of::Memories;
            let memories = self.memories.get_or_insert_default();
            memories.min_confidence = memories.min_confidence.or(Some(CONTINUUM_CONFIDENCE));
        }
        self
    }

    /// Refuses what cannot be meant.
    pub(crate) fn check(&self) -> Result<()> {
        self.memories.as_ref().map_or(Ok(()), MemoryFilter::check)
    }
}
