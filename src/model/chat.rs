//! Messages in the form that chat APIs take.

use serde::{Deserialize, Serialize};

/// One message of a conversation, in the form of chat-completions APIs: `{"role":"user","content":"Hi"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ChatMessage {
    /// The author of the message.
    pub role: ChatRole,
    /// The text of the message.
    pub content: String,
}

/// The author of a chat message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ChatRole {
    /// The backend: instructions and memory.
    System,
    /// The user.
    User,
    /// LLM#2.
    Assistant,
}

impl ChatMessage {
    /// The tokens that budgets count for a message in addition to its content: 5.
    ///
    /// `OpenAI`'s models need 4: 3 around each message and 1 for its role (`OpenAI` Cookbook, "How to count tokens with
    /// tiktoken"); the templates of `ChatML`, Llama 3 and Gemma need 5. The prefix of a reply, 3 tokens with `OpenAI`,
    /// occurs once per request and is not counted.
    pub const FRAME_TOKENS: u32 = 5;

    /// Creates a message, to put before or after the messages of a context.
    pub fn new(role: ChatRole, content: impl Into<String>) -> Self {
        Self { role, content: content.into() }
    }
}
