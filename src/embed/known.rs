//! An embedder whose space is asked for only once, when the file is opened.

use std::{
    panic::{self, AssertUnwindSafe},
    sync::Arc,
};

use crate::{
    embed::{Embedder, Embedding, EmbeddingPurpose, EmbeddingSpace},
    error::{Error, Result},
};

/// Wraps an embedder, and always returns the space that it named first.
#[derive(Debug)]
pub(crate) struct KnownEmbedder {
    space: EmbeddingSpace,
    embedder: Arc<dyn Embedder>,
}

impl KnownEmbedder {
    /// Asks the embedder for its space; a panic is an error.
    pub(crate) fn of(embedder: Arc<dyn Embedder>) -> Result<Arc<dyn Embedder>> {
        let space = panic::catch_unwind(AssertUnwindSafe(|| embedder.space()))
            .map_err(|_| Error::provider_refused("an embedder panicked when it was asked for its space"))?;
        Ok(Arc::new(Self { space, embedder }))
    }
}

impl Embedder for KnownEmbedder {
    fn space(&self) -> EmbeddingSpace {
        self.space.clone()
    }

    fn embed<'a>(&'a self, texts: &'a [String], purpose: EmbeddingPurpose) -> Embedding<'a> {
        self.embedder.embed(texts, purpose)
    }
}
