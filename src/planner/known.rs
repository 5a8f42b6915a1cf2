//! A planner whose name cannot change: the model is asked for its name once, when the file is opened.

use std::{
    panic::{self, AssertUnwindSafe},
    sync::Arc,
};

use crate::{
    compress::digest::{ChatModel, ChatPrompt, Completing},
    error::{Error, Result},
};

/// A planner that keeps the first name that its model returned, cut to the trait's limit.
#[derive(Debug)]
pub(crate) struct KnownPlanner {
    name: String,
    model: Arc<dyn ChatModel>,
}

impl KnownPlanner {
    /// Asks the model for its name. Fails if the model panics.
    pub(crate) fn of(model: Arc<dyn ChatModel>) -> Result<Arc<dyn ChatModel>> {
        const MAX_NAME_BYTES: usize = 100;
        let mut name = panic::catch_unwind(AssertUnwindSafe(|| model.name().to_owned()))
            .map_err(|_| Error::provider_refused("the planner panicked when it was asked for its name"))?;
        name.truncate(name.floor_char_boundary(MAX_NAME_BYTES));
        Ok(Arc::new(Self { name, model }))
    }
}

impl ChatModel for KnownPlanner {
    fn name(&self) -> &str {
        &self.name
    }

    fn complete<'a>(&'a self, prompt: &'a ChatPrompt) -> Completing<'a> {
        self.model.complete(prompt)
    }
}
