//! How blocking handles wait for the async ones.

use std::pin::{Pin, pin};

use tokio::runtime::{Builder, Handle, Runtime};

use crate::{Error, ErrorKind, Result, handles::MAY_BLOCK};

/// What a blocking handle uses to wait for an async operation.
#[derive(Debug)]
pub(super) enum Waiter {
    /// A separate runtime, whose threads do the reading. It is shut down in the background when it is dropped, because
    /// dropping a runtime otherwise waits for its threads, and panics in async code, where waiting is not allowed.
    Own(Option<Runtime>),
    /// The caller's runtime and thread; the thread does the reading.
    Callers(Handle),
}

impl Waiter {
    pub(super) fn new() -> Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| {
            Error::caused(ErrorKind::Io, "the waiting threads could not be started", error)
        })?;
        Ok(Self::Own(Some(runtime)))
    }

    pub(super) fn block_on<F: Future>(&self, answer: F) -> F::Output {
        let mut given = None;
        self.finish(pin!(async { given = Some(answer.await) }));
        given.expect("it was waited for")
    }

    /// Waits for `work`. It takes a trait object, because a copy of this function for each operation would add a
    /// megabyte.
    fn finish(&self, work: Pin<&mut dyn Future<Output = ()>>) {
        match self {
            Self::Own(runtime) => runtime.as_ref().expect("it is taken when it is dropped").block_on(work),
            Self::Callers(runtime) => {
                let _here = Here::new();
                runtime.block_on(work);
            }
        }
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        if let Self::Own(runtime) = self
            && let Some(runtime) = runtime.take()
        {
            runtime.shutdown_background();
        }
    }
}

/// Makes the current thread do the reading until it is dropped.
struct Here {
    /// Whether the thread already did the reading.
    before: bool,
}

impl Here {
    fn new() -> Self {
        Self { before: MAY_BLOCK.replace(true) }
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        MAY_BLOCK.set(self.before);
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::handles::off_thread;

    async fn reader() -> thread::ThreadId {
        off_thread(|| Ok(thread::current().id())).await.unwrap()
    }

    #[tokio::test]
    async fn a_thread_that_may_block_reads_and_no_other_does() {
        let waiter = Waiter::Callers(Handle::current());
        let blocking = tokio::task::spawn_blocking(move || {
            let of_another_task = Handle::current().spawn(reader());
            let read = waiter.block_on(async { (reader().await, of_another_task.await.unwrap()) });
            let here = thread::current().id();
            assert_eq!(read.0, here);
            assert_ne!(read.1, here);
            assert!(!MAY_BLOCK.get(), "once nothing is waited for");
        });
        blocking.await.unwrap();
        assert_ne!(reader().await, thread::current().id());
    }
}
