//! Blocking handles that use the caller's runtime and threads.

use std::sync::Arc;

use tokio::runtime::Handle;

use crate::handles::blocking::{Thermocline, waiter::Waiter};

impl Thermocline {
    /// Creates a blocking handle for threads of `runtime` that may block, such as those of
    /// [`spawn_blocking`](tokio::runtime::Handle::spawn_blocking). Reads run on the calling thread, so several
    /// operations in a row cost one hop between threads, not one each.
    ///
    /// ```
    /// # #[tokio::main]
    /// # async fn main() -> thermocline::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a folder");
    /// use thermocline::{Thermocline, blocking};
    /// use tokio::runtime::Handle;
    ///
    /// let memory = Thermocline::open(folder.path().join("memory.db")).await?;
    /// let here = blocking::Thermocline::on(memory.clone(), Handle::current());
    /// let sessions = tokio::task::spawn_blocking(move || here.user("alex")?.info().map(|alex| alex.session_count));
    /// assert_eq!(sessions.await.expect("it does not panic")?, 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn on(memory: crate::Thermocline, runtime: Handle) -> Self {
        Self { inner: memory, runtime: Arc::new(Waiter::Callers(runtime)) }
    }
}
