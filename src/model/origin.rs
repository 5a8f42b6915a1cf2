//! Where a text comes from.

use serde::{Deserialize, Serialize};

use crate::model::word_enum::word_enum;

word_enum! {
    /// Where a text comes from: one side of a turn, a memory or an edge. Text from tools and documents is never trusted
    /// like the user's.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum Origin {
        /// A person.
        User = "user",
        /// LLM#2.
        Assistant = "assistant",
        /// A tool's output.
        Tool = "tool",
        /// A document's text.
        Document = "document",
        /// The backend itself.
        System = "system",
    }
    pub(crate) fn from_word;
}

impl Origin {
    /// Who hands turns over unless the caller says otherwise: the host, which acts for the user.
    pub(super) const fn host() -> Self {
        Self::User
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference to the field")]
    pub(super) fn is_host(&self) -> bool {
        *self == Self::host()
    }

    /// Returns whether the text was pasted, returned or inserted, not said in the conversation.
    pub(crate) fn is_foreign(self) -> bool {
        match self {
            Self::User | Self::Assistant => false,
            Self::Tool | Self::Document | Self::System => true,
        }
    }

    /// Returns how far text of this origin can be trusted, from 0 to 1. What a person says is the source of every fact
    /// about them; a reply is derived from it; pasted text may say anything.
    pub fn reliability(self) -> f64 {
        match self {
            Self::User | Self::System => 1.0,
            Self::Assistant => 0.8,
            Self::Tool => 0.5,
            Self::Document => 0.3,
        }
    }
}
