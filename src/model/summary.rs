//! The summary that replaces a turn once its session is compressed.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::model::{
    ids::{AnchorId, SessionId, SummaryId, TurnId},
    word_enum::word_enum,
};

/// The built-in summarizer's name in the file.
pub(crate) const BUILT_IN: &str = "extractive";
/// The built-in summarizer's name in the file if it replaced the configured summarizer.
pub(crate) const FALLBACK: &str = "extractive-fallback";
/// Maximum tokens of a summary's sentence, as in the papers.
pub(crate) const MAX_SUMMARY_TOKENS: u32 = 50;
/// The papers' bounds for the number of topic keywords. A very short turn has fewer.
pub(crate) const FEWEST_KEYWORDS: usize = 3;
pub(crate) const MOST_KEYWORDS: usize = 8;

/// One sentence and topic keywords that replace one turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Summary {
    /// The summary's id.
    pub id: SummaryId,
    /// The id of the summarized turn.
    pub original_turn_id: TurnId,
    /// The turn's session.
    pub session_id: SessionId,
    /// The turn's number in the session, from 1.
    pub turn_number: u32,
    /// One sentence, usually of at most 50 tokens. From a configured summarizer it has at most 400 bytes.
    pub summary_text: String,
    /// The topics of the turn: 3 to 8 words or short phrases; a very short turn may have fewer.
    pub topic_keywords: Vec<String>,
    /// The anchors that the turn is evidence for.
    pub identity_anchor_ids: Vec<AnchorId>,
    /// When the turn was said.
    pub timestamp: DateTime<Utc>,
    /// Who wrote the summary: the configured summarizer's name; `extractive` for the built-in one;
    /// `extractive-fallback` for the built-in one if the configured one failed or gave no usable answer.
    pub summarizer: String,
    /// The lowest [`Origin::reliability`](crate::Origin::reliability) of the turn's sides that have text, from 0 to 1.
    pub reliability: f64,
    /// Tokens of `summary_text`.
    pub summary_tokens: u32,
    /// Whether the original turn is archived or deleted.
    pub original: Original,
    /// The original turn's `total_tokens`.
    pub original_tokens: u32,
}

impl Summary {
    /// Returns whether the built-in summarizer wrote the summary, for any reason.
    pub fn is_built_in(&self) -> bool {
        [BUILT_IN, FALLBACK].contains(&self.summarizer.as_str())
    }

    /// Returns whether the built-in summarizer wrote the summary because the configured one failed or gave no usable
    /// answer.
    pub fn is_fallback(&self) -> bool {
        self.summarizer == FALLBACK
    }
}

word_enum! {
    /// Where a summary's original turn is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum Original {
        /// The original is in the archive: it can be read and restored.
        Archived = "archived",
        /// The original is deleted: [`Originals::Delete`](crate::Originals::Delete).
        Deleted = "deleted",
    }
    pub(crate) fn from_word;
}
