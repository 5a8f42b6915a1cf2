//! Text as vectors: the trait that embedders implement, the embedder that ships with the crate, and how vectors are
//! kept and compared. Nothing here reads the database or a clock.

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

/// Most numbers in a vector. Products of two such vectors add up in 32 bits, and no known model comes near.
pub(crate) const MAX_DIMS: u32 = 16_384;

/// How long a query waits for an embedder before the next one is asked, by default: somebody waits for it.
pub(crate) const QUERY_TIMEOUT: Duration = Duration::from_secs(2);
/// How long a job waits for an embedder by default. The slowest that work take a fraction of it: a local model on a slow
/// CPU needs 3 s for 64 texts (48 ms each), and one that has to be loaded first up to 60 s.
pub(crate) const JOB_TIMEOUT: Duration = Duration::from_mins(2);
/// How long one request to a provider may take, by default: a local model may have to be loaded first. A query does not
/// wait for it to the end, turns that are embedded in the background do.
#[cfg(feature = "llm")]
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_mins(1);

/// Turns texts into vectors, so that what means the same lies in the same direction.
///
/// Vectors are compared by their angle, so their lengths do not matter. An embedder that fails delays nothing: turns
/// are recorded without their vectors, which are made up for later, and recall goes on by words.
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
    /// The space that its vectors lie in. Vectors of different spaces are never compared: those of an earlier one are
    /// made anew in the background. It is asked for once, when the file is opened.
    fn space(&self) -> EmbeddingSpace;

    /// One vector of `dims` numbers for each of these texts, in their order. A vector of zeros says that there is
    /// nothing in the text that the model knows; it matches nothing. Texts are at most about 1,300 bytes, but for a
    /// query, which is what a user wrote. Models that were trained on questions and passages want a prefix for each
    /// `purpose`; others give the same vectors for both.
    ///
    /// It must not block the thread for long: a query drives it on the thread of whoever asks. Jobs drive it on a thread of
    /// its own, for up to [`Config::embed_timeout`](crate::Config::embed_timeout). It fails with
    /// [`Error::provider`](crate::Error::provider) for what may pass, with
    /// [`Error::provider_refused`](crate::Error::provider_refused) for texts that it will never take, and with
    /// [`Error::provider_misconfigured`](crate::Error::provider_misconfigured) where it takes none. Its future may be
    /// dropped at any time.
    fn embed<'a>(&'a self, texts: &'a [String], purpose: EmbeddingPurpose) -> Embedding<'a>;
}

/// The future of an [`Embedder`]'s answer.
pub type Embedding<'a> = Pin<Box<dyn Future<Output = Result<Vec<Vec<f32>>>> + Send + 'a>>;

/// What texts are embedded for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EmbeddingPurpose {
    /// To look for what answers it: one text, what a user asks.
    Query,
    /// To be found: parts of turns and their summaries.
    Document,
}

/// Names a space of vectors: only vectors of equal spaces are compared.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct EmbeddingSpace {
    /// The model's name, `all-minilm-l6-v2` say. At most 100 bytes.
    pub model: String,
    /// Which of the models of that name: a version, or a hash of its weights. At most 100 bytes, may be empty.
    pub revision: String,
    /// How many numbers a vector has, from 1 to 16,384.
    pub dims: u32,
}

impl EmbeddingSpace {
    /// The space of a model's vectors. Its limits are checked where it is used.
    pub fn new(model: impl Into<String>, revision: impl Into<String>, dims: u32) -> Self {
        Self { model: model.into(), revision: revision.into(), dims }
    }

    /// Refuses a space outside of its limits.
    pub(crate) fn check(&self) -> Result<()> {
        const MAX_NAME_BYTES: usize = 100;
        if self.model.is_empty() || self.model.len() > MAX_NAME_BYTES || self.revision.len() > MAX_NAME_BYTES
        {
            return Err(Error::invalid(format!(
                "an embedder's model has 1 to {MAX_NAME_BYTES} bytes, its revision up to {MAX_NAME_BYTES}"
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

/// Asks an embedder for a vector of each text, of its own size, on the caller's task; an answer that takes longer than
/// `limit` is none, and a panic is an error.
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

/// Refuses an answer that has not one vector of this space for each of so many texts.
pub(crate) fn checked(vectors: Vec<Vec<f32>>, space: &EmbeddingSpace, texts: usize) -> Result<Vec<Vec<f32>>> {
    let dims = space.dims as usize;
    if vectors.len() != texts || vectors.iter().any(|vector| vector.len() != dims) {
        return Err(Error::provider("it did not give one vector of its own size for each text"));
    }
    if vectors.iter().flatten().any(|number| !number.is_finite()) {
        return Err(Error::provider_refused("it gave numbers that are none"));
    }
    Ok(vectors)
}
