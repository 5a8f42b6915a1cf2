//! Asks LLM#1 or an embedder on behalf of a job: on a thread for this call, for a bounded time, and not during the
//! provider's cooldown.

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

/// A provider as jobs ask it.
pub(super) struct Provider<'a> {
    /// What error messages call the provider.
    pub(super) who: &'static str,
    /// What events call the provider.
    pub(super) role: ProviderRole,
    pub(super) name: String,
    pub(super) on_event: &'a OnEvent,
    /// The time limit for an answer.
    pub(super) limit: Duration,
    pub(super) cooldown: &'a Cooldown,
    pub(super) clock: &'a dyn Clock,
}

impl<'a> Provider<'a> {
    /// Returns LLM#1 as a provider.
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
    /// Asks the provider. Starts its cooldown if it fails or times out, but not if it panics or refuses texts, because the
    /// texts of this job may be the cause. Callers can start a cooldown by [`rest`](Self::rest).
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

    /// Starts the provider's cooldown because of this error.
    pub(super) fn rest(&self, failed: &Error) {
        self.cooldown.begin(self.clock.now(), failed);
    }
}

/// Asks LLM#1 while holding the job. `None` if the run is told to stop.
///
/// A refusal starts a cooldown too, because it may concern more than these turns, even though its kind is `ProviderRefused`.
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
