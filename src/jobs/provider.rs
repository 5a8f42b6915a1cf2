//! Asks LLM#1 or an embedder on behalf of a job: on its own thread, for a bounded time, and not during its cooldown.

use std::{future::Future, sync::Arc, time::Duration};

use crate::{
    clock::Clock,
    compress::Summarizer,
    cooldown::Cooldown,
    error::{Error, ErrorKind, Result},
    event::{Event, OnEvent, ProviderRole},
    jobs::job::Job,
    own_thread::{self, CallOutcome},
    store::{Store, slice_error::SliceResult},
};

/// How a provider is asked.
pub(super) struct Provider<'a> {
    /// The name used in messages.
    pub(super) who: &'static str,
    /// The role used in events.
    pub(super) role: ProviderRole,
    pub(super) name: String,
    pub(super) on_event: &'a OnEvent,
    /// The time limit for an answer.
    pub(super) limit: Duration,
    pub(super) cooldown: &'a Cooldown,
    pub(super) clock: &'a dyn Clock,
}

impl<'a> Provider<'a> {
    /// LLM#1 as a provider.
    fn summarizer(store: &'a Store, summarizer: &dyn Summarizer) -> Self {
        let config = store.config();
        Self {
            who: "the summarizer",
            role: ProviderRole::Summarizer,
            name: summarizer.name().to_owned(),
            on_event: &config.on_event,
            limit: config.summarizer_timeout,
            cooldown: &store.cooldowns().summarizer,
            clock: &*config.clock,
        }
    }
}

impl Provider<'_> {
    /// Asks the provider. One that fails or times out goes into cooldown. One that panics does not, since one job's texts
    /// may be the cause; neither does one that refuses texts: see [`rest`](Self::rest).
    pub(super) async fn ask<T: Send + 'static, F: Future<Output = Result<T>>>(
        &self,
        asking: impl FnOnce() -> F + Send + 'static,
    ) -> Result<T> {
        if let Some(why) = self.cooldown.why(self.clock.now()) {
            return Err(if why.is_misconfiguration() { why } else { Error::provider(why.to_string()) });
        }
        let who = self.who;
        let (failed, rests) = match own_thread::ask("thermocline-ask", self.limit, asking).await {
            CallOutcome::Given(Ok(answer)) => {
                self.cooldown.end();
                return Ok(answer);
            }
            CallOutcome::Given(Err(error)) => {
                let is_of_text = error.kind() == ErrorKind::ProviderRefused;
                (error, !is_of_text)
            }
            CallOutcome::Late => {
                let late = format!("{who} gave no answer within {} ms", self.limit.as_millis());
                (Error::provider(late), true)
            }
            CallOutcome::Panicked => (Error::provider(format!("{who} panicked")), false),
        };
        if rests {
            self.rest(&failed);
        }
        let (provider, name, why) = (self.role, self.name.clone(), failed.kind());
        self.on_event.emit(&Event::ProviderFailed { provider, name, why });
        Err(failed)
    }

    /// Starts its cooldown because of this error.
    pub(super) fn rest(&self, failed: &Error) {
        self.cooldown.begin(self.clock.now(), failed);
    }
}

/// Asks LLM#1 while holding the job. `None` if told to stop.
///
/// A refusal also starts a cooldown, because it may concern more than the given turns, whatever the error is called.
pub(super) async fn ask_summarizer<T: Send + 'static, F: Future<Output = Result<T>>>(
    job: &Job<'_, '_>,
    summarizer: &Arc<dyn Summarizer>,
    asking: impl FnOnce(Arc<dyn Summarizer>) -> F + Send + 'static,
) -> SliceResult<Option<T>> {
    let provider = Provider::summarizer(job.store(), &**summarizer);
    let asked = Arc::clone(summarizer);
    let Some(answer) = job.holding(provider.ask(move || asking(asked))).await? else { return Ok(None) };
    let answer = answer.inspect_err(|error| {
        if error.kind() == ErrorKind::ProviderRefused {
            provider.rest(error);
        }
    })?;
    Ok(Some(answer))
}
