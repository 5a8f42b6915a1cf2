//! Which kinds of things are recalled: turns, memories, or both.

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
    /// `None`: active and archived memories.
    pub(crate) memories: Option<MemoryFilter>,
    /// Whether memories lend score to their neighbours.
    pub(crate) graph: bool,
}

/// The confidence that the continuum requires of a memory by default.
const CONTINUUM_CONFIDENCE: f64 = 0.75;

impl RecallOf {
    /// The continuum profile recalls only memories, from some confidence up.
    pub(crate) fn in_profile(mut self, profile: &Profile) -> Self {
        if *profile == Profile::Continuum {
            self.of = Of::Memories;
            let memories = self.memories.get_or_insert_default();
            memories.min_confidence = memories.min_confidence.or(Some(CONTINUUM_CONFIDENCE));
        }
        self
    }

    /// Checks the memory filter. Errors: an invalid filter.
    pub(crate) fn check(&self) -> Result<()> {
        self.memories.as_ref().map_or(Ok(()), MemoryFilter::check)
    }
}
