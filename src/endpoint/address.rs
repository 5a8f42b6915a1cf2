//! A GET request to one address, without a key or a proxy. Redirects are not followed, and private networks are refused
//! unless they are allowed.

use std::{
    fmt, io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    time::Duration,
};

use ureq::{
    Agent,
    config::Config,
    http::Uri,
    unversioned::{
        resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver},
        transport::{DefaultConnector, NextTimeout},
    },
};

use crate::error::{Error, Result};

/// An address that may be requested. Its `Debug` hides the query of the address, which may contain a key.
#[derive(Clone)]
pub(crate) struct EndpointAddress {
    url: String,
    /// Whether the address may be on this machine or a private network.
    may_be_private: bool,
}

/// An HTTP answer.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
    /// Empty if no body was requested.
    pub(crate) body: Vec<u8>,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    Late,
    /// All addresses of the host are private, and private addresses are not allowed.
    Private,
    TooLarge,
    Unreachable,
}

impl EndpointAddress {
    /// Fails with `InvalidInput` if the URL is not an `http` or `https` address with a host, or contains a user, a
    /// password or a fragment.
    pub(crate) fn new(url: impl Into<String>, may_be_private: bool) -> Result<Self> {
        let url = url.into();
        let uri = Uri::try_from(&url).ok().filter(|uri| matches!(uri.scheme_str(), Some("http" | "https")));
        let authority =
            uri.as_ref().and_then(Uri::authority).filter(|authority| !authority.host().is_empty());
        if authority.is_none_or(|authority| authority.as_str().contains('@')) || url.contains('#') {
            return Err(Error::invalid(
                "the address of a sensor must be http:// or https:// and a host, without user, password and fragment",
            ));
        }
        Ok(Self { url, may_be_private })
    }

    /// Sends the request, and reads at most `max_bytes` of the body; with `None` it reads no body. Blocks.
    pub(crate) fn get(
        &self,
        max_bytes: Option<u64>,
        timeout: Duration,
    ) -> std::result::Result<Got, NoAnswer> {
        let config = Agent::config_builder()
            .timeout_global(Some(timeout.max(Duration::from_millis(1))))
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None) // A proxy would resolve the host itself.
            .user_agent(concat!("thermocline/", env!("CARGO_PKG_VERSION")))
            .build();
        let resolver = Resolved { may_be_private: self.may_be_private, all: DefaultResolver::default() };
        let agent = Agent::with_parts(config, DefaultConnector::default(), resolver);
        let mut response = agent.get(&self.url).call().map_err(|error| no_answer(&error))?;
        let status = response.status().as_u16();
        let body = match max_bytes {
            Some(max_bytes) => response.body_mut().with_config().limit(max_bytes).read_to_vec(),
            None => Ok(Vec::new()),
        };
        Ok(Got { status, body: body.map_err(|error| no_answer(&error))? })
    }
}

fn no_answer(error: &ureq::Error) -> NoAnswer {
    match error {
        ureq::Error::Timeout(_) => NoAnswer::Late,
        ureq::Error::BodyExceedsLimit(_) => NoAnswer::TooLarge,
        ureq::Error::Io(error) if error.get_ref().is_some_and(|cause| cause.is::<IsPrivate>()) => {
            NoAnswer::Private
        }
        _ => NoAnswer::Unreachable,
    }
}

impl fmt::Debug for EndpointAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Address")
            .field("url", &self.url.split('?').next().unwrap_or_default())
            .field("may_be_private", &self.may_be_private)
            .finish_non_exhaustive()
    }
}

/// Resolves hosts as usual, and returns only addresses that may be requested. The connection is made to the address
/// that was checked, so a name that resolves differently the next time cannot lead elsewhere.
#[derive(Debug)]
struct Resolved {
    may_be_private: bool,
    all: DefaultResolver,
}

/// The error for a host whose addresses are all private.
#[derive(Debug)]
struct IsPrivate;

impl fmt::Display for IsPrivate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the host is on this machine or on a private network")
    }
}

impl std::error::Error for IsPrivate {}

impl Resolver for Resolved {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> std::result::Result<ResolvedSocketAddrs, ureq::Error> {
        let found = self.all.resolve(uri, config, timeout)?;
        let mut allowed = self.empty();
        for address in found.iter().filter(|address| self.may_be_private || is_public(address.ip())) {
            allowed.push(*address);
        }
        if allowed.is_empty() {
            return Err(ureq::Error::Io(io::Error::new(io::ErrorKind::PermissionDenied, IsPrivate)));
        }
        Ok(allowed)
    }
}

/// Returns whether an address is on the public internet: not on this machine, a private network, a link or a carrier's
/// network, not reserved for documentation or measurements, and not another notation for one of these.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_shared = a == 100 && (64..128).contains(&b);
    let is_reserved = a == 0 || a >= 240 || (a, b, c) == (192, 0, 0) || (a == 198 && (b == 18 || b == 19));
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation()
        || is_shared
        || is_reserved)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let v4 = |at: usize| {
        let ([a, b], [c, d]) = (parts[at].to_be_bytes(), parts[at + 1].to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match parts {
        // These contain an IPv4 address: mapped, compatible (including `::` and `::1`) and NAT64 addresses at the end,
        // 6to4 addresses after the prefix.
        [0, 0, 0, 0, 0, 0 | 0xffff, ..] | [0x64, 0xff9b, ..] => v4(6),
        [0x2002, ..] => v4(1),
        // Global unicast addresses, without Teredo and documentation.
        [0x2001, 0 | 0xdb8, ..] => false,
        [first, ..] => (0x2000..0x4000).contains(&first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::scripted::{Scripted, ScriptedStep};

    /// A timeout long enough for a loaded machine; no test waits for it to expire.
    const PATIENT: Duration = Duration::from_secs(30);

    #[track_caller]
    fn check_public(addresses: &[&str], expected: bool) {
        for address in addresses {
            assert_eq!(is_public(address.parse().unwrap()), expected, "{address}");
        }
    }

    #[test]
    fn an_address_is_private_however_it_is_written() {
        check_public(
            &["93.184.215.14", "100.63.0.1", "172.32.0.1", "2606:2800:21f::1", "64:ff9b::5db8:d70e"],
            true,
        );
        check_public(&["2002:5db8:d70e::1", "::ffff:93.184.215.14"], true);
        check_public(&["127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254"], false);
        check_public(
            &["0.0.0.0", "0.1.2.3", "100.64.0.1", "198.18.0.1", "224.0.0.1", "255.255.255.255"],
            false,
        );
        check_public(
            &["::1", "::", "::127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::"],
            false,
        );
        check_public(
            &["fe80::1", "fec0::1", "fd00::1", "fc00::1", "ff02::1", "2001:db8::1", "2001::1"],
            false,
        );
    }

    #[test]
    fn an_address_has_a_host_and_no_key_in_the_open() {
        for url in
            ["", "http://", "ftp://host", "host", "https://user:pw@host/", "http://host/#f", "file:///etc"]
        {
            assert!(EndpointAddress::new(url, true).is_err(), "{url}");
        }
        let address = EndpointAddress::new("https://host/v1?key=secret", false).unwrap();
        assert!(!format!("{address:?}").contains("secret"), "{address:?}");
    }

    #[test]
    fn what_lies_on_this_machine_is_asked_only_if_that_is_said() {
        let refused =
            EndpointAddress::new("http://127.0.0.1:9/", false).unwrap().get(None, PATIENT).unwrap_err();
        assert_eq!(refused, NoAnswer::Private);
        let refused =
            EndpointAddress::new("http://localhost:9/", false).unwrap().get(None, PATIENT).unwrap_err();
        assert_eq!(refused, NoAnswer::Private);
        let endpoint = Scripted::new(vec![ScriptedStep::Answer(200, "here".to_owned())]);
        let got = EndpointAddress::new(&endpoint.url, true).unwrap().get(Some(10), PATIENT).unwrap();
        assert_eq!((got.status, got.body.as_slice()), (200, &b"here"[..]));
        let requests = endpoint.thread.join().unwrap();
        assert!(requests[0].starts_with("GET /v1 HTTP"), "{}", requests[0]);
    }

    #[test]
    fn a_redirect_is_an_answer_and_is_not_followed() {
        let endpoint = Scripted::new(vec![ScriptedStep::Answer(302, String::new())]);
        let got = EndpointAddress::new(&endpoint.url, true).unwrap().get(Some(10), PATIENT).unwrap();
        assert_eq!(got.status, 302);
        endpoint.thread.join().unwrap();
    }

    #[test]
    fn what_is_silent_endless_or_gone_is_no_answer() {
        let get = |step, timeout| {
            let endpoint = Scripted::new(vec![step]);
            let got = EndpointAddress::new(&endpoint.url, true).unwrap().get(Some(1_000), timeout);
            endpoint.thread.join().unwrap();
            got.unwrap_err()
        };
        assert_eq!(get(ScriptedStep::Silence, Duration::from_millis(50)), NoAnswer::Late);
        assert_eq!(
            get(ScriptedStep::Endless("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n"), PATIENT),
            NoAnswer::TooLarge
        );
        assert_eq!(get(ScriptedStep::Close, PATIENT), NoAnswer::Unreachable);
    }
}
