//! What comes from foreign addresses and foreign pages is refused, on the loopback too: DNS rebinding and cross-site calls
//! go no further than this.

use axum::http::{HeaderMap, HeaderName, header};

use crate::{
    http::Http,
    ops::{
        Result,
        problem::{Code, Problem},
    },
};

const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Whether the request is addressed to this server, and comes from no foreign page.
pub(super) fn check(http: &Http, headers: &HeaderMap) -> Result<()> {
    let host = text(headers, &header::HOST).ok_or_else(|| foreign("the request names no host"))?;
    let name = without_port(host);
    let is_ours = |allowed: &str| name.eq_ignore_ascii_case(without_port(allowed));
    if !LOOPBACK.into_iter().any(is_ours) && !http.allowed_hosts.iter().any(|allowed| is_ours(allowed)) {
        return Err(foreign("the request is for a host that is not allowed; name it in allowed_hosts"));
    }
    if let Some(origin) = headers.get(header::ORIGIN) {
        let origin = origin.to_str().unwrap_or("null");
        let is_own = origin.split_once("://").is_some_and(|(_, of)| of.eq_ignore_ascii_case(host));
        if !is_own && !http.allowed_origins.iter().any(|allowed| allowed == origin) {
            return Err(foreign(
                "the request comes from a page of another origin; name it in allowed_origins",
            ));
        }
    } else if text(headers, &FETCH_SITE) == Some("cross-site") {
        return Err(foreign("the request comes from a page of another site"));
    }
    Ok(())
}

fn foreign(detail: &str) -> Problem {
    Problem::new(Code::ForeignRequest, detail)
}

/// One header that is there once; twice is as if it were foreign.
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
