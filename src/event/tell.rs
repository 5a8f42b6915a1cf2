//! Emits events, and runs operations in spans.

use std::{
    fmt,
    future::Future,
    panic::{self, AssertUnwindSafe},
    sync::Arc,
};

#[cfg(feature = "tracing")]
use crate::event::traced;
use crate::{
    error::Result,
    event::kinds::{Event, JobRef},
    model::ids::{SessionId, UserId},
};

/// The receiver of [`Event`]s, in addition to the subscribers of `tracing` (feature `tracing`). Default: no receiver.
///
/// The hook runs on the thread that does the work. If that is the writer's thread, all records wait for the hook. It
/// must return within microseconds, and never call into the memory; send longer work through a channel. A panic in the
/// hook is caught and changes nothing.
///
/// ```
/// let (sender, events) = std::sync::mpsc::channel();
/// let mut config = thermocline::Config::default();
/// config.on_event = thermocline::OnEvent::new(move |event| drop(sender.send(event.clone())));
/// ```
#[derive(Clone, Default)]
pub struct OnEvent(Option<Arc<Hook>>);

type Hook = dyn Fn(&Event) + Send + Sync;

impl OnEvent {
    /// Creates a hook that is called with each event.
    pub fn new(hear: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(hear)))
    }

    /// Emits an event to every receiver. No other code does.
    pub(crate) fn emit(&self, event: &Event) {
        // A panicking hook or subscriber must not take the writer or a job with it.
        let _ = panic::catch_unwind(AssertUnwindSafe(|| {
            #[cfg(feature = "tracing")]
            traced::event(event);
            if let Some(hear) = &self.0 {
                hear(event);
            }
        }));
    }
}

impl fmt::Debug for OnEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OnEvent").field(&self.0.is_some()).finish()
    }
}

/// Runs an operation on a user's data in a span with these ids. Without the feature `tracing` it only runs the
/// operation.
#[cfg_attr(not(feature = "tracing"), expect(unused_variables, reason = "nobody is told without the feature"))]
pub(crate) async fn in_span<T>(
    operation: &'static str,
    (user, session): (UserId, Option<SessionId>),
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    #[cfg(feature = "tracing")]
    let work = traced::operation(operation, Some(user), session, work, |_| None);
    work.await
}

/// Like [`in_span`], for an operation that learns the ids: `found` reads them from its result.
#[cfg_attr(not(feature = "tracing"), expect(unused_variables, reason = "nobody is told without the feature"))]
pub(crate) async fn in_span_found<T>(
    operation: &'static str,
    user: Option<UserId>,
    work: impl Future<Output = Result<T>>,
    found: impl FnOnce(&T) -> (UserId, Option<SessionId>),
) -> Result<T> {
    #[cfg(feature = "tracing")]
    let work = traced::operation(operation, user, None, work, |done| Some(found(done)));
    work.await
}

/// Runs an attempt at a job in a span, as [`in_span`] does for an operation.
#[cfg_attr(not(feature = "tracing"), expect(unused_variables, reason = "nobody is told without the feature"))]
pub(crate) async fn in_job_span<T>(job: &JobRef, work: impl Future<Output = T>) -> T {
    #[cfg(feature = "tracing")]
    let work = traced::job(job, work);
    work.await
}
