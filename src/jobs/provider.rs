//! Asking LLM#1 or an embedder on behalf of a job: on a thread of its own, for a bounded time, and not while it rests.

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
    /// As messages name it.
    pub(super) who: &'static str,
    /// As events name it.
    pub(super) role: ProviderRole,
    pub(super) name: String,
    pub(super) on_event: &'a OnEvent,
    /// How long it may take.
    pub(super) limit: Duration,
    pub(super) cooldown: &'a Cooldown,
    pub(super) clock: &'a dyn Clock,
}

impl<'a> Provider<'a> {
    /// LLM#1.
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
    /// What it answers. A provider that fails or is silent rests; one that panics does not, since the texts of one job
    /// may be why, nor one that refuses them: see [`rest`](Self::rest).
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

    /// Has it rest, because of this.
    pub(super) fn rest(&self, failed: &Error) {
        self.cooldown.begin(self.clock.now(), failed);
    }
}

/// Asks LLM#1, holding the job meanwhile. One that refuses rests too, for that may be about more than the turns that it was
/// given, whatever it is called. `None`: told to stop.
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
