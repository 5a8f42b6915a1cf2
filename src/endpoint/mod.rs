//! One HTTP endpoint of a provider: an address, a key, a timeout; JSON goes there, JSON comes back.
//!
//! The only code of this crate that opens a connection, and only to the address that the caller names: redirects are
//! refused, so that neither key nor text goes elsewhere.

#[cfg(test)]
pub(crate) mod scripted;

use std::{fmt, sync::Arc, time::Duration};

use serde_json::Value;
use ureq::{Agent, http::StatusCode};

use crate::error::{Error, Result};

/// A provider's endpoint. Neither its errors nor its `Debug` show the key.
#[derive(Clone)]
pub(crate) struct Endpoint {
    /// Who is behind it, as errors say it: "LLM#1".
    who: &'static str,
    base_url: String,
    api_key: Option<Arc<str>>,
    timeout_ms: u64,
}

/// Why there is no answer, and the status if there was one.
pub(crate) struct Refused {
    pub(crate) status: Option<u16>,
    pub(crate) error: Error,
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self { status: None, error }
    }
}

impl Endpoint {
    /// Fails with [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) for what is no `http` or `https` address,
    /// or has a user, password, query or fragment in it: keys do not belong there.
    pub(crate) fn new(who: &'static str, base_url: impl Into<String>, timeout_ms: u64) -> Result<Self> {
        let base_url = base_url.into().trim_end_matches('/').to_owned();
        let rest = base_url.strip_prefix("https://").or_else(|| base_url.strip_prefix("http://"));
        let is_plain =
            |rest: &str| !rest.is_empty() && !rest.contains(['@', '?', '#']) && !rest.starts_with('/');
        if !rest.is_some_and(is_plain) || ureq::http::Uri::try_from(&base_url).is_err() {
            return Err(Error::invalid(format!(
                "the base url of {who} must be http:// or https://, a host and a path, and nothing else"
            )));
        }
        Ok(Self { who, base_url, api_key: None, timeout_ms })
    }

    /// As errors say it.
    pub(crate) fn who(&self) -> &'static str {
        self.who
    }

    /// What errors are to say.
    pub(crate) fn set_who(&mut self, who: &'static str) {
        self.who = who;
    }

    /// Sent as a bearer token.
    pub(crate) fn set_api_key(&mut self, key: String) {
        self.api_key = Some(key.into());
    }

    /// How long one request may take in all; 0 counts as 1.
    pub(crate) fn set_timeout_ms(&mut self, ms: u64) {
        self.timeout_ms = ms.max(1);
    }

    /// Sends this to a path below the address, `/embeddings` say, and reads at most `max_bytes` of the answer. Blocks.
    pub(crate) fn post(
        &self,
        path: &str,
        body: &Value,
        max_bytes: u64,
    ) -> std::result::Result<Vec<u8>, Refused> {
        let url = format!("{}{path}", self.base_url);
        let mut request = self.agent().post(url).header("content-type", "application/json");
        if let Some(key) = &self.api_key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let mut response = request.send(body.to_string()).map_err(|error| self.transport(&error))?;
        let status = response.status();
        if status != StatusCode::OK {
            // The body may repeat the key or the text: it is not shown.
            return Err(Refused { status: Some(status.as_u16()), error: self.status_error(status) });
        }
        let body = response.body_mut().with_config().limit(max_bytes).read_to_vec();
        body.map_err(|error| self.transport(&error))
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

    /// What may pass, and what will not.
    fn status_error(&self, status: StatusCode) -> Error {
        let message = format!("the endpoint of {} answered with status {}", self.who, status.as_u16());
        match status.as_u16() {
            408 | 409 | 425 | 429 | 500..=599 => Error::provider(message),
            401 | 403 => Error::provider_refused(message + ": is the key right?"),
            404 => Error::provider_refused(message + ": are the address and the model right?"),
            _ => Error::provider_refused(message),
        }
    }

    /// Only what the error is, never its text: that may repeat a header.
    fn transport(&self, error: &ureq::Error) -> Refused {
        use ureq::Error as E;
        let who = self.who;
        Refused::from(match error {
            E::Timeout(_) => Error::provider(format!("the endpoint of {who} did not answer in time")),
            E::HostNotFound => Error::provider(format!("the host of {who} was not found")),
            E::BodyExceedsLimit(limit) => {
                Error::provider(format!("the answer of {who} is larger than {limit} bytes"))
            }
            E::Io(error) => Error::provider(format!("the connection to {who} failed ({})", error.kind())),
            E::BadUri(_) | E::Http(_) => Error::provider_refused(format!(
                "the address or key of {who} has characters that a request cannot have"
            )),
            E::TooManyRedirects | E::RedirectFailed => {
                Error::provider_refused(format!("the endpoint of {who} redirects elsewhere"))
            }
            E::Tls(_) | E::Rustls(_) => Error::provider(format!("the TLS connection to {who} failed")),
            _ => Error::provider(format!("the request to {who} failed")),
        })
    }
}

/// As fields of whoever asks there.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("base_url", &self.base_url)
            .field("api_key", &self.api_key.as_ref().map(|_| "..."))
            .field("timeout_ms", &self.timeout_ms)
            .finish_non_exhaustive()
    }
}
