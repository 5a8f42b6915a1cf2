//! Refuses requests for foreign hosts and from foreign pages, also on the loopback address. This prevents DNS rebinding
//! and cross-site requests.

use axum::http::{HeaderMap, HeaderName, Uri, header};

use crate::ops::{
    Result,
    problem::{Code, Problem},
};

const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The names of this server, and the origins whose pages may send requests.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    /// Host names in addition to those of the loopback address.
    pub allowed_hosts: Vec<String>,
    /// Foreign origins whose pages may send requests, such as `https://example.org`.
    pub allowed_origins: Vec<String>,
}

impl Guard {
    /// Checks that the request is addressed to this server, and not sent by a foreign page. Returns the origin if it is
    /// one of `allowed_origins`.
    pub(super) fn check<'a>(&self, uri: &Uri, headers: &'a HeaderMap) -> Result<Option<&'a str>> {
        let host = self.host(uri, headers)?;
        let mut origins = headers.get_all(header::ORIGIN).iter();
        match (origins.next(), origins.next()) {
            (None, _) if text(headers, &FETCH_SITE) == Some("cross-site") => {
                Err(foreign("the request comes from a page of another site"))
            }
            (None, _) => Ok(None),
            (Some(origin), None) => self.origin(origin.to_str().unwrap_or("null"), host),
            (Some(_), Some(_)) => Err(foreign("the request names two origins")),
        }
    }

    fn host<'a>(&self, uri: &Uri, headers: &'a HeaderMap) -> Result<&'a str> {
        let host =
            text(headers, &header::HOST).ok_or_else(|| foreign("the request does not name one host"))?;
        let name = without_port(host);
        let is_ours = |allowed: &str| name.eq_ignore_ascii_case(without_port(allowed));
        let is_allowed =
            LOOPBACK.into_iter().chain(self.allowed_hosts.iter().map(String::as_str)).any(is_ours);
        // A request whose URI names a host other than its header is refused.
        let is_same = uri.authority().is_none_or(|authority| authority.as_str().eq_ignore_ascii_case(host));
        if is_allowed && is_same {
            return Ok(host);
        }
        Err(foreign("the request is for a host that is not allowed; name it in allowed_hosts"))
    }

    fn origin<'a>(&self, origin: &'a str, host: &str) -> Result<Option<&'a str>> {
        if self.allowed_origins.iter().any(|allowed| allowed == origin) {
            return Ok(Some(origin));
        }
        let is_own = origin
            .split_once("://")
            .is_some_and(|(scheme, of)| matches!(scheme, "http" | "https") && of.eq_ignore_ascii_case(host));
        if is_own {
            return Ok(None);
        }
        Err(foreign("the request comes from a page of another origin; name it in allowed_origins"))
    }
}

fn foreign(detail: &str) -> Problem {
    Problem::new(Code::ForeignRequest, detail)
}

/// Returns the value of a header that occurs exactly once; a repeated header counts as missing.
fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut all = headers.get_all(name).iter();
    match (all.next(), all.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(uri: &str, headers: &[(&'static str, &str)], expected: bool) {
        let guard = Guard {
            allowed_hosts: vec!["memory.example.org".to_owned()],
            allowed_origins: vec!["https://page.example.org".to_owned()],
        };
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        assert_eq!(guard.check(&uri.parse().unwrap(), &map).is_ok(), expected, "{uri} {headers:?}");
    }

    #[test]
    fn a_host_is_the_loopback_or_is_allowed() {
        for host in
            ["localhost", "LOCALHOST:7411", "127.0.0.1:80", "[::1]", "[::1]:7411", "memory.example.org:443"]
        {
            check("/", &[("host", host)], true);
        }
        for host in [
            "evil.example",
            "localhost.",
            "localhost.evil.example",
            "127.0.0.1.nip.io",
            "::1",
            "[::1",
            "0.0.0.0",
            "",
        ] {
            check("/", &[("host", host)], false);
        }
        check("/", &[], false);
        check("/", &[("host", "localhost"), ("host", "localhost")], false);
        check("http://evil.example/", &[("host", "localhost")], false);
        check("http://localhost/", &[("host", "localhost")], true);
    }

    #[test]
    fn an_origin_is_our_own_or_is_allowed() {
        let check =
            |origin: &str, expected| check("/", &[("host", "localhost:7411"), ("origin", origin)], expected);
        check("http://localhost:7411", true);
        check("https://localhost:7411", true);
        check("https://page.example.org", true);
        for origin in [
            "null",
            "",
            "http://localhost",
            "http://localhost:3000",
            "file://localhost:7411",
            "http://localhost:7411.evil.example",
            "https://page.example.org.evil.example",
            "https://PAGE.example.org",
        ] {
            check(origin, false);
        }
    }

    #[test]
    fn a_page_of_another_site_asks_in_vain() {
        let check =
            |headers: &[_], expected| check("/", &[&[("host", "localhost")], headers].concat(), expected);
        check(&[("sec-fetch-site", "cross-site")], false);
        check(&[("sec-fetch-site", "same-origin")], true);
        check(&[("sec-fetch-site", "none")], true);
        check(&[("origin", "http://localhost"), ("origin", "http://localhost")], false);
    }
}
