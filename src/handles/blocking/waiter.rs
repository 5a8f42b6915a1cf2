//! What waits for the answers of async handles.

use tokio::runtime::{Builder, Runtime};

use crate::{Error, ErrorKind, Result};

/// The runtime that waits for the handles' answers. Dropping a runtime waits for its threads, and panics in async
/// code, where none may wait; this one leaves them to end by themselves.
#[derive(Debug)]
pub(super) struct Waiter(Option<Runtime>);

impl Waiter {
    pub(super) fn new() -> Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| {
            Error::caused(ErrorKind::Io, "the threads that wait could not be started", error)
        })?;
        Ok(Self(Some(runtime)))
    }

    pub(super) fn block_on<F: Future>(&self, answer: F) -> F::Output {
        self.0.as_ref().expect("it is taken when it is dropped").block_on(answer)
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
