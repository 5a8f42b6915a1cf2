//! Messages as chat APIs take them.

use serde::{Deserialize, Serialize};

/// One message of a conversation, as chat-completions APIs take it: `{"role":"user","content":"Hi"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ChatMessage {
    /// Whose voice it has.
    pub role: ChatRole,
    /// What it says.
    pub content: String,
}

/// Whose voice a message has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ChatRole {
    /// The backend: instructions, and what is remembered.
    System,
    /// The user.
    User,
    /// LLM#2.
    Assistant,
}

impl ChatMessage {
    /// What a message costs besides its content, in tokens, as budgets count it: 5.
    ///
    /// With `OpenAI`'s models it is 4, 3 around each message and 1 for its role (`OpenAI` Cookbook, "How to count tokens
    /// with tiktoken"); the templates of `ChatML`, Llama 3 and Gemma have 5. What a reply begins with, 3 tokens with
    /// `OpenAI`, is once in a request and not counted.
    pub const FRAME_TOKENS: u32 = 5;

    /// A message of the caller's own, to stand before or behind those of a context.
    pub fn new(role: ChatRole, content: impl Into<String>) -> Self {
        Self { role, content: content.into() }
    }
}
