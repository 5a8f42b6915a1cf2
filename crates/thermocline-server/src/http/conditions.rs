//! HTTP headers that stand for request fields (`Idempotency-Key` for `caller_id`, `If-Match` for `expected_revision`),
//! and `ETag`s, which tell whether a client already has the newest response.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use serde_json::{Map, Value};

use crate::{
    http::query::QueryFields,
    ops::{
        Result,
        problem::Problem,
        spec::{Body, Method, Spec, Target},
    },
    service::Revision,
};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Adds the request fields that the headers give.
pub(super) fn add_headers(
    known: &QueryFields,
    headers: &HeaderMap,
    fields: &mut Map<String, Value>,
) -> Result<()> {
    if known.has("caller_id")
        && let Some(id) = one(headers, &IDEMPOTENCY_KEY)?
    {
        // The header's value is a string in the syntax of structured fields, in quotes, or bare, as most clients send it.
        let id = id.strip_prefix('"').and_then(|id| id.strip_suffix('"')).unwrap_or(id);
        add(fields, "caller_id", id.into(), "Idempotency-Key")?;
    }
    if known.has("expected_revision")
        && let Some(tag) = one(headers, &header::IF_MATCH)?
        && !matches!(tag, "" | "*")
    {
        let number = tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"'));
        let is_plain =
            |number: &&str| (1..=9).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit());
        let number = number.filter(is_plain);
        let revision: u32 = number
            .and_then(|number| number.parse().ok())
            .ok_or_else(|| Problem::bad_request("If-Match takes a revision in quotes, like \"3\""))?;
        add(fields, "expected_revision", revision.into(), "If-Match")?;
    }
    Ok(())
}

/// Returns the value of a header, if it is there. Errors: the header occurs twice, or is not UTF-8.
fn one<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>> {
    let mut all = headers.get_all(name).iter();
    let (first, second) = (all.next(), all.next());
    let unreadable = || Problem::bad_request(format!("the header {name} occurs twice, or is not UTF-8"));
    if second.is_some() {
        return Err(unreadable());
    }
    first.map(|value| std::str::from_utf8(value.as_bytes()).map_err(|_| unreadable())).transpose()
}

fn add(fields: &mut Map<String, Value>, name: &str, value: Value, header: &str) -> Result<()> {
    match fields.get(name) {
        Some(said) if !said.is_null() && *said != value => {
            Err(Problem::invalid(name, format!("{name} and {header} say different things; send one of them")))
        }
        _ => {
            fields.insert(name.to_owned(), value);
            Ok(())
        }
    }
}

/// Whether an operation's responses change only when its user's revision does.
pub(super) fn is_tagged(spec: &Spec) -> bool {
    // Receipts are written after the responses to which they belong, and raise no revision. Responses about memories also
    // change with time.
    spec.http.method == Method::Get
        && spec.target == Target::User
        && spec.body == Body::Json
        && !["receipts", "memories", "core", "due", "reflection"].contains(&spec.family())
}

/// Returns the `ETag` of a response at this revision.
///
/// `run` identifies this run of the server: another run may have another configuration, which shows the same rows
/// differently.
pub(super) fn tag(run: &str, revision: Revision) -> String {
    format!("W/\"{run}-{}-{}\"", revision.user, revision.number)
}

/// Returns the values of `If-None-Match`: the tags of responses that the client has.
pub(super) fn known(headers: &HeaderMap) -> Vec<HeaderValue> {
    headers.get_all(header::IF_NONE_MATCH).iter().cloned().collect()
}

/// Whether the client has the response with this tag.
pub(super) fn is_known(known: &[HeaderValue], tag: &str) -> bool {
    let opaque = tag.trim_start_matches("W/");
    known.iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).any(|known| {
        // `*` would match every response, so it is not accepted.
        known.trim().trim_start_matches("W/") == opaque
    })
}
