//! LLM#1 on any chat model: packs turns into prompts, asks, and reads the answers.
//!
//! A call may fail or be slow: it has a timeout and is retried with growing waits. Verdicts may be wrong: the model is told
//! once what is wrong, and is asked again about the turns without a good verdict. The good verdicts are passed on, and the
//! other turns stay as they are, to be asked about later or summarized by the built-in summarizer. Proposals of memories are
//! passed on unchecked; whoever asked for them checks them.

mod answer;
mod chat;
mod chunks;
#[cfg(feature = "llm")]
mod openai_compatible;
mod prompt;
mod proposing;

use std::{fmt::Write as _, sync::Arc, time::Duration};

pub use chat::{ChatModel, ChatPrompt, Completing};
#[cfg(feature = "llm")]
pub use openai_compatible::OpenAiCompatible;

use crate::{
    compress::{
        Proposal, Proposing, Summarizer, Summarizing, Verdict,
        digest::chunks::TurnChunk,
        verify::{self, Flaw},
    },
    error::{Error, ErrorKind, Result},
    model::{ids::TurnId, turn::Turn},
};

/// The context window that small local models are often served with.
const DEFAULT_WINDOW_TOKENS: u32 = 8_000;
/// Enough for the instructions, one turn and its verdict.
const MIN_WINDOW_TOKENS: u32 = 3_000;
/// The time limit of one call to the model, in the summarizer and again in the endpoint. A model on a CPU needs most of it
/// for a full window; a hosted one needs a tenth.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_mins(1);
/// With the waits below, this covers an outage of a few seconds; a longer one is left to the next run of the job.
pub(crate) const DEFAULT_RETRIES: u32 = 2;
/// More retries would keep a job waiting for hours.
const MAX_RETRIES: u32 = 10;
/// The wait before the first retry; each further one is four times as long.
const FIRST_WAIT_MS: u64 = 1_000;
/// The longest wait, before it is lengthened by up to half.
const MAX_WAIT_MS: u64 = 60_000;
/// How much of the model's name a summary's row stores.
const MAX_NAME_BYTES: usize = 100;

/// A [`Summarizer`] that asks a [`ChatModel`].
///
/// Its futures use tokio's timers, so they need a tokio runtime with time enabled.
///
/// ```
/// use std::sync::Arc;
/// use thermocline::{ChatModel, ChatPrompt, Completing, LlmSummarizer, Summarizer};
///
/// /// Bridges to whatever client the backend already has.
/// #[derive(Debug)]
/// struct OwnClient;
///
/// impl ChatModel for OwnClient {
///     fn name(&self) -> &str {
///         "own-model"
///     }
///
///     fn complete<'a>(&'a self, prompt: &'a ChatPrompt) -> Completing<'a> {
///         Box::pin(async move { ask(&prompt.system, &prompt.user).await })
///     }
/// }
/// # async fn ask(_: &str, _: &str) -> thermocline::Result<String> { Ok(String::new()) }
///
/// let summarizer = LlmSummarizer::new(Arc::new(OwnClient)).window_tokens(32_000);
/// assert_eq!(summarizer.name(), "own-model");
/// ```
#[derive(Clone, Debug)]
pub struct LlmSummarizer {
    model: Arc<dyn ChatModel>,
    name: String,
    window_tokens: u32,
    timeout: Duration,
    retries: u32,
    first_wait_ms: u64,
}

impl LlmSummarizer {
    /// Creates a summarizer that asks this model.
    pub fn new(model: Arc<dyn ChatModel>) -> Self {
        let name = model.name();
        let name = name[..name.floor_char_boundary(MAX_NAME_BYTES)].to_owned();
        Self {
            model,
            name,
            window_tokens: DEFAULT_WINDOW_TOKENS,
            timeout: DEFAULT_TIMEOUT,
            retries: DEFAULT_RETRIES,
            first_wait_ms: FIRST_WAIT_MS,
        }
    }

    /// Sets the size of the context window that the model is served with, in tokens, for prompt and answer together. Default
    /// 8,000, at least 3,000 (less counts as 3,000).
    #[must_use]
    pub fn window_tokens(mut self, tokens: u32) -> Self {
        self.window_tokens = tokens.max(MIN_WINDOW_TOKENS);
        self
    }

    /// Sets how long one call may take. Default 1 minute, at least 1 ms (less counts as 1 ms).
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout.max(Duration::from_millis(1));
        self
    }

    /// Sets how often a failed call is retried, after 1, 4, 16 and then 60 seconds, each lengthened by up to half. Default
    /// 2, at most 10 (more counts as 10). Permanent failures, such as a wrong key, are not retried.
    #[must_use]
    pub fn retries(mut self, retries: u32) -> Self {
        self.retries = retries.min(MAX_RETRIES);
        self
    }

    /// Returns all good verdicts. Stops at the first chunk whose calls all fail, because the next one would meet the same
    /// outage.
    async fn verdicts(&self, turns: &[Turn]) -> Result<Vec<Verdict>> {
        let mut good = Vec::new();
        let mut flaws: Vec<Flaw> = Vec::new();
        for chunk in chunks::pack(turns, self.window_tokens) {
            match self.digest(&chunk).await {
                Ok(digested) => {
                    flaws.extend(digested.flawed.into_iter().map(|(_, flaw)| flaw));
                    good.extend(digested.good);
                }
                Err(failure) if good.is_empty() => return Err(failure),
                Err(_) => break, // The caller sees from the missing verdicts which turns to ask for again.
            }
        }
        match flaws.first() {
            Some(first) if good.is_empty() => Err(Error::provider(format!(
                "LLM#1 gave no usable answer for {} turns: {first}",
                flaws.len()
            ))),
            _ => Ok(good),
        }
    }

    /// Returns the proposals for all chunks. Fails at the first chunk whose calls all fail, and then returns none.
    async fn proposals(&self, turns: &[Turn]) -> Result<Vec<Proposal>> {
        let mut proposed = Vec::new();
        for chunk in chunks::pack(turns, self.window_tokens) {
            let answer = self.ask(&proposing::prompt(&chunk), &chunk).await?;
            proposed.extend(proposing::parse(&answer, &chunk.ids()));
        }
        Ok(proposed)
    }

    /// Asks about the turns of a chunk, and once more about those whose verdicts do not hold.
    async fn digest(&self, chunk: &TurnChunk<'_>) -> Result<Digested> {
        let answer = self.ask(&prompt::first(chunk), chunk).await?;
        let mut digested = read(chunk, &answer);
        if digested.flawed.is_empty() {
            return Ok(digested);
        }
        let rest = chunk.only(&digested.flawed.iter().map(|(id, _)| *id).collect::<Vec<_>>());
        let wrong = wrongs(&rest, &digested);
        match self.ask(&prompt::repair(&rest, &wrong), &rest).await {
            // Checked again with the others, so that a repaired sentence cannot repeat a good one.
            Ok(answer) => {
                let mended = read(&rest, &answer).good;
                digested.good.extend(mended);
                Ok(read_verdicts(chunk, digested.good))
            }
            Err(failure) if digested.good.is_empty() => Err(failure),
            Err(_) => Ok(digested),
        }
    }

    /// Asks for one answer, and retries a call that fails temporarily.
    async fn ask(&self, prompt: &ChatPrompt, chunk: &TurnChunk<'_>) -> Result<String> {
        let timeout = self.timeout;
        let mut attempt = 0;
        loop {
            let failure = match tokio::time::timeout(timeout, self.model.complete(prompt)).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(failure)) => failure,
                Err(_) => Error::provider(format!("LLM#1 did not answer within {timeout:?}")),
            };
            let may_pass =
                matches!(failure.kind(), ErrorKind::Provider | ErrorKind::TimedOut | ErrorKind::Busy);
            if !may_pass || attempt >= self.retries {
                return Err(failure);
            }
            let wait_ms = wait_ms(self.first_wait_ms, attempt, chunk.turns()[0].id);
            tokio::time::sleep(Duration::from_millis(wait_ms)).await;
            attempt += 1;
        }
    }
}

impl Summarizer for LlmSummarizer {
    fn name(&self) -> &str {
        &self.name
    }

    fn summarize<'a>(&'a self, turns: &'a [Turn]) -> Summarizing<'a> {
        Box::pin(self.verdicts(turns))
    }

    fn propose<'a>(&'a self, turns: &'a [Turn]) -> Proposing<'a> {
        Box::pin(self.proposals(turns))
    }
}

/// The verdicts on the turns of a chunk, checked.
struct Digested {
    good: Vec<Verdict>,
    flawed: Vec<(TurnId, Flaw)>,
    /// Why the answer could not be read at all; `None` if it was read.
    unreadable: Option<answer::Unreadable>,
}

fn read(chunk: &TurnChunk<'_>, answer: &str) -> Digested {
    match answer::parse(answer, &chunk.ids()) {
        Ok(answer) => read_verdicts(chunk, answer.verdicts),
        Err(unreadable) => Digested { unreadable: Some(unreadable), ..read_verdicts(chunk, Vec::new()) },
    }
}

fn read_verdicts(chunk: &TurnChunk<'_>, verdicts: Vec<Verdict>) -> Digested {
    let sorted = verify::sort(chunk.turns(), verdicts);
    Digested { good: sorted.good().cloned().collect(), flawed: sorted.flawed().collect(), unreadable: None }
}

/// Describes what was wrong, in one line per turn, or in one line for all if nothing could be read.
fn wrongs(rest: &TurnChunk<'_>, digested: &Digested) -> String {
    if let Some(unreadable) = digested.unreadable {
        return format!("{unreadable}\n");
    }
    let mut lines = String::new();
    for (at, id) in rest.ids().iter().enumerate() {
        if let Some((_, flaw)) = digested.flawed.iter().find(|(flawed, _)| flawed == id) {
            writeln!(lines, "{}: {flaw}", prompt::alias(at))
                .expect("a string takes all that is written to it");
        }
    }
    lines
}

/// Returns the wait before a retry: 1, 4, 16 ... seconds plus up to half as much again, so that many sessions that failed
/// together do not retry together. It depends only on the turn and the attempt, so that runs can be repeated.
fn wait_ms(first_ms: u64, attempt: u32, turn_id: TurnId) -> u64 {
    let wait = first_ms.saturating_mul(4_u64.saturating_pow(attempt)).min(MAX_WAIT_MS);
    let seed = turn_id.as_uuid().as_u128() ^ (u128::from(attempt) << 64);
    // Fibonacci hashing: the high bits of the product depend on all bits of both halves.
    let halves = u64::try_from((seed >> 64) ^ (seed & u128::from(u64::MAX))).unwrap_or(u64::MAX);
    let spread = halves.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    wait + wait / 2 * spread / (1 << 32)
}

#[cfg(test)]
mod tests;
