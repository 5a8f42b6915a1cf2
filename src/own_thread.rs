//! Runs blocking work, and futures of external code, on a separate thread, so that neither can block the caller's thread.

use std::{future::Future, io, thread, time::Duration};

use tokio::{runtime::Handle, sync::oneshot};

use crate::error::{Error, ErrorKind, Result};

/// Runs `work` on a thread of this name. Needs no runtime, and no runtime waits for the thread when it shuts down.
/// `work` runs to its end even if the future is dropped.
pub(crate) async fn on_own_thread<T: Send + 'static>(
    name: &'static str,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let (reply, answer) = oneshot::channel();
    // The send fails if the caller no longer waits.
    spawn(name, move || drop(reply.send(work()))).map_err(|error| no_thread(name, error))?;
    answer.await.unwrap_or_else(|_| Err(Error::provider(format!("the thread {name} ended"))))
}

/// The result of a call to external code.
#[derive(Debug)]
pub(crate) enum CallOutcome<T> {
    Given(Result<T>),
    /// The call did not answer in time.
    Late,
    Panicked,
}

/// Drives the future that `asking` creates on a thread of this name, for up to `limit`, with the timers and the IO of
/// the caller's runtime. Even if the future never resolves or blocks its thread, the caller continues.
///
/// The future is dropped once the caller no longer waits. If it blocks its thread, it holds that thread until it
/// returns.
pub(crate) async fn ask<T: Send + 'static, F: Future<Output = Result<T>>>(
    name: &'static str,
    limit: Duration,
    asking: impl FnOnce() -> F + Send + 'static,
) -> CallOutcome<T> {
    let runtime = Handle::current();
    let (mut reply, answer) = oneshot::channel();
    let drive = move || {
        let given = runtime.block_on(async {
            tokio::select! {
                biased; // Checked first: if the runtime ends too, its timers panic.
                () = reply.closed() => None,
                given = async { asking().await } => Some(given),
            }
        });
        if let Some(given) = given {
            drop(reply.send(given));
        }
    };
    if let Err(error) = spawn(name, drive) {
        return CallOutcome::Given(Err(no_thread(name, error)));
    }
    match tokio::time::timeout(limit, answer).await {
        Ok(Ok(given)) => CallOutcome::Given(given),
        Ok(Err(_)) => CallOutcome::Panicked,
        Err(_) => CallOutcome::Late,
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(work).map(drop)
}

fn no_thread(name: &str, error: io::Error) -> Error {
    Error::caused(ErrorKind::Provider, format!("no thread for {name}"), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_on_its_own_thread_is_a_failure_here() {
        assert_eq!(on_own_thread("thermocline-test", || Ok(7)).await.unwrap(), 7);
        let error =
            on_own_thread("thermocline-test", || -> Result<()> { panic!("as it should") }).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Provider);
    }

    const LONG: Duration = Duration::from_mins(10);
    const SHORT: Duration = Duration::from_millis(5);

    #[tokio::test]
    async fn who_is_asked_has_the_timers_of_the_callers_runtime() {
        let asking = || async {
            tokio::time::sleep(Duration::from_millis(1)).await;
            tokio::spawn(async { Ok(7) }).await.unwrap()
        };
        assert!(matches!(ask("thermocline-test", LONG, asking).await, CallOutcome::Given(Ok(7))));
    }

    #[tokio::test]
    async fn who_panics_or_blocks_the_thread_is_no_trouble_of_the_caller() {
        let panics = || async { panic!("as it should") };
        assert!(matches!(ask::<(), _>("thermocline-test", LONG, panics).await, CallOutcome::Panicked));
        let (let_go, holds) = std::sync::mpsc::channel::<()>();
        let (ends, has_ended) = oneshot::channel();
        let blocks = move || async move {
            let _ends: oneshot::Sender<()> = ends;
            let _ = holds.recv();
            Ok(())
        };
        assert!(matches!(ask("thermocline-test", SHORT, blocks).await, CallOutcome::Late));
        drop(let_go);
        assert!(has_ended.await.is_err(), "its thread ends when it lets go");
    }

    #[tokio::test]
    async fn a_future_that_nobody_waits_for_any_more_is_dropped() {
        let (held, is_dropped) = oneshot::channel::<()>();
        let never = move || async move {
            let _held = held;
            std::future::pending::<Result<()>>().await
        };
        assert!(matches!(ask("thermocline-test", SHORT, never).await, CallOutcome::Late));
        assert!(is_dropped.await.is_err());
    }
}
