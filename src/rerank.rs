//! The trait that rerankers implement.

use std::{fmt, future::Future, pin::Pin};

use crate::error::Result;

/// Says how well each of a few texts answers a query, by reading both together: a cross-encoder, or a service.
/// For what [`User::recall`](crate::User::recall) has found: recall itself asks none yet.
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

    /// One score for each of these texts, in their order; the higher, the better it answers. Scores of one call are
    /// compared with each other only, on whatever scale.
    ///
    /// It must not block the thread for long. It fails with [`Error::provider`](crate::Error::provider) for what may
    /// pass, and with [`Error::provider_refused`](crate::Error::provider_refused) for what will not. Its future may be
    /// dropped at any time.
    fn rerank<'a>(&'a self, query: &'a str, texts: &'a [String]) -> Reranking<'a>;
}

/// The future of a [`Reranker`]'s answer.
pub type Reranking<'a> = Pin<Box<dyn Future<Output = Result<Vec<f32>>> + Send + 'a>>;
