//! The summary that stands for a turn once its session is compressed.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::model::{
    ids::{AnchorId, SessionId, SummaryId, TurnId},
    word_enum::word_enum,
};

/// The built-in summarizer's name in the file.
pub(crate) const BUILT_IN: &str = "extractive";
/// Its name if it stood in for the configured summarizer.
pub(crate) const FALLBACK: &str = "extractive-fallback";
/// Maximum tokens of a summary's sentence, as in the papers.
pub(crate) const MAX_SUMMARY_TOKENS: u32 = 50;
/// The papers' bounds for topic keywords. A very short turn has fewer.
pub(crate) const FEWEST_KEYWORDS: usize = 3;
pub(crate) const MOST_KEYWORDS: usize = 8;

/// One sentence and topic keywords that stand for one turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Summary {
    /// Its id.
    pub id: SummaryId,
    /// The turn it stands for.
    pub original_turn_id: TurnId,
    /// The turn's session.
    pub session_id: SessionId,
    /// The turn's number in the session, from 1.
    pub turn_number: u32,
    /// One sentence, about 50 tokens.
    pub summary_text: String,
    /// The topics of the turn, 3 to 8 words or short phrases.
    pub topic_keywords: Vec<String>,
    /// The anchors that the turn is evidence for.
    pub identity_anchor_ids: Vec<AnchorId>,
    /// When the turn was said.
    pub timestamp: DateTime<Utc>,
    /// Who wrote it: the configured summarizer's name; `extractive` for the built-in one; or `extractive-fallback` for the
    /// built-in one standing in for the configured one.
    pub summarizer: String,
    /// The lowest [`Origin::reliability`](crate::Origin::reliability) of the turn's sides, from 0 to 1.
    pub reliability: f64,
    /// Tokens of `summary_text`.
    pub summary_tokens: u32,
    /// Where the turn is now.
    pub original: Original,
    /// The turn's `total_tokens`.
    pub original_tokens: u32,
}

impl Summary {
    /// Whether the built-in summarizer wrote it, for any reason.
    pub fn is_built_in(&self) -> bool {
        [BUILT_IN, FALLBACK].contains(&self.summarizer.as_str())
    }

    /// Whether the built-in summarizer wrote it because the configured one failed or gave no usable answer.
    pub fn is_fallback(&self) -> bool {
        self.summarizer == FALLBACK
    }
}

word_enum! {
    /// Where the original of a summary is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum Original {
        /// In the archive: it can be read and restored.
        Archived = "archived",
        /// Deleted: [`Originals::Delete`](crate::Originals::Delete).
        Deleted = "deleted",
    }
    pub(crate) fn from_word;
}
