//! A reranker whose name cannot change: the name is read once, when the file is opened.

use std::{
    panic::{self, AssertUnwindSafe},
    sync::Arc,
};

use crate::{
    error::{Error, Result},
    rerank::{Reranker, Reranking},
};

/// A wrapper that keeps the name its reranker returned first, whatever the reranker would return later.
#[derive(Debug)]
pub(crate) struct KnownReranker {
    name: String,
    reranker: Arc<dyn Reranker>,
}

impl KnownReranker {
    /// Reads the name. Fails if the name is outside its limits, or if reading it panics.
    pub(crate) fn of(reranker: Arc<dyn Reranker>) -> Result<Arc<dyn Reranker>> {
        const MAX_NAME_BYTES: usize = 100;
        let name = panic::catch_unwind(AssertUnwindSafe(|| reranker.name().to_owned()))
            .map_err(|_| Error::provider_refused("the reranker panicked when it was asked for its name"))?;
        if name.is_empty() || name.len() > MAX_NAME_BYTES {
            return Err(Error::invalid(format!("a reranker's name has 1 to {MAX_NAME_BYTES} bytes")));
        }
        Ok(Arc::new(Self { name, reranker }))
    }
}

impl Reranker for KnownReranker {
    fn name(&self) -> &str {
        &self.name
    }

    fn rerank<'a>(&'a self, query: &'a str, texts: &'a [String]) -> Reranking<'a> {
        self.reranker.rerank(query, texts)
    }
}
