//! Turns a reply or a problem into a response.

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::json;

use crate::ops::{
    OperationOutcome, OperationReply,
    problem::{Problem, Retry},
};

/// Lets only the user's own client cache a response, and only if it revalidates it before each use.
const PRIVATE: HeaderValue = HeaderValue::from_static("private, no-cache");

/// Returns the response for an operation's reply.
pub(super) fn reply(reply: OperationReply) -> Response {
    let status = match reply.outcome {
        OperationOutcome::Done | OperationOutcome::Known => StatusCode::OK,
        OperationOutcome::Added => StatusCode::CREATED,
        OperationOutcome::Pending => StatusCode::ACCEPTED,
    };
    let mut response = document(status, "application/json", reply.body);
    if reply.outcome == OperationOutcome::Known {
        response.headers_mut().insert("idempotent-replayed", HeaderValue::from_static("true"));
    }
    response
}

/// Returns the response with its `ETag`; without a reply, the status 304, because the client already has it.
pub(super) fn tagged(given: Option<OperationReply>, tag: Option<&str>) -> Response {
    let mut response = given.map_or_else(unchanged, reply);
    if let Some(tag) = tag.and_then(|tag| HeaderValue::from_str(tag).ok()) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

fn unchanged() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    response.headers_mut().insert(header::CACHE_CONTROL, PRIVATE);
    response
}

/// Leaves the problem unrendered in the response's extensions: only the outermost layer knows the request's id, so it
/// renders.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = status(&self);
        response.extensions_mut().insert(self);
        response
    }
}

/// Renders a problem as RFC 9457 problem details. Of the original response's `headers`, only the allowed methods are
/// kept.
pub(super) fn problem(problem: &Problem, request_id: &str, headers: &HeaderMap) -> Response {
    let facts = problem.code.facts();
    let mut body = json!({
        "type": format!("/errors#{}", facts.word),
        "title": facts.title,
        "status": facts.status,
        "detail": problem.detail,
        "instance": request_id,
        "code": facts.word,
        "retry": facts.retry.as_str(),
    });
    if let Some(pointer) = &problem.pointer {
        body["pointer"] = pointer.as_str().into();
    }
    let status = status(problem);
    let mut response = document(status, "application/problem+json", body.to_string());
    let allow = headers.get(header::ALLOW);
    let headers = response.headers_mut();
    if let Some(allow) = allow {
        headers.insert(header::ALLOW, allow.clone());
    }
    if facts.retry == Retry::Later {
        headers.insert(header::RETRY_AFTER, problem.retry_after_s.unwrap_or(1).into());
    }
    if status == StatusCode::UNAUTHORIZED {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"thermocline\""));
    }
    response
}

fn status(problem: &Problem) -> StatusCode {
    StatusCode::from_u16(problem.code.facts().status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

pub(super) fn document(status: StatusCode, kind: &'static str, body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, PRIVATE);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
