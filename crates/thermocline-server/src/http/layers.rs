//! The layers around the routes. On the way in, the outermost first: the request's id, the check of host and origin
//! ([`guard`](super::guard)) except for health probes, and the key except for open routes. On the way out: the headers, the
//! rendered problem, the log line.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use tracing::Instrument;

use crate::{
    http::{Http, answer, body, connections::Connection, id::RequestId, log_line::LogLine},
    limits,
    ops::problem::Problem,
};

/// The methods and headers that pages of allowed origins may send, and the headers that they may read. Browser
/// credentials are never allowed: a page sends a key itself.
const CORS_METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE");
const CORS_HEADERS: HeaderValue = HeaderValue::from_static(
    "authorization, content-type, idempotency-key, if-match, if-none-match, last-event-id, mcp-method, mcp-name, \
     mcp-protocol-version, mcp-session-id, traceparent, x-api-key",
);
const CORS_EXPOSED: HeaderValue =
    HeaderValue::from_static("etag, idempotent-replayed, mcp-session-id, retry-after, x-request-id");

/// The outermost layer: assigns the id, renders problems, and writes the log line.
pub(super) async fn outer(State(http): State<Arc<Http>>, request: Request, next: Next) -> Response {
    let id = RequestId::of(request.headers());
    let span = tracing::info_span!(
        "request",
        id = id.id,
        operation = tracing::field::Empty,
        key = tracing::field::Empty,
        user = tracing::field::Empty
    );
    let line = LogLine::begin(&request, span.clone());
    let is_last = is_beyond_limit(&request);
    let response = guarded(&http, request, next).instrument(span).await;
    let mut response = written(response, &id);
    if is_last || http.health.is_closing() {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    line.answer(&response);
    response
}

/// Renders the response's problem, if it has one, and adds the request's id.
fn written(mut response: Response, id: &RequestId) -> Response {
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        response = answer::problem(&problem, &id.id, response.headers());
    }
    id.add_to(response.headers_mut());
    response
}

async fn guarded(http: &Http, request: Request, next: Next) -> Response {
    // Health probes skip the guard: they address a machine by its IP address, and learn nothing about any user.
    if request.uri().path().starts_with("/health/") {
        return next.run(request).await;
    }
    if is_beyond_limit(&request) {
        let problem = limits::busy();
        http.service.metrics.rejected(problem.code);
        return refused(request, problem).await;
    }
    let foreign = match http.guard.check(request.uri(), request.headers()) {
        Ok(origin) => origin.and_then(|origin| HeaderValue::from_str(origin).ok()),
        Err(problem) => {
            http.service.metrics.rejected(problem.code);
            return refused(request, problem).await;
        }
    };
    let Some(origin) = foreign else { return next.run(request).await };
    let mut response = if is_preflight(&request) { preflight() } else { next.run(request).await };
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, CORS_EXPOSED);
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    response
}

fn is_preflight(request: &Request) -> bool {
    request.method() == Method::OPTIONS
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

fn preflight() -> Response {
    let headers = HeaderMap::from_iter([
        (header::ACCESS_CONTROL_ALLOW_METHODS, CORS_METHODS),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, CORS_HEADERS),
        (header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600")),
    ]);
    (StatusCode::NO_CONTENT, headers).into_response()
}

/// Identifies the caller, or refuses the request.
pub(super) async fn keyed(State(http): State<Arc<Http>>, mut request: Request, next: Next) -> Response {
    match http.callers.find(request.headers()) {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(problem) => {
            http.service.metrics.rejected(problem.code);
            refused(request, problem).await
        }
    }
}

/// Whether the request came over a connection beyond the limit, which only asks for health, and only once.
fn is_beyond_limit(request: &Request) -> bool {
    request.extensions().get::<Arc<Connection>>().is_some_and(|connection| connection.is_beyond_limit)
}

/// Refuses a request before its body is read.
pub(super) async fn refused(request: Request, problem: Problem) -> Response {
    body::drain(request).await;
    problem.into_response()
}
