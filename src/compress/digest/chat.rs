//! The seam to chat models: one prompt in, one text out.

use std::{fmt, future::Future, pin::Pin};

use crate::error::Result;

/// A chat model that answers one prompt: all that LLM#1 needs of a provider.
///
/// It fails with [`Error::provider`](crate::Error::provider) for what may pass (network, overload), which is tried
/// again; with [`Error::provider_refused`](crate::Error::provider_refused) for what will not (a filter); and with
/// [`Error::provider_misconfigured`](crate::Error::provider_misconfigured) for what only another configuration mends (a
/// wrong key, an unknown model). Nothing that it answers is believed unseen. Its future may be dropped at any time.
pub trait ChatModel: Send + Sync + fmt::Debug {
    /// The model's name, as summaries will carry it: `gpt-4o-mini`, say. Its first 100 bytes count.
    fn name(&self) -> &str;

    /// The text that the model answers.
    fn complete<'a>(&'a self, prompt: &'a ChatPrompt) -> Completing<'a>;
}

/// The future of a [`ChatModel`]'s answer.
pub type Completing<'a> = Pin<Box<dyn Future<Output = Result<String>> + Send + 'a>>;

/// What a chat model is asked. It holds what users said: it is not for logs, and its `Debug` shows sizes only.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChatPrompt {
    /// The instructions.
    pub system: String,
    /// The one message; to LLM#1: turns, as JSON.
    pub user: String,
    /// The JSON Schema of the answer asked for, for providers that can hold a model to it. Empty: any text will do.
    pub answer_schema: String,
}

impl ChatPrompt {
    /// Instructions and a message that is to be answered with text: what a backend asks its LLM#2.
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
