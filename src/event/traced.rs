//! Events and spans for subscribers of `tracing`.

use std::future::Future;

use tracing::{Instrument, debug, debug_span, error, field::display, info, warn};

use crate::{
    error::Result,
    event::kinds::{Event, JobRef},
    model::ids::{SessionId, UserId},
};

/// Makes a span with the arguments of an event macro, so that `of_job` can create both.
macro_rules! job_span {
    (target: $target:literal, $($fields:tt)*) => { debug_span!(target: $target, "job", $($fields)*) };
}

macro_rules! of_job {
    ($level:ident, $job:ident, $($more:tt)*) => {
        $level!(
            target: "thermocline",
            job = $job.job_no,
            kind = $job.kind.as_str(),
            user = $job.user_id.map(display),
            session = $job.session_id.map(display),
            attempt = $job.attempt,
            $($more)*
        )
    };
}

/// Logs the event, at a level that depends on how much it matters to an operator.
pub(super) fn event(event: &Event) {
    match event {
        Event::JobStarted { job } => of_job!(debug, job, "job started"),
        Event::JobDone { job, turns } => of_job!(info, job, turns, "job done"),
        Event::JobFellBack { job, summaries } => of_job!(warn, job, summaries, "job fell back"),
        Event::JobWaiting { job, until, why } => of_job!(warn, job, %until, ?why, "job waits"),
        Event::JobFailed { job, why } => of_job!(error, job, ?why, "job given up"),
        Event::ProviderFailed { provider, name, why } => {
            warn!(target: "thermocline", provider = provider.as_str(), name, ?why, "provider failed");
        }
        Event::WriterReopened { why } => warn!(target: "thermocline", ?why, "writer reopened"),
        Event::ScrubPending => warn!(target: "thermocline", "scrub pending"),
        Event::LogGrows { log_bytes } => warn!(target: "thermocline", log_bytes, "log grows"),
    }
}

/// Runs the operation in a span with these ids, and with those that `found` reads from its result. Of a failure, it logs
/// only the kind of the error.
pub(super) async fn operation<T>(
    operation: &'static str,
    user: Option<UserId>,
    session: Option<SessionId>,
    work: impl Future<Output = Result<T>>,
    found: impl FnOnce(&T) -> Option<(UserId, Option<SessionId>)>,
) -> Result<T> {
    let (user, session) = (user.map(display), session.map(display));
    let span = debug_span!(target: "thermocline", "operation", operation, user, session);
    let told = async {
        work.await.inspect_err(|error| debug!(target: "thermocline", why = ?error.kind(), "failed"))
    };
    let done = told.instrument(span.clone()).await?;
    if let Some((user, session)) = found(&done) {
        span.record("user", display(user)).record("session", session.map(display));
    }
    Ok(done)
}

pub(super) async fn job<T>(job: &JobRef, work: impl Future<Output = T>) -> T {
    work.instrument(of_job!(job_span, job,)).await
}
