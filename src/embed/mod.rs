//! Turns text into vectors: the trait for embedders, the embedder that ships with the crate and the one for endpoints, the
//! pieces of turns that are embedded, and how vectors are stored and compared. Nothing here reads the database or a clock.

mod built_in;
pub(crate) mod known;
pub(crate) mod lexicon;
pub(crate) mod matrix;
pub(crate) mod pieces;
#[cfg(any(feature = "llm", feature = "local"))]
pub(crate) mod prefixes;
#[cfg(feature = "llm")]
mod provider;
pub(crate) mod quantize;
pub(crate) mod wordpiece;

pub use built_in::BuiltIn;
#[cfg(feature = "llm")]
pub use provider::OpenAiEmbedder;

use std::{
    fmt,
    future::{Future, poll_fn},
    panic::{self, AssertUnwindSafe},
    pin::Pin,
    task::Poll,
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The maximum length of a vector. The sum of the products of two such vectors fits into 32 bits, and no known model comes
/// near.
pub(crate) const MAX_DIMS: u32 = 16_384;

/// How long a query waits by default for an embedder before the next one is asked: a user waits for the query.
pub(crate) const QUERY_TIMEOUT: Duration = Duration::from_secs(2);
/// How long a job waits for an embedder by default. The slowest working ones take a fraction of it: a local model on a slow
/// CPU needs 3 s for 64 texts (48 ms each), and one that has to be loaded first up to 60 s.
pub(crate) const JOB_TIMEOUT: Duration = Duration::from_mins(2);
/// How long one request to a provider may take by default: a local model may have to be loaded first. A query does not wait
/// that long; turns embedded in the background do.
#[cfg(feature = "llm")]
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_mins(1);

/// Turns texts into vectors, so that texts with the same meaning point in the same direction.
///
/// Vectors are compared by their angle, so their lengths do not matter. An embedder that fails delays no record: vectors
/// are added later. A query waits for it only as long as
/// [`Config::query_embed_timeout`](crate::Config::query_embed_timeout) allows, and then continues without it.
///
/// ```
/// use thermocline::{Embedder, Embedding, EmbeddingPurpose, EmbeddingSpace};
///
/// /// Bridges to whatever client the backend already has.
/// #[derive(Debug)]
/// struct OwnClient;
///
/// impl Embedder for OwnClient {
///     fn space(&self) -> EmbeddingSpace {
///         EmbeddingSpace::new("own-model", "1", 2)
///     }
///
///     fn embed<'a>(&'a self, texts: &'a [String], _: EmbeddingPurpose) -> Embedding<'a> {
///         Box::pin(async move { Ok(texts.iter().map(|text| own_model(text)).collect()) })
///     }
/// }
/// # fn own_model(_: &str) -> Vec<f32> { vec![0.6, 0.8] }
/// ```
pub trait Embedder: Send + Sync + fmt::Debug {
    /// Returns the space of the embedder's vectors. Vectors of different spaces are never compared: in a new space, all
    /// texts are embedded again in the background. Called once, when the file is opened.
    fn space(&self) -> EmbeddingSpace;

    /// Embeds texts: one vector of `dims` finite numbers for each, in their order. A vector of zeros means that the model
    /// knows nothing in the text; it matches nothing. A text has at most about 1,300 bytes, except a query, which is what a
    /// user wrote. Models trained on questions and passages need a prefix for each `purpose`; others give the same vectors
    /// for both.
    ///
    /// The future must not block the thread for long: a query polls it on the caller's thread. Jobs poll it on a thread that
    /// is theirs alone, for up to [`Config::embed_timeout`](crate::Config::embed_timeout). It may be dropped at any time.
    ///
    /// Errors: [`Error::provider`](crate::Error::provider) for temporary failures,
    /// [`Error::provider_refused`](crate::Error::provider_refused) for texts that the embedder will never accept, and
    /// [`Error::provider_misconfigured`](crate::Error::provider_misconfigured) if it accepts no text.
    fn embed<'a>(&'a self, texts: &'a [String], purpose: EmbeddingPurpose) -> Embedding<'a>;
}

/// The future of an [`Embedder`]'s answer.
pub type Embedding<'a> = Pin<Box<dyn Future<Output = Result<Vec<Vec<f32>>>> + Send + 'a>>;

/// What texts are embedded for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EmbeddingPurpose {
    /// To search: the parts of a message or of a query.
    Query,
    /// To be found: parts of turns and of memories, and summaries.
    Document,
}

/// Identifies a space of vectors: only vectors of equal spaces are compared.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct EmbeddingSpace {
    /// The model's name, such as `all-minilm-l6-v2`. At most 100 bytes.
    pub model: String,
    /// The version of that model, or a hash of its weights. At most 100 bytes, may be empty.
    pub revision: String,
    /// The length of a vector, from 1 to 16,384.
    pub dims: u32,
}

impl EmbeddingSpace {
    /// Names the space of a model's vectors. The limits of the fields are not checked here, but when the space is used.
    pub fn new(model: impl Into<String>, revision: impl Into<String>, dims: u32) -> Self {
        Self { model: model.into(), revision: revision.into(), dims }
    }

    /// Checks the limits. Errors: a name that is empty or too long, or a length out of range.
    pub(crate) fn check(&self) -> Result<()> {
        const MAX_NAME_BYTES: usize = 100;
        if self.model.is_empty() || self.model.len() > MAX_NAME_BYTES || self.revision.len() > MAX_NAME_BYTES
        {
            return Err(Error::invalid(format!(
                "an embedder's model must have 1 to {MAX_NAME_BYTES} bytes, and its revision at most \
                 {MAX_NAME_BYTES}"
            )));
        }
        if !(1..=MAX_DIMS).contains(&self.dims) {
            return Err(Error::invalid(format!(
                "an embedder has {} dims; it must have 1 to {MAX_DIMS}",
                self.dims
            )));
        }
        Ok(())
    }
}

/// Asks an embedder for one vector per text on the caller's task, and checks their length. Fails if the answer takes longer
/// than `limit`, or if the embedder panics.
pub(crate) async fn ask(
    embedder: &dyn Embedder,
    texts: &[String],
    purpose: EmbeddingPurpose,
    limit: Duration,
) -> Result<Vec<Vec<f32>>> {
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    let mut asked = None;
    let answer = poll_fn(|cx| {
        let ask = || asked.get_or_insert_with(|| embedder.embed(texts, purpose)).as_mut().poll(cx);
        let panicked = |_| Poll::Ready(Err(Error::provider("it panicked")));
        panic::catch_unwind(AssertUnwindSafe(ask)).unwrap_or_else(panicked)
    });
    let answer = tokio::time::timeout(limit, answer).await;
    let late = |_| Error::provider(format!("it gave no answer within {} ms", limit.as_millis()));
    checked(answer.map_err(late)??, &embedder.space(), texts.len())
}

/// Checks that an answer has one vector of this space for each of this many texts, all of finite numbers.
pub(crate) fn checked(vectors: Vec<Vec<f32>>, space: &EmbeddingSpace, texts: usize) -> Result<Vec<Vec<f32>>> {
    let dims = space.dims as usize;
    if vectors.len() != texts || vectors.iter().any(|vector| vector.len() != dims) {
        return Err(Error::provider("it did not give one vector of its own size for each text"));
    }
    if vectors.iter().flatten().any(|number| !number.is_finite()) {
        return Err(Error::provider_refused("it gave values that are not numbers"));
    }
    Ok(vectors)
}
