//! The interface to chat models: one prompt in, one text out.

use std::{fmt, future::Future, pin::Pin};

use crate::error::Result;

/// A chat model that answers one prompt: all that LLM#1 needs of a provider.
///
/// Errors: [`Error::provider`](crate::Error::provider) for temporary failures (network, overload), which a summarizer
/// retries;
/// [`Error::provider_refused`](crate::Error::provider_refused) for permanent ones (a content filter);
/// [`Error::provider_misconfigured`](crate::Error::provider_misconfigured) for failures that only another configuration
/// fixes (a wrong key, an unknown model). The model's answers are never trusted without verification. The future may be
/// dropped at any time.
pub trait ChatModel: Send + Sync + fmt::Debug {
    /// The model's name as summaries store it, for example `gpt-4o-mini`. Only its first 100 bytes count.
    fn name(&self) -> &str;

    /// Asks the model and returns its text.
    fn complete<'a>(&'a self, prompt: &'a ChatPrompt) -> Completing<'a>;
}

/// The future of a [`ChatModel`]'s answer.
pub type Completing<'a> = Pin<Box<dyn Future<Output = Result<String>> + Send + 'a>>;

/// What a chat model is asked.
///
/// It contains what users said, so do not log it; its `Debug` shows only sizes.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChatPrompt {
    /// The instructions.
    pub system: String,
    /// The user message. For LLM#1: turns or a message, as JSON; after a bad answer also what was wrong with it.
    pub user: String,
    /// The JSON Schema of the expected answer, for providers that can enforce it. Empty if any text will do.
    pub answer_schema: String,
}

impl ChatPrompt {
    /// Creates a prompt for an answer in free text, as a backend asks its LLM#2.
    pub fn text(system: impl Into<String>, user: impl Into<String>) -> Self {
        Self { system: system.into(), user: user.into(), answer_schema: String::new() }
    }
}

impl fmt::Debug for ChatPrompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatPrompt")
            .field("system_bytes", &self.system.len())
            .field("user_bytes", &self.user.len())
            .finish_non_exhaustive()
    }
}
