//! Every endpoint that speaks `OpenAI`'s chat completions: `OpenAI` itself, Ollama, vLLM, LM Studio, `OpenRouter` and others.
//!
//! The only code of this crate that opens a connection, and only to the address that the caller names: redirects are
//! refused, so that neither key nor text goes elsewhere.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use ureq::{Agent, http::StatusCode};

use crate::{
    compress::digest::chat::{ChatModel, ChatPrompt, Completing},
    error::{Error, ErrorKind, Result},
};

/// As long as the summarizer waits by default.
const DEFAULT_TIMEOUT_MS: u64 = 60_000;
/// An answer is read up to twice of what is parsed of it, since JSON in JSON is escaped. More is cut off the wire.
const MAX_BODY_BYTES: u64 = 2 << 20;

/// How the model is held to JSON, the strictest first. Which of them an endpoint takes is found out by asking.
const JSON_MODES: [JsonMode; 3] = [JsonMode::Schema, JsonMode::Object, JsonMode::None];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JsonMode {
    /// To the schema of the answer: `OpenAI`, Ollama, vLLM, LM Studio.
    Schema,
    /// To any JSON object: providers without schemas.
    Object,
    /// By the instructions alone.
    None,
}

/// A [`ChatModel`] behind an endpoint for `OpenAI`'s chat completions. Feature `llm`.
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
///
/// Text and key go to this address and no other: redirects are refused. Proxies are taken from the environment
/// (`HTTPS_PROXY`, `NO_PROXY`), except for this machine itself. TLS is rustls with the web's root certificates.
#[derive(Clone)]
pub struct OpenAiCompatible {
    base_url: String,
    model: String,
    api_key: Option<Arc<str>>,
    timeout_ms: u64,
    /// The place in [`JSON_MODES`] of the first one that was not refused.
    json_mode: Arc<AtomicUsize>,
}

impl OpenAiCompatible {
    /// The model of this name behind this address, without `/chat/completions`: `http://localhost:11434/v1`.
    ///
    /// Fails with [`ErrorKind::InvalidInput`] for what is no `http` or `https` address, or has a user, password, query
    /// or fragment in it: keys do not belong there.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Result<Self> {
        let base_url = base_url.into().trim_end_matches('/').to_owned();
        let rest = base_url.strip_prefix("https://").or_else(|| base_url.strip_prefix("http://"));
        let is_plain =
            |rest: &str| !rest.is_empty() && !rest.contains(['@', '?', '#']) && !rest.starts_with('/');
        if !rest.is_some_and(is_plain) || ureq::http::Uri::try_from(&base_url).is_err() {
            return Err(Error::invalid(
                "the base url of LLM#1 must be http:// or https://, a host and a path, and nothing else",
            ));
        }
        Ok(Self {
            base_url,
            model: model.into(),
            api_key: None,
            timeout_ms: DEFAULT_TIMEOUT_MS,
            json_mode: Arc::default(),
        })
    }

    /// The key, sent as a bearer token. Default: none, as local servers want it. It is in no error and no `Debug`.
    #[must_use]
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.api_key = Some(key.into().into());
        self
    }

    /// How long one request may take in all, in milliseconds. Default 60,000, at least 1 (0 counts as 1). The
    /// summarizer has a timeout of its own; this one also ends the connection of a caller who no longer waits.
    #[must_use]
    pub fn timeout_ms(mut self, ms: u64) -> Self {
        self.timeout_ms = ms.max(1);
        self
    }

    /// Asks, in the strictest form of JSON that the endpoint takes. Blocks.
    fn ask(&self, prompt: &ChatPrompt) -> Result<String> {
        let known = self.json_mode.load(Ordering::Relaxed);
        let mut failure = None;
        for (at, &mode) in JSON_MODES.iter().enumerate().skip(known) {
            match self.request(prompt, mode) {
                // "Bad request" may mean that the form is unknown here; nobody says so in the same words.
                Err(Refused { status: Some(400 | 415 | 422 | 501), error }) => failure = Some(error),
                Err(refused) => return Err(refused.error),
                Ok(answer) => {
                    self.json_mode.store(at, Ordering::Relaxed);
                    return Ok(answer);
                }
            }
        }
        Err(failure.unwrap_or_else(|| Error::provider_refused("LLM#1 takes no request")))
    }

    fn request(&self, prompt: &ChatPrompt, mode: JsonMode) -> std::result::Result<String, Refused> {
        let url = format!("{}/chat/completions", self.base_url);
        let mut request = self.agent().post(url).header("content-type", "application/json");
        if let Some(key) = &self.api_key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let mut response =
            request.send(self.body(prompt, mode).to_string()).map_err(|error| transport(&error))?;
        let status = response.status();
        if status != StatusCode::OK {
            // The body may repeat the key or the prompt: it is not shown.
            return Err(Refused { status: Some(status.as_u16()), error: status_error(status) });
        }
        let body = response.body_mut().with_config().limit(MAX_BODY_BYTES).read_to_vec();
        answer_in(&body.map_err(|error| transport(&error))?)
    }

    fn agent(&self) -> Agent {
        let config = Agent::config_builder()
            .timeout_global(Some(Duration::from_millis(self.timeout_ms)))
            .http_status_as_error(false)
            .max_redirects(0)
            .user_agent(concat!("thermocline/", env!("CARGO_PKG_VERSION")));
        let config = if self.is_local() { config.proxy(None) } else { config };
        config.build().into()
    }

    fn is_local(&self) -> bool {
        let host = self.base_url.split("://").nth(1).unwrap_or_default();
        ["localhost", "127.", "[::1]"].iter().any(|local| host.starts_with(local))
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
                    "json_schema": { "name": "verdicts", "strict": true, "schema": schema },
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

    /// On a thread of its own, which nobody waits for when a runtime ends: a call may take a minute.
    fn complete<'a>(&'a self, prompt: &'a ChatPrompt) -> Completing<'a> {
        Box::pin(async move {
            let (reply, answer) = oneshot::channel();
            let (own, prompt) = (self.clone(), prompt.clone());
            thread::Builder::new()
                .name("thermocline-llm".into())
                // A caller who no longer waits wants no answer.
                .spawn(move || drop(reply.send(own.ask(&prompt))))
                .map_err(|error| Error::caused(ErrorKind::Provider, "no thread to ask LLM#1 on", error))?;
            answer.await.unwrap_or_else(|_| Err(Error::provider("the thread that asked LLM#1 ended")))
        })
    }
}

impl fmt::Debug for OpenAiCompatible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiCompatible")
            .field("base_url", &self.base_url)
            .field("model", &self.model)
            .field("api_key", &self.api_key.as_ref().map(|_| "..."))
            .field("timeout_ms", &self.timeout_ms)
            .finish_non_exhaustive()
    }
}

/// Why there is no answer, and the status if there was one.
struct Refused {
    status: Option<u16>,
    error: Error,
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self { status: None, error }
    }
}

/// The text of the first choice. Anything else in the body is none of our business.
fn answer_in(body: &[u8]) -> std::result::Result<String, Refused> {
    #[derive(Deserialize)]
    struct Body {
        choices: Vec<Choice>,
    }
    #[derive(Deserialize)]
    struct Choice {
        message: Message,
    }
    #[derive(Deserialize)]
    struct Message {
        content: Option<String>,
    }
    let body: Body = serde_json::from_slice(body)
        .map_err(|_| Error::provider("LLM#1's endpoint sent no chat completion"))?;
    let choice = body.choices.into_iter().next();
    let content = choice.and_then(|choice| choice.message.content).filter(|content| !content.is_empty());
    Ok(content.ok_or_else(|| Error::provider("LLM#1's endpoint sent an empty answer"))?)
}

/// What may pass, and what will not.
fn status_error(status: StatusCode) -> Error {
    let message = format!("LLM#1's endpoint answered with status {}", status.as_u16());
    match status.as_u16() {
        408 | 409 | 425 | 429 | 500..=599 => Error::provider(message),
        401 | 403 => Error::provider_refused(message + ": is the key right?"),
        404 => Error::provider_refused(message + ": are the address and the model right?"),
        _ => Error::provider_refused(message),
    }
}

/// Only what the error is, never its text: that may repeat a header.
fn transport(error: &ureq::Error) -> Refused {
    use ureq::Error as E;
    Refused::from(match error {
        E::Timeout(_) => Error::provider("LLM#1's endpoint did not answer in time"),
        E::HostNotFound => Error::provider("LLM#1's host was not found"),
        E::BodyExceedsLimit(_) => {
            Error::provider(format!("LLM#1's answer is larger than {MAX_BODY_BYTES} bytes"))
        }
        E::Io(error) => Error::provider(format!("the connection to LLM#1 failed ({})", error.kind())),
        E::BadUri(_) | E::Http(_) => {
            Error::provider_refused("LLM#1's address or key has characters that a request cannot have")
        }
        E::TooManyRedirects | E::RedirectFailed => {
            Error::provider_refused("LLM#1's endpoint redirects elsewhere")
        }
        E::Tls(_) | E::Rustls(_) => Error::provider("the TLS connection to LLM#1 failed"),
        _ => Error::provider("the request to LLM#1 failed"),
    })
}

#[cfg(test)]
mod tests;
