//! Rerankers, which read a query and a text together: the trait, and the implementation for `/rerank` over HTTP.

#[cfg(feature = "llm")]
mod http;
pub(crate) mod known;

#[cfg(feature = "llm")]
pub use http::HttpReranker;

use std::{fmt, future::Future, pin::Pin, time::Duration};

use crate::error::Result;

/// The default time limit of a reranker: short, because a person waits for the answer.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(1);
/// The default number of best candidates that a reranker reads. In a perfect order, the first 50 would give a recall@10
/// of 89 % on LoCoMo; in recall's own order it is 78 %.
pub(crate) const CANDIDATES: usize = 50;

/// A model that scores how well each text answers a query, by reading both together: a cross-encoder, or a service.
/// [`Config::reranker`](crate::Config::reranker) orders the best candidates of a recall or a context with it.
///
/// ```
/// use thermocline::{Reranker, Reranking};
///
/// /// Counts the words that a text shares with the query.
/// #[derive(Debug)]
/// struct SharedWords;
///
/// impl Reranker for SharedWords {
///     fn name(&self) -> &str {
///         "shared-words"
///     }
///
///     fn rerank<'a>(&'a self, query: &'a str, texts: &'a [String]) -> Reranking<'a> {
///         let shared = |text: &String| text.split(' ').filter(|word| query.contains(word)).count();
///         Box::pin(async move { Ok(texts.iter().map(|text| shared(text) as f32).collect()) })
///     }
/// }
/// ```
pub trait Reranker: Send + Sync + fmt::Debug {
    /// Returns the model's name, as receipts show it: 1 to 100 bytes. It is read once, when the file is opened.
    fn name(&self) -> &str;

    /// Returns one score for each of these texts, in their order; higher means a better answer. Scores are only
    /// compared within one call, so any scale will do. The query has at most 1,000 bytes. A text is a turn as contexts
    /// show it, the part of a longer turn that matched best, a summary, or the beginning of a memory: about 1,300 bytes
    /// at most.
    ///
    /// The future is driven on a separate thread, for up to [`Config::rerank_timeout`](crate::Config::rerank_timeout).
    /// It may be dropped at any time.
    ///
    /// Errors: [`Error::provider`](crate::Error::provider) for a temporary failure,
    /// [`Error::provider_refused`](crate::Error::provider_refused) if only these texts are refused, and
    /// [`Error::provider_misconfigured`](crate::Error::provider_misconfigured) if the reranker accepts no texts at all.
    fn rerank<'a>(&'a self, query: &'a str, texts: &'a [String]) -> Reranking<'a>;
}

/// The future of a [`Reranker`]'s answer.
pub type Reranking<'a> = Pin<Box<dyn Future<Output = Result<Vec<f32>>> + Send + 'a>>;
