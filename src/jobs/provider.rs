//! Asking LLM#1 or an embedder on behalf of a job: on a thread of its own, for a bounded time, and not while it rests.

use std::{future::Future, time::Duration};

use crate::{
    aside::{self, Answer},
    clock::Clock,
    cooldown::Cooldown,
    error::{Error, ErrorKind, Result},
};

/// How a provider is asked.
pub(super) struct Provider<'a> {
    /// As messages name it.
    pub(super) who: &'static str,
    /// How long it may take.
    pub(super) limit: Duration,
    pub(super) cooldown: &'a Cooldown,
    pub(super) clock: &'a dyn Clock,
}

impl Provider<'_> {
    /// What it answers. A provider that fails or is silent rests; one that panics does not, since the texts of one job
    /// may be why, nor one that refuses them: see [`rest`](Self::rest).
    pub(super) async fn ask<T: Send + 'static, F: Future<Output = Result<T>>>(
        &self,
        asking: impl FnOnce() -> F + Send + 'static,
    ) -> Result<T> {
        if let Some(why) = self.cooldown.why(self.clock.now()) {
            return Err(Error::provider(why));
        }
        let who = self.who;
        let failed = match aside::ask("thermocline-ask", self.limit, asking).await {
            Answer::Given(Err(error)) if error.kind() != ErrorKind::ProviderRefused => error,
            Answer::Given(answer) => {
                if answer.is_ok() {
                    self.cooldown.end();
                }
                return answer;
            }
            Answer::Late => {
                Error::provider(format!("{who} gave no answer within {} ms", self.limit.as_millis()))
            }
            Answer::Panicked => return Err(Error::provider(format!("{who} panicked"))),
        };
        self.rest(&failed);
        Err(failed)
    }

    /// Has it rest, because of this.
    pub(super) fn rest(&self, failed: &Error) {
        self.cooldown.begin(self.clock.now(), &failed.to_string());
    }
}
