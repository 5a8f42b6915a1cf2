//! The public handles: `Thermocline` -> `User` -> `Session`.
//!
//! A user is a scope: what a user's memory contains is returned only by methods of `User`, `Session`, `Memories` and
//! `Vault`, and by `Thermocline::save_memory`, which returns the memory that it saved or found.

mod answering;
pub mod blocking;
#[cfg(feature = "files")]
mod foreign;
mod memories;
mod open;
mod owner;
mod recording;
mod saving;
mod sensors;
mod session;
mod thermocline;
mod user;
#[cfg(feature = "files")]
mod vault;

#[cfg(feature = "files")]
pub use self::vault::Vault;
pub use self::{memories::Memories, session::Session, thermocline::Thermocline, user::User};

use std::cell::Cell;

use tokio::task::{JoinHandle, spawn_blocking};

use crate::error::Result;

thread_local! {
    /// Whether reads may run on this thread, because it waits for the operation and may block.
    static MAY_BLOCK: Cell<bool> = const { Cell::new(false) };
}

/// Runs `read` where blocking is allowed: on this thread if it may block, otherwise on another one. An operation hops
/// to another thread a few times at most, never once per statement.
async fn off_thread<T: Send + 'static>(read: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    if MAY_BLOCK.get() { read() } else { answered(spawn_blocking(read)).await }
}

/// Runs `read` on another thread, so that the caller can stop waiting for it.
async fn hop<T: Send + 'static>(read: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    answered(spawn_blocking(read)).await
}

async fn answered<T>(reading: JoinHandle<Result<T>>) -> Result<T> {
    match reading.await {
        Ok(answer) => answer,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(crate::Error::new(crate::ErrorKind::Closed, "the runtime is shutting down")),
        },
    }
}

/// Runs async work that also blocks on a thread where blocking is allowed, with the timers of the caller's runtime.
async fn drive<T: Send + 'static, F: Future<Output = Result<T>>>(
    work: impl FnOnce() -> F + Send + 'static,
) -> Result<T> {
    let runtime = tokio::runtime::Handle::current();
    hop(move || runtime.block_on(work())).await
}
