//! A client for every endpoint that speaks `OpenAI`'s chat completions: `OpenAI` itself, Ollama, vLLM, LM Studio,
//! `OpenRouter` and others.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    compress::digest::{
        DEFAULT_TIMEOUT,
        chat::{ChatModel, ChatPrompt, Completing},
    },
    endpoint::{Endpoint, EndpointFailure},
    error::{Error, Result},
    own_thread::on_own_thread,
};

/// How many bytes of a response are read: twice the longest answer, since JSON in JSON is escaped. A longer one is an error.
const MAX_BODY_BYTES: u64 = 2 << 20;

/// How the model is made to answer in JSON, strictest first. Which mode an endpoint supports is found out by trying.
const JSON_MODES: [JsonMode; 3] = [JsonMode::Schema, JsonMode::Object, JsonMode::None];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JsonMode {
    /// By the schema of the answer: `OpenAI`, Ollama, vLLM, LM Studio.
    Schema,
    /// By requiring any JSON object: providers without schemas.
    Object,
    /// By the instructions alone.
    None,
}

/// A [`ChatModel`] at an endpoint for `OpenAI`'s chat completions. Feature `llm`.
///
/// ```
/// use std::sync::Arc;
/// use thermocline::{LlmSummarizer, OpenAiCompatible};
///
/// # fn main() -> thermocline::Result<()> {
/// // A local model. Hosted ones: "https://api.openai.com/v1" or "https://openrouter.ai/api/v1", and `.api_key(..)`.
/// let model = OpenAiCompatible::new("http://localhost:11434/v1", "qwen3:8b")?;
/// let summarizer = LlmSummarizer::new(Arc::new(model)).window_tokens(8_000);
/// # Ok(())
/// # }
/// ```
/// The texts and the key are sent only to this address: redirects are refused. Proxies from the environment (`HTTPS_PROXY`,
/// `NO_PROXY`) are used, except for this machine itself. TLS is rustls with the web's root certificates.
#[derive(Clone)]
pub struct OpenAiCompatible {
    endpoint: Endpoint,
    model: String,
    /// The index in [`JSON_MODES`] of the first mode that was not refused.
    json_mode: Arc<AtomicUsize>,
}

impl OpenAiCompatible {
    /// Creates a client for the model with this name at this base address: the part before `/chat/completions`, for example
    /// `http://localhost:11434/v1`.
    ///
    /// Errors: [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if this is not an `http` or `https` address, or
    /// contains a user, password, query or fragment: keys do not belong there.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Result<Self> {
        Self::named("LLM#1", base_url, model)
    }

    /// Like [`new`](Self::new), with another name for the model in errors: `LLM#2` for a model that talks to the user.
    pub fn named(who: &'static str, base_url: impl Into<String>, model: impl Into<String>) -> Result<Self> {
        let endpoint = Endpoint::new(who, base_url, DEFAULT_TIMEOUT)?;
        Ok(Self { endpoint, model: model.into(), json_mode: Arc::default() })
    }

    /// Sets the API key, which is sent as a bearer token, and only over `https` or to this machine. Default: none, as local
    /// servers expect. Errors and `Debug` never show it.
    #[must_use]
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.endpoint.set_api_key(key.into());
        self
    }

    /// Replaces the model's name in errors, which is `LLM#1` after [`new`](Self::new). Use `LLM#2` for a model that talks to
    /// the user.
    #[must_use]
    pub fn called(mut self, who: &'static str) -> Self {
        self.endpoint.set_who(who);
        self
    }

    /// Sets the total time limit of one request. Default 1 minute, at least 1 ms (less counts as 1 ms). The summarizer has
    /// its own timeout; this one also ends connections that no caller waits for any more.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.endpoint.set_timeout(timeout);
        self
    }

    /// Asks in the strictest JSON mode that the endpoint accepts, or in none if no JSON is wanted. Blocks.
    fn ask(&self, prompt: &ChatPrompt) -> Result<String> {
        if prompt.answer_schema.is_empty() {
            return self.request(prompt, JsonMode::None).map_err(|refused| refused.error);
        }
        let known = self.json_mode.load(Ordering::Relaxed);
        let mut failure = None;
        for (at, &mode) in JSON_MODES.iter().enumerate().skip(known) {
            match self.request(prompt, mode) {
                // "Bad request" may mean that the endpoint does not know this mode; no two providers say so in the same
                // words.
                Err(EndpointFailure { status: Some(400 | 415 | 422 | 501), error })
                    if !error.is_misconfiguration() =>
                {
                    failure = Some(error);
                }
                Err(refused) => return Err(refused.error),
                Ok(answer) => {
                    self.json_mode.store(at, Ordering::Relaxed);
                    return Ok(answer);
                }
            }
        }
        Err(failure.unwrap_or_else(|| {
            Error::provider_refused(format!("{} accepts no form of request", self.endpoint.who()))
        }))
    }

    fn request(&self, prompt: &ChatPrompt, mode: JsonMode) -> std::result::Result<String, EndpointFailure> {
        let body = self.endpoint.post("/chat/completions", &self.body(prompt, mode), MAX_BODY_BYTES)?;
        answer_in(&body, self.endpoint.who())
    }

    fn body(&self, prompt: &ChatPrompt, mode: JsonMode) -> Value {
        let mut body = json!({
            "model": self.model,
            "stream": false,
            "messages": [
                { "role": "system", "content": prompt.system },
                { "role": "user", "content": prompt.user },
            ],
        });
        match mode {
            JsonMode::Schema => {
                let schema: Value = serde_json::from_str(&prompt.answer_schema).unwrap_or_default();
                body["response_format"] = json!({
                    "type": "json_schema",
                    "json_schema": { "name": "answer", "strict": true, "schema": schema },
                });
            }
            JsonMode::Object => body["response_format"] = json!({ "type": "json_object" }),
            JsonMode::None => {}
        }
        body
    }
}

impl ChatModel for OpenAiCompatible {
    fn name(&self) -> &str {
        &self.model
    }

    /// Runs on its own thread, which is not joined when a runtime ends, because a call may take a minute.
    fn complete<'a>(&'a self, prompt: &'a ChatPrompt) -> Completing<'a> {
        let (own, prompt) = (self.clone(), prompt.clone());
        Box::pin(on_own_thread("thermocline-llm", move || own.ask(&prompt)))
    }
}

impl fmt::Debug for OpenAiCompatible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiCompatible")
            .field("endpoint", &self.endpoint)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

/// Returns the text of the first choice. The rest of the body is ignored.
fn answer_in(body: &[u8], who: &str) -> std::result::Result<String, EndpointFailure> {
    #[derive(Deserialize)]
    struct ChatCompletionBody {
        choices: Vec<Choice>,
    }
    #[derive(Deserialize)]
    struct Choice {
        message: ChatCompletionMessage,
    }
    #[derive(Deserialize)]
    struct ChatCompletionMessage {
        content: Option<String>,
    }
    let body: ChatCompletionBody = serde_json::from_slice(body)
        .map_err(|_| Error::provider(format!("{who}'s endpoint sent no chat completion")))?;
    let choice = body.choices.into_iter().next();
    let content = choice.and_then(|choice| choice.message.content).filter(|content| !content.is_empty());
    Ok(content.ok_or_else(|| Error::provider(format!("{who}'s endpoint sent an empty answer")))?)
}

#[cfg(test)]
mod tests;
