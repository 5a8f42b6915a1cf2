//! Judges and summarizes the turns of an ended session, and verifies what LLM#1 says about them: pure functions, the trait
//! for LLM#1, and the code that asks it, with timeouts. Nothing here reads a file or the time of day.

pub(crate) mod anchors;
pub(crate) mod archive;
pub(crate) mod critical;
pub(crate) mod derived;
pub(crate) mod digest;
mod extractive;
pub(crate) mod fold;
pub(crate) mod known;
pub(crate) mod learned;
pub(crate) mod plan;
mod proposal;
pub(crate) mod sketch;
pub(crate) mod verify;

pub use extractive::Extractive;
pub use proposal::Proposal;

use std::{fmt, future::Future, pin::Pin};

use crate::{
    error::Result,
    model::{anchor::FoundAnchor, ids::TurnId, turn::Turn},
};

/// Judges and summarizes the turns of an ended session: LLM#1's task.
///
/// No answer can cause the loss of a turn: each verdict is verified against its turn before anything moves. A turn without a
/// good verdict is asked about again later, and finally left to the built-in summarizer.
///
/// ```
/// use thermocline::{Summarizer, Summarizing, Turn, Verdict};
///
/// #[derive(Debug)]
/// struct FirstWords;
///
/// impl Summarizer for FirstWords {
///     fn name(&self) -> &str {
///         "first-words"
///     }
///
///     fn summarize<'a>(&'a self, turns: &'a [Turn]) -> Summarizing<'a> {
///         let verdict = |turn: &Turn| {
///             let start: Vec<&str> = turn.said.user_message.split_whitespace().take(8).collect();
///             Verdict::summary(turn.id, format!("The user said: {} ...", start.join(" ")))
///         };
///         Box::pin(async move { Ok(turns.iter().map(verdict).collect()) })
///     }
/// }
/// ```
pub trait Summarizer: Send + Sync + fmt::Debug {
    /// The summarizer's name as stored with its summaries, for example `gpt-4o-mini`. At most 100 bytes; the rest is cut
    /// off. Read once, when the file is opened.
    fn name(&self) -> &str;

    /// Returns one verdict for each of these turns: at most 16, from one session and in its order.
    ///
    /// Jobs run the future on a separate thread, for up to
    /// [`Config::summarizer_timeout`](crate::Config::summarizer_timeout), and may drop it at any time. A future that blocks
    /// for longer keeps that thread until it returns.
    ///
    /// Errors: [`Error::provider`](crate::Error::provider) for temporary failures;
    /// [`Error::provider_refused`](crate::Error::provider_refused) for turns that the summarizer will never accept;
    /// [`Error::provider_misconfigured`](crate::Error::provider_misconfigured) if it accepts no turns at all until its
    /// configuration changes: the job then waits.
    fn summarize<'a>(&'a self, turns: &'a [Turn]) -> Summarizing<'a>;

    /// Proposes memories: what these turns teach that is worth knowing later.
    ///
    /// Called only with [`Extract::Llm`](crate::Extract::Llm), once for at most 16 turns of an ended session at a time. Each
    /// proposal must quote these turns. A proposal that its quotes do not prove is dropped, and not asked for again. The
    /// default implementation proposes nothing.
    fn propose<'a>(&'a self, turns: &'a [Turn]) -> Proposing<'a> {
        let _ = turns;
        Box::pin(async { Ok(Vec::new()) })
    }
}

/// The future of a [`Summarizer`]'s answer.
pub type Summarizing<'a> = Pin<Box<dyn Future<Output = Result<Vec<Verdict>>> + Send + 'a>>;

/// The future of a [`Summarizer`]'s proposals.
pub type Proposing<'a> = Pin<Box<dyn Future<Output = Result<Vec<Proposal>>> + Send + 'a>>;

/// A summarizer's verdict on one turn.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    /// The turn that the verdict is about.
    pub turn_id: TurnId,
    /// Whether to keep the turn verbatim. `false` overrules neither a rule nor a mark by the caller. `true` loses its effect
    /// for a user once the turns that it alone keeps were considered for contexts 200 times and never shown.
    pub is_critical: bool,
    /// The summary: one sentence, ideally of at most 50 tokens. More than 400 bytes are refused.
    pub summary_text: String,
    /// What the turn is about, 3 to 8 words or short phrases.
    pub topic_keywords: Vec<String>,
    /// Identity facts that the turn states.
    pub anchors: Vec<FoundAnchor>,
}

impl Verdict {
    /// Creates a verdict with only this sentence. The built-in summarizer then finds the keywords.
    pub fn summary(turn_id: TurnId, summary_text: impl Into<String>) -> Self {
        Self {
            turn_id,
            is_critical: false,
            summary_text: summary_text.into(),
            topic_keywords: Vec::new(),
            anchors: Vec::new(),
        }
    }

    /// Marks the turn as one to keep verbatim; see [`is_critical`](Self::is_critical).
    #[must_use]
    pub fn critical(mut self) -> Self {
        self.is_critical = true;
        self
    }

    /// Sets what the turn is about.
    #[must_use]
    pub fn topic_keywords<W: Into<String>>(mut self, keywords: impl IntoIterator<Item = W>) -> Self {
        self.topic_keywords = keywords.into_iter().map(Into::into).collect();
        self
    }

    /// Adds an identity fact that the turn states.
    #[must_use]
    pub fn anchor(mut self, anchor: FoundAnchor) -> Self {
        self.anchors.push(anchor);
        self
    }
}
