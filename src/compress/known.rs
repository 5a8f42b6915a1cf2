//! A summarizer whose name is read once, when the file is opened.

use std::{
    panic::{self, AssertUnwindSafe},
    sync::Arc,
};

use crate::{
    compress::{Proposing, Summarizer, Summarizing},
    error::{Error, Result},
    model::turn::Turn,
};

/// A summarizer with the first name that it returned, cut to the length that the trait promises.
#[derive(Debug)]
pub(crate) struct KnownSummarizer {
    name: String,
    summarizer: Arc<dyn Summarizer>,
}

impl KnownSummarizer {
    /// Asks the summarizer for its name. A panic is returned as an error.
    pub(crate) fn of(summarizer: Arc<dyn Summarizer>) -> Result<Arc<dyn Summarizer>> {
        const MAX_NAME_BYTES: usize = 100;
        let mut name = panic::catch_unwind(AssertUnwindSafe(|| summarizer.name().to_owned()))
            .map_err(|_| Error::provider_refused("the summarizer panicked when it was asked for its name"))?;
        name.truncate(name.floor_char_boundary(MAX_NAME_BYTES));
        Ok(Arc::new(Self { name, summarizer }))
    }
}

impl Summarizer for KnownSummarizer {
    fn name(&self) -> &str {
        &self.name
    }

    fn summarize<'a>(&'a self, turns: &'a [Turn]) -> Summarizing<'a> {
        self.summarizer.summarize(turns)
    }

    fn propose<'a>(&'a self, turns: &'a [Turn]) -> Proposing<'a> {
        self.summarizer.propose(turns)
    }
}
