//! Reading a query and a text together: the trait for rerankers, and the implementation for `/rerank` over HTTP.

#[cfg(feature = "llm")]
mod http;
pub(crate) mod known;

#[cfg(feature = "llm")]
pub use http::HttpReranker;

use std::{fmt, future::Future, pin::Pin, time::Duration};

use crate::error::Result;

/// How long a recall waits for a reranker by default: somebody waits for the answer.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(1);
/// How many of the best candidates a reranker reads by default. In a perfect order, the first 50 would give a recall@10 of
/// 89 % on LoCoMo; in recall's own order it is 78 %.
pub(crate) const CANDIDATES: usize = 50;

/// Scores how well each of a few texts answers a query, by reading both together: a cross-encoder, or a service.
/// [`Config::reranker`](crate::Config::reranker) orders the best candidates of a recall or a context.
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
    /// The model's name, as receipts show it. At most 100 bytes.
    fn name(&self) -> &str;

    /// One score for each of these texts, in their order; higher means a better answer. Scores are only compared within one
    /// call, so any scale will do. The query has at most 1,000 bytes. A text is a turn as contexts show it or, for a longer
    /// turn, the part that matched best: about 1,300 bytes at most.
    ///
    /// It is driven on a thread of its own, for up to [`Config::rerank_timeout`](crate::Config::rerank_timeout). The future
    /// may be dropped at any time.
    ///
    /// Errors: [`Error::provider`](crate::Error::provider) for temporary failures,
    /// [`Error::provider_refused`](crate::Error::provider_refused) for these texts alone, and
    /// [`Error::provider_misconfigured`](crate::Error::provider_misconfigured) if it accepts no texts.
    fn rerank<'a>(&'a self, query: &'a str, texts: &'a [String]) -> Reranking<'a>;
}

/// The future of a [`Reranker`]'s answer.
pub type Reranking<'a> = Pin<Box<dyn Future<Output = Result<Vec<f32>>> + Send + 'a>>;
