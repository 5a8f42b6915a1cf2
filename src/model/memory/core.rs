//! The core: what matters most of a user's memories, as a text with a token limit.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Result},
    model::{ids::MemoryId, memory::trust::Trust},
};

/// The default token limit of the text.
const MAX_TOKENS: u32 = 3_000;
/// The default maximum of memories in a section.
const PER_SECTION: u32 = 15;
/// The lowest token limit. The head of the text alone takes about 40 tokens.
const LEAST_TOKENS: u32 = 100;

/// Options for [`Memories::core`](crate::Memories::core).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CoreOptions {
    /// The moment for which the text is written; the text states its date. Default: now, by the system clock.
    pub at: Option<DateTime<Utc>>,
    /// Maximum tokens, by the configured tokenizer: 100 or more. Default: 3,000.
    pub max_tokens: u32,
    /// Maximum memories per section: 1 to 100. Default: 15.
    pub per_section: u32,
    /// Memories trusted less than this are left out. Default and minimum: [`Trust::Assistant`].
    pub min_trust: Trust,
}

impl Default for CoreOptions {
    fn default() -> Self {
        Self { at: None, max_tokens: MAX_TOKENS, per_section: PER_SECTION, min_trust: Trust::Assistant }
    }
}

impl CoreOptions {
    /// Sets the moment for which the text is written.
    #[must_use]
    pub fn at(mut self, at: DateTime<Utc>) -> Self {
        self.at = Some(at);
        self
    }

    /// Sets the maximum tokens, 100 or more.
    #[must_use]
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = tokens;
        self
    }

    /// Sets the maximum memories per section, 1 to 100.
    #[must_use]
    pub fn per_section(mut self, memories: u32) -> Self {
        self.per_section = memories;
        self
    }

    /// Leaves out memories trusted less than this; at least [`Trust::Assistant`].
    #[must_use]
    pub fn min_trust(mut self, trust: Trust) -> Self {
        self.min_trust = trust;
        self
    }

    pub(crate) fn check(&self) -> Result<()> {
        if self.max_tokens < LEAST_TOKENS {
            return Err(Error::invalid(format!("max_tokens must be {LEAST_TOKENS} or more")));
        }
        if !(1..=100).contains(&self.per_section) {
            return Err(Error::invalid("a section has 1 to 100 memories"));
        }
        if self.min_trust < Trust::Assistant {
            return Err(Error::invalid(
                "trust must be 2 or more: the core never holds what a tool or a document says",
            ));
        }
        Ok(())
    }
}

/// What matters most of a user's memories. The same file, moment, options and tokenizer give the same bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Core {
    /// The text, as in `CORE.md`.
    pub text: String,
    /// The exact number of tokens in the text, by the configured tokenizer.
    pub tokens: u32,
    /// The memories in the text, in the order in which the text lists them.
    pub memories: Vec<MemoryId>,
}
