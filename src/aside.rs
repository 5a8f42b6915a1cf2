//! What blocks runs aside, on a thread of its own, so that the thread of the caller goes on.

use std::thread;

use tokio::sync::oneshot;

use crate::error::{Error, ErrorKind, Result};

/// Runs `work` on a thread of this name, which nobody waits for when a runtime ends. It needs no runtime. `work` goes on
/// to its end even if the future is dropped.
pub(crate) async fn aside<T: Send + 'static>(
    name: &'static str,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let (reply, answer) = oneshot::channel();
    thread::Builder::new()
        .name(name.to_owned())
        // A caller who no longer waits wants no answer.
        .spawn(move || drop(reply.send(work())))
        .map_err(|error| Error::caused(ErrorKind::Provider, format!("no thread for {name}"), error))?;
    answer.await.unwrap_or_else(|_| Err(Error::provider(format!("the thread {name} ended"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_aside_is_a_failure_here() {
        assert_eq!(aside("thermocline-test", || Ok(7)).await.unwrap(), 7);
        let error = aside("thermocline-test", || -> Result<()> { panic!("as it should") }).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Provider);
    }
}
