//! What matters most of a user's memories, as a text of a bounded number of tokens.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Result},
    model::{ids::MemoryId, memory::trust::Trust},
};

/// Tokens that a text has at most, by default.
const MAX_TOKENS: u32 = 3_000;
/// Memories that a section has at most, by default.
const PER_SECTION: u32 = 15;
/// The head alone takes some 40.
const LEAST_TOKENS: u32 = 100;

/// What comes into a text of what matters most.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CoreOptions {
    /// The moment for which it is written, and whose day it names. Default: now, by the system clock.
    pub at: Option<DateTime<Utc>>,
    /// Tokens at most, by the configured tokenizer: 100 or more. Default: 3,000.
    pub max_tokens: u32,
    /// Memories of a section at most: 1 to 100. Default: 15.
    pub per_section: u32,
    /// What is trusted less is left out. Default, and the least: [`Trust::Assistant`].
    pub min_trust: Trust,
}

impl Default for CoreOptions {
    fn default() -> Self {
        Self { at: None, max_tokens: MAX_TOKENS, per_section: PER_SECTION, min_trust: Trust::Assistant }
    }
}

impl CoreOptions {
    /// For this moment.
    #[must_use]
    pub fn at(mut self, at: DateTime<Utc>) -> Self {
        self.at = Some(at);
        self
    }

    /// Of so many tokens at most.
    #[must_use]
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = tokens;
        self
    }

    /// Of so many memories a section at most.
    #[must_use]
    pub fn per_section(mut self, memories: u32) -> Self {
        self.per_section = memories;
        self
    }

    /// Of what is trusted so far at least.
    #[must_use]
    pub fn min_trust(mut self, trust: Trust) -> Self {
        self.min_trust = trust;
        self
    }

    pub(crate) fn check(&self) -> Result<()> {
        if self.max_tokens < LEAST_TOKENS {
            return Err(Error::invalid(format!("max_tokens is {LEAST_TOKENS} or more")));
        }
        if !(1..=100).contains(&self.per_section) {
            return Err(Error::invalid("a section has 1 to 100 memories"));
        }
        if self.min_trust < Trust::Assistant {
            return Err(Error::invalid("what a tool or a document says is never in it: trust is 2 or more"));
        }
        Ok(())
    }
}

/// What matters most of a user's memories. The same file, moment and options give the same bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Core {
    /// The text, as `CORE.md` has it.
    pub text: String,
    /// Its tokens, exactly, by the configured tokenizer.
    pub tokens: u32,
    /// The memories in it, in the order of the text.
    pub memories: Vec<MemoryId>,
}
