//! Refuses requests for foreign hosts and from foreign pages, also on the loopback address. This prevents DNS rebinding
//! and cross-site requests.

use std::net::Ipv6Addr;

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
            // Pages of another port on the same host are of the same site, but not ours.
            (None, _)
                if headers.contains_key(FETCH_SITE)
                    && !matches!(text(headers, &FETCH_SITE), Some("same-origin" | "none")) =>
            {
                Err(foreign("the request comes from a page of another origin"))
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

/// Refuses an origin in the settings that no page can have, or that any page can have.
pub(crate) fn check_origin(origin: &str) -> std::result::Result<(), String> {
    let why = match origin {
        "*" => "it stands for the pages of every site",
        "null" => "every sandboxed page has this origin",
        _ if is_origin(origin) => return Ok(()),
        _ => "it is not of the form scheme://host[:port], in lower case, such as https://example.org",
    };
    Err(format!("the origin {origin:?} cannot be in allowed_origins: {why}"))
}

/// Whether the text is `scheme://host[:port]`, as browsers write it.
fn is_origin(text: &str) -> bool {
    let Some((scheme, authority)) = text.split_once("://") else { return false };
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_lowercase())
        && scheme.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"+-.".contains(&b));
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let is_host = if let Some(address) = address {
        address.parse::<Ipv6Addr>().is_ok()
    } else {
        let is_part = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-._".contains(&b);
        !host.is_empty() && host.bytes().all(is_part)
    };
    let is_port =
        port.is_none_or(|port| port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok());
    is_scheme && is_host && is_port
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
    fn an_origin_in_the_settings_is_one_that_a_page_has_and_not_every_page() {
        for origin in [
            "https://example.org",
            "http://localhost:3000",
            "http://127.0.0.1:80",
            "https://[::1]:8443",
            "https://[::1]",
            "chrome-extension://abcdefghijklmnop",
        ] {
            assert_eq!(check_origin(origin), Ok(()));
        }
        for origin in [
            "*",
            "null",
            "",
            "example.org",
            "https://",
            "://example.org",
            "file://",
            "https://*.example.org",
            "https://example.org/",
            "https://example.org/page",
            "https://example.org?x",
            "https://example.org#x",
            "https://alex@example.org",
            "https://example.org:",
            "https://example.org:99999",
            "https://example.org:+80",
            "https://EXAMPLE.org",
            "HTTPS://example.org",
            "https://exa mple.org",
            "https://[::1",
            "https://[x]",
            "https://a:b:80",
        ] {
            let why = check_origin(origin).expect_err(origin);
            assert!(why.contains(&format!("{origin:?}")), "{why}");
        }
    }

    #[test]
    fn a_page_of_another_origin_asks_in_vain() {
        let check =
            |headers: &[_], expected| check("/", &[&[("host", "localhost")], headers].concat(), expected);
        for site in ["cross-site", "same-site", "", "Same-Origin", "unheard-of"] {
            check(&[("sec-fetch-site", site)], false);
        }
        check(&[("sec-fetch-site", "none"), ("sec-fetch-site", "same-origin")], false);
        check(&[("sec-fetch-site", "same-origin")], true);
        check(&[("sec-fetch-site", "none")], true);
        check(&[("origin", "http://localhost"), ("origin", "http://localhost")], false);
    }
}
