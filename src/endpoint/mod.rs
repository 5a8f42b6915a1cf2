//! A provider's HTTP endpoint, to which JSON is sent, with a key and a timeout. The module `address` requests the addresses
//! that sensors look at.
//!
//! This is the only code of the crate that opens a connection, and only to the address that the caller names, or to the
//! proxy that the environment names for it: redirects are not followed, so that neither key nor text is sent anywhere else.
//! A key leaves this machine encrypted, or not at all.

pub(crate) mod address;
mod refusal;
#[cfg(test)]
pub(crate) mod scripted;

use std::{fmt, net::IpAddr, sync::Arc, time::Duration};

use serde_json::Value;
use ureq::{
    Agent,
    http::{StatusCode, Uri},
};

use crate::{
    endpoint::refusal::EndpointRefusal,
    error::{Error, Result},
};

/// How many bytes of a refusal's body are read, to find out what is refused.
const MAX_REFUSAL_BYTES: u64 = 64 << 10;

/// A provider's endpoint. Neither its errors nor its `Debug` show the key.
#[derive(Clone)]
pub(crate) struct Endpoint {
    /// The provider's name in error messages: "LLM#1".
    who: &'static str,
    base_url: String,
    /// Whether the address is on this machine.
    is_local: bool,
    api_key: Option<Arc<str>>,
    timeout: Duration,
}

/// The error of a failed request, and the HTTP status if there was an answer.
pub(crate) struct EndpointFailure {
    pub(crate) status: Option<u16>,
    pub(crate) error: Error,
}

impl From<Error> for EndpointFailure {
    fn from(error: Error) -> Self {
        Self { status: None, error }
    }
}

impl Endpoint {
    /// Creates an endpoint. Fails with [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if the address is
    /// not an `http` or `https` address, or contains a user, password, query or fragment: keys do not belong in an
    /// address.
    pub(crate) fn new(who: &'static str, base_url: impl Into<String>, timeout: Duration) -> Result<Self> {
        let base_url = base_url.into().trim_end_matches('/').to_owned();
        let rest = base_url.strip_prefix("https://").or_else(|| base_url.strip_prefix("http://"));
        let is_plain =
            |rest: &str| !rest.is_empty() && !rest.contains(['@', '?', '#']) && !rest.starts_with('/');
        let uri = Uri::try_from(&base_url).ok().filter(|_| rest.is_some_and(is_plain));
        let Some(host) = uri.as_ref().and_then(Uri::host).filter(|host| !host.is_empty()) else {
            return Err(Error::invalid(format!(
                "the base url of {who} must be http:// or https://, a host and a path, and nothing else"
            )));
        };
        Ok(Self { who, is_local: is_local(host), base_url, api_key: None, timeout })
    }

    /// Returns the provider's name in error messages.
    pub(crate) fn who(&self) -> &'static str {
        self.who
    }

    /// Sets the provider's name in error messages.
    pub(crate) fn set_who(&mut self, who: &'static str) {
        self.who = who;
    }

    /// Sets the key, which is sent as a bearer token.
    pub(crate) fn set_api_key(&mut self, key: String) {
        self.api_key = Some(key.into());
    }

    /// Sets how long one request may take in total; less than 1 ms counts as 1 ms.
    pub(crate) fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout.max(Duration::from_millis(1));
    }

    /// Posts to a path below the address, such as `/embeddings`, and reads at most `max_bytes` of the answer. Blocks.
    /// If a key is set, it refuses plain http to another machine.
    pub(crate) fn post(
        &self,
        path: &str,
        body: &Value,
        max_bytes: u64,
    ) -> std::result::Result<Vec<u8>, EndpointFailure> {
        if self.api_key.is_some() && !self.is_local && !self.base_url.starts_with("https://") {
            return Err(EndpointFailure::from(Error::provider_misconfigured(format!(
                "the key of {} would leave this machine unencrypted; use an https:// address, or no key",
                self.who
            ))));
        }
        let url = format!("{}{path}", self.base_url);
        let mut request = self.agent().post(url).header("content-type", "application/json");
        if let Some(key) = &self.api_key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let mut response = request.send(body.to_string()).map_err(|error| self.transport(&error))?;
        let status = response.status();
        if status != StatusCode::OK {
            // The body may repeat the key or the text, so it is inspected but not shown.
            let body = response.body_mut().with_config().limit(MAX_REFUSAL_BYTES).read_to_vec();
            let error = self.refused(status, &body.unwrap_or_default());
            return Err(EndpointFailure { status: Some(status.as_u16()), error });
        }
        let body = response.body_mut().with_config().limit(max_bytes).read_to_vec();
        body.map_err(|error| self.transport(&error))
    }

    fn agent(&self) -> Agent {
        let config = Agent::config_builder()
            .timeout_global(Some(self.timeout))
            .http_status_as_error(false)
            .max_redirects(0)
            .user_agent(concat!("thermocline/", env!("CARGO_PKG_VERSION")));
        let config = if self.is_local { config.proxy(None) } else { config };
        config.build().into()
    }

    /// Returns the error for a status other than 200, given the body of the answer.
    fn refused(&self, status: StatusCode, body: &[u8]) -> Error {
        let message = format!("the endpoint of {} answered with status {}", self.who, status.as_u16());
        match EndpointRefusal::of(status.as_u16(), body) {
            EndpointRefusal::ForNow => Error::provider(message),
            EndpointRefusal::OfText => Error::provider_refused(message),
            EndpointRefusal::OfKey => Error::provider_misconfigured(message + ": is the key right?"),
            EndpointRefusal::OfAccount => {
                Error::provider_misconfigured(message + ": has the account credit?")
            }
            EndpointRefusal::OfModel => {
                Error::provider_misconfigured(message + ": are the address and the model right?")
            }
        }
    }

    /// Describes only the kind of the error. Its text is never shown, because it may repeat a header.
    fn transport(&self, error: &ureq::Error) -> EndpointFailure {
        use ureq::Error as E;
        let who = self.who;
        EndpointFailure::from(match error {
            E::Timeout(_) => Error::provider(format!("the endpoint of {who} did not answer in time")),
            E::HostNotFound => Error::provider(format!("the host of {who} was not found")),
            E::BodyExceedsLimit(limit) => {
                Error::provider(format!("the answer of {who} is larger than {limit} bytes"))
            }
            E::Io(error) => Error::provider(format!("the connection to {who} failed ({})", error.kind())),
            E::BadUri(_) | E::Http(_) => Error::provider_misconfigured(format!(
                "the address or key of {who} has characters that a request cannot have"
            )),
            E::TooManyRedirects | E::RedirectFailed => {
                Error::provider_misconfigured(format!("the endpoint of {who} redirects elsewhere"))
            }
            E::Tls(_) | E::Rustls(_) => Error::provider(format!("the TLS connection to {who} failed")),
            _ => Error::provider(format!("the request to {who} failed")),
        })
    }
}

/// Returns whether this host is certainly this machine: `localhost`, or a loopback address in its usual form. Names
/// below `localhost` and other spellings of an address do not count, because a resolver may send them elsewhere.
fn is_local(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || address.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// Shows these fields inside the `Debug` output of the types that contain an endpoint.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("base_url", &self.base_url)
            .field("api_key", &self.api_key.as_ref().map(|_| "..."))
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::error::ErrorKind;

    fn endpoint(base_url: &str) -> Result<Endpoint> {
        let mut endpoint = Endpoint::new("LLM#1", base_url, Duration::ZERO)?;
        endpoint.set_api_key("sk-secret".to_owned());
        Ok(endpoint)
    }

    #[track_caller]
    fn check(base_url: &str, is_local: bool) {
        assert_eq!(endpoint(base_url).unwrap().is_local, is_local, "{base_url}");
    }

    #[test]
    fn only_this_machine_is_local() {
        check("http://localhost", true);
        check("http://LocalHost:11434/v1", true);
        check("http://127.0.0.1:8080/v1", true);
        check("http://127.8.9.10", true);
        check("http://[::1]:80/v1", true);
        for elsewhere in [
            "http://localhost.evil",
            "http://localhost.evil:80/v1",
            "http://localhost.",
            "http://a.localhost",
            "http://localhostess",
            "http://127.evil.example/v1",
            "http://127.0.0.1.evil.example",
            "http://127.0.0.1.",
            "http://0x7f.1",
            "http://127.1",
            "http://2130706433",
            "http://0.0.0.0",
            "http://192.168.1.5:8000/v1",
            "http://[::ffff:127.0.0.1]",
            "http://[::]",
            "http://evil.example/localhost",
        ] {
            check(elsewhere, false);
        }
    }

    #[test]
    fn addresses_with_more_than_host_and_path_are_refused() {
        for base_url in [
            "",
            "http://",
            "http:///v1",
            "http://localhost@evil.example",
            "http://localhost:80@evil.example",
            "http://localhost\\@evil.example",
            "http://localhost\\.evil.example",
            "http://localhost evil.example",
            "http://evil.example#localhost",
            "http://evil.example?localhost",
            "http://:80",
            "http://[::1",
            "file:///localhost",
            "localhost",
        ] {
            assert_eq!(endpoint(base_url).unwrap_err().kind(), ErrorKind::InvalidInput, "{base_url}");
        }
    }

    #[test]
    fn a_key_goes_to_no_other_machine_unencrypted() {
        for base_url in ["http://localhost.evil.invalid/v1", "http://192.0.2.1/v1"] {
            let refused = endpoint(base_url)
                .unwrap()
                .post("/embeddings", &json!({}), 1)
                .map_err(|refused| refused.error);
            let error = refused.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ProviderMisconfigured, "{base_url}");
            assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
        }
    }
}
